// Damage of a FlashRecorder's log: flipped bits, blocks that are gone, and bytes that somebody made up.
#include "recorded_chip.hpp"

#include "sweep.hpp"

#include <h5mote/lookup3.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <random>

using namespace h5mote_test;

namespace {

// A chip with 150 rows in several blocks, in two sessions.
class Damage : public testing::Test {
protected:
    void SetUp() override {
        Flight recorder;
        ASSERT_EQ(record_session(recorder, chip.simulator, 0, 110, 4), Status::ok);
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        ASSERT_EQ(recorder.set<kSerial>(9), Status::ok);
        ASSERT_EQ(record(recorder, 110, 40, 4), Status::ok);
        ASSERT_EQ(recorder.close(), Status::ok);
    }

    // Opens the chip, appends five rows, and says how many of the first rows are there, before the five.
    static std::size_t go_on(Chip& chip) {
        Flight recorder;
        EXPECT_EQ(record_session(recorder, chip.simulator, 1000, 5), Status::ok);
        EXPECT_EQ(chip.simulator.counts().violations, 0U);
        FlashRecording recording;
        EXPECT_TRUE(recording.read(chip.simulator)) << recording.why();
        std::vector<std::uint32_t> found = samples(recording);
        EXPECT_GE(found.size(), 5U);
        if (found.size() < 5) {
            return 0;
        }
        EXPECT_EQ(std::vector<std::uint32_t>(found.end() - 5, found.end()), numbers(1000, 5));
        found.resize(found.size() - 5);
        EXPECT_EQ(found, numbers(0, found.size()));
        EXPECT_EQ(recording.settings().size(), 4U);
        EXPECT_EQ(recording.settings()[0], std::byte{9});
        return found.size();
    }
    bool used(std::uint32_t block) const { return chip.simulator.erases(block) != 0; }

    Chip chip;
};

}  // namespace

// Whichever bit flips, no older state comes back, and `h5mote extract` repairs it. Only where the bit is one of the
// last frame, that frame is lost: it cannot be told from one that a power cut tore.
TEST_F(Damage, OneFlippedBit) {
    std::uint32_t last = 0;  // the newest block
    while (used(last + 1)) {
        ++last;
    }
    Chip damaged;
    for (std::uint32_t block = 0; block <= last; ++block) {
        for (std::uint32_t bit = 0; bit < 8 * kNor.block_size; bit += block == last || bit < 8 * 52 ? 1 : 29) {
            damaged.simulator.copy_from(chip.simulator);
            damaged.simulator.flip(block, bit / 8, static_cast<std::uint8_t>(1U << bit % 8));
            FlashRecording recording;
            ASSERT_TRUE(recording.read(damaged.simulator)) << recording.why();
            const std::vector<std::uint32_t> found = samples(recording);
            const bool is_last = found.size() < 150;
            ASSERT_EQ(found, numbers(0, is_last ? 148 : 150)) << "block " << block << " bit " << bit;
            ASSERT_TRUE(!is_last || block == last);
            ASSERT_TRUE(recording.damages().empty())
                << "block " << block << " bit " << bit << ": block " << recording.damages()[0].block << " "
                << recording.damages()[0].offset << " " << recording.damages()[0].size;
            const std::size_t then = go_on(damaged);
            ASSERT_EQ(then, found.size()) << "block " << block << " bit " << bit;
            if (HasFailure()) {
                return;
            }
        }
    }
}

TEST_F(Damage, ABlockIsGone) {
    for (std::uint32_t block = 0; used(block); ++block) {
        Chip damaged;
        damaged.simulator.copy_from(chip.simulator);
        damaged.simulator.set_bad(block, block);
        FlashRecording recording;
        const bool readable = recording.read(damaged.simulator);
        if (block < 2) {
            // The blueprint was there.
            continue;
        }
        ASSERT_TRUE(readable) << recording.why();
        const std::vector<std::uint32_t> found = samples(recording);
        EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
        // One block is all that is lost.
        constexpr std::size_t kFlushed = 4;
        constexpr std::size_t kFrame = 11 + kFlushed * sizeof(Sample);
        EXPECT_GE(found.size() + kNor.block_size / kFrame * kFlushed, 150U);
        // The newest block cannot be missed, nor one whose only frame was written once more after open().
        EXPECT_EQ(found.size() == 150, recording.damages().empty() && used(block + 1)) << block;
        h5mote::MallocAllocator allocator;
        h5mote::GrowingMemoryDriver file(allocator);
        EXPECT_EQ(write_recording(recording, {}, file), Status::ok);
    }
}

// Random bytes, heads and frames with sound checksums: open() and `h5mote extract` come to an end and touch nothing
// that is not theirs.
TEST_F(Damage, MadeUpBytes) {
    std::mt19937 random(1);
    const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
    Chip damaged;
    const std::size_t rounds = 6000 / one_in("H5MOTE_SWEEP_ONE_IN");
    std::size_t files = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        damaged.simulator.copy_from(chip.simulator);
        const auto put = [&](std::uint32_t block, std::uint32_t offset, std::uint8_t byte) {
            const auto old =
                static_cast<std::uint8_t>(damaged.simulator.contents()[std::size_t{block} * kNor.block_size + offset]);
            damaged.simulator.flip(block, offset, static_cast<std::uint8_t>(old ^ byte));
        };
        const auto word = [&](std::uint32_t block, std::uint32_t offset, std::uint32_t value) {
            for (std::uint32_t i = 0; i < 4; ++i) {
                put(block, offset + i, static_cast<std::uint8_t>(value >> (8 * i)));
            }
        };
        const auto at = [&](std::uint32_t block, std::uint32_t offset) {
            return damaged.simulator.contents().data() + std::size_t{block} * kNor.block_size + offset;
        };
        for (std::uint32_t i = 0; i <= below(4); ++i) {
            const std::uint32_t block = below(8);
            const std::uint32_t sequence = static_cast<std::uint32_t>(*at(block, 24));
            if (below(2) == 0) {
                const std::uint32_t field = 4 * below(10);
                const std::uint32_t values[] = {0, 1, 5, 6, 7, 0xffffffff, 0x80000000, below(40), below(2000)};
                word(block, field, values[below(9)]);
                word(block, 40, h5mote::detail::lookup3_constant(at(block, 0), 40));
            } else {
                // A byte of a frame, with its checksum mended.
                std::uint32_t offset = 52;
                for (std::uint32_t frames = below(12); frames > 0 && offset < 900; --frames) {
                    offset += (static_cast<std::uint32_t>(*at(block, offset)) + 3) & ~3U;
                }
                const std::uint32_t size =
                    std::min(1000 - std::min(offset, 999U), static_cast<std::uint32_t>(*at(block, offset)));
                if (size >= 8) {
                    put(block, offset + below(size - 4), static_cast<std::uint8_t>(random()));
                    word(block, offset + size - 4,
                         h5mote::detail::lookup3_constant(at(block, offset), size - 4, sequence));
                }
            }
        }
        FlashRecording recording;
        if (recording.read(damaged.simulator)) {
            h5mote::MallocAllocator allocator;
            h5mote::GrowingMemoryDriver file(allocator, 1U << 24);
            files += write_recording(recording, {below(2) == 0}, file) == Status::ok ? 1 : 0;
        }
        Flight recorder;
        if (recorder.open(damaged.simulator) == Status::ok) {
            (void)record(recorder, 2000, 20);
            (void)recorder.close();
        }
        ASSERT_EQ(damaged.simulator.counts().violations, 0U) << round;
    }
    EXPECT_GT(files, rounds / 20);
}
