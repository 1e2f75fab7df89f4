#include "free_space_header.hpp"

namespace h5mote {

bool FreeSpaceListPlace::decode(FileShape shape, ConstBytes header) noexcept {
    Reader reader(header);
    const bool signature = reader.u32() == 0x44485346U && reader.u8() == 0;  // "FSHD"
    reader.skip(9U + 5U * shape.sizeof_size);
    list = shape.read_addr(reader);
    list_used = shape.read_size(reader);
    list_size = shape.read_size(reader);
    return signature && reader.ok();
}

bool FreeSpaceHeader::decode(FileShape shape, ConstBytes header) noexcept {
    Reader reader(header);
    reader.skip(5);
    client = reader.u8();
    bytes = shape.read_size(reader);
    sections = reader.uint(shape.sizeof_size);
    serialized = reader.uint(shape.sizeof_size);
    others = reader.uint(shape.sizeof_size);
    classes = reader.u16();
    shrink = reader.u16();
    expand = reader.u16();
    address_bits = reader.u16();
    longest = reader.uint(shape.sizeof_size);
    return FreeSpaceListPlace::decode(shape, header) && address_bits != 0 && address_bits <= 64;
}

bool FreeSpaceList::decode(FileShape shape, ConstBytes prefix) noexcept {
    Reader reader(prefix);
    const bool signature = reader.u32() == 0x45535346U && reader.u8() == 0;  // "FSSE"
    header = shape.read_addr(reader);
    return signature && reader.ok();
}

}  // namespace h5mote
