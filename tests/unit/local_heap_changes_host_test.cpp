// Local heaps are changed at random and read back, against a model: on storage where all between two commits appears at
// once, and where only a sector is atomic. There, at every instant, the storage has a heap that libhdf5 can go on with.
#include "local_heap_changes.hpp"
#include "promising_driver.hpp"
#include "storage_bench.hpp"
#include "text.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

alignas(16) std::byte heap_memory[64 * 1024];
std::byte heap_storage[8 * 1024 * 1024];

Capabilities promised(const Driver& storage, bool atomic) {
    Capabilities result = storage.capabilities();
    result.sync_is_commit = atomic;
    return result;
}

class HeapBench final : public LocalHeapUser {
public:
    explicit HeapBench(bool atomic, std::size_t cache = 4096, std::size_t memory = sizeof heap_memory)
        : arena({heap_memory, memory}),
          library(arena, port, {}, formats::none),
          storage(Bytes{heap_storage, sizeof heap_storage}),
          driver(storage, promised(storage, atomic)),
          file(library, driver),
          changes(file, heap, *this) {
        FileAccess access;
        access.metadata_cache = cache;
        EXPECT_EQ(file.create(access, FileCreate{}), Status::ok);
        EXPECT_EQ(LocalHeapChanges::create(file, header), Status::ok);
        EXPECT_EQ(heap.open(file, header), Status::ok);
        EXPECT_EQ(heap.data_size(), 88U);
    }
    ~HeapBench() {
        file.abandon();
        EXPECT_EQ(arena.usage().now, 0U);
    }
    Status show(LocalHeapNote& note) noexcept override {
        for (const auto& [offset, text] : texts) {
            H5MOTE_TRY(note.use(offset));
        }
        return Status::ok;
    }
    Status lead_to(Address to) noexcept override {
        header = to;
        return Status::ok;
    }

    void insert(const std::string& text) {
        Address offset = 0;
        ASSERT_EQ(changes.insert(bytes_of(std::string_view(text)), offset), Status::ok);
        ASSERT_EQ(offset % 8, 0U);
        ASSERT_TRUE(texts.emplace(offset, text).second);
    }
    void remove(Address offset) {
        texts.erase(offset);
        changes.remove(offset);
    }
    // The texts are there, lie apart from each other and from the free blocks, and the free blocks are apart, too.
    // Returns the bytes of which nothing knows.
    Address check() {
        heap.open(file, header) == Status::ok ? void() : ADD_FAILURE();
        std::map<Address, Address> used{{0, 8}};
        const auto add = [&](Address offset, Address size) {
            const auto next = used.lower_bound(offset);
            EXPECT_TRUE(next == used.end() || next->first >= offset + size);
            EXPECT_LE(std::prev(next)->second, offset);
            used[offset] = offset + size;
        };
        for (const auto& [offset, text] : texts) {
            std::vector<std::byte> found(text.size());
            std::size_t length = 0;
            EXPECT_EQ(heap.copy(offset, {found.data(), found.size()}, length), Status::ok);
            EXPECT_EQ(length, text.size());
            EXPECT_EQ(text_of(ConstBytes(found.data(), found.size())), text);
            add(offset, (static_cast<Address>(text.size()) + 8) & ~Address{7});
        }
        MetadataWindow window;
        LocalHeapFreeBlock block;
        Address passed = 0;
        EXPECT_EQ(heap.open_data(window), Status::ok);
        for (Address at = heap.fields().free; at != LocalHeapHeader::kNoFree; at = block.next) {
            const Status status = heap.free_block(window, at, passed, block);
            EXPECT_EQ(status, Status::ok);
            if (status != Status::ok) {
                break;
            }
            add(at, block.size);
        }
        Address lost = 0;
        Address end = 0;
        for (const auto& [from, to] : used) {
            lost += from - end;
            end = to;
        }
        EXPECT_LE(end, heap.data_size());
        return lost + heap.data_size() - end;
    }

    Arena arena;
    NullPort port;
    Library library;
    MemoryDriver storage;
    PromisingDriver driver;
    FileState file;
    Address header = 0;
    LocalHeap heap;
    LocalHeapChanges changes;
    std::map<Address, std::string> texts;
};

