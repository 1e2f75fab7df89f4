#include "free_list.hpp"

#include <h5mote/arena.hpp>

#include "test.hpp"
#include "test_allocators.hpp"

#include <cstring>

namespace {

using namespace h5mote;

alignas(16) std::byte memory[1024];

// What every test needs; says at the end whether all came back.
struct Rig {
    Arena arena{memory};
    h5mote_test::FailingAllocator failing{arena};
    NullPort port;
    Context context{failing, port, {}};

    std::size_t held(MemoryKind kind) const noexcept {
        return context.memory_report().kinds[static_cast<std::size_t>(kind)].now;
    }
    std::size_t idle() const noexcept { return context.memory_report().free_list_bytes; }
    bool empty() const noexcept { return arena.usage().now == 0 && arena.check(); }
};

struct Node {
    Node(int& count, int number) noexcept : alive(count), value(number) { ++alive; }
    ~Node() { --alive; }
    int& alive;
    int value;
    char more[20] = {};
};

TEST(FreeList, ReusesWhatWasGivenBack) {
    Rig rig;
    int alive = 0;
    {
        FreeList<Node> list{rig.context, MemoryKind::handle};
        Node* const one = list.create(alive, 1);
        Node* const two = list.create(alive, 2);
        ASSERT_TRUE(one != nullptr && two != nullptr);
        EXPECT_EQ(alive, 2);
        EXPECT_EQ(rig.held(MemoryKind::handle), 2 * sizeof(Node));
        list.destroy(one);
        list.destroy(nullptr);
        EXPECT_EQ(alive, 1);
        EXPECT_EQ(rig.idle(), sizeof(Node));
        EXPECT_EQ(rig.held(MemoryKind::handle), 2 * sizeof(Node));
        rig.failing.arm(1, true);
        Node* const again = list.create(alive, 3);
        EXPECT_EQ(again, one);
        EXPECT_EQ(again->value, 3);
        EXPECT_EQ(rig.failing.calls(), 0U);
        EXPECT_TRUE(list.create(alive, 4) == nullptr);
        EXPECT_EQ(alive, 2);
        list.destroy(again);
        list.destroy(two);
        EXPECT_EQ(rig.idle(), 2 * sizeof(Node));
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(rig.idle(), 0U);
    EXPECT_EQ(rig.held(MemoryKind::handle), 0U);
    EXPECT_TRUE(rig.empty());
}

TEST(FreeList, GarbageCollectionGivesBackIdleOnesOnly) {
    Rig rig;
    FactoryFreeList list{rig.context, MemoryKind::file, 40};
    void* const kept = list.take();
    std::memset(kept, 0x3c, 40);
    void* elements[5];
    for (void*& each : elements) {
        each = list.take();
        ASSERT_TRUE(each != nullptr);
    }
    for (void* const each : elements) {
        std::memset(each, 0xff, 40);
        list.give(each);
    }
    EXPECT_EQ(rig.idle(), 200U);
    rig.context.garbage_collect();
    EXPECT_EQ(rig.idle(), 0U);
    EXPECT_EQ(rig.arena.usage().now, arena_block_size(40));
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(static_cast<unsigned char*>(kept)[i], 0x3c);
    }
    list.give(kept);
    list.reclaim();
    EXPECT_TRUE(rig.empty());
}

TEST(FreeList, FailedAllocationElsewhereDrainsIt) {
    Rig rig;
    FactoryFreeList list{rig.context, MemoryKind::file, sizeof memory - 8};
    list.give(list.take());
    EXPECT_EQ(rig.idle(), sizeof memory - 8);
    void* const block = rig.context.allocate(MemoryKind::chunk, 100);
    EXPECT_TRUE(block != nullptr);
    EXPECT_EQ(rig.idle(), 0U);
    rig.context.release(MemoryKind::chunk, block, 100);
}

TEST(FreeList, FactoryElementsHoldAtLeastTheirLink) {
    Rig rig;
    FactoryFreeList list{rig.context, MemoryKind::other, 1};
    EXPECT_EQ(list.element_size(), sizeof(void*));
    list.give(list.take());
    list.give(nullptr);
    EXPECT_EQ(rig.idle(), sizeof(void*));
}

TEST(BlockFreeList, GroupsBySize) {
    Rig rig;
    {
        BlockFreeList list{rig.context, MemoryKind::chunk};
        void* const small1 = list.take(40);
        void* const small2 = list.take(40);
        void* const large = list.take(100);
        void* const tiny = list.take(1);
        ASSERT_TRUE(small1 != nullptr && small2 != nullptr && large != nullptr && tiny != nullptr);
        list.give(small1, 40);
        list.give(large, 100);
        list.give(tiny, 1);
        list.give(small2, 40);
        list.give(nullptr, 64);
        EXPECT_EQ(rig.idle(), 180 + 3 * sizeof(void*));
        rig.failing.arm(1, true);
        // Another size is not served from the list; the failed allocation would empty it, so fail it in the test only.
        EXPECT_EQ(list.take(100), large);
        void* const first = list.take(40);
        void* const second = list.take(40);
        EXPECT_EQ(first, small2);
        EXPECT_EQ(second, small1);
        EXPECT_EQ(list.take(1), tiny);
        EXPECT_EQ(rig.failing.calls(), 0U);
        EXPECT_EQ(rig.idle(), 0U);
        EXPECT_TRUE(list.take(100) == nullptr);
        rig.failing.disarm();
        list.give(first, 40);
        void* const other = list.take(48);
        EXPECT_NE(other, first);
        EXPECT_EQ(rig.idle(), 40U);
        list.give(other, 48);
        list.give(second, 40);
        list.give(large, 100);
        list.give(tiny, 1);
        rig.context.garbage_collect();
        EXPECT_TRUE(rig.empty());
        list.give(list.take(64), 64);
        EXPECT_EQ(rig.idle(), 64U);
    }
    EXPECT_TRUE(rig.empty());
}

TEST(BlockFreeList, KeepsNoMoreThanItsLimit) {
    Rig rig;
    BlockFreeList list{rig.context, MemoryKind::chunk, 100};
    void* const one = list.take(60);
    void* const two = list.take(60);
    void* const three = list.take(40);
    list.give(one, 60);
    list.give(two, 60);
    EXPECT_EQ(rig.idle(), 60U);
    list.give(three, 40);
    EXPECT_EQ(rig.idle(), 100U);
    EXPECT_EQ(rig.held(MemoryKind::chunk), 100U);
    list.reclaim();
    EXPECT_TRUE(rig.empty());
}

TEST(ArrayFreeList, ArraysByCount) {
    Rig rig;
    {
        ArrayFreeList<std::uint32_t> list{rig.context, MemoryKind::type};
        std::uint32_t* const eight = list.take(8);
        std::uint32_t* const ten = list.take(10);
        ASSERT_TRUE(eight != nullptr && ten != nullptr);
        list.give(eight, 8);
        list.give(ten, 10);
        EXPECT_EQ(list.idle_bytes(), 72U);
        EXPECT_EQ(list.take(10), ten);
        EXPECT_TRUE(list.take(~std::size_t{0} / 2) == nullptr);
        EXPECT_EQ(list.take(8), eight);
        list.give(ten, 10);
        list.give(eight, 8);
        list.reclaim();
        EXPECT_EQ(list.idle_bytes(), 0U);
    }
    EXPECT_TRUE(rig.empty());
}

}  // namespace
