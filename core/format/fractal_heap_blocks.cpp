#include "fractal_heap_blocks.hpp"

#include <initializer_list>

namespace h5mote {
namespace {

constexpr std::uint32_t kHeaderSignature = 0x50485246U;  // "FRHP"
constexpr std::uint8_t kChecksums = 2;

bool power_of_two(Address value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

Address FractalHeapTable::row_entries(FileShape shape, unsigned row) const noexcept {
    const unsigned direct = row < direct_rows() ? row : direct_rows();
    return prefix_size(shape) + Address{direct} * width * direct_entry_size(shape) +
           Address{row - direct} * width * shape.sizeof_addr;
}

bool FractalHeapHeader::decode_prefix(ConstBytes prefix, std::uint16_t& filters_length) noexcept {
    filters_length = load_le<std::uint16_t>(prefix.data() + 7);
    return load_le<std::uint32_t>(prefix.data()) == kHeaderSignature && prefix[4] == std::byte{0};
}

bool FractalHeapHeader::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    reader.skip(5);
    id_length = reader.u16();
    filters_length = reader.u16();
    checksums = (reader.u8() & kChecksums) != 0;
    max_managed = reader.u32();
    next_huge_id = reader.uint(shape.sizeof_size);
    huge_index = shape.read_addr(reader);
    free_space = shape.read_size(reader);
    free_space_manager = shape.read_addr(reader);
    managed_space = shape.read_size(reader);
    allocated = shape.read_size(reader);
    iterator = shape.read_size(reader);
    managed = reader.uint(shape.sizeof_size);
    huge_bytes = shape.read_size(reader);
    huge = reader.uint(shape.sizeof_size);
    tiny_bytes = shape.read_size(reader);
    tiny = reader.uint(shape.sizeof_size);
    width = reader.u16();
    const Address start = shape.read_size(reader);
    const Address most = shape.read_size(reader);
    const unsigned bits = reader.u16();
    start_rows = reader.u16();
    root = shape.read_addr(reader);
    root_rows = reader.u16();
    root_stored = filtered() ? shape.read_size(reader) : 0;
    root_mask = filtered() ? reader.u32() : 0;
    if (!power_of_two(width) || !power_of_two(start) || !power_of_two(most) || most < start ||
        (std::uint64_t{most} >> 32) != 0 || bits > 63) {
        return false;
    }
    start_bits = static_cast<std::uint8_t>(floor_log2(start));
    width_bits = static_cast<std::uint8_t>(floor_log2(width));
    direct_bits = static_cast<std::uint8_t>(floor_log2(most));
    heap_bits = static_cast<std::uint8_t>(bits);
    const unsigned offset_bytes = (direct_bits + 7U) / 8U;
    const unsigned length_bytes = uint_width(max_managed);
    length_width = static_cast<std::uint8_t>(offset_bytes < length_bytes ? offset_bytes : length_bytes);
    return first_row_bits() <= bits && direct_bits <= bits && root_rows <= bits - first_row_bits() + 1U &&
           1U + offset_width() + length_width <= id_length && length_width != 0;
}

void FractalHeapHeader::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u32(kHeaderSignature);
    writer.u8(0);
    writer.u16(id_length);
    writer.u16(0);
    writer.u8(checksums ? kChecksums : 0);
    writer.u32(max_managed);
    shape.write_size(writer, next_huge_id);
    shape.write_addr(writer, huge_index);
    shape.write_size(writer, free_space);
    shape.write_addr(writer, free_space_manager);
    for (const std::uint64_t number : {std::uint64_t{managed_space}, std::uint64_t{allocated}, std::uint64_t{iterator},
                                       managed, std::uint64_t{huge_bytes}, huge, std::uint64_t{tiny_bytes}, tiny}) {
        shape.write_size(writer, number);
    }
    writer.u16(width);
    shape.write_size(writer, row_size(0));
    shape.write_size(writer, std::uint64_t{1} << direct_bits);
    writer.u16(heap_bits);
    writer.u16(start_rows);
    shape.write_addr(writer, root);
    writer.u16(root_rows);
}

bool HeapBlockPrefix::is(FileShape shape, const FractalHeapTable& table, ConstBytes bytes) const noexcept {
    Reader reader(bytes);
    return reader.u32() == signature && reader.u8() == 0 && shape.read_addr(reader) == heap &&
           reader.uint(table.offset_width()) == offset;
}

void HeapBlockPrefix::encode(FileShape shape, const FractalHeapTable& table, Writer& writer) const noexcept {
    writer.u32(signature);
    writer.u8(0);
    shape.write_addr(writer, heap);
    writer.uint(table.offset_width(), offset);
}

bool HeapBlockEntry::decode(FileShape shape, bool filtered, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    address = shape.read_addr(reader);
    stored = filtered ? shape.read_size(reader) : 0;
    mask = filtered ? reader.u32() : 0;
    return reader.ok();
}

FractalHeapId::Kind FractalHeapId::kind(ConstBytes id) noexcept {
    const unsigned first = id.empty() ? 0xffU : std::to_integer<unsigned>(id[0]);
    return first >= 0x30U ? Kind::unknown : static_cast<Kind>(first >> 4);
}

void FractalHeapId::managed(const FractalHeapTable& table, ConstBytes id, Address& offset, Address& length) noexcept {
    const std::byte* const from = id.data() + 1;
    offset = narrow(load_uint(from, table.offset_width()));
    length = narrow(load_uint(from + table.offset_width(), table.length_width));
}

std::uint64_t FractalHeapId::huge(ConstBytes id) noexcept {
    const std::size_t width = id.size() - 1;
    return load_uint(id.data() + 1, width < 8 ? static_cast<unsigned>(width) : 8U);
}

ConstBytes FractalHeapId::tiny(ConstBytes id) noexcept {
    const bool extended = id.size() > 18;
    std::size_t length = std::to_integer<std::size_t>(id[0] & std::byte{0x0f});
    if (extended) {
        length = length << 8 | std::to_integer<std::size_t>(id[1]);
    }
    ++length;
    const std::size_t at = extended ? 2 : 1;
    return length > id.size() - at ? ConstBytes{} : id.subspan(at, length);
}

void FractalHeapId::encode_managed(const FractalHeapTable& table, Bytes id, Address offset, Address length) noexcept {
    Writer writer(id);
    writer.u8(0);
    writer.uint(table.offset_width(), offset);
    writer.uint(table.length_width, length);
    writer.fill(std::byte{0}, id.size() - writer.written());
}

void FractalHeapId::encode_huge(Bytes id, std::uint64_t number) noexcept {
    const std::size_t width = id.size() - 1 < 8 ? id.size() - 1 : 8;
    Writer writer(id);
    writer.u8(static_cast<std::uint8_t>(Kind::huge) << 4);
    writer.uint(static_cast<unsigned>(width), number);
    writer.fill(std::byte{0}, id.size() - writer.written());
}

void FractalHeapId::encode_huge(Bytes id, ConstBytes place) noexcept {
    Writer writer(id);
    writer.u8(static_cast<std::uint8_t>(Kind::huge) << 4);
    writer.bytes(place);
    writer.fill(std::byte{0}, id.size() - writer.written());
}

void FractalHeapId::encode_tiny(Bytes id, ConstBytes object) noexcept {
    Writer writer(id);
    writer.u8(static_cast<std::uint8_t>(static_cast<unsigned>(Kind::tiny) << 4 | (object.size() - 1)));
    writer.bytes(object);
    writer.fill(std::byte{0}, id.size() - writer.written());
}

}  // namespace h5mote
