// Tests of the test drivers and allocators themselves: faults that they do not inject would prove nothing.
#include <h5mote/arena.hpp>
#include <h5mote/vfd/memory.hpp>

#include "counting_driver.hpp"
#include "failing_driver.hpp"
#include "test.hpp"
#include "test_allocators.hpp"

#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

alignas(16) std::byte memory[512];
const std::byte kTen[10] = {std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1},
                            std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}};

TEST(ForwardingDriver, StandsForTheInnerOne) {
    MemoryDriver inner{memory};
    CountingDriver counting{inner};
    FailingDriver failing{counting};
    EXPECT_TRUE(failing.same_storage(inner));
    EXPECT_EQ(failing.capabilities().atomic_unit, 512U);
    EXPECT_EQ(failing.lock(true), Status::ok);
    EXPECT_EQ(failing.unlock(), Status::ok);
    EXPECT_EQ(&failing.inner(), &counting);
}

TEST(CountingDriver, CountsByUsage) {
    MemoryDriver inner{memory};
    CountingDriver driver{inner};
    std::byte bytes[10];
    EXPECT_EQ(driver.write(Usage::raw_data, 0, kTen), Status::ok);
    EXPECT_EQ(driver.write(Usage::raw_data, 10, ConstBytes(kTen, 4)), Status::ok);
    EXPECT_EQ(driver.write(Usage::object_header, 14, ConstBytes(kTen, 1)), Status::ok);
    EXPECT_EQ(driver.read(Usage::superblock, 5, Bytes(bytes)), Status::ok);
    EXPECT_EQ(driver.read(Usage::superblock, 6, Bytes(bytes)), Status::io_error);
    EXPECT_EQ(driver.write(Usage::btree, 510, kTen), Status::no_space);
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(driver.truncate(5), Status::ok);
    EXPECT_EQ(driver.of(Usage::raw_data).writes, 2U);
    EXPECT_EQ(driver.of(Usage::raw_data).bytes_written, 14U);
    EXPECT_EQ(driver.of(Usage::superblock).reads, 2U);
    EXPECT_EQ(driver.of(Usage::superblock).bytes_read, 10U);
    EXPECT_EQ(driver.of(Usage::btree).writes, 1U);
    EXPECT_EQ(driver.of(Usage::btree).bytes_written, 0U);
    EXPECT_EQ(driver.total().writes, 4U);
    EXPECT_EQ(driver.total().bytes_written, 15U);
    EXPECT_EQ(driver.syncs(), 1U);
    EXPECT_EQ(driver.truncates(), 1U);
    driver.reset();
    EXPECT_EQ(driver.total().reads + driver.total().writes + driver.syncs() + driver.truncates(), 0U);
}

TEST(FailingDriver, FailsOnceOrForGood) {
    MemoryDriver inner{memory};
    FailingDriver driver{inner};
    DriverFault fault;
    fault.at = 2;
    driver.arm(fault);
    EXPECT_EQ(driver.write(Usage::raw_data, 0, kTen), Status::ok);
    EXPECT_EQ(driver.sync(), Status::io_error);
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(driver.calls(), 3U);
    EXPECT_EQ(driver.failures(), 1U);

    fault.persistent = true;
    fault.status = Status::no_space;
    driver.arm(fault);
    std::uint64_t size = 0;
    std::byte bytes[1];
    EXPECT_EQ(driver.end_of_file(size), Status::ok);
    EXPECT_EQ(driver.truncate(3), Status::no_space);
    EXPECT_EQ(driver.read(Usage::raw_data, 0, Bytes(bytes)), Status::no_space);
    EXPECT_EQ(driver.lock(false), Status::no_space);
    EXPECT_EQ(driver.failures(), 3U);
    driver.disarm();
    EXPECT_EQ(driver.lock(false), Status::ok);
    fault.at = 1;
    driver.arm(fault);
    EXPECT_EQ(driver.unlock(), Status::no_space);
    EXPECT_EQ(driver.failures(), 1U);
    driver.disarm();
    EXPECT_EQ(driver.end_of_file(size), Status::ok);
    EXPECT_EQ(size, 10U);
}

