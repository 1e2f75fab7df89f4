// Free lists: idle memory is found again by kind and size, is limited, and is given up when others need memory.
#include "storage_bench.hpp"
#include "test_allocators.hpp"

#include <h5mote/free_lists.hpp>

#if H5MOTE_POISON && !H5MOTE_VALGRIND
#include <sanitizer/asan_interface.h>
#endif

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr std::size_t kLink = 2 * sizeof(void*);  // a block on a free list needs room for two pointers

// Free lists over an arena; the destructor gives idle memory back.
struct Lists {
    explicit Lists(const FreeListLimits& limits = kBenchLists) noexcept { lists.set_limits(limits); }
    ~Lists() { lists.drain(tracking); }

    void* allocate(std::size_t size) noexcept { return tracking.allocate(size, 8); }
    bool give(void* memory, std::size_t size, MemoryKind kind = MemoryKind::other) noexcept {
        return lists.give(tracking, kind, memory, size);
    }
    void* take(std::size_t size, MemoryKind kind = MemoryKind::other) noexcept { return lists.take(kind, size); }
    std::size_t idle(MemoryKind kind = MemoryKind::other) const noexcept { return lists.idle_bytes(kind); }

    Arena arena{Bytes{bench_memory, sizeof bench_memory}};
    TrackingAllocator tracking{arena};
    FreeLists lists;
};

}  // namespace

TEST(FreeLists, GiveTheNewestOfThatKindAndSize) {
    Lists rig;
    void* const one = rig.allocate(40);
    void* const two = rig.allocate(40);
    void* const other_size = rig.allocate(48);
    void* const other_kind = rig.allocate(40);
    EXPECT_TRUE(rig.give(one, 40));
    EXPECT_TRUE(rig.give(two, 40));
    EXPECT_TRUE(rig.give(other_size, 48));
    EXPECT_TRUE(rig.give(other_kind, 40, MemoryKind::chunk));
    EXPECT_EQ(rig.idle(), 128U);
    EXPECT_EQ(rig.idle(MemoryKind::chunk), 40U);
    EXPECT_TRUE(rig.take(41) == nullptr);
    EXPECT_TRUE(rig.take(48, MemoryKind::chunk) == nullptr);
    EXPECT_EQ(rig.take(40), two);
    EXPECT_EQ(rig.take(40), one);
    EXPECT_TRUE(rig.take(40) == nullptr);
    EXPECT_EQ(rig.idle(), 48U);
    EXPECT_EQ(rig.take(48), other_size);
    EXPECT_EQ(rig.take(40, MemoryKind::chunk), other_kind);
    EXPECT_EQ(rig.tracking.blocks(), 4U);
    for (void* const each : {one, two, other_kind}) {
        rig.tracking.release(each, 40);
    }
    rig.tracking.release(other_size, 48);
}

TEST(FreeLists, TakeFromTheMiddle) {
    Lists rig;
    void* blocks[3];
    for (std::size_t i = 0; i < 3; ++i) {
        blocks[i] = rig.allocate(32 + i);
        ASSERT_TRUE(rig.give(blocks[i], 32 + i));
    }
    EXPECT_EQ(rig.take(33), blocks[1]);
    EXPECT_EQ(rig.take(32), blocks[0]);
    EXPECT_EQ(rig.take(34), blocks[2]);
    for (std::size_t i = 0; i < 3; ++i) {
        rig.tracking.release(blocks[i], 32 + i);
    }
    EXPECT_FALSE(rig.lists.drain(rig.tracking));
}

TEST(FreeLists, WhatDoesNotFitIsNotKept) {
    Lists rig{{100, 1000}};
    void* const small = rig.allocate(kLink - 1);
    void* const large = rig.allocate(101);
    EXPECT_FALSE(rig.give(small, kLink - 1));
    EXPECT_FALSE(rig.give(large, 101));
    rig.tracking.release(small, kLink - 1);
    rig.tracking.release(large, 101);
    void* const least = rig.allocate(kLink);
    void* const most = rig.allocate(100);
    EXPECT_TRUE(rig.give(least, kLink));
    EXPECT_TRUE(rig.give(most, 100, MemoryKind::file));
    EXPECT_EQ(rig.take(kLink), least);
    rig.tracking.release(least, kLink);
}

TEST(FreeLists, WithoutRoomNothingIsKept) {
    for (const FreeListLimits& limits : {FreeListLimits{0, 1000}, FreeListLimits{1000, 0}}) {
        Lists rig{limits};
        void* const block = rig.allocate(64);
        EXPECT_FALSE(rig.give(block, 64));
        rig.tracking.release(block, 64);
    }
}

