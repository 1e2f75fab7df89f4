#include "fractal_heap_blocks.hpp"

namespace h5mote {
namespace {

bool power_of_two(Address value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

Address FractalHeapTable::row_entries(FileShape shape, unsigned row) const noexcept {
    const unsigned direct = row < direct_rows() ? row : direct_rows();
    return prefix_size(shape) + Address{direct} * width * direct_entry_size(shape) +
           Address{row - direct} * width * shape.sizeof_addr;
}

bool FractalHeapHeader::decode_prefix(ConstBytes prefix, std::uint16_t& filters_length) noexcept {
    filters_length = load_le<std::uint16_t>(prefix.data() + 7);
    return load_le<std::uint32_t>(prefix.data()) == 0x50485246U && prefix[4] == std::byte{0};  // "FRHP"
}

bool FractalHeapHeader::decode(FileShape shape, ConstBytes bytes) noexcept {
    constexpr std::uint8_t kChecksums = 2;
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

bool HeapBlockPrefix::is(FileShape shape, const FractalHeapTable& table, ConstBytes bytes) const noexcept {
    Reader reader(bytes);
    return reader.u32() == signature && reader.u8() == 0 && shape.read_addr(reader) == heap &&
           reader.uint(table.offset_width()) == offset;
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

}  // namespace h5mote
