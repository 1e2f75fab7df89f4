#include <h5mote/arena.hpp>

#include "test.hpp"

#include <cstring>

#if H5MOTE_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace {

using namespace h5mote;

constexpr std::size_t kSize = 1024;
alignas(16) std::byte memory[kSize + 16];

Bytes buffer() noexcept { return Bytes(memory, kSize); }

std::size_t used(const Arena& arena) noexcept { return arena.usage().now; }

TEST(Arena, BlockSizeIsExact) {
    static_assert(arena_block_size(1) == 8 && arena_block_size(8) == 8 && arena_block_size(9) == 16);
    Arena arena{buffer()};
    EXPECT_EQ(arena.capacity(), kSize - kArenaOverhead);
    EXPECT_EQ(arena.largest_free(), kSize);
    for (std::size_t size = 0; size <= 100; ++size) {
        const std::size_t before = used(arena);
        void* const block = arena.allocate(size, 8);
        ASSERT_TRUE(block != nullptr);
        EXPECT_EQ(used(arena) - before, arena_block_size(size));
        arena.release(block, size);
        EXPECT_EQ(used(arena), before);
    }
    // Blocks whose sizes add up to exactly what the formula says must all fit, to the last byte.
    constexpr std::size_t kSizes[] = {24, 1, 100, 40};
    std::size_t need = kArenaOverhead;
    for (const std::size_t size : kSizes) {
        need += arena_block_size(size);
    }
    Arena exact{Bytes(memory, need)};
    for (const std::size_t size : kSizes) {
        EXPECT_TRUE(exact.allocate(size, 8) != nullptr);
    }
    EXPECT_EQ(exact.largest_free(), 0U);
    EXPECT_TRUE(exact.allocate(1, 1) == nullptr);
    EXPECT_TRUE(exact.check());
}

TEST(Arena, OverAnArrayAndOverOddBuffers) {
    Arena whole{memory};
    EXPECT_EQ(whole.capacity(), sizeof memory);
    Arena odd{Bytes(memory + 3, 64)};
    EXPECT_EQ(odd.capacity(), 56U);
    EXPECT_EQ(odd.allocate(56, 8), static_cast<void*>(memory + 8));
    EXPECT_TRUE(odd.check());
    for (std::size_t size = 0; size < kArenaGranule; size += kArenaGranule - 1) {
        Arena none{Bytes(memory, size)};
        EXPECT_EQ(none.capacity(), 0U);
        EXPECT_TRUE(none.allocate(1) == nullptr);
        EXPECT_TRUE(none.allocate(0) == nullptr);
        EXPECT_TRUE(none.check());
    }
    Arena null{Bytes{}};
    EXPECT_TRUE(null.allocate(1) == nullptr);
}

TEST(Arena, RefusesWhatDoesNotFit) {
    Arena arena{buffer()};
    EXPECT_TRUE(arena.allocate(kSize + 1) == nullptr);
    EXPECT_TRUE(arena.allocate(~std::size_t{0}) == nullptr);
    EXPECT_TRUE(arena.allocate(~std::size_t{0} - 7) == nullptr);
    void* const all = arena.allocate(kSize, 8);
    ASSERT_TRUE(all != nullptr);
    EXPECT_TRUE(arena.allocate(1) == nullptr);
    EXPECT_TRUE(arena.resize(all, kSize, kSize + 1) == nullptr);
    EXPECT_TRUE(arena.resize(all, kSize, ~std::size_t{0}) == nullptr);
    EXPECT_EQ(used(arena), kSize);
    arena.release(nullptr, 10);
    arena.release(all, kSize);
    EXPECT_EQ(used(arena), 0U);
    EXPECT_EQ(arena.usage().peak, kSize);
    EXPECT_TRUE(arena.check());
}

TEST(Arena, EveryOrderOfReleaseMerges) {
    constexpr unsigned kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const auto& order : kOrders) {
        Arena arena{buffer()};
        void* blocks[3];
        for (void*& block : blocks) {
            block = arena.allocate(40, 8);
        }
        for (const unsigned i : order) {
            arena.release(blocks[i], 40);
            EXPECT_TRUE(arena.check());
        }
        EXPECT_EQ(arena.largest_free(), kSize);
    }
}

TEST(Arena, Alignment) {
    Arena arena{Bytes(memory + 8, kSize)};
    for (std::size_t alignment = 1; alignment <= alignof(std::max_align_t); alignment *= 2) {
        for (std::size_t size = 1; size < 30; size += 9) {
            void* const block = arena.allocate(size, alignment);
            ASSERT_TRUE(block != nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
            EXPECT_TRUE(arena.check());
        }
    }
    // The bytes skipped for the alignment are free, not lost.
    void* const plain = arena.allocate(16);
    ASSERT_TRUE(plain != nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plain) % alignof(std::max_align_t), 0U);
}

