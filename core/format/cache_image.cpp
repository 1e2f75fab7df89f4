#include "cache_image.hpp"

namespace h5mote {

bool CacheImageHeader::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    const bool signature = reader.u32() == 0x4943444dU && reader.u8() == 0;  // "MDCI"
    reader.skip(1U + shape.sizeof_size);
    entries = reader.u32();
    return signature && reader.ok();
}

void CacheImageEntry::decode(FileShape shape, ConstBytes bytes) noexcept {
    const std::byte* const from = bytes.data();
    parents = load_le<std::uint16_t>(from + 8);
    address = shape.load_addr(from + 14);
    size = load_uint(from + 14 + shape.sizeof_addr, shape.sizeof_size);
}

}  // namespace h5mote
