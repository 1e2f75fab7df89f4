// The FreeRTOS port, run on a host over a stand-in for the kernel: an interrupt hands samples to the task that writes,
// while another task reads.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/freertos.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "thread.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <atomic>

#if H5MOTE_WRITE

using namespace h5mote;
using h5mote_test::Thread;

TEST(FreeRtos, SamplesComeFromAnInterruptToTheTaskThatWrites) {
    constexpr std::int32_t kSamples = 5000;
    FreeRtosPort port;
    ASSERT_TRUE(port.valid());
    MallocAllocator allocator, storage;
    Library library{allocator, port};
    GrowingMemoryDriver driver{storage};
    auto file = File::create(library, driver);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {64};
    auto log = file->root().create_dataset<std::int32_t>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    FreeRtosSamples<std::int32_t, 32> samples;
    std::atomic<bool> ended{false};
    std::atomic<std::int32_t> taken{0};
    auto interrupt = [&] {
        for (std::int32_t i = 0; i < kSamples; ++i) {
            // A real interrupt cannot wait; this one waits until there is room, so that no sample is lost.
            while (i - taken >= 32) {
                ::sched_yield();
            }
            samples.put_from_interrupt(i);
        }
    };
    auto write = [&] {
        for (std::int32_t i = 0; i < kSamples; ++i) {
            std::int32_t sample = 0;
            ASSERT_TRUE(samples.take(sample, 10000));
            ++taken;
            ASSERT_EQ(sample, i);
            ASSERT_EQ(log->append(sample), Status::ok);
            if (i % 256 == 255) {
                ASSERT_EQ(file->flush(), Status::ok);
            }
        }
        ended = true;
    };
    auto read = [&] {
        while (!ended) {
            auto mine = file->root().open_dataset<std::int32_t>("log");
            ASSERT_EQ(mine.status(), Status::ok);
            ASSERT_LE(mine->size(), std::uint64_t{kSamples});
        }
    };
    { const Thread a(write), b(read), c(interrupt); }
    EXPECT_EQ(samples.lost(), 0U);
    EXPECT_EQ(log->size(), std::uint64_t{kSamples});
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

TEST(FreeRtos, SamplesWithoutRoomAreCounted) {
    FreeRtosSamples<std::int32_t, 4> samples;
    for (std::int32_t i = 0; i < 6; ++i) {
        samples.put_from_interrupt(i);
    }
    EXPECT_EQ(samples.lost(), 2U);
    std::int32_t sample = 0;
    for (std::int32_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(samples.take(sample, 0));
        EXPECT_EQ(sample, i);
    }
    EXPECT_FALSE(samples.take(sample, 1));
}

TEST(FreeRtos, TimeGoesOnFromWhereItWasSet) {
    stand_in_ticks = 5000;
    FreeRtosPort port;
    EXPECT_EQ(port.time(), 0U);
    port.set_time(1700000000);
    EXPECT_EQ(port.time(), 1700000000U);
    stand_in_ticks = 7999;
    EXPECT_EQ(port.time(), 1700000002U);
    // The kernel's tick count wraps around.
    stand_in_ticks = 0xfffffc18;
    port.set_time(1700000000);
    stand_in_ticks = 1000;
    EXPECT_EQ(port.time(), 1700000002U);
}

#endif
