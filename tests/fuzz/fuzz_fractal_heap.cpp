// Fuzzes fractal heaps: visits all blocks and reads objects by ids of every kind. Some of the ids are read from the
// last bytes of the file, so that the input can choose them.
#include "block_decoder.hpp"
#include "fractal_heap.hpp"
#include "structure.hpp"

void h5mote_fuzz::examine(FileState& file, Address address, unsigned parameter) noexcept {
    file.block_decoder = &pipeline_block_decoder;
    FractalHeap heap;
    if (heap.open(file, address) != Status::ok) {
        return;
    }
    FractalHeapHeader header;
    (void)heap.read_header(header);
    const Address end = file.space.end();
    std::byte id[64] = {};
    const std::size_t length = heap.id_length() < sizeof id ? heap.id_length() : sizeof id;
    for (unsigned i = 0; i < 8; ++i) {
        MetadataWindow window;
        const Address at = end > 64 + i * length ? end - 64 - i * length : 0;
        if (file.driver.read(Usage::raw_data, at, {id, length}) == Status::ok &&
            heap.object({id, length}, window) == Status::ok) {
            read_all(window);
        }
    }
    // Ids of managed objects, at offsets that go through the heap's address space.
    for (unsigned i = 0; i < 16; ++i) {
        MetadataWindow window;
        std::memset(id, 0, sizeof id);
        store_le<std::uint16_t>(id + 1, static_cast<std::uint16_t>(i * (parameter + 1U)));
        id[3 + i % 6] = std::byte{1};
        if (heap.object({id, length}, window) == Status::ok) {
            read_all(window);
        }
    }
    Blocks blocks(file);
    (void)heap.walk(blocks);
}
