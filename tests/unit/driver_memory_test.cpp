#include <h5mote/arena.hpp>
#include <h5mote/vfd/memory.hpp>

#include "test.hpp"
#include "test_allocators.hpp"

#include <cstring>

namespace {

using namespace h5mote;

constexpr Usage kRaw = Usage::raw_data;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

alignas(16) std::byte memory[768];

// Writes `count` bytes of `value` at `address`.
Status write_filled(Driver& driver, std::uint64_t address, unsigned char value, std::size_t count) noexcept {
    std::byte bytes[64];
    std::memset(bytes, value, sizeof bytes);
    return driver.write(kRaw, address, {bytes, count});
}

std::uint64_t length(Driver& driver) noexcept {
    std::uint64_t size = 0;
    return driver.end_of_file(size) == Status::ok ? size : kMost;
}

bool all(ConstBytes bytes, unsigned char value) noexcept {
    for (const std::byte each : bytes) {
        if (each != std::byte{value}) {
            return false;
        }
    }
    return true;
}

TEST(MemoryDriver, WritesAndReads) {
    std::memset(memory, 0xdd, sizeof memory);
    MemoryDriver driver{Bytes(memory, 200)};
    EXPECT_EQ(length(driver), 0U);
    EXPECT_EQ(driver.capabilities().atomic_unit, 512U);
    EXPECT_TRUE(driver.capabilities().writable);
    EXPECT_EQ(write_filled(driver, 10, 0x11, 20), Status::ok);
    EXPECT_EQ(length(driver), 30U);
    EXPECT_TRUE(all(driver.contents().first(10), 0));
    EXPECT_EQ(write_filled(driver, 5, 0x22, 10), Status::ok);
    EXPECT_EQ(length(driver), 30U);
    std::byte read[25];
    EXPECT_EQ(driver.read(kRaw, 5, Bytes(read)), Status::ok);
    EXPECT_TRUE(all({read, 10}, 0x22));
    EXPECT_TRUE(all({read + 10, 15}, 0x11));
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(driver.lock(true), Status::ok);
    EXPECT_EQ(driver.unlock(), Status::ok);
}

TEST(MemoryDriver, ReadsNothingPastTheEnd) {
    MemoryDriver driver{memory, 100};
    std::byte read[8];
    EXPECT_EQ(driver.read(kRaw, 92, Bytes(read)), Status::ok);
    EXPECT_EQ(driver.read(kRaw, 93, Bytes(read)), Status::io_error);
    EXPECT_EQ(driver.read(kRaw, kMost - 3, Bytes(read)), Status::io_error);
    EXPECT_EQ(driver.read(kRaw, 100, Bytes(read, 0)), Status::ok);
    EXPECT_EQ(driver.read(kRaw, 101, Bytes(read, 0)), Status::io_error);
}

TEST(MemoryDriver, FullBufferChangesNothing) {
    std::memset(memory, 0xdd, sizeof memory);
    MemoryDriver driver{Bytes(memory, 64)};
    EXPECT_EQ(write_filled(driver, 0, 0x33, 60), Status::ok);
    EXPECT_EQ(write_filled(driver, 60, 0x44, 5), Status::no_space);
    EXPECT_EQ(write_filled(driver, kMost - 2, 0x44, 5), Status::no_space);
    EXPECT_EQ(write_filled(driver, std::uint64_t{1} << 32, 0x44, 5), Status::no_space);
    EXPECT_EQ(driver.truncate(65), Status::no_space);
    EXPECT_EQ(driver.truncate(kMost), Status::no_space);
    EXPECT_EQ(length(driver), 60U);
    EXPECT_TRUE(all(driver.contents(), 0x33));
    EXPECT_EQ(write_filled(driver, 60, 0x55, 4), Status::ok);
    EXPECT_TRUE(all({memory + 64, 8}, 0xdd));
}

TEST(MemoryDriver, TruncateFillsWithZeros) {
    MemoryDriver driver{memory};
    EXPECT_EQ(write_filled(driver, 0, 0x66, 40), Status::ok);
    EXPECT_EQ(driver.truncate(10), Status::ok);
    EXPECT_EQ(length(driver), 10U);
    EXPECT_EQ(driver.truncate(30), Status::ok);
    EXPECT_TRUE(all(driver.contents().first(10), 0x66));
    EXPECT_TRUE(all(driver.contents().subspan(10), 0));
    EXPECT_EQ(driver.truncate(5), Status::ok);
    EXPECT_EQ(write_filled(driver, 20, 0x77, 10), Status::ok);
    EXPECT_TRUE(all(driver.contents().subspan(5, 15), 0));
    // An empty write does not make a file longer.
    EXPECT_EQ(write_filled(driver, 500, 0, 0), Status::ok);
    EXPECT_EQ(length(driver), 30U);
}

TEST(MemoryDriver, ReadOnly) {
    static constexpr std::byte kImage[4] = {std::byte{9}, std::byte{8}, std::byte{7}, std::byte{6}};
    MemoryDriver driver = MemoryDriver::reading(kImage);
    EXPECT_FALSE(driver.capabilities().writable);
    EXPECT_EQ(length(driver), 4U);
    EXPECT_EQ(write_filled(driver, 0, 1, 1), Status::read_only);
    EXPECT_EQ(write_filled(driver, 0, 1, 0), Status::read_only);
    EXPECT_EQ(driver.truncate(2), Status::read_only);
    EXPECT_EQ(driver.truncate(4), Status::read_only);
    std::byte read[1];
    EXPECT_EQ(driver.read(kRaw, 3, Bytes(read)), Status::ok);
    EXPECT_EQ(read[0], std::byte{6});
    MemoryDriver buffer{memory, 8, MemoryAccess::read_only};
    EXPECT_EQ(write_filled(buffer, 0, 1, 1), Status::read_only);
}

TEST(MemoryDriver, KnowsItself) {
    MemoryDriver one{memory};
    MemoryDriver two{memory};
    EXPECT_TRUE(one.same_storage(one));
    EXPECT_FALSE(one.same_storage(two));
}

TEST(GrowingMemoryDriver, GrowsAndGivesBack) {
    Arena arena{memory};
    {
        GrowingMemoryDriver driver{arena};
        EXPECT_EQ(length(driver), 0U);
        EXPECT_EQ(arena.usage().now, 0U);
        for (unsigned char i = 0; i < 60; ++i) {
            ASSERT_EQ(write_filled(driver, i * 10U, i, 10), Status::ok);
        }
        EXPECT_EQ(length(driver), 600U);
        for (unsigned char i = 0; i < 60; ++i) {
            EXPECT_TRUE(all(driver.contents().subspan(i * 10U, 10), i));
        }
        // The arena has 768 bytes, of which 600 are in use. Growing to 900 is refused, growing to what is needed is
        // not.
        EXPECT_EQ(driver.truncate(700), Status::ok);
        EXPECT_TRUE(all(driver.contents().subspan(600), 0));
        EXPECT_EQ(driver.truncate(800), Status::no_space);
        EXPECT_EQ(length(driver), 700U);
        EXPECT_EQ(driver.truncate(kMost), Status::no_space);
    }
    EXPECT_EQ(arena.usage().now, 0U);
    EXPECT_TRUE(arena.check());
}

TEST(GrowingMemoryDriver, GrowsInProportion) {
    Arena arena{memory};
    h5mote_test::FailingAllocator counting{arena};
    GrowingMemoryDriver driver{counting};
    for (std::size_t i = 0; i < 500; ++i) {
        ASSERT_EQ(write_filled(driver, i, 1, 1), Status::ok);
    }
    EXPECT_LT(counting.calls(), 20U);
}

TEST(GrowingMemoryDriver, RefusedGrowthChangesNothing) {
    Arena arena{memory};
    h5mote_test::FailingAllocator failing{arena};
    GrowingMemoryDriver driver{failing};
    failing.arm(1, true);
    EXPECT_EQ(write_filled(driver, 0, 1, 10), Status::no_space);
    EXPECT_EQ(length(driver), 0U);
    failing.disarm();
    EXPECT_EQ(write_filled(driver, 0, 1, 40), Status::ok);
    failing.arm(1, true);
    EXPECT_EQ(write_filled(driver, 30, 2, 20), Status::no_space);
    EXPECT_EQ(length(driver), 40U);
    EXPECT_TRUE(all(driver.contents(), 1));
    // Only the first, generous request for memory is refused: the second asks for just what is needed.
    failing.arm(1, false);
    EXPECT_EQ(write_filled(driver, 40, 2, 1), Status::ok);
    EXPECT_EQ(failing.calls(), 2U);
}

TEST(GrowingMemoryDriver, Limit) {
    Arena arena{memory};
    GrowingMemoryDriver driver{arena, 50};
    EXPECT_EQ(write_filled(driver, 0, 1, 40), Status::ok);
    EXPECT_EQ(write_filled(driver, 40, 1, 10), Status::ok);
    EXPECT_EQ(write_filled(driver, 50, 1, 1), Status::no_space);
}

TEST(GrowingMemoryDriver, Assign) {
    static constexpr std::byte kImage[4] = {std::byte{9}, std::byte{8}, std::byte{7}, std::byte{6}};
    Arena arena{Bytes(memory, 256)};
    GrowingMemoryDriver driver{arena};
    EXPECT_EQ(driver.assign(kImage), Status::ok);
    EXPECT_NE(driver.contents().data(), kImage);
    EXPECT_EQ(write_filled(driver, 4, 5, 4), Status::ok);
    EXPECT_EQ(length(driver), 8U);
    EXPECT_EQ(driver.assign({}), Status::ok);
    EXPECT_EQ(length(driver), 0U);
    EXPECT_EQ(driver.assign(kImage, MemoryAccess::read_only), Status::ok);
    EXPECT_EQ(write_filled(driver, 0, 5, 4), Status::read_only);
    EXPECT_EQ(driver.contents()[3], std::byte{6});
    EXPECT_EQ(driver.assign({memory + 256, 300}), Status::no_space);
    EXPECT_EQ(length(driver), 4U);
}

}  // namespace
