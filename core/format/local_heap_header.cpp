#include "local_heap_header.hpp"

namespace h5mote {
namespace {

constexpr std::uint32_t kSignature = 0x50414548U;  // "HEAP"

}  // namespace

bool LocalHeapHeader::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    const bool sound = reader.u32() == kSignature && (reader.u32() & 0xffU) == 0;
    data_size = shape.read_size(reader);
    free = shape.read_size(reader);
    data = shape.read_addr(reader);
    return sound && reader.ok();
}

void LocalHeapHeader::encode(FileShape shape, Writer& writer) const noexcept {
    writer.u32(kSignature);
    writer.u32(0);  // the version, and three unused bytes
    shape.write_size(writer, data_size);
    shape.write_size(writer, free);
    shape.write_addr(writer, data);
}

void LocalHeapFreeBlock::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    next = shape.read_size(reader);
    size = shape.read_size(reader);
}

void LocalHeapFreeBlock::encode(FileShape shape, Writer& writer) const noexcept {
    shape.write_size(writer, next);
    shape.write_size(writer, size);
}

}  // namespace h5mote