void run(bool atomic, unsigned seed, std::size_t aim, unsigned most, std::size_t memory) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    HeapBench bench(atomic, 4096, memory);
    Address largest = 0;
    for (unsigned i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) {
        if (bench.texts.empty() || (random() % 5 != 0) == (bench.texts.size() < aim * (1 + i / 700 % 2))) {
            bench.insert(std::string(random() % (random() % 30 == 0 ? most : 40), static_cast<char>('a' + i % 26)));
        } else {
            auto which = bench.texts.begin();
            std::advance(which, static_cast<std::ptrdiff_t>(random() % bench.texts.size()));
            bench.remove(which->first);
        }
        if (i % 50 == 0) {
            const Address lost = bench.check();
            EXPECT_LE(lost, bench.heap.data_size() / (atomic ? 2 : 1));
        }
        if (random() % 40 == 0) {
            ASSERT_EQ(bench.file.commit(), Status::ok);
        }
        largest = bench.heap.data_size() > largest ? bench.heap.data_size() : largest;
    }
    bench.check();
    Address used = 0;
    for (const auto& [offset, text] : bench.texts) {
        used += static_cast<Address>(text.size()) + 8;
    }
    // What removed names had is used again, so that the segment stays near what the texts have taken at most.
    EXPECT_LT(largest, 12 * (2 * aim * 40 + most));
    std::printf("%u texts of %u bytes in %u, atomic %d\n", unsigned(bench.texts.size()), unsigned(used),
                unsigned(bench.heap.data_size()), atomic);
}

}  // namespace

TEST(LocalHeapChanges, RandomTextsAgainstAModel) {
    for (const bool atomic : {false, true}) {
        for (unsigned seed = 0; seed < 4; ++seed) {
            run(atomic, seed, 20, 200, sizeof heap_memory);
            run(atomic, seed, 300, 3000, sizeof heap_memory);
            run(atomic, seed, 600, 30, 16 * 1024);  // not in the cache, and no memory for the whole heap
        }
    }
}

TEST(LocalHeapChanges, FreeBlocksJoinAsInLibhdf5) {
    HeapBench bench(true);
    for (unsigned i = 0; i < 4; ++i) {
        bench.insert(std::string(15, static_cast<char>('a' + i)));
    }
    // 8 bytes for the empty name, four times 16, and the free block, all of which is used by now.
    EXPECT_EQ(bench.check(), 0U);
    const std::vector<std::pair<Address, std::string>> texts(bench.texts.begin(), bench.texts.end());
    ASSERT_EQ(texts.size(), 4U);
    Address free = 0;
    ASSERT_EQ(bench.heap.free_space(free), Status::ok);
    const Address before = free;
    for (const unsigned i : {1U, 3U, 2U, 0U}) {
        bench.remove(texts[i].first);
        ASSERT_EQ(bench.check(), 0U);
    }
    ASSERT_EQ(bench.heap.free_space(free), Status::ok);
    EXPECT_EQ(free, before + 64);
    // One block again, so that a text as long as all of them has room.
    bench.insert(std::string(static_cast<std::size_t>(free) - 1, 'z'));
    EXPECT_EQ(bench.heap.data_size(), 88U);
}

TEST(LocalHeapChanges, ATextIsTakenBack) {
    for (const bool atomic : {false, true}) {
        HeapBench bench(atomic);
        Address offset = 0;
        Address free = 0;
        Address left = 0;
        bench.insert("name");
        ASSERT_EQ(bench.heap.free_space(free), Status::ok);
        ASSERT_EQ(bench.changes.insert(bytes_of(std::string_view("another")), offset), Status::ok);
        ASSERT_EQ(bench.heap.free_space(left), Status::ok);
        EXPECT_EQ(left + 8, free);
        bench.changes.take_back(offset);
        ASSERT_EQ(bench.heap.free_space(left), Status::ok);
        EXPECT_EQ(left, free);
    }
}

TEST(LocalHeapChanges, WhatIsNoTextIsNotRemoved) {
    HeapBench bench(true);
    bench.insert("name");
    const Address offset = bench.texts.begin()->first;
    Address free = 0;
    Address left = 0;
    ASSERT_EQ(bench.heap.free_space(free), Status::ok);
    for (const Address wrong : {Address{0}, Address{offset + 1}, Address{72}, Address{88}, Address{1} << 40}) {
        bench.changes.remove(wrong);
        ASSERT_EQ(bench.heap.free_space(left), Status::ok);
        EXPECT_EQ(left, free) << wrong;
    }
}

#endif
