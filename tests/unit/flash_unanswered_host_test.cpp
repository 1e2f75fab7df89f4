// A chip that sometimes answers neither reads nor whether a block is bad: the driver reports it instead of guessing.
#include <gtest/gtest.h>

#include "flash_chip.hpp"

#include <cstring>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
constexpr FlashGeometry kChip{32, 1024, 256, 4, 0xff};
constexpr FlashFormat kFormat{128, 12};
constexpr FlashOptions kOptions{8, false};

// Does not answer `count` reads and questions for bad blocks, from the `at`-th on.
class Unsure final : public FlashDevice {
public:
    explicit Unsure(FlashSimulator& chip) noexcept : chip_(chip) {}

    void arm(std::uint64_t at, std::uint64_t count = 1) noexcept {
        at_ = at;
        count_ = count;
        asked_ = 0;
    }
    bool failed() const noexcept { return at_ != 0 && asked_ >= at_; }

    FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept override {
        return silent() ? Status::io_error : chip_.read(block, offset, to);
    }
    Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept override {
        return chip_.program(block, offset, from);
    }
    Status erase(std::uint32_t block) noexcept override { return chip_.erase(block); }
    Status is_bad(std::uint32_t block, bool& bad) noexcept override {
        return silent() ? Status::io_error : chip_.is_bad(block, bad);
    }
    Status mark_bad(std::uint32_t block) noexcept override { return chip_.mark_bad(block); }

private:
    bool silent() noexcept { return asked_++ - (at_ - 1) < count_ && at_ != 0; }

    FlashSimulator& chip_;
    std::uint64_t at_ = 0;
    std::uint64_t count_ = 1;
    std::uint64_t asked_ = 0;
};

struct Rig {
    Rig() {
        EXPECT_EQ(driver.format(kFormat, kOptions), Status::ok);
        for (unsigned i = 1; i <= 60; ++i) {
            EXPECT_EQ(fill(i * 100 % 2000, i), Status::ok);
            EXPECT_EQ(driver.sync(), Status::ok);
        }
    }
    Status fill(std::uint64_t address, unsigned value) {
        std::byte bytes[200];
        std::memset(bytes, static_cast<int>(value), sizeof bytes);
        return driver.write(kRaw, address, bytes);
    }
    std::uint64_t size() {
        std::uint64_t size = 0;
        EXPECT_EQ(driver.end_of_file(size), Status::ok);
        return size;
    }

    FlashChip chip{kChip, kFormat, kOptions};
    Unsure unsure{chip.simulator};
    std::vector<std::uint64_t> work =
        std::vector<std::uint64_t>(FlashDriver::required_memory(kChip, kFormat, kOptions) / 8 + 1);
    FlashDriver driver{unsure, {reinterpret_cast<std::byte*>(work.data()), work.size() * 8}};
};

TEST(FlashUnanswered, BlocksAreNotMadeUp) {
    Rig rig;
    unsigned told = 0;
    for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
        FlashBlockInfo expected;
        ASSERT_EQ(rig.driver.block_info(block, expected), Status::ok);
        for (std::uint64_t at = 1;; ++at) {
            rig.unsure.arm(at);
            FlashBlockInfo info;
            const Status status = rig.driver.block_info(block, info);
            const bool failed = rig.unsure.failed();
            rig.unsure.arm(0);
            if (status == Status::ok) {
                EXPECT_EQ(info.state, expected.state) << block << " " << at;
                EXPECT_EQ(info.known, expected.known) << block << " " << at;
                EXPECT_EQ(info.erases, expected.erases) << block << " " << at;
                EXPECT_EQ(info.live_bytes, expected.live_bytes) << block << " " << at;
            } else {
                EXPECT_EQ(status, Status::io_error);
                ++told;
            }
            if (!failed) {
                break;
            }
        }
    }
    EXPECT_GT(told, 100U);
}

// A freshly formatted device is empty when it is mounted, whatever was on it before.
TEST(FlashUnanswered, AFormattedDeviceIsEmpty) {
    unsigned refused = 0;
    for (std::uint64_t at = 1;; ++at) {
        Rig rig;
        rig.unsure.arm(at, 5);
        const Status status = rig.driver.format(kFormat, kOptions);
        const bool failed = rig.unsure.failed();
        rig.unsure.arm(0);
        EXPECT_TRUE(status == Status::ok || (failed && status == Status::io_error)) << at;
        refused += status != Status::ok ? 1 : 0;
        if (status == Status::ok) {
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << at;
            EXPECT_EQ(rig.size(), 0U) << at;
        }
        if (!failed) {
            break;
        }
    }
    EXPECT_GT(refused, 10U);
}

// A good block that is skipped because the chip did not answer must not be counted as one of the bad blocks expected
// later: the driver must not believe in more free blocks than there are.
TEST(FlashUnanswered, NoMoreBlocksAreFreeThanThereAre) {
    unsigned failures = 0;
    for (std::uint64_t at = 1; at < 4000; at += 3) {
        FlashChip chip{kChip, kFormat, kOptions};
        Unsure unsure{chip.simulator};
        std::vector<std::uint64_t> work(FlashDriver::required_memory(kChip, kFormat, kOptions) / 8 + 1);
        FlashDriver driver{unsure, {reinterpret_cast<std::byte*>(work.data()), work.size() * 8}};
        for (const std::uint32_t block : {5U, 11U, 12U, 20U}) {
            chip.simulator.set_bad(block);
        }
        ASSERT_EQ(driver.format(kFormat, kOptions), Status::ok);
        unsure.arm(at);
        std::byte bytes[200];
        for (unsigned i = 1; i <= 80; ++i) {
            std::memset(bytes, static_cast<int>(i), sizeof bytes);
            for (Status status = Status::io_error; status != Status::ok; failures += status != Status::ok ? 1 : 0) {
                status = driver.write(kRaw, i * 100 % 2000, bytes);
                ASSERT_TRUE(status == Status::ok || status == Status::io_error) << at;
            }
            for (Status status = Status::io_error; status != Status::ok; failures += status != Status::ok ? 1 : 0) {
                status = driver.sync();
                ASSERT_TRUE(status == Status::ok || status == Status::io_error) << at;
            }
        }
        unsure.arm(0);
        std::uint32_t free = 0;
        for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
            FlashBlockInfo info;
            ASSERT_EQ(driver.block_info(block, info), Status::ok);
            free += info.state == FlashBlockInfo::State::free ? 1 : 0;
        }
        EXPECT_LE(driver.usage().blocks_free, free) << at;
    }
    EXPECT_GT(failures, 10U);
}

}  // namespace