TEST(FailingDriver, SelectsKindsOfCalls) {
    MemoryDriver inner{memory};
    FailingDriver driver{inner};
    DriverFault fault;
    fault.at = 1;
    fault.calls = kSyncCall | kTruncateCall;
    driver.arm(fault);
    EXPECT_EQ(driver.write(Usage::raw_data, 0, kTen), Status::ok);
    EXPECT_EQ(driver.calls(), 0U);
    EXPECT_EQ(driver.truncate(3), Status::io_error);
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(driver.calls(), 2U);
    EXPECT_EQ(inner.contents().size(), 10U);
}

TEST(FailingDriver, TornWrite) {
    MemoryDriver inner{memory};
    FailingDriver driver{inner};
    DriverFault fault;
    fault.at = 1;
    fault.torn_bytes = 6;
    driver.arm(fault);
    EXPECT_EQ(driver.write(Usage::raw_data, 0, kTen), Status::io_error);
    EXPECT_EQ(inner.contents().size(), 6U);
    fault.status = Status::no_space;
    driver.arm(fault);
    EXPECT_EQ(driver.write(Usage::raw_data, 20, kTen), Status::no_space);
    EXPECT_EQ(inner.contents().size(), 6U);
}

TEST(FailingAllocator, CountsAllocationsAndGrowth) {
    Arena arena{memory};
    FailingAllocator allocator{arena};
    allocator.arm(2, false);
    void* block = allocator.allocate(16);
    EXPECT_TRUE(block != nullptr);
    EXPECT_TRUE(allocator.resize(block, 16, 32) == nullptr);
    EXPECT_TRUE(allocator.resize(block, 16, 8) != nullptr);
    EXPECT_EQ(allocator.calls(), 2U);
    block = allocator.resize(block, 8, 32);
    EXPECT_TRUE(block != nullptr);
    EXPECT_EQ(allocator.failures(), 1U);
    EXPECT_EQ(allocator.usage().now, 32U);
    allocator.release(block, 32);
    EXPECT_EQ(arena.usage().now, 0U);
}

TEST(TrackingAllocator, FindsLeaksAndMisuse) {
    Arena arena{memory};
    TrackingAllocator allocator{arena};
    auto* const block = static_cast<unsigned char*>(allocator.allocate(20));
    ASSERT_TRUE(block != nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    EXPECT_EQ(block[19], 0xa5);
    EXPECT_EQ(allocator.blocks(), 1U);
    EXPECT_EQ(allocator.bytes(), 20U);
    allocator.release(block, 19);
    EXPECT_EQ(allocator.errors(), 1U);
    block[20] = 0;
    allocator.release(block, 20);
    EXPECT_EQ(allocator.errors(), 2U);
    EXPECT_EQ(allocator.blocks(), 1U);
    block[20] = 0xc9;
    block[-9] = 0;  // the canary in front, on every byte order
    block[-10] = 0;
    block[-11] = 0;
    block[-12] = 0;
    allocator.release(block, 20);
    EXPECT_EQ(allocator.errors(), 3U);
    std::memset(block - 12, 0xc9, 4);
    allocator.release(block, 20);
    EXPECT_EQ(allocator.errors(), 3U);
    EXPECT_EQ(allocator.blocks(), 0U);
    EXPECT_EQ(arena.usage().now, 0U);
#if !H5MOTE_POISON  // with poisoned memory, reading a released block is an error by itself
    allocator.release(block, 20);
    EXPECT_EQ(allocator.errors(), 4U);
#endif
    EXPECT_TRUE(arena.check());
}

TEST(TrackingAllocator, ResizeAlwaysMoves) {
    Arena arena{memory};
    TrackingAllocator allocator{arena};
    auto* const block = static_cast<unsigned char*>(allocator.allocate(20));
    std::memset(block, 7, 20);
    auto* const moved = static_cast<unsigned char*>(allocator.resize(block, 20, 24));
    ASSERT_TRUE(moved != nullptr);
    EXPECT_NE(moved, block);
    EXPECT_EQ(moved[19], 7);
    EXPECT_EQ(moved[20], 0xa5);
    EXPECT_EQ(allocator.bytes(), 24U);
    EXPECT_TRUE(allocator.resize(moved, 24, 2000) == nullptr);
    EXPECT_TRUE(allocator.allocate(~std::size_t{0}) == nullptr);
    allocator.release(moved, 24);
    EXPECT_EQ(allocator.errors(), 0U);
    EXPECT_EQ(allocator.blocks(), 0U);
    EXPECT_EQ(allocator.usage().peak, 44U);
}

}  // namespace
