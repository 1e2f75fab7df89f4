// The driver around home and log: its memory is opaque to programs, and its functions are those of the log.

#include "redo_log.hpp"

#include <new>

namespace h5mote {

RedoLog& JournalDriver::log() noexcept { return *std::launder(reinterpret_cast<RedoLog*>(state_)); }

const RedoLog& JournalDriver::log() const noexcept { return *std::launder(reinterpret_cast<const RedoLog*>(state_)); }

JournalDriver::JournalDriver(Driver& home, Driver& log, Bytes memory) noexcept {
    static_assert(sizeof(RedoLog) <= kStateSize && alignof(RedoLog) <= alignof(std::uint64_t),
                  "raise JournalDriver::kStateSize");
    ::new (static_cast<void*>(state_)) RedoLog(home, log, memory);
}

JournalDriver::~JournalDriver() { log().~RedoLog(); }

Status JournalDriver::open(const JournalOptions& options) noexcept {
    if (is_locked()) {
        return Status::busy;
    }
    forward_superblock_info(log().home());
    return log().open(options);
}

const JournalReport& JournalDriver::report() const noexcept { return log().report(); }

Status JournalDriver::erase_log() noexcept { return is_locked() ? Status::busy : log().erase_log(); }

Status JournalDriver::close() noexcept { return is_locked() ? Status::busy : log().close(); }

Capabilities JournalDriver::capabilities() const noexcept { return log().capabilities(); }

Status JournalDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    return log().read(usage, address, to);
}

Status JournalDriver::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    return log().write(address, from);
}

Status JournalDriver::sync() noexcept { return log().sync(); }

Status JournalDriver::end_of_file(std::uint64_t& size) noexcept { return log().end_of_file(size); }

Status JournalDriver::truncate(std::uint64_t size) noexcept { return log().truncate(size); }

Status JournalDriver::keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept {
    return log().keep_room(ranges, bytes);
}

Status JournalDriver::discard() noexcept { return log().discard(); }

Status JournalDriver::use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept {
    return log().home().use_superblock_info(name, info, end);
}

std::int32_t JournalDriver::last_error() const noexcept { return log().last_error(); }

StorageId JournalDriver::storage_id() const noexcept { return log().home().storage_id(); }

Status JournalDriver::do_lock(bool exclusive) noexcept { return log().lock(exclusive); }

Status JournalDriver::do_unlock() noexcept { return log().unlock(); }

}  // namespace h5mote
