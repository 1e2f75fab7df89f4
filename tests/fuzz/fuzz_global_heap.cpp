// Fuzzes global heap collections: reads objects by their indices, in an order that the input chooses.
#include "global_heap.hpp"
#include "structure.hpp"

void h5mote_fuzz::examine(FileState& file, Address address, unsigned parameter) noexcept {
    GlobalHeap heap(file);
    Address size = 0;
    Address free_space = 0;
    if (heap.facts(address, size, free_space) == Status::ok && (free_space > size || !file.contains(address, size))) {
        fail();
    }
    for (std::uint32_t i = 0; i < 80; ++i) {
        MetadataWindow window;
        if (heap.object(address, (i * (2 * parameter + 1)) & 0x3fU, window) == Status::ok) {
            if (window.size() > size) {
                fail();
            }
            read_all(window);
        }
    }
    std::byte id[12];
    file.shape().store_addr(id, address);
    store_le<std::uint32_t>(id + file.shape().sizeof_addr, parameter);
    MetadataWindow window;
    (void)heap.object(ConstBytes{id, file.shape().sizeof_addr + 4U}, window);
}