TEST(Arena, ResizeInPlace) {
    Arena arena{buffer()};
    void* const first = arena.allocate(64, 8);
    void* const second = arena.allocate(64, 8);
    void* const third = arena.allocate(64, 8);
    EXPECT_EQ(arena.resize(first, 64, 20), first);
    EXPECT_EQ(used(arena), 24U + 128U);
    EXPECT_EQ(arena.resize(first, 20, 21), first);
    EXPECT_EQ(used(arena), 24U + 128U);
    EXPECT_EQ(arena.resize(first, 21, 60), first);
    EXPECT_EQ(used(arena), 192U);
    arena.release(second, 64);
    EXPECT_EQ(arena.resize(first, 60, 128), first);
    EXPECT_EQ(arena.resize(third, 64, 500), third);
    EXPECT_EQ(used(arena), 128U + 504U);
    EXPECT_TRUE(arena.check());
    arena.release(first, 128);
    arena.release(third, 500);
    EXPECT_EQ(arena.largest_free(), kSize);
}

TEST(Arena, ResizeMoves) {
    Arena arena{buffer()};
    auto* const first = static_cast<unsigned char*>(arena.allocate(40, 8));
    void* const wall = arena.allocate(8, 8);
    for (unsigned char i = 0; i < 40; ++i) {
        first[i] = i;
    }
    auto* const moved = static_cast<unsigned char*>(arena.resize(first, 40, 48));
    ASSERT_TRUE(moved != nullptr);
    EXPECT_NE(moved, first);
    for (unsigned char i = 0; i < 40; ++i) {
        EXPECT_EQ(moved[i], i);
    }
    EXPECT_EQ(used(arena), 56U);
    // A resize that is refused leaves the old block and its contents as they were.
    EXPECT_TRUE(arena.resize(moved, 48, kSize) == nullptr);
    EXPECT_EQ(moved[39], 39);
    EXPECT_EQ(used(arena), 56U);
    void* const fresh = arena.resize(nullptr, 0, 16);
    EXPECT_TRUE(fresh != nullptr);
    arena.release(fresh, 16);
    arena.release(moved, 48);
    arena.release(wall, 8);
    EXPECT_EQ(arena.largest_free(), kSize);
    EXPECT_TRUE(arena.check());
}

// Arena::check() must notice a damaged heap: the test with random work below relies on it.
TEST(Arena, CheckFindsDamage) {
    Arena arena{buffer()};
    void* const first = arena.allocate(32, 8);
    void* const second = arena.allocate(32, 8);
    ASSERT_TRUE(second != nullptr);
    arena.release(first, 32);
    EXPECT_TRUE(arena.check());
#if H5MOTE_POISON
    __asan_unpoison_memory_region(first, 8);
#endif
    std::byte kept[8];
    std::memcpy(kept, first, 8);
    const std::uint32_t damages[][2] = {{40, 64}, {24, 64}, {0, 64}, {33, 64}, {32, 0}, {32, 60}, {32, 4096}, {64, 64}};
    for (const auto& damage : damages) {
        std::memcpy(first, damage, 8);
        EXPECT_FALSE(arena.check());
    }
    std::memcpy(first, kept, 8);
    EXPECT_TRUE(arena.check());
    arena.release(second, 40);  // a larger size than was allocated
    EXPECT_FALSE(arena.check());
}

struct Random {
    std::uint32_t state;
    std::uint32_t below(std::uint32_t limit) noexcept {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return (state >> 8) % limit;
    }
};

struct Shadow {
    unsigned char* block;
    std::uint16_t size;
    unsigned char fill;
};

bool intact(const Shadow& shadow, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        if (shadow.block[i] != shadow.fill) {
            return false;
        }
    }
    return true;
}

