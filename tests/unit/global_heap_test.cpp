// Objects of global heaps in any order, and damaged collections.
#include "global_heap.hpp"
#include "structure_file.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Address kCollection = 1024;

struct Stored {
    std::uint16_t index;
    std::size_t size;
};

// Writes a collection of `size` bytes with these objects (object i is filled with bytes i) and free space in the rest.
void write_collection(StructureFile& file, Address size, Span<const Stored> objects) noexcept {
    Writer writer = file.write(kCollection);
    writer.bytes(bytes_of("GCOL"));
    writer.u32(1);
    writer.u64(size);
    for (const Stored& each : objects) {
        writer.u16(each.index);
        writer.u16(1);
        writer.u32(0);
        writer.u64(each.size);
        writer.fill(static_cast<std::byte>(each.index), each.size);
        writer.fill(std::byte{0}, (8 - each.size % 8) % 8);
    }
    const std::size_t left = static_cast<std::size_t>(size) - writer.written();
    if (left >= 16) {
        writer.u64(0);
        writer.u64(left);
    }
    EXPECT_TRUE(writer.ok());
}

bool holds(GlobalHeap& heap, const Stored& object) noexcept {
    MetadataWindow window;
    bool same = heap.object(kCollection, object.index, window) == Status::ok && window.size() == object.size;
    for (Address i = 0; i < object.size && same; ++i) {
        ConstBytes byte;
        same = window.view(i, 1, byte) == Status::ok && byte[0] == static_cast<std::byte>(object.index);
    }
    return same;
}

constexpr Stored kObjects[] = {{7, 1}, {2, 8}, {300, 0}, {1, 100}, {9, 700}, {4, 17}};

}  // namespace

TEST(GlobalHeap, ObjectsInAnyOrder) {
    for (const std::size_t cache : {std::size_t{1024}, std::size_t{8192}}) {
        StructureFile file(8, cache);
        write_collection(file, 4096, kObjects);
        GlobalHeap heap(*file);
        for (const Stored& first : kObjects) {
            for (const Stored& second : kObjects) {
                EXPECT_TRUE(holds(heap, first));
                EXPECT_TRUE(holds(heap, second));
            }
        }
        MetadataWindow window;
        EXPECT_EQ(heap.object(kCollection, 3, window), Status::corrupt_file);
        EXPECT_EQ(heap.object(kCollection, 0, window), Status::corrupt_file);
        EXPECT_EQ(heap.object(kCollection, 65536 + 7, window), Status::corrupt_file);
        EXPECT_TRUE(holds(heap, kObjects[0]));
        Address size = 0;
        Address free_space = 0;
        EXPECT_EQ(heap.facts(kCollection, size, free_space), Status::ok);
        EXPECT_EQ(size, 4096U);
        EXPECT_EQ(free_space, 4096U - 16 - (24 + 24 + 16 + 120 + 720 + 40));
        std::byte id[12];
        store_le<std::uint64_t>(id, kCollection);
        store_le<std::uint32_t>(id + 8, 2);
        EXPECT_EQ(heap.object(id, window), Status::ok);
        EXPECT_EQ(window.size(), 8U);
        EXPECT_EQ(heap.object(ConstBytes(id).first(11), window), Status::corrupt_file);
    }
}

// The free space behind the last object may be too short for an object header.
TEST(GlobalHeap, FullCollection) {
    for (const Address rest : {Address{0}, Address{8}}) {
        StructureFile file;
        write_collection(file, 16 + 24 + 24 + rest, Span<const Stored>(kObjects).first(2));
        GlobalHeap heap(*file);
        EXPECT_TRUE(holds(heap, kObjects[1]));
        EXPECT_TRUE(holds(heap, kObjects[0]));
        Address size = 0;
        Address free_space = 99;
        EXPECT_EQ(heap.facts(kCollection, size, free_space), Status::ok);
        EXPECT_EQ(free_space, rest);
        MetadataWindow window;
        EXPECT_EQ(heap.object(kCollection, 1, window), Status::corrupt_file);
    }
}

TEST(GlobalHeap, DamagedCollections) {
    StructureFile file;
    MetadataWindow window;
    const auto refuses = [&](std::uint32_t index) {
        GlobalHeap heap(*file);
        return heap.object(kCollection, index, window) == Status::corrupt_file;
    };
    write_collection(file, 4096, kObjects);
    *file.at(kCollection + 4) = std::byte{2};
    EXPECT_TRUE(refuses(7));
    for (const Address size : {Address{0}, Address{15}, Address{sizeof bench_storage}, ~Address{0}}) {
        write_collection(file, 4096, kObjects);
        file.write(kCollection + 8).u64(size);
        EXPECT_TRUE(refuses(7));
    }
    // The first object ends behind the collection, also where computing its end would overflow 64 bits.
    for (const Address size : {Address{4065}, ~Address{0}, ~Address{0} - 7, ~Address{0} - 40}) {
        write_collection(file, 4096, kObjects);
        file.write(kCollection + 24).u64(size);
        EXPECT_TRUE(refuses(7));
        EXPECT_TRUE(refuses(2));
    }
    // A free space object that is too small to get past it, or ends behind the collection.
    const std::size_t free_space = 16 + 24 + 24 + 16 + 120 + 720 + 40;
    for (const Address size : {Address{0}, Address{15}, Address{4097}, ~Address{0}}) {
        write_collection(file, 4096, kObjects);
        file.write(kCollection + free_space + 8).u64(size);
        EXPECT_TRUE(refuses(3));
        GlobalHeap heap(*file);
        Address bytes = 0;
        EXPECT_EQ(heap.facts(kCollection, bytes, bytes), Status::corrupt_file);
    }
    GlobalHeap heap(*file);
    EXPECT_EQ(heap.object(kUndefinedAddress, 1, window), Status::corrupt_file);
    EXPECT_EQ(heap.object(sizeof bench_storage - 8, 1, window), Status::corrupt_file);
    EXPECT_EQ(heap.object(0, 1, window), Status::corrupt_file);
}

#endif
