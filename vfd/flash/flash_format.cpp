#include "flash_format.hpp"

#include "checksum.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kMagic = 0x666d3568;  // "h5mf"
constexpr std::uint8_t kVersion = 1;

}  // namespace

void FlashLog::BlockHead::encode(std::byte* to) const noexcept {
    Writer writer({to, kSize});
    writer.u32(kMagic);
    writer.u8(kVersion | (barrier ? 0x10U : 0U) | (geometry.erased_value == 0 ? 0x20U : 0U));
    writer.u8(floor_log2(geometry.block_size));
    writer.u8(floor_log2(format.page_size) | floor_log2(geometry.program_unit) << 4);
    writer.u8(format.reserve);
    writer.u32(geometry.blocks);
    writer.u32(sequence);
    writer.u32(previous);
    writer.u32(erases);
    writer.u32(written);
    writer.u32(lookup3({to, kSize - 4}));
}

bool FlashLog::BlockHead::decode(const std::byte* from) noexcept {
    Reader reader({from, kSize});
    if (reader.u32() != kMagic ||
        (load_le<std::uint32_t>(from + kSize - 4) != lookup3({from, kSize - 4}) && keep(FlashRule::checksum_head))) {
        return false;
    }
    const unsigned flags = reader.u8();
    version = flags & 15;
    barrier = (flags & 0x10) != 0;
    geometry.erased_value = (flags & 0x20) != 0 ? 0 : 0xff;
    geometry.block_size = 1U << (reader.u8() & 31);
    const unsigned sizes = reader.u8();
    format.page_size = 1U << (sizes & 15);
    geometry.program_unit = geometry.page_size = 1U << (sizes >> 4);
    format.reserve = reader.u8();
    geometry.blocks = reader.u32();
    sequence = reader.u32();
    previous = reader.u32();
    erases = reader.u32();
    written = reader.u32();
    return true;
}

void FlashLog::Record::decode(const std::byte* from) noexcept {
    word = load_le<std::uint32_t>(from);
    checksum = load_le<std::uint32_t>(from + 4);
    key = load_le<std::uint32_t>(from + 8);
    link = load_le<std::uint32_t>(from + 12);
}

void FlashLog::Commit::encode(std::byte* to) const noexcept {
    Writer writer({to, kSize});
    writer.u32(static_cast<std::uint32_t>(file_size));
    writer.u32(root);
    writer.u32(replay);
    writer.u32(live_pages);
    writer.u32(tail | kept << 24);
}

void FlashLog::Commit::decode(const std::byte* from) noexcept {
    Reader reader({from, kSize});
    file_size = reader.u32();
    root = reader.u32();
    replay = reader.u32();
    live_pages = reader.u32();
    tail = reader.u32();
    kept = tail >> 24;
    tail &= 0xffffff;
}

}  // namespace h5mote
