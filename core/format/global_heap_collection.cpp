#include "global_heap_collection.hpp"

namespace h5mote {

bool GlobalHeapCollection::decode(FileShape shape, ConstBytes bytes) noexcept {
    const bool signature = load_le<std::uint32_t>(bytes.data()) == 0x4c4f4347U && bytes[4] == std::byte{1};  // "GCOL"
    size = narrow(load_uint(bytes.data() + 8, shape.sizeof_size));
    return signature && size >= header_size(shape);
}

void GlobalHeapCollection::encode(FileShape shape, std::byte* to) const noexcept {
    std::memset(to, 0, kHeaderSize);
    store_le<std::uint32_t>(to, 0x4c4f4347U);
    to[4] = std::byte{1};
    store_uint(to + 8, shape.sizeof_size, size);
}

bool GlobalHeapObject::decode(FileShape shape, ConstBytes bytes, Address room) noexcept {
    index = load_le<std::uint16_t>(bytes.data());
    references = load_le<std::uint16_t>(bytes.data() + 2);
    size = narrow(load_uint(bytes.data() + 8, shape.sizeof_size));
    const Address header = GlobalHeapCollection::header_size(shape);
    return index == 0 ? size >= header && size <= room : size <= room - header && padded(size) <= room - header;
}

void GlobalHeapObject::encode(FileShape shape, std::byte* to) const noexcept {
    std::memset(to, 0, GlobalHeapCollection::kHeaderSize);
    store_le<std::uint16_t>(to, index);
    store_le<std::uint16_t>(to + kReferencesOffset, references);
    store_uint(to + 8, shape.sizeof_size, size);
}

bool GlobalHeapId::decode(FileShape shape, ConstBytes bytes) noexcept {
    if (bytes.size() < size(shape)) {
        return false;
    }
    collection = shape.load_addr(bytes.data());
    index = load_le<std::uint32_t>(bytes.data() + shape.sizeof_addr);
    return true;
}

void GlobalHeapId::encode(FileShape shape, std::byte* to) const noexcept {
    shape.store_addr(to, collection);
    store_le<std::uint32_t>(to + shape.sizeof_addr, index);
}

}  // namespace h5mote
