// Version 1 B-trees of chunks are changed at random beside a model: all ranks, nodes of all widths, small caches, calls
// that fail. After every few changes the whole structure is judged: keys, levels, links, file space.
#include "btree1_judge.hpp"
#include "chunk_btree1_changes.hpp"
#include "promising_driver.hpp"
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <algorithm>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// ---- chunks ------------------------------------------------------------------------------------------------------

using Coordinates = std::vector<std::uint64_t>;

class ChunkTree {
public:
    ChunkTree(Driver& driver, unsigned the_rank, std::uint16_t k, std::size_t cache, Allocator* allocator = nullptr)
        : open(driver, k, cache, allocator),
          rank(the_rank),
          chunk_(rank, 10),
          judge_(open.state, BTree1Node::kChunks, k, ChunkBTree1Key::size(rank)) {
        judge_.wide_ends = allocator != nullptr;
        created = ChunkBTree1Changes::create(open.state, rank, root);
        tree.open(open.state, root, rank, chunk_.data());
    }

    // Stores the root, as the owner of a tree does. `undone`: what leads to the tree could not be changed.
    Status settle(ChunkBTree1Changes& changes, Status status, bool undone) {
        if (status == Status::ok && changes.moved()) {
            ++moves;
            if (undone) {
                changes.undo();
                EXPECT_EQ(changes.root(), root);
                judge_.wide_ends = true;
                return Status::io_error;
            }
            root = changes.root();
            changes.apply();
        }
        EXPECT_EQ(changes.root(), root);
        return status;
    }
    Status set(const Coordinates& at, const ChunkLocation& location, bool undone = false) {
        ChunkBTree1Changes changes(tree, 4);
        const Status status = settle(changes, changes.set(at.data(), location), undone);
        if (status == Status::ok) {
            model[at] = location;
        }
        return status;
    }
    Status remove(const Coordinates& at, bool undone = false) {
        ChunkBTree1Changes changes(tree, 4);
        const Status status = settle(changes, changes.remove(at.data()), undone);
        if (status == Status::ok) {
            model.erase(at);
        }
        return status;
    }

    // What is wrong with the tree.
    std::string judge() {
        std::string wrong = judge_.judge(root);
        if (!wrong.empty()) {
            return wrong;
        }
        ChunkBTree1 reader;
        reader.open(open.state, root, rank, chunk_.data());
        ChunkBTree1::Cursor cursor;
        Coordinates scaled(rank);
        ChunkLocation found;
        for (const auto& [at, location] : model) {
            if (reader.next(cursor, scaled.data(), found) != Status::ok || scaled != at || !same(found, location)) {
                return "not next";
            }
            if (reader.find(at.data(), found) != Status::ok || !same(found, location)) {
                return "not found";
            }
        }
        return reader.next(cursor, scaled.data(), found) == Status::not_found ? "" : "too many";
    }
    // Whether nothing was lost, as far as the map of free space has room to tell.
    bool keeps_space() {
        return !open.state.space.free().is_complete() ||
               judge_.bytes() + open.free_bytes() + kSuperblock == open.state.space.end();
    }
    Status height(unsigned& levels) { return tree.height(levels); }

    OpenFile open;
    unsigned rank;
    Status created = Status::ok;
    Address root = kUndefinedAddress;
    ChunkBTree1 tree;
    std::map<Coordinates, ChunkLocation> model;
    unsigned moves = 0;

private:
    static bool same(const ChunkLocation& a, const ChunkLocation& b) {
        return a.address == b.address && a.size == b.size && a.mask == b.mask;
    }

    Coordinates chunk_;
    Judge judge_;
};

ChunkLocation location_of(unsigned i) { return {1000 + Address{16} * i, 1 + i % 50, i % 3}; }

Coordinates random_place(Numbers& numbers, unsigned rank, std::uint32_t most) {
    Coordinates at(rank);
    for (std::uint64_t& each : at) {
        each = numbers.below(most);
    }
    return at;
}

enum class Order { rising, falling, random };

}  // namespace

