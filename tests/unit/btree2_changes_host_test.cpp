// Version 2 B-trees are changed at random beside a model: all orders, all depths, small caches, refused calls.
#include "btree2_changes.hpp"
#include "promising_driver.hpp"
#include "storage_bench.hpp"
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/port/malloc.hpp>

#include <algorithm>
#include <map>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr std::size_t kRecord = 15;  // link by creation order: the key, 8 bytes, and 7 bytes that follow from a value

struct Record {
    Record(std::uint64_t key, std::uint32_t value) noexcept {
        store_le(bytes, key);
        for (std::size_t i = 8; i < kRecord; ++i) {
            bytes[i] = static_cast<std::byte>(value >> ((i - 8) % 4 * 8));
        }
    }
    operator ConstBytes() const noexcept { return {bytes, kRecord}; }
    std::byte bytes[kRecord];
};

class Wanted final : public RecordCompare {
public:
    explicit Wanted(std::uint64_t key) noexcept : key_(key) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        const auto its = load_le<std::uint64_t>(record.data());
        order = key_ < its ? -1 : key_ > its ? 1 : 0;
        return Status::ok;
    }

private:
    std::uint64_t key_;
};

class Storage {
public:
    explicit Storage(std::size_t capacity) : bytes_(capacity), memory({bytes_.data(), capacity}) {}

private:
    std::vector<std::byte> bytes_;

public:
    MemoryDriver memory;
};

// An open file without the public interface, and a model of the tree in it.
class Tree {
public:
    Tree(Driver& driver, const BTree2Create& create, std::size_t cache, Allocator* allocator = nullptr)
        : library(allocator != nullptr ? *allocator : allocator_, port_), state_(library, driver) {
        FileAccess access;
        access.metadata_cache = cache;
        EXPECT_EQ(state_.create(access, FileCreate()), Status::ok);
        EXPECT_EQ(BTree2Changes::create(state_, create, header), Status::ok);
        EXPECT_EQ(tree.open(state_, header, Phase::index), Status::ok);
    }
    ~Tree() { state_.abandon(); }
    FileState& file() noexcept { return state_; }

    Status insert(std::uint64_t key, std::uint32_t value, bool lazily = false) {
        Wanted wanted(key);
        const Record record(key, value);
        const Status status = lazily ? tree.set(wanted, record) : tree.insert(wanted, record);
        if (status == Status::ok) {
            model[key] = value;
        }
        return status;
    }
    Status update(std::uint64_t key, std::uint32_t value) {
        Wanted wanted(key);
        const Status status = tree.update(wanted, Record(key, value));
        if (status == Status::ok) {
            model[key] = value;
        }
        return status;
    }
    Status remove(std::uint64_t key) {
        Wanted wanted(key);
        std::byte removed[kRecord];
        const Status status = tree.remove(wanted, removed);
        if (status == Status::ok) {
            EXPECT_EQ(model.count(key), 1U);
            EXPECT_EQ(std::memcmp(removed, Record(key, model[key]).bytes, kRecord), 0);
            model.erase(key);
        }
        return status;
    }

    // Whether a new object finds exactly the model's records, in order, and all positions.
    bool equals_model() {
        BTree2 reader;
        if (reader.open(state_, header) != Status::ok || reader.size() != model.size()) {
            return false;
        }
        std::uint64_t index = 0;
        for (const auto& [key, value] : model) {
            std::byte found[kRecord];
            std::uint64_t position = 0;
            Wanted wanted(key);
            if (reader.record(index, found) != Status::ok ||
                std::memcmp(found, Record(key, value).bytes, kRecord) != 0 ||
                reader.find(wanted, found, &position) != Status::ok || position != index) {
                return false;
            }
            ++index;
        }
        return true;
    }

    Address bytes_of_nodes() {
        BlockSum sum;
        BTree2 reader;
        EXPECT_EQ(reader.open(state_, header), Status::ok);
        EXPECT_EQ(reader.walk(sum), Status::ok);
        return sum.bytes - BTree2Header::size(state_.shape());
    }

