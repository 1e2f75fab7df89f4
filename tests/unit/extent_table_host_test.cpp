// The table that finds overlaps in bounded memory and many walks, against a sort of all blocks at once.
#include "extent_table.hpp"

#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS

#include <h5mote/port/malloc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

using namespace h5mote;

namespace {

using Row = std::tuple<Address, Address, Address>;

struct Bench {
    MallocAllocator memory;
    NullPort port;
    Context context{memory, port, {}};
};

// Returns the blocks that all walks together find, in that order.
std::vector<Row> walk(const std::vector<CheckExtent>& blocks, std::size_t capacity, unsigned& walks) {
    Bench bench;
    std::vector<Row> found;
    {
        ExtentTable table(bench.context);
        EXPECT_EQ(table.reserve(capacity * sizeof(CheckExtent)), Status::ok);
        walks = 0;
        do {
            for (const CheckExtent& block : blocks) {
                table.add(block);
            }
            table.finish();
            EXPECT_LE(table.size(), capacity);
            for (std::size_t i = 0; i < table.size(); ++i) {
                found.emplace_back(table[i].address, table[i].size, table[i].object);
            }
            ++walks;
        } while (walks <= blocks.size() && table.advance());
    }
    EXPECT_EQ(bench.memory.blocks(), 0U);
    return found;
}

}  // namespace

TEST(ExtentTable, EachBlockIsSeenOnceInOrder) {
    std::mt19937 random(3);
    unsigned most_walks = 0;
    for (unsigned round = 0; round < 3000; ++round) {
        const std::size_t capacity = 4 + random() % 6;
        const unsigned count = static_cast<unsigned>(random() % 40);
        const unsigned range = 1 + static_cast<unsigned>(random() % 30);
        std::vector<CheckExtent> blocks;
        std::vector<unsigned> at(range, 0);
        for (unsigned i = 0; i < count; ++i) {
            const auto address = static_cast<unsigned>(random() % range);
            // A damaged file may have more blocks at one address than the table holds; here there is room for all of
            // them.
            if (++at[address] < capacity) {
                blocks.push_back({address, 1 + random() % 3, i, CheckPart::chunk, false});
            }
        }
        std::vector<Row> expected;
        for (const CheckExtent& block : blocks) {
            expected.emplace_back(block.address, block.size, block.object);
        }
        std::sort(expected.begin(), expected.end());
        unsigned walks = 0;
        ASSERT_EQ(walk(blocks, capacity, walks), expected) << "round " << round;
        most_walks = std::max(most_walks, walks);
    }
    EXPECT_GT(most_walks, 5U);
}

// Several objects may refer to one shared block; it counts as one block, also where it fills the table.
TEST(ExtentTable, SharedBlocksAreOne) {
    for (const std::size_t count : {2U, 4U, 5U, 100U}) {
        std::vector<CheckExtent> blocks;
        for (std::size_t i = 0; i < count; ++i) {
            blocks.push_back({8, 16, i, CheckPart::global_heap, true});
            blocks.push_back({64, 16, i, CheckPart::global_heap, true});
        }
        unsigned walks = 0;
        EXPECT_EQ(walk(blocks, 4, walks), (std::vector<Row>{{8, 16, 0}, {64, 16, 0}}));
        EXPECT_EQ(walks, 1U);
        // A block of another size or part, or one that may not be shared, is another block.
        blocks.push_back({8, 17, 1, CheckPart::global_heap, true});
        EXPECT_EQ(walk(blocks, 8, walks).size(), 3U);
        blocks.back() = {8, 16, count, CheckPart::chunk, true};
        EXPECT_EQ(walk(blocks, 8, walks).size(), 3U);
        blocks.back() = {8, 16, count, CheckPart::global_heap, false};
        EXPECT_EQ(walk(blocks, 8, walks).size(), 3U);
    }
}

// With more blocks at one address than the table holds, enough are kept to see the overlap, and the walks end.
TEST(ExtentTable, FullOfOneAddress) {
    std::vector<CheckExtent> blocks;
    for (Address i = 0; i < 20; ++i) {
        blocks.push_back({100, 8, i, CheckPart::chunk, false});
    }
    unsigned walks = 0;
    EXPECT_EQ(walk(blocks, 4, walks).size(), 4U);
    EXPECT_EQ(walks, 1U);
    // Blocks at other addresses are found nevertheless.
    for (const Address address : {Address{50}, Address{60}, Address{200}, Address{300}}) {
        blocks.push_back({address, 8, 0, CheckPart::chunk, false});
        blocks.insert(blocks.begin(), {address + 1, 8, 0, CheckPart::chunk, false});
    }
    const std::vector<Row> found = walk(blocks, 4, walks);
    for (const Address address : {50U, 51U, 60U, 61U, 200U, 201U, 300U, 301U}) {
        EXPECT_EQ(std::count(found.begin(), found.end(), Row(address, 8, 0)), 1) << address;
    }
    EXPECT_GT(std::count_if(found.begin(), found.end(), [](const Row& row) { return std::get<0>(row) == 100; }), 1);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(ExtentTable, NothingAndNoMemory) {
    unsigned walks = 0;
    EXPECT_TRUE(walk({}, 4, walks).empty());
    EXPECT_TRUE(walk({{5, 0, 1, CheckPart::chunk, false}}, 4, walks).empty());
    MallocAllocator small(16);
    NullPort port;
    Context context(small, port, {});
    ExtentTable table(context);
    EXPECT_EQ(table.reserve(1000), Status::out_of_memory);
}

#endif