TEST(FreeLists, AListThatWouldPassItsLimitIsEmptied) {
    Lists rig{{100, 1000}};
    EXPECT_TRUE(rig.give(rig.allocate(60), 60));
    EXPECT_TRUE(rig.give(rig.allocate(40), 40));
    EXPECT_TRUE(rig.give(rig.allocate(50), 50, MemoryKind::type));
    EXPECT_EQ(rig.tracking.blocks(), 3U);
    void* const newest = rig.allocate(32);
    EXPECT_TRUE(rig.give(newest, 32));
    EXPECT_EQ(rig.idle(), 32U);
    EXPECT_EQ(rig.idle(MemoryKind::type), 50U);
    EXPECT_EQ(rig.tracking.blocks(), 2U);
    EXPECT_TRUE(rig.take(60) == nullptr);
    EXPECT_EQ(rig.take(32), newest);
    rig.tracking.release(newest, 32);
}

TEST(FreeLists, AllAreEmptiedThatWouldPassTheirLimitTogether) {
    Lists rig{{100, 150}};
    EXPECT_TRUE(rig.give(rig.allocate(100), 100));
    EXPECT_TRUE(rig.give(rig.allocate(50), 50, MemoryKind::type));
    EXPECT_TRUE(rig.give(rig.allocate(60), 60, MemoryKind::file));
    EXPECT_EQ(rig.idle(), 0U);
    EXPECT_EQ(rig.idle(MemoryKind::type), 0U);
    EXPECT_EQ(rig.idle(MemoryKind::file), 60U);
    EXPECT_EQ(rig.tracking.blocks(), 1U);
    EXPECT_TRUE(rig.lists.drain(rig.tracking));
    EXPECT_EQ(rig.tracking.blocks(), 0U);
    EXPECT_EQ(rig.tracking.errors(), 0U);
    EXPECT_FALSE(rig.lists.drain(rig.tracking));
}

// Blocks of many sizes come and go: no two are in use at the same address, no list exceeds its limits, and each block
// returns to the allocator with the size that it was allocated with.
TEST(FreeLists, ManyBlocksOfManySizes) {
    struct Block {
        unsigned char* memory = nullptr;
        std::size_t size = 0;
        MemoryKind kind{};
    };
    constexpr FreeListLimits kLimits{300, 700};
    Lists rig{kLimits};
    Numbers numbers(3);
    Block blocks[24];
    unsigned reused = 0;
    for (unsigned step = 0; step < 4000; ++step) {
        Block& block = blocks[numbers.below(24)];
        if (block.memory != nullptr) {
            for (std::size_t i = 0; i < block.size; ++i) {
                ASSERT_EQ(block.memory[i], static_cast<unsigned char>(block.size));
            }
            if (!rig.give(block.memory, block.size, block.kind)) {
                rig.tracking.release(block.memory, block.size);
            }
            block.memory = nullptr;
        } else {
            block.size = 1 + 7 * numbers.below(20);
            block.kind = static_cast<MemoryKind>(numbers.below(kMemoryKinds));
            block.memory = static_cast<unsigned char*>(rig.take(block.size, block.kind));
            reused += block.memory != nullptr ? 1 : 0;
            if (block.memory == nullptr) {
                block.memory = static_cast<unsigned char*>(rig.allocate(block.size));
            }
            ASSERT_TRUE(block.memory != nullptr);
            std::memset(block.memory, static_cast<int>(block.size), block.size);
        }
        std::size_t idle = 0;
        for (std::size_t kind = 0; kind < kMemoryKinds; ++kind) {
            const std::size_t bytes = rig.idle(static_cast<MemoryKind>(kind));
            ASSERT_TRUE(bytes <= kLimits.list);
            idle += bytes;
        }
        ASSERT_TRUE(idle <= kLimits.total);
    }
    EXPECT_TRUE(reused > 20U);
    for (const Block& block : blocks) {
        rig.tracking.release(block.memory, block.size);
    }
    rig.lists.drain(rig.tracking);
    EXPECT_EQ(rig.tracking.blocks(), 0U);
    EXPECT_EQ(rig.tracking.errors(), 0U);
    EXPECT_TRUE(rig.arena.check());
}

#if H5MOTE_POISON && !H5MOTE_VALGRIND

TEST(FreeLists, NobodyMayTouchWhatLiesIdle) {
    Lists rig;
    auto* const block = static_cast<std::byte*>(rig.allocate(64));
    auto* const other = static_cast<std::byte*>(rig.allocate(64));
    ASSERT_TRUE(rig.give(block, 64));
    ASSERT_TRUE(rig.give(other, 64));
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_TRUE(__asan_address_is_poisoned(block + i) != 0);
    }
    ASSERT_EQ(rig.take(64), other);
    EXPECT_TRUE(__asan_region_is_poisoned(other, 64) == nullptr);
    EXPECT_TRUE(__asan_address_is_poisoned(block) != 0);
    rig.tracking.release(other, 64);
    rig.lists.drain(rig.tracking);
    EXPECT_EQ(rig.tracking.errors(), 0U);
}

#endif

#if H5MOTE_WRITE && H5MOTE_FREE_LISTS

