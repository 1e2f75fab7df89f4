#include <h5mote/port/malloc.hpp>
#include <h5mote/port/posix.hpp>
#include "test.hpp"

#include <cstring>

using h5mote::MallocAllocator;

// A MallocAllocator counts the blocks that are in use. On a board malloc() has no memory, which is tested first.
TEST(MallocAllocator, CountsWhatIsHeld) {
    MallocAllocator allocator;
    void* const first = allocator.allocate(100);
#ifdef H5MOTE_BARE_TESTS
    EXPECT_EQ(first, nullptr);
    EXPECT_EQ(allocator.usage().peak, 0U);
#else
    ASSERT_NE(first, nullptr);
    void* const second = allocator.allocate(50);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(allocator.usage().now, 150U);
    EXPECT_EQ(allocator.blocks(), 2U);
    allocator.release(first, 100);
    EXPECT_EQ(allocator.usage().now, 50U);
    EXPECT_EQ(allocator.usage().peak, 150U);
    std::memset(second, 7, 50);
    void* const grown = allocator.resize(second, 50, 5000);
    ASSERT_NE(grown, nullptr);
    EXPECT_EQ(static_cast<unsigned char*>(grown)[49], 7);
    EXPECT_EQ(allocator.usage().now, 5000U);
    allocator.release(grown, 5000);
    EXPECT_EQ(allocator.usage().now, 0U);
    EXPECT_EQ(allocator.blocks(), 0U);
#endif
}

TEST(MallocAllocator, RefusesBeyondItsLimit) {
    MallocAllocator allocator(100);
    EXPECT_EQ(allocator.allocate(101), nullptr);
    EXPECT_EQ(allocator.usage().now, 0U);
#ifndef H5MOTE_BARE_TESTS
    void* const held = allocator.allocate(60);
    ASSERT_NE(held, nullptr);
    EXPECT_EQ(allocator.allocate(41), nullptr);
    EXPECT_EQ(allocator.resize(held, 60, 101), nullptr);
    EXPECT_EQ(allocator.usage().now, 60U);
    void* const resized = allocator.resize(held, 60, 100);
    ASSERT_NE(resized, nullptr);
    allocator.release(resized, 100);
    EXPECT_EQ(allocator.blocks(), 0U);
#endif
}

TEST(PosixPort, KnowsTheTime) {
    h5mote::PosixPort port;
    const std::uint32_t now = port.time();
    EXPECT_GT(now, 1600000000U);  // on a board, semihosting gives the host's clock
    EXPECT_LE(now, port.time());
}