TEST(BTree1Changes, HoldsChunksEnteredInAnyOrder) {
    for (const Order order : {Order::rising, Order::falling, Order::random}) {
        for (const std::uint16_t k : {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{5}, std::uint16_t{32}}) {
            for (const std::size_t cache : {std::size_t{4096}, std::size_t{65536}}) {
                Storage storage(1 << 20);
                ChunkTree tree(storage.memory, 1, k, cache);
                std::vector<std::uint64_t> places;
                for (unsigned i = 0; i < 600; ++i) {
                    places.push_back(order == Order::falling ? 599 - i : i);
                }
                Numbers numbers(3);
                for (unsigned i = 600; order == Order::random && i > 1; --i) {
                    std::swap(places[i - 1], places[numbers.below(i)]);
                }
                unsigned step = 0;
                for (const std::uint64_t at : places) {
                    ASSERT_EQ(tree.set({at}, location_of(static_cast<unsigned>(at))), Status::ok);
                    if (++step % 97 == 0) {
                        ASSERT_EQ(tree.open.state.commit(), Status::ok);
                    }
                    if (step % 53 == 0) {
                        ASSERT_EQ(tree.judge(), "") << step;
                    }
                }
                ASSERT_EQ(tree.judge(), "");
                unsigned levels = 0;
                ASSERT_EQ(tree.height(levels), Status::ok);
                EXPECT_GE(levels, k == 32 ? 1U : 2U);
                ASSERT_EQ(tree.open.state.commit(), Status::ok);
                EXPECT_TRUE(tree.keeps_space());
                for (const std::uint64_t at : places) {
                    ASSERT_EQ(tree.remove({at}), Status::ok);
                    if (++step % 53 == 0) {
                        ASSERT_EQ(tree.judge(), "") << step;
                        ASSERT_EQ(tree.open.state.commit(), Status::ok);
                    }
                }
                EXPECT_EQ(tree.remove({1}), Status::not_found);
                ASSERT_EQ(tree.judge(), "");
                ASSERT_EQ(tree.height(levels), Status::ok);
                EXPECT_EQ(levels, 0U);
                ASSERT_EQ(tree.open.state.commit(), Status::ok);
                EXPECT_TRUE(tree.keeps_space());
            }
        }
    }
}

TEST(BTree1Changes, FollowsAModelThroughRandomChangesOfChunks) {
    for (unsigned rank = 1; rank <= 8; ++rank) {
        for (const std::uint16_t k : {std::uint16_t{1}, std::uint16_t{3}, std::uint16_t{32}}) {
            for (const bool atomic : {false, true}) {
                Storage storage(1 << 21);
                Capabilities capabilities = storage.memory.capabilities();
                capabilities.sync_is_commit = atomic;
                PromisingDriver driver(storage.memory, capabilities);
                const std::size_t node = 24 + std::size_t{2} * k * (16 + 8 * (rank + 1)) + 8 + 8 * (rank + 1);
                ChunkTree tree(driver, rank, k, node + 600 < 4096 ? 4096 : node + 600);
                Numbers numbers(rank + k);
                const std::uint32_t most = rank == 1 ? 300 : rank == 2 ? 17 : rank == 3 ? 7 : rank < 6 ? 4 : 2;
                unsigned growing = 75;
                for (unsigned i = 0; i < 3000; ++i) {
                    growing = i % 500 == 499 ? 100 - growing : growing;
                    const Coordinates at = random_place(numbers, rank, most);
                    const bool undone = i > 1500 && numbers.below(20) == 0;
                    const bool exists = tree.model.count(at) != 0;
                    const Status status =
                        numbers.below(100) < growing ? tree.set(at, location_of(i), undone) : tree.remove(at, undone);
                    ASSERT_TRUE(status == Status::ok || (undone && status == Status::io_error) ||
                                (!exists && status == Status::not_found))
                        << to_string(status);
                    if (numbers.below(25) == 0) {
                        ASSERT_EQ(tree.open.state.commit(), Status::ok);
                        ASSERT_EQ(tree.judge(), "") << rank << " " << k << " " << i;
                        ASSERT_TRUE(tree.keeps_space()) << rank << " " << k << " " << i;
                    }
                }
                ASSERT_EQ(tree.judge(), "");
                // A root that lies in one sector keeps its place, unless the cache has no room for it beside its copy.
                if (atomic || node <= FileSpace::kMostUnit) {
                    EXPECT_LT(tree.moves, 100U);
                } else {
                    EXPECT_GT(tree.moves, 100U);
                }
            }
        }
    }
}

// A node is looked for only where it can be, and on storage where all appears at once it is changed in place.
TEST(BTree1Changes, ChangesInPlaceWhereThatIsSafe) {
    Storage storage(1 << 20);
    Capabilities capabilities = storage.memory.capabilities();
    capabilities.sync_is_commit = true;
    PromisingDriver driver(storage.memory, capabilities);
    ChunkTree tree(driver, 1, 32, 65536);
    for (unsigned i = 0; i < 1000; ++i) {
        ASSERT_EQ(tree.set({i}, location_of(i)), Status::ok);
        if (i % 10 == 0) {
            ASSERT_EQ(tree.open.state.commit(), Status::ok);
        }
    }
    EXPECT_EQ(tree.moves, 0U);
    EXPECT_EQ(tree.judge(), "");
}