    Address free_bytes() {
        Address sum = 0;
        for (std::size_t i = 0; i < state_.space.free().count(); ++i) {
            sum += state_.space.free().get(i).size;
        }
        return sum;
    }

private:
    MallocAllocator allocator_;
    NullPort port_;

public:
    Library library;

private:
    FileState state_;

public:
    Address header = kUndefinedAddress;
    BTree2Changes tree;
    std::map<std::uint64_t, std::uint32_t> model;
};

BTree2Create small_nodes(std::uint32_t node_size = 180) {
    BTree2Create create;
    create.type = BTree2Type::link_order;
    create.node_size = node_size;
    create.record_size = kRecord;
    return create;
}

enum class Order { rising, falling, random, both_ends };

std::vector<std::uint64_t> keys(unsigned count, Order order) {
    std::vector<std::uint64_t> result;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned at = order == Order::falling ? count - 1 - i : i;
        result.push_back(order == Order::both_ends && i % 2 != 0 ? 2 * count - i : at);
    }
    if (order == Order::random) {
        Numbers numbers(count);
        for (unsigned i = count; i > 1; --i) {
            std::swap(result[i - 1], result[numbers.below(i)]);
        }
    }
    return result;
}

}  // namespace

TEST(BTree2Changes, HoldsWhatWasInsertedInAnyOrder) {
    for (const Order order : {Order::rising, Order::falling, Order::random, Order::both_ends}) {
        for (const bool lazily : {false, true}) {
            for (const std::size_t cache : {std::size_t{1024}, std::size_t{65536}}) {
                Storage storage(1 << 20);
                Tree tree(storage.memory, small_nodes(), cache);
                unsigned step = 0;
                for (const std::uint64_t key : keys(600, order)) {
                    ASSERT_EQ(tree.insert(key, static_cast<std::uint32_t>(3 * key), lazily), Status::ok);
                    if (++step % 97 == 0) {
                        ASSERT_EQ(tree.file().commit(), Status::ok);
                    }
                    if (step % 53 == 0) {
                        ASSERT_TRUE(tree.equals_model());
                    }
                }
                EXPECT_GE(tree.tree.depth(), 3U);
                EXPECT_TRUE(tree.equals_model());
                EXPECT_EQ(tree.insert(4, 1), Status::already_exists);
                ASSERT_EQ(tree.file().commit(), Status::ok);
                // No space is lost: what is neither a node nor the header nor free is the superblock.
                EXPECT_EQ(tree.bytes_of_nodes() + tree.free_bytes() + 38 + 48, tree.file().space.end());
                for (const std::uint64_t key : keys(600, order == Order::falling ? Order::rising : order)) {
                    ASSERT_EQ(tree.remove(key), Status::ok);
                    if (++step % 53 == 0) {
                        ASSERT_TRUE(tree.equals_model());
                        ASSERT_EQ(tree.file().commit(), Status::ok);
                    }
                }
                EXPECT_EQ(tree.tree.size(), 0U);
                EXPECT_EQ(tree.tree.depth(), 0U);
                EXPECT_EQ(tree.remove(1), Status::not_found);
                ASSERT_EQ(tree.file().commit(), Status::ok);
                EXPECT_EQ(tree.bytes_of_nodes(), 0U);
                EXPECT_EQ(tree.free_bytes() + 38 + 48, tree.file().space.end());
            }
        }
    }
}

