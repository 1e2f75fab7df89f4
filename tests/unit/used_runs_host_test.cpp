// Used bytes as runs in bounded memory, in many walks, against a map of every byte.
#include "used_runs.hpp"

#include <h5mote/port/malloc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace h5mote;

namespace {

struct Block {
    Address address;
    Address size;
    bool shared;
};

struct Outcome {
    bool sound = true;
    unsigned walks = 0;
    std::vector<bool> used;
};

// The bytes that all walks together say to be in use; the gaps of all parts cover the rest.
Outcome walk(const std::vector<Block>& blocks, Address size, std::size_t capacity) {
    MallocAllocator memory;
    NullPort port;
    Context context{memory, port, {}};
    Outcome outcome;
    outcome.used.assign(static_cast<std::size_t>(size), true);
    {
        UsedRuns runs(context);
        EXPECT_EQ(runs.reserve(capacity * sizeof(ByteRun)), Status::ok);
        runs.begin(size);
        Address last = 0;
        do {
            ++outcome.walks;
            for (const Block& block : blocks) {
                outcome.sound = outcome.sound && runs.add(block.address, block.size, block.shared);
            }
            for (std::size_t i = 0; i < runs.gaps(); ++i) {
                const ByteRun gap = runs.gap(i);
                EXPECT_LE(gap.address, gap.end);
                EXPECT_LE(last, gap.address);
                last = gap.end;
                std::fill(outcome.used.begin() + static_cast<std::ptrdiff_t>(gap.address),
                          outcome.used.begin() + static_cast<std::ptrdiff_t>(gap.end), false);
            }
        } while (outcome.sound && runs.advance());
        EXPECT_TRUE(!outcome.sound || last <= size);
    }
    EXPECT_EQ(memory.blocks(), 0U);
    return outcome;
}

std::vector<bool> map_of(const std::vector<Block>& blocks, Address size) {
    std::vector<bool> used(static_cast<std::size_t>(size));
    for (const Block& block : blocks) {
        std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(block.address), block.size, true);
    }
    return used;
}

// Blocks that do not overlap, in any order; some touch.
std::vector<Block> random_blocks(std::mt19937& random, Address size) {
    std::vector<Block> blocks;
    for (Address at = random() % 4; at < size;) {
        const Address length = 1 + random() % 12;
        if (at + length > size) {
            break;
        }
        blocks.push_back({at, length, random() % 8 == 0});
        at += length + (random() % 3 == 0 ? 0 : random() % 9);
    }
    const auto count = blocks.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (blocks[i].shared) {
            blocks.push_back(blocks[i]);
        }
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    return blocks;
}

}  // namespace

TEST(UsedRuns, FindsExactlyTheGapsWhateverTheMemory) {
    std::mt19937 random(1);
    unsigned most = 0;
    for (unsigned i = 0; i < 600; ++i) {
        const Address size = 40 + random() % 600;
        const auto blocks = random_blocks(random, size);
        for (const std::size_t capacity : {4U, 5U, 16U, 1000U}) {
            const Outcome outcome = walk(blocks, size, capacity);
            ASSERT_TRUE(outcome.sound) << i << " with " << capacity;
            ASSERT_EQ(outcome.used, map_of(blocks, size)) << i << " with " << capacity;
            EXPECT_TRUE(capacity != 1000U || outcome.walks == 1);
            most = std::max(most, outcome.walks);
        }
    }
    EXPECT_GT(most, 5U);
}

TEST(UsedRuns, FindsEveryOverlap) {
    std::mt19937 random(2);
    for (unsigned i = 0; i < 2000; ++i) {
        const Address size = 40 + random() % 600;
        auto blocks = random_blocks(random, size);
        blocks.erase(std::remove_if(blocks.begin(), blocks.end(), [](const Block& block) { return block.shared; }),
                     blocks.end());
        if (blocks.empty()) {
            continue;
        }
        const Block& other = blocks[random() % blocks.size()];
        const Address at = other.address + random() % other.size;
        blocks.push_back({at, std::min<Address>(1 + random() % 9, size - at), false});
        std::shuffle(blocks.begin(), blocks.end(), random);
        for (const std::size_t capacity : {4U, 5U, 16U, 1000U}) {
            ASSERT_FALSE(walk(blocks, size, capacity).sound) << i << " with " << capacity;
        }
    }
}

TEST(UsedRuns, MoreBlocksThanTheFileHasBytesAreAnError) {
    MallocAllocator memory;
    NullPort port;
    Context context{memory, port, {}};
    UsedRuns runs(context);
    ASSERT_EQ(runs.reserve(0), Status::ok);
    runs.begin(1000);
    for (Address i = 0; i < 5; ++i) {
        ASSERT_TRUE(runs.add(i * 20, 10));
    }
    ASSERT_TRUE(runs.advance());
    // Blocks before the part of this walk are not kept, but counted: a circle of them ends.
    unsigned added = 0;
    while (added < 1000 && runs.add(20, 10)) {
        ++added;
    }
    EXPECT_EQ(added, 100U);
}
