#include "free_space_header.hpp"

#include "checksum.hpp"

namespace h5mote {
namespace {

constexpr std::uint32_t kHeaderSignature = 0x44485346U;  // "FSHD"

// Percentages of use at which libhdf5 gives a list less space, or more.
constexpr unsigned kShrink = 80;
constexpr unsigned kExpand = 120;

// How many classes of sections each client has.
constexpr unsigned kHeapClasses = 4;
constexpr unsigned kFileClasses = 3;

}  // namespace

bool FreeSpaceListPlace::decode(FileShape shape, ConstBytes header) noexcept {
    Reader reader(header);
    const bool signature = reader.u32() == kHeaderSignature && reader.u8() == 0;
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
    reader.skip(shape.sizeof_size + 6U);
    address_bits = reader.u16();
    longest = reader.uint(shape.sizeof_size);
    return FreeSpaceListPlace::decode(shape, header) && address_bits != 0 && address_bits <= 64;
}

void FreeSpaceHeader::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u32(kHeaderSignature);
    writer.u8(0);
    writer.u8(client);
    shape.write_size(writer, bytes);
    shape.write_size(writer, sections);
    shape.write_size(writer, sections);
    shape.write_size(writer, 0);
    writer.u16(client == kClientHeap ? kHeapClasses : kFileClasses);
    writer.u16(kShrink);
    writer.u16(kExpand);
    writer.u16(address_bits);
    shape.write_size(writer, longest);
    shape.write_addr(writer, list);
    shape.write_size(writer, list_used);
    shape.write_size(writer, list_size);
    writer.u32(lookup3({writer.at(0), writer.written()}));
}

bool FreeSpaceList::decode(FileShape shape, ConstBytes prefix) noexcept {
    Reader reader(prefix);
    const bool signature = reader.u32() == kSignature && reader.u8() == 0;
    header = shape.read_addr(reader);
    return signature && reader.ok();
}

}  // namespace h5mote
