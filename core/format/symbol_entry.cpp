#include "symbol_entry.hpp"

namespace h5mote {

bool SymbolEntry::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    name = shape.read_size(reader);
    header = shape.read_addr(reader);
    const std::uint32_t kind = reader.u32();
    reader.skip(4);
    const ConstBytes scratch = reader.bytes(kScratchSize);
    Reader cache(scratch);
    btree = heap = kUndefinedAddress;
    soft_link = 0;
    cached = static_cast<Cached>(kind);
    if (cached == Cached::symbol_table) {
        btree = shape.read_addr(cache);
        heap = shape.read_addr(cache);
    } else if (cached == Cached::soft_link) {
        soft_link = cache.u32();
    }
    return reader.ok() && kind <= static_cast<std::uint32_t>(Cached::soft_link);
}

bool SymbolTableMessage::decode(FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    btree = shape.read_addr(reader);
    heap = shape.read_addr(reader);
    return reader.ok();
}

bool SymbolNode::decode(ConstBytes prefix, std::uint16_t& symbols) noexcept {
    Reader reader(prefix);
    const bool signature = reader.u32() == 0x444f4e53U && reader.u8() == 1;  // "SNOD"
    reader.skip(1);
    symbols = reader.u16();
    return signature && reader.ok();
}

}  // namespace h5mote
