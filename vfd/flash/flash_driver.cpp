// The driver around the log: its memory is opaque to programs, and its functions are those of the log.

#include "flash_log.hpp"

#include <new>

namespace h5mote {

FlashLog& FlashDriver::log() noexcept { return *std::launder(reinterpret_cast<FlashLog*>(state_)); }

const FlashLog& FlashDriver::log() const noexcept { return *std::launder(reinterpret_cast<const FlashLog*>(state_)); }

FlashDriver::FlashDriver(FlashDevice& device, Bytes memory) noexcept {
    static_assert(sizeof(FlashLog) <= kStateSize && alignof(FlashLog) <= alignof(std::uint64_t),
                  "raise FlashDriver::kStateSize");
    ::new (static_cast<void*>(state_)) FlashLog(device, memory);
}

bool FlashDriver::identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept {
    return FlashLog::identify(first, geometry, format);
}

Status FlashDriver::format(const FlashFormat& format, const FlashOptions& options) noexcept {
    return is_locked() ? Status::busy : log().format(format, options);
}

Status FlashDriver::mount(const FlashOptions& options) noexcept {
    return is_locked() ? Status::busy : log().mount(options);
}

bool FlashDriver::mounted() const noexcept { return log().mounted(); }

FlashUsage FlashDriver::usage() const noexcept { return log().usage(); }

Status FlashDriver::block_info(std::uint32_t block, FlashBlockInfo& info) noexcept {
    return log().block_info(block, info);
}

FlashCost FlashDriver::worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept {
    return log().worst_case(writes, bytes);
}

Capabilities FlashDriver::capabilities() const noexcept { return log().capabilities(); }

Status FlashDriver::read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept { return log().read(address, to); }

Status FlashDriver::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    return log().write(address, from);
}

std::uint32_t FlashDriver::fewest_blocks(const FlashGeometry& geometry, const FlashFormat& format,
                                         const FlashOptions& options) noexcept {
    return FlashLog::fewest_blocks(geometry, format, options);
}

std::int32_t FlashDriver::last_error() const noexcept { return log().last_error(); }

Status FlashDriver::sync() noexcept { return log().sync(); }

Status FlashDriver::end_of_file(std::uint64_t& size) noexcept { return log().end_of_file(size); }

Status FlashDriver::truncate(std::uint64_t size) noexcept { return log().truncate(size); }

Status FlashDriver::release(Usage /*usage*/, std::uint64_t address, std::uint64_t size) noexcept {
    return log().release(address, size);
}

Status FlashDriver::keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept {
    return log().keep_room(ranges, bytes);
}

Status FlashDriver::discard() noexcept { return log().discard(); }

}  // namespace h5mote