TEST(BTree1Changes, GivesUpEverything) {
    Storage storage(1 << 20);
    ChunkTree tree(storage.memory, 2, 2, 4096);
    for (unsigned i = 0; i < 300; ++i) {
        ASSERT_EQ(tree.set({i / 17, i % 17}, location_of(i)), Status::ok);
    }
    // Also nodes that were never written are found until they are given up.
    Disposal rehearsal(tree.open.state, true);
    ASSERT_EQ(BTree1Changes::dispose(tree.tree, rehearsal), Status::ok);
    EXPECT_EQ(tree.judge(), "");
    Disposal disposal(tree.open.state, false);
    ASSERT_EQ(BTree1Changes::dispose(tree.tree, disposal), Status::ok);
    ASSERT_EQ(tree.open.state.commit(), Status::ok);
    EXPECT_EQ(tree.open.free_bytes() + kSuperblock, tree.open.state.space.end());
}

TEST(BTree1Changes, RefusesWhatItCannotChange) {
    Storage storage(1 << 20);
    {
        ChunkTree tree(storage.memory, 8, 32, 4096);  // a node has 5.7 KB
        EXPECT_EQ(tree.created, Status::over_budget);
    }
    {
        // Nodes of two children, each time the second of them full, become a list: a tree with too many levels.
        ChunkTree tree(storage.memory, 1, 1, 4096);
        Status status = Status::ok;
        unsigned i = 0;
        for (; status == Status::ok; ++i) {
            status = tree.set({i}, location_of(i));
        }
        EXPECT_EQ(status, Status::unsupported);
        EXPECT_GT(i, 30U);
        EXPECT_EQ(tree.judge(), "");
    }
    ChunkTree other(storage.memory, 1, 2, 4096);
#if __SIZEOF_SIZE_T__ > 4
    EXPECT_EQ(other.set({1}, {1000, std::uint64_t{1} << 32, 0}), Status::invalid_argument);
#endif
    EXPECT_EQ(other.set({1}, {1000, 0xffffffffU, 0}), Status::ok);
}

// ---- failures ----------------------------------------------------------------------------------------------------

// Every allocation and every call of the driver fails in turn. A change that fails leaves the chunks as they were, and
// no space is lost: it is made again, and the rest goes on.
TEST(BTree1Changes, AFailureChangesNothing) {
    constexpr FaultKind kFaults[] = {
        {"one allocation", 1, 0, false},
        {"every allocation", ~std::uint64_t{0}, 0, true},
        {"one read", 0, kReadCall, false},
        {"every call", 0, kAllCalls, true},
        {"one change", 0, kAllCalls & ~unsigned{kReadCall}, false},
    };
    std::size_t points = 0;
    for (const FaultKind& fault : kFaults) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += sweep_step()) {
            Storage storage(1 << 16);
            FailingDriver driver(storage.memory);
            MallocAllocator heap;
            RefusingAllocator refusing(heap);
            ChunkTree tree(driver, 1, 3, 1024, &refusing);
            tree.open.library.set_free_list_limits({0, 0});  // so that every allocation can fail
            Numbers numbers(9);
            for (unsigned at = 0; at < 60; ++at) {
                ASSERT_EQ(tree.set({2 * at}, location_of(at)), Status::ok);
            }
            ASSERT_EQ(tree.open.state.commit(), Status::ok);
            arm(refusing, driver, fault, k);
            const auto change = [&](unsigned i, std::uint64_t at) {
                switch (i % 5) {
                    case 0:
                    case 1:
                        return tree.set({2 * at + 1}, location_of(i));
                    case 2:
                    case 3:
                        return tree.model.count({2 * at}) != 0 ? tree.remove({2 * at}) : tree.set({2 * at}, {1, i, i});
                    default:
                        return tree.open.state.commit();
                }
            };
            failed = false;
            for (unsigned i = 0; i < 60; ++i) {
                const std::uint64_t at = numbers.below(70);
                Status status = change(i, at);
                if (status != Status::ok) {
                    failed = disarm(refusing, driver) || failed;
                    ASSERT_TRUE(failed) << fault.name << " " << k << " " << to_string(status);
                    const std::string wrong = tree.judge();
                    // A link that could not be set back is no loss.
                    ASSERT_TRUE(wrong.empty() || wrong.find("link") != std::string::npos)
                        << fault.name << " " << k << " in " << i << ": " << wrong;
                    ASSERT_EQ(change(i, at), Status::ok) << fault.name << " " << k;
                }
            }
            failed = disarm(refusing, driver) || failed;
            ASSERT_EQ(tree.open.state.commit(), Status::ok);
            const std::string wrong = tree.judge();
            ASSERT_TRUE(wrong.empty() || wrong.find("link") != std::string::npos) << fault.name << " " << k << wrong;
            ASSERT_TRUE(tree.keeps_space()) << fault.name << " " << k;
            ++points;
        }
    }
    std::printf("%zu points\n", points);
}

#endif
