// Fuzzes local heaps: reads names at many offsets, and walks the free blocks.
#include "local_heap.hpp"
#include "structure.hpp"

void h5mote_fuzz::examine(FileState& file, Address address, unsigned parameter) noexcept {
    LocalHeap heap;
    if (heap.open(file, address) != Status::ok) {
        return;
    }
    const std::byte name[3] = {std::byte{'a'}, static_cast<std::byte>(parameter), std::byte{'z'}};
    const Address end = heap.data_size() < 2048 ? heap.data_size() + 2 : 2048;
    for (Address at = 0; at < end; at += 1 + parameter % 16) {
        std::byte copy[16];
        std::size_t length = 0;
        std::size_t copied = 0;
        int order = 0;
        MetadataWindow window;
        const Status status = heap.length(at, length);
        if ((heap.copy(at, copy, copied) == Status::ok) != (status == Status::ok) ||
            (status == Status::ok && length != copied)) {
            fail();
        }
        (void)heap.compare(at, name, order);
        if (heap.name(at, window) == Status::ok) {
            if (window.size() != length) {
                fail();
            }
            read_all(window);
        }
    }
    Address free_space = 0;
    if (heap.free_space(free_space) == Status::ok && free_space > heap.data_size()) {
        fail();
    }
    Blocks blocks(file);
    (void)heap.walk(blocks);
}