TEST(BTree2Changes, FollowsAModelThroughRandomChanges) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        for (const std::uint32_t node_size : {180U, 512U, 2048U}) {
            // With room for a few nodes fresh ones change where they are.
            const std::size_t small = node_size == 180 ? 1024 : 4096;
            for (unsigned kind = 0; kind < 6; ++kind) {
                const bool atomic = kind % 2 != 0;
                const std::size_t cache = kind < 2 ? small : kind < 4 ? std::size_t{20} * node_size : 65536;
                Storage storage(1 << 20);
                Capabilities capabilities = storage.memory.capabilities();
                capabilities.sync_is_commit = atomic;
                PromisingDriver driver(storage.memory, capabilities);
                Tree tree(driver, small_nodes(node_size), cache);
                Numbers numbers(seed);
                unsigned growing = 70;
                for (unsigned i = 0; i < 3000; ++i) {
                    const std::uint64_t key = numbers.below(700);
                    const auto value = static_cast<std::uint32_t>(i);
                    const bool exists = tree.model.count(key) != 0;
                    growing = i % 700 == 0 ? 100 - growing : growing;
                    if (numbers.below(100) < growing) {
                        const bool lazily = numbers.below(2) != 0;
                        ASSERT_EQ(tree.insert(key, value, lazily),
                                  exists && !lazily ? Status::already_exists : Status::ok);
                    } else if (numbers.below(4) == 0) {
                        ASSERT_EQ(tree.update(key, value), exists ? Status::ok : Status::not_found);
                    } else {
                        ASSERT_EQ(tree.remove(key), exists ? Status::ok : Status::not_found);
                    }
                    if (numbers.below(40) == 0) {
                        ASSERT_EQ(tree.file().commit(), Status::ok);
                        ASSERT_TRUE(tree.equals_model()) << i;
                        ASSERT_EQ(tree.bytes_of_nodes() + tree.free_bytes() + 38 + 48, tree.file().space.end());
                    }
                }
                EXPECT_TRUE(tree.equals_model());
            }
        }
    }
}

// A node that was to change where it is becomes a copy when a commit has made it live in between: what the storage has
// of it stays.
TEST(BTree2Changes, CopiesNodesThatBecomeLiveBeforeTheyChange) {
    for (unsigned kind = 0; kind < 8; ++kind) {
        const bool removes = kind % 2 != 0;
        const bool again = kind / 2 % 2 != 0;
        const bool deep = kind / 4 != 0;
        Storage storage(1 << 20);
        Tree tree(storage.memory, small_nodes(), 65536);
        for (const std::uint64_t key : keys(deep ? 200 : 6, Order::random)) {
            ASSERT_EQ(tree.insert(2 * key, 1), Status::ok);
        }
        tree.tree.stage(true);
        ASSERT_EQ(removes ? tree.remove(4) : tree.insert(5, 1), Status::ok);
        EXPECT_TRUE(tree.tree.is_prepared());
        ASSERT_EQ(tree.file().commit(), Status::ok);
        // In the deep tree the change may have made a new root, below which nothing stays.
        EXPECT_TRUE(deep || !tree.tree.is_prepared());
        const Address end = tree.file().space.end();
        if (again) {
            ASSERT_EQ(removes ? tree.remove(8) : tree.insert(9, 1), Status::ok);
        }
        ASSERT_EQ(tree.tree.prepare(), Status::ok);
        EXPECT_TRUE(tree.tree.is_prepared());
        EXPECT_TRUE(deep || tree.file().space.end() > end);
        tree.tree.apply();
        EXPECT_TRUE(tree.equals_model());
        ASSERT_EQ(tree.file().commit(), Status::ok);
        EXPECT_TRUE(tree.equals_model());
        EXPECT_EQ(tree.bytes_of_nodes() + tree.free_bytes() + 38 + 48, tree.file().space.end());
    }
}

TEST(BTree2Changes, RefusesWhatItCannotChange) {
    Storage storage(1 << 16);
    Tree tree(storage.memory, small_nodes(), 2048);
    Address header = kUndefinedAddress;
    // Too few records in a node, a record that is too long, no record.
    EXPECT_EQ(BTree2Changes::create(tree.file(), small_nodes(60), header), Status::invalid_argument);
    BTree2Create create = small_nodes();
    create.record_size = 1000;
    EXPECT_EQ(BTree2Changes::create(tree.file(), create, header), Status::invalid_argument);
    create.record_size = 0;
    EXPECT_EQ(BTree2Changes::create(tree.file(), create, header), Status::invalid_argument);
    create = small_nodes();
    create.merge_percent = 60;
    EXPECT_EQ(BTree2Changes::create(tree.file(), create, header), Status::invalid_argument);
    // A node for which the cache has no room.
    EXPECT_EQ(BTree2Changes::create(tree.file(), small_nodes(2048), header), Status::over_budget);
    EXPECT_EQ(header, kUndefinedAddress);
}

