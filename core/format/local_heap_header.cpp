#include "local_heap_header.hpp"

namespace h5mote {

bool LocalHeapHeader::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    const bool sound = reader.u32() == 0x50414548U && (reader.u32() & 0xffU) == 0;  // "HEAP"
    data_size = shape.read_size(reader);
    free = shape.read_size(reader);
    data = shape.read_addr(reader);
    return sound && reader.ok();
}

void LocalHeapFreeBlock::decode(FileShape shape, ConstBytes bytes) noexcept {
    Reader reader(bytes);
    next = shape.read_size(reader);
    size = shape.read_size(reader);
}

}  // namespace h5mote
