#include "info_fields.hpp"

namespace h5mote {

void DenseAddresses::decode(FileShape shape, ConstBytes body, unsigned order_width) noexcept {
    Reader reader(body);
    reader.skip(1);
    const bool indexed = (reader.u8() & kOrderIndexed) != 0;
    reader.skip(order_width);
    const Address addresses[] = {shape.read_addr(reader), shape.read_addr(reader),
                                 indexed ? shape.read_addr(reader) : kUndefinedAddress};
    if (reader.ok()) {
        heap = addresses[0];
        name_index = addresses[1];
        order_index = addresses[2];
    }
}

bool is_ascii(ConstBytes text) noexcept {
    for (const std::byte c : text) {
        if ((c & std::byte{0x80}) != std::byte{0}) {
            return false;
        }
    }
    return true;
}

bool decode_info(FileShape shape, ConstBytes body, unsigned order_width, std::uint8_t& flags, std::uint64_t& max_order,
                 bool& dense) noexcept {
    Reader reader(body);
    const unsigned version = reader.u8();
    flags = reader.u8();
    max_order = (flags & kOrderTracked) != 0 ? reader.uint(order_width) : 0;
    dense = shape.read_addr(reader) != kUndefinedAddress;
    return reader.ok() && version == 0;
}

void encode_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags,
                 std::uint64_t max_order) noexcept {
    writer.u8(0);
    writer.u8(flags);
    if ((flags & kOrderTracked) != 0) {
        writer.uint(order_width, max_order);
    }
    const unsigned addresses = (flags & kOrderIndexed) != 0 ? 3 : 2;
    writer.fill(std::byte{0xff}, static_cast<std::size_t>(addresses) * shape.sizeof_addr);
}

void encode_dense_info(Writer& writer, FileShape shape, unsigned order_width, unsigned flags, std::uint64_t max_order,
                       const DenseAddresses& addresses) noexcept {
    writer.u8(0);
    writer.u8(flags);
    if ((flags & kOrderTracked) != 0) {
        writer.uint(order_width, max_order);
    }
    shape.write_addr(writer, addresses.heap);
    shape.write_addr(writer, addresses.name_index);
    if ((flags & kOrderIndexed) != 0) {
        shape.write_addr(writer, addresses.order_index);
    }
}

}  // namespace h5mote