TEST(BTree2Changes, GivesUpEverything) {
    Storage storage(1 << 20);
    Tree tree(storage.memory, small_nodes(), 2048);
    for (unsigned i = 0; i < 300; ++i) {
        ASSERT_EQ(tree.insert(i, i), Status::ok);
    }
    ASSERT_EQ(tree.file().commit(), Status::ok);
    Disposal rehearsal(tree.file(), true);
    ASSERT_EQ(BTree2Changes::dispose(tree.file(), tree.header, rehearsal), Status::ok);
    EXPECT_TRUE(tree.equals_model());
    Disposal disposal(tree.file(), false);
    ASSERT_EQ(BTree2Changes::dispose(tree.file(), tree.header, disposal), Status::ok);
    ASSERT_EQ(tree.file().commit(), Status::ok);
    EXPECT_EQ(tree.free_bytes() + 48, tree.file().space.end());
}

// Every allocation and every call of the driver fails in turn. A change that fails leaves the tree as it was, and no
// space is lost: it is made again, and the rest goes on.
TEST(BTree2Changes, AFailureChangesNothing) {
    constexpr FaultKind kFaults[] = {
        {"one allocation", 1, 0, false},
        {"every allocation", ~std::uint64_t{0}, 0, true},
        {"one read", 0, kReadCall, false},
        {"every call", 0, kAllCalls, true},
        {"one change", 0, kAllCalls & ~unsigned{kReadCall}, false},
    };
    std::size_t points = 0;
    for (unsigned kind = 0; kind < 2 * (sizeof kFaults / sizeof *kFaults); ++kind) {
        const FaultKind& fault = kFaults[kind / 2];
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += sweep_step()) {
            Storage storage(1 << 16);
            FailingDriver driver(storage.memory);
            MallocAllocator heap;
            RefusingAllocator refusing(heap);
            Tree tree(driver, small_nodes(), kind % 2 == 0 ? 1024 : 8192, &refusing);
            tree.library.set_free_list_limits({0, 0});  // so that every allocation can fail
            Numbers numbers(9);
            for (std::uint64_t key = 0; key < 80; ++key) {
                ASSERT_EQ(tree.insert(2 * key, 1), Status::ok);
            }
            ASSERT_EQ(tree.file().commit(), Status::ok);
            arm(refusing, driver, fault, k);
            const auto change = [&](unsigned i, std::uint64_t key) {
                switch (i % 5) {
                    case 0:
                    case 1:
                        return tree.insert(2 * key + 1, i, i % 2 != 0);
                    case 2:
                        return tree.model.count(2 * key) != 0 ? tree.remove(2 * key) : tree.insert(2 * key, i);
                    case 3:
                        return tree.model.empty() ? Status::ok : tree.update(tree.model.begin()->first, i);
                    default:
                        return tree.file().commit();
                }
            };
            failed = false;
            for (unsigned i = 0; i < 60; ++i) {
                const std::uint64_t key = numbers.below(80);
                Status status = change(i, key);
                if (status != Status::ok && status != Status::already_exists) {
                    failed = disarm(refusing, driver) || failed;
                    ASSERT_TRUE(failed) << fault.name << " " << k << " " << to_string(status);
                    ASSERT_TRUE(tree.equals_model()) << fault.name << " " << k << " in " << i;
                    status = change(i, key);
                    ASSERT_TRUE(status == Status::ok || status == Status::already_exists)
                        << fault.name << " " << k << " " << to_string(status);
                }
            }
            failed = disarm(refusing, driver) || failed;
            ASSERT_TRUE(tree.equals_model()) << fault.name << " " << k;
            ASSERT_EQ(tree.file().commit(), Status::ok);
            // Without memory for it the map forgets the smallest piece of free space.
            if (tree.file().space.free().is_complete()) {
                ASSERT_EQ(tree.bytes_of_nodes() + tree.free_bytes() + 38 + 48, tree.file().space.end())
                    << fault.name << " " << k;
            }
            ++points;
        }
    }
    std::printf("%zu points\n", points);
}

#endif
