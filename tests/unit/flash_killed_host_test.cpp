// Sessions on raw flash that write as much as fits and are killed before they commit, some of them several times in a
// row: what was committed is there, and something can always be written and committed.
#include <h5mote/vfd/flash.hpp>

#include "flash_chip.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::uint32_t kPage = 512;

class Sessions {
public:
    // `worn`: in the block before each bad one, the program of the header fails when the log comes there first.
    Sessions(const FlashGeometry& geometry, unsigned seed, bool bad, bool worn = false)
        : chip_memory_(FlashSimulator::required_memory(geometry) / 8 + 1),
          work_(FlashDriver::required_memory(geometry) / 8 + 1),
          chip_({geometry}, bytes(chip_memory_)),
          driver_(chip_, bytes(work_)),
          random_(seed) {
        // With bad blocks, distances in the log are not numbers of blocks.
        for (std::uint32_t block = 5; bad && block < geometry.blocks; block += 9) {
            chip_.set_bad(block);
            chip_.fail_block(block - 1, worn ? 2 : 0);
        }
    }

    void run() {
        ASSERT_EQ(driver_.format(), Status::ok);
        pages_ = static_cast<std::uint32_t>(driver_.usage().capacity / kPage * (5 + pick(60)) / 100);
        now_.resize(std::size_t{pages_} * kPage);
        for (std::uint32_t page = 0; page < pages_; ++page) {
            if (put(page) != Status::ok) {
                commit();
                ASSERT_EQ(put(page), Status::ok);
            }
        }
        commit();
        for (unsigned session = 0; session < 60 && !::testing::Test::HasFailure(); ++session) {
            for (unsigned n = pick(5); n > 0; --n) {
                put_some(2 * pages_);
                commit();
            }
            kill();
            // Without a commit in between, the log's limits are still those of the commit before the first kill.
            for (unsigned n = pick(3); n > 0; --n) {
                kill();
            }
            (void)put(0);
            commit();
            look();
        }
        EXPECT_EQ(chip_.violation(), FlashViolation::none);
    }

private:
    static Bytes bytes(std::vector<std::uint64_t>& memory) {
        return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    }
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
    Status put(std::uint32_t page) {
        const std::vector<std::byte> content(kPage, static_cast<std::byte>(pick(256)));
        const Status status = driver_.write(Usage::raw_data, page * kPage, {content.data(), kPage});
        if (status == Status::ok) {
            std::memcpy(&now_[std::size_t{page} * kPage], content.data(), kPage);
        }
        return status;
    }
    void put_some(std::uint32_t most) {
        for (std::uint32_t n = pick(most); n > 0 && put(pick(pages_)) == Status::ok; --n) {
        }
    }
    void kill() {
        put_some(4 * pages_);
        ASSERT_EQ(driver_.mount(), Status::ok);
        now_ = kept_;
        look();
    }
    void commit() {
        ASSERT_EQ(driver_.sync(), Status::ok);
        kept_ = now_;
    }
    void look() {
        std::vector<std::byte> found(now_.size());
        ASSERT_EQ(driver_.read(Usage::raw_data, 0, {found.data(), found.size()}), Status::ok);
        EXPECT_EQ(found, now_);
    }

    std::vector<std::uint64_t> chip_memory_, work_;
    FlashSimulator chip_;
    FlashDriver driver_;
    std::mt19937_64 random_;
    std::uint32_t pages_ = 0;
    std::vector<std::byte> now_, kept_;
};

// A header whose program failed may be sound. Then two blocks say that they follow the one before them.
TEST(FlashKilled, SessionsThatPassABlockWithASoundHeader) {
    for (const FlashGeometry& geometry :
         {FlashGeometry{160, 2048, 256, 4, 0xff}, FlashGeometry{96, 4096, 512, 512, 0xff}}) {
        for (std::size_t seed = 0; seed < 20; seed += sweep_step()) {
            Sessions(geometry, static_cast<unsigned>(seed), true, true).run();
            ASSERT_FALSE(::testing::Test::HasFailure()) << geometry.blocks << " blocks, seed " << seed;
        }
    }
}

TEST(FlashKilled, SessionsThatUseAllRoom) {
    for (const FlashGeometry& geometry :
         {FlashGeometry{160, 1024, 256, 4, 0xff}, FlashGeometry{128, 2048, 256, 1, 0xff},
          FlashGeometry{64, 2048, 256, 4, 0xff}, FlashGeometry{32, 16384, 2048, 2048, 0xff}}) {
        for (std::size_t seed = 0; seed < 12; seed += sweep_step()) {
            Sessions(geometry, static_cast<unsigned>(seed), seed % 3 == 2).run();
            ASSERT_FALSE(::testing::Test::HasFailure()) << geometry.blocks << " blocks, seed " << seed;
        }
    }
}

// The first thing that a session changes may be the length of the file, of which the log has no record before the
// commit. Room for what follows is made then: sessions that are killed one after the other do not use up the blocks.
TEST(FlashKilled, EachSessionThatBeginsWithALongerFileHasRoom) {
    constexpr std::uint32_t kPages = 150;
    FlashChip chip({40, 4096, 256, 1, 0xff}, {}, {});
    ASSERT_EQ(chip.driver.format(), Status::ok);
    ASSERT_EQ(chip.fill(0, kPages * kPage, 1), Status::ok);
    ASSERT_EQ(chip.driver.sync(), Status::ok);
    for (unsigned session = 0; session < 40; ++session) {
        SCOPED_TRACE(session);
        ASSERT_EQ(chip.driver.truncate((kPages + 8) * std::uint64_t{kPage}), Status::ok);
        for (std::uint32_t page = 0; page < 24; ++page) {
            ASSERT_EQ(chip.fill(std::uint64_t{page} * kPage, kPage, session), Status::ok) << page;
        }
        ASSERT_EQ(chip.driver.mount(), Status::ok);
    }
    EXPECT_EQ(chip.fill(0, kPage, 3), Status::ok);
    EXPECT_EQ(chip.driver.sync(), Status::ok);
}

// A sync that fails because each block takes one record only uses up all blocks but the last, which a mount needs.
TEST(FlashKilled, FailuresLeaveRoomForTheNextSession) {
    const FlashGeometry geometry{48, 1024, 256, 4, 0xff};
    FlashChip chip(geometry, {}, {});
    ASSERT_EQ(chip.driver.format(), Status::ok);
    ASSERT_EQ(chip.fill(0, kPage, 1), Status::ok);
    ASSERT_EQ(chip.driver.sync(), Status::ok);
    for (std::uint32_t block = 0; block < geometry.blocks; ++block) {
        // The erase, the header and the first record succeed, nothing after them.
        chip.simulator.fail_block(block, 4);
    }
    // Each of these pages has a node of the map of its own, and the sync writes all these nodes.
    std::uint32_t page = 0;
    while (chip.fill(std::uint64_t{page} * kPage, 32, 2) == Status::ok) {
        page += 16;
    }
    EXPECT_GT(page, 16U * 8);
    EXPECT_EQ(chip.driver.sync(), Status::no_space);
    for (std::uint32_t block = 0; block < geometry.blocks; ++block) {
        chip.simulator.fail_block(block, 0);
    }
    ASSERT_EQ(chip.driver.mount(), Status::ok);
    EXPECT_EQ(chip.fill(0, kPage, 3), Status::ok);
    EXPECT_EQ(chip.driver.sync(), Status::ok);
}

}  // namespace
