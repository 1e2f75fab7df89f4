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

void SymbolEntry::encode(FileShape shape, Writer& writer) const noexcept {
    shape.write_size(writer, name);
    shape.write_addr(writer, header);
    writer.u32(static_cast<std::uint32_t>(cached));
    writer.u32(0);
    const std::size_t end = writer.written() + kScratchSize;
    if (cached == Cached::symbol_table) {
        shape.write_addr(writer, btree);
        shape.write_addr(writer, heap);
    } else if (cached == Cached::soft_link) {
        writer.u32(soft_link);
    }
    writer.fill(std::byte{0}, end - writer.written());
}

bool SymbolTableMessage::decode(FileShape shape, ConstBytes body) noexcept {
    Reader reader(body);
    btree = shape.read_addr(reader);
    heap = shape.read_addr(reader);
    return reader.ok();
}

namespace {

constexpr std::uint32_t kSignature = 0x444f4e53U;  // "SNOD"
constexpr std::uint8_t kVersion = 1;

}  // namespace

bool SymbolNode::decode(ConstBytes prefix, std::uint16_t& symbols) noexcept {
    Reader reader(prefix);
    const bool signature = reader.u32() == kSignature && reader.u8() == kVersion;
    reader.skip(1);
    symbols = reader.u16();
    return signature && reader.ok();
}

void SymbolNode::encode(Writer& writer, unsigned symbols) noexcept {
    writer.u32(kSignature);
    writer.u8(kVersion);
    writer.u8(0);
    writer.u16(symbols);
}

}  // namespace h5mote