namespace {

KindUsage usage(Bench& bench, MemoryKind kind) noexcept {
    return bench.library.memory_report().kinds[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST(FreeListsOfALibrary, ServeWhatIsAskedForAgain) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    const KindUsage before = usage(bench, MemoryKind::other);
    void* const block = bench.library.allocate(MemoryKind::other, 200);
    EXPECT_EQ(usage(bench, MemoryKind::other).now, before.now + 200);
    const std::size_t held = bench.arena.usage().now;
    bench.library.release(MemoryKind::other, block, 200);
    EXPECT_EQ(usage(bench, MemoryKind::other).now, before.now);
    EXPECT_EQ(usage(bench, MemoryKind::other).idle, before.idle + 200);
    EXPECT_EQ(bench.arena.usage().now, held);
    EXPECT_EQ(bench.library.allocate(MemoryKind::other, 200), block);
    EXPECT_EQ(usage(bench, MemoryKind::other).idle, before.idle);
    EXPECT_EQ(usage(bench, MemoryKind::other).now, before.now + 200);
    bench.library.release(MemoryKind::other, block, 200);
    EXPECT_TRUE(bench.library.memory_report().free_list_bytes >= 200);
    bench.library.garbage_collect();
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    EXPECT_EQ(usage(bench, MemoryKind::other).peak, before.now + 200);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

TEST(FreeListsOfALibrary, NothingIsIdleWithoutAFile) {
    Bench bench;
    bench.library.release(MemoryKind::other, bench.library.allocate(MemoryKind::other, 200), 200);
    EXPECT_TRUE(bench.empty());
    ASSERT_EQ(bench.create(), Status::ok);
    bench.library.release(MemoryKind::other, bench.library.allocate(MemoryKind::other, 200), 200);
    EXPECT_TRUE(bench.library.memory_report().free_list_bytes >= 200);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
}

namespace {

// Counts how often it is asked to release memory.
class Asked final : public Reclaimer {
public:
    void reclaim() noexcept override { ++times; }
    int times = 0;
};

}  // namespace

TEST(FreeListsOfALibrary, IdleMemoryIsGivenUpBeforeACacheIsAsked) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Asked cache;
    bench.library.add_reclaimer(cache);
    bench.library.set_free_list_limits({sizeof bench_memory, sizeof bench_memory});
    // Take half of the free memory in small blocks and the rest in one that is too large for any list.
    constexpr std::size_t kSmall = 64;
    constexpr std::size_t kMost = sizeof bench_memory / kSmall;
    void* blocks[kMost];
    std::size_t count = 0;
    const std::size_t half = bench.arena.largest_free() / 2;
    while (count < kMost && bench.arena.largest_free() > half) {
        blocks[count++] = bench.library.allocate(MemoryKind::other, kSmall);
    }
    for (std::size_t i = 0; i < count; ++i) {
        bench.library.release(MemoryKind::other, blocks[i], kSmall);
    }
    EXPECT_TRUE(bench.arena.largest_free() <= half);
    void* const large = bench.library.allocate(MemoryKind::other, half + kSmall);
    EXPECT_TRUE(large != nullptr);
    EXPECT_EQ(cache.times, 0);
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    bench.library.release(MemoryKind::other, large, half + kSmall);
    EXPECT_TRUE(bench.library.allocate(MemoryKind::other, sizeof bench_memory) == nullptr);
    EXPECT_EQ(cache.times, 1);
    bench.library.remove_reclaimer(cache);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

// Long-lived blocks are not placed behind idle ones, which would fragment the free memory.
TEST(FreeListsOfALibrary, WhatStaysIsPlacedAsIfNothingLayIdle) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    bench.library.garbage_collect();
    void* const first = bench.library.allocate(MemoryKind::other, 64);
    bench.library.release(MemoryKind::other, first, 64);
    void* const passing = bench.library.allocate(MemoryKind::other, 56);
    EXPECT_NE(passing, first);
    void* const staying = bench.library.allocate(MemoryKind::metadata, 56);
    EXPECT_EQ(staying, first);
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    bench.library.release(MemoryKind::metadata, staying, 56);
    bench.library.release(MemoryKind::other, passing, 56);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

TEST(FreeListsOfALibrary, LimitsAreSetWhileMemoryLiesIdle) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    bench.library.release(MemoryKind::other, bench.library.allocate(MemoryKind::other, 200), 200);
    bench.library.set_free_list_limits({0, 0});
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    bench.library.release(MemoryKind::other, bench.library.allocate(MemoryKind::other, 200), 200);
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    bench.library.set_free_list_limits(kBenchLists);
    bench.library.release(MemoryKind::other, bench.library.allocate(MemoryKind::other, 200), 200);
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 200U);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

// Memory that the caches release during the collection does not stay on the lists.
TEST(FreeListsOfALibrary, GarbageCollectionEmptiesCachesAndThenLists) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_FALSE(bench.file.root().exists("nothing"));
    const std::size_t cached = usage(bench, MemoryKind::metadata).now;
    bench.library.garbage_collect();
    EXPECT_TRUE(usage(bench, MemoryKind::metadata).now < cached);
    EXPECT_EQ(bench.library.memory_report().free_list_bytes, 0U);
    EXPECT_EQ(bench.file.close(), Status::ok);
}

#endif