// Random calls beside a model that knows the contents of each block: overlapping blocks would overwrite each other.
TEST(Arena, RandomWorkAgainstAModel) {
    constexpr unsigned kSlots = 24;
    constexpr unsigned kSteps = 20000;
    Random random{0x2545f491U};
    Arena arena{buffer()};
    Shadow shadows[kSlots] = {};
    std::size_t expected = 0;
    unsigned refused = 0;
    unsigned moved = 0;
    for (unsigned step = 0; step < kSteps; ++step) {
        Shadow& shadow = shadows[random.below(kSlots)];
        const auto size = static_cast<std::uint16_t>(random.below(random.below(8) == 0 ? 300 : 60));
        const auto fill = static_cast<unsigned char>(step);
        if (shadow.block == nullptr) {
            const std::size_t largest = arena.largest_free();
            void* const block = arena.allocate(size, 8);
            // A request is refused if and only if no free block is large enough.
            ASSERT_EQ(block == nullptr, arena_block_size(size) > largest);
            refused += block == nullptr ? 1 : 0;
            shadow = {static_cast<unsigned char*>(block), size, fill};
        } else if (random.below(3) == 0) {
            void* const block = arena.resize(shadow.block, shadow.size, size);
            if (block == nullptr) {
                ASSERT_TRUE(arena_block_size(size) > arena_block_size(shadow.size));
                ASSERT_TRUE(intact(shadow, shadow.size));
                ++refused;
                continue;
            }
            moved += block == shadow.block ? 0 : 1;
            expected -= arena_block_size(shadow.size);
            shadow.block = static_cast<unsigned char*>(block);
            ASSERT_TRUE(intact(shadow, shadow.size < size ? shadow.size : size));
            shadow = {shadow.block, size, fill};
        } else {
            ASSERT_TRUE(intact(shadow, shadow.size));
            arena.release(shadow.block, shadow.size);
            expected -= arena_block_size(shadow.size);
            shadow.block = nullptr;
        }
        if (shadow.block != nullptr) {
            expected += arena_block_size(size);
            std::memset(shadow.block, fill, size);
        }
        ASSERT_EQ(used(arena), expected);
        ASSERT_TRUE(arena.check());
    }
    EXPECT_GT(refused, 100U);
    EXPECT_GT(moved, 100U);
    for (Shadow& shadow : shadows) {
        if (shadow.block != nullptr) {
            EXPECT_TRUE(intact(shadow, shadow.size));
        }
        arena.release(shadow.block, shadow.size);
    }
    EXPECT_EQ(used(arena), 0U);
    EXPECT_EQ(arena.largest_free(), kSize);
    EXPECT_TRUE(arena.check());
}

#if H5MOTE_POISON

bool poisoned(const void* from, std::size_t size) noexcept {
    return __asan_region_is_poisoned(const_cast<void*>(from), size) != nullptr;
}

TEST(Arena, SanitizersSeeWhatIsFree) {
    Arena arena{buffer()};
    const auto all_of = [&](std::size_t from, std::size_t to) noexcept {
        bool all = true;
        for (std::size_t i = from; i < to; ++i) {
            all = all && poisoned(memory + i, 1);
        }
        return all;
    };
    EXPECT_TRUE(all_of(0, kSize));
    auto* const first = static_cast<std::byte*>(arena.allocate(13));
    auto* const second = static_cast<std::byte*>(arena.allocate(100));
    EXPECT_FALSE(poisoned(first, 13));
    EXPECT_FALSE(poisoned(second, 100));
    // Poisoned: the bytes that round a block up, and all free memory with the list of free blocks in it.
    EXPECT_TRUE(all_of(13, static_cast<std::size_t>(second - memory)));
    EXPECT_TRUE(all_of(static_cast<std::size_t>(second - memory) + 100, kSize));
    std::memset(second, 7, 100);
    auto* const grown = static_cast<std::byte*>(arena.resize(second, 100, 107));
    EXPECT_EQ(grown, second);
    EXPECT_FALSE(poisoned(grown, 107));
    EXPECT_TRUE(poisoned(grown + 107, 1));
    EXPECT_EQ(grown[99], std::byte{7});
    EXPECT_EQ(arena.resize(grown, 107, 21), grown);
    EXPECT_FALSE(poisoned(grown, 21));
    EXPECT_TRUE(all_of(static_cast<std::size_t>(grown - memory) + 21, kSize));
    arena.release(first, 13);
    EXPECT_TRUE(all_of(0, static_cast<std::size_t>(grown - memory)));
    EXPECT_FALSE(poisoned(grown, 21));
    EXPECT_TRUE(arena.check());
    arena.release(grown, 21);
    EXPECT_TRUE(all_of(0, kSize));
}

TEST(Arena, LeavesItsBufferAsItWas) {
    {
        Arena arena{buffer()};
        EXPECT_TRUE(poisoned(memory, 1));
        EXPECT_TRUE(arena.allocate(3) != nullptr);
    }
    EXPECT_FALSE(poisoned(memory, kSize));
}

#endif

}  // namespace
