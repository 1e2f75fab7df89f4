// A metadata cache of many blocks: which of them its searches for changed ones find, and when it makes room.
#include "forwarding_driver.hpp"
#include "metadata_cache.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#if H5MOTE_WRITE

using namespace h5mote;

namespace {

constexpr Usage kUsage = Usage::btree;
constexpr std::size_t kSize = 200;

class Recorder final : public h5mote_test::ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        written.push_back(address);
        return ForwardingDriver::write(usage, address, from);
    }
    std::vector<Address> written;
};

struct ManyBlocks final : CommitHook {
    explicit ManyBlocks(std::size_t budget) {
        cache.join_writes();
        EXPECT_EQ(cache.open(budget), Status::ok);
    }
    ~ManyBlocks() { cache.close(); }
    ManyBlocks(const ManyBlocks&) = delete;
    ManyBlocks& operator=(const ManyBlocks&) = delete;

    bool is_unrecorded(Address /*address*/) const noexcept override { return true; }
    Status write_changes() noexcept override {
        ++commits;
        Status status = cache.flush(Phase::fresh);
        cache.settle();
        for (const Phase phase : {Phase::index, Phase::object}) {
            status = status == Status::ok ? cache.flush(phase) : status;
        }
        return status;
    }

    // Makes a block that is live and unchanged.
    void make(Address address) {
        Pinned block;
        ASSERT_EQ(cache.create(kUsage, address, kSize, block), Status::ok);
        MetadataCache::mark_dirty(*block, 0, Phase::index);
    }

    // Changes a block, `held` or found in the cache, and says whether that reaches the storage.
    bool writes(Address address, Pinned* held = nullptr) {
        Pinned found;
        if (held == nullptr) {
            found = cache.find(address);
        }
        Pinned& block = held != nullptr ? *held : found;
        recorder.written.clear();
        MetadataCache::mark_dirty(*block, 0, Phase::index);
        return cache.has_dirty(Phase::index) && cache.next_phase(Phase::fresh) == Phase::index &&
               cache.latest_phase(address, 2 * kSize, Phase::fresh) == Phase::index &&
               cache.latest_phase(address, 1, Phase::fresh) == Phase::index &&
               cache.flush(Phase::index) == Status::ok && recorder.written == std::vector<Address>{address} &&
               !cache.has_dirty(Phase::index);
    }

    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port};
    GrowingMemoryDriver memory{allocator};
    Recorder recorder{memory};
    MetadataCache cache{library, recorder, *this};
    unsigned commits = 0;
};

}  // namespace

TEST(ManyBlocks, WhatIsChangedAfterACommitIsFound) {
    ManyBlocks blocks(32768);
    for (Address address = 0; address < 10000; address += 1000) {
        blocks.make(address);
    }
    ASSERT_EQ(blocks.write_changes(), Status::ok);
    blocks.cache.settle();  // now all are quiet
    EXPECT_EQ(blocks.cache.next_phase(Phase::fresh), Phase::none);
    EXPECT_TRUE(blocks.writes(9000));  // the most recently used one
    EXPECT_TRUE(blocks.writes(0));     // the one that was used least recently
    EXPECT_TRUE(blocks.writes(4000));
    blocks.cache.settle();
    EXPECT_TRUE(blocks.writes(4000));
    EXPECT_TRUE(blocks.writes(9000));
    EXPECT_TRUE(blocks.writes(7000));
}

TEST(ManyBlocks, WhatIsHeldDuringACommitIsFoundWhenItIsChanged) {
    ManyBlocks blocks(32768);
    for (Address address = 0; address < 10000; address += 1000) {
        blocks.make(address);
    }
    Pinned held = blocks.cache.find(3000);
    for (Address address = 5000; address < 10000; address += 1000) {
        (void)blocks.cache.find(address);
    }
    ASSERT_EQ(blocks.write_changes(), Status::ok);
    blocks.cache.settle();
    EXPECT_TRUE(blocks.writes(3000, &held));
}

TEST(ManyBlocks, QuietBlocksThatLeaveTakeNothingWithThem) {
    ManyBlocks blocks(32768);
    for (Address address = 0; address < 10000; address += 1000) {
        blocks.make(address);
    }
    ASSERT_EQ(blocks.write_changes(), Status::ok);
    blocks.cache.settle();
    EXPECT_TRUE(blocks.writes(5000));  // in front of 9000, where the quiet ones begin
    blocks.cache.discard(9000, kSize);
    blocks.cache.discard(8000);
    EXPECT_FALSE(bool(blocks.cache.find(9000)));
    EXPECT_FALSE(bool(blocks.cache.find(8000)));
    EXPECT_TRUE(blocks.writes(7000));
    blocks.cache.reclaim();
    EXPECT_EQ(blocks.cache.used(), 0U);
    blocks.make(20000);
    EXPECT_TRUE(blocks.cache.has_dirty(Phase::fresh));
}

TEST(ManyBlocks, AreWrittenOnceEachInTheOrderOfTheirAddresses) {
    for (const std::size_t count : {1U, 15U, 16U, 17U, 100U}) {
        ManyBlocks blocks(32768);
        std::vector<Address> addresses;
        for (std::size_t i = 0; i < count; ++i) {
            addresses.push_back(i * 37 % count * 1000);
            blocks.make(addresses.back());
        }
        ASSERT_EQ(blocks.cache.flush(Phase::fresh), Status::ok);
        std::sort(addresses.begin(), addresses.end());
        addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
        EXPECT_EQ(blocks.recorder.written, addresses) << count;
    }
}

TEST(ManyBlocks, EverythingThatBeginsInAReleasedSpaceIsDropped) {
    ManyBlocks blocks(32768);
    for (Address address = 1000; address < 2000; address += kSize) {
        blocks.make(address);
    }
    blocks.cache.discard(1200, 600);  // a block begins there, but is smaller
    EXPECT_TRUE(bool(blocks.cache.find(1000)));
    for (const Address address : {1200U, 1400U, 1600U}) {
        EXPECT_FALSE(bool(blocks.cache.find(address))) << address;
    }
    EXPECT_TRUE(bool(blocks.cache.find(1800)));
    blocks.cache.discard(990, 20);  // none begins at its beginning
    EXPECT_FALSE(bool(blocks.cache.find(1000)));
}

// A large cache that is full makes room for many blocks at once.
TEST(ManyBlocks, ALargeCacheMakesRoomSeldom) {
    constexpr std::size_t kBudget = 131072;
    ManyBlocks blocks(kBudget);
    unsigned makings = 0;
    std::size_t used = 0;
    constexpr unsigned kBlocks = 20000;
    for (unsigned i = 0; i < kBlocks; ++i) {
        const std::size_t before = blocks.cache.used();
        blocks.make(i * Address{1000});
        used = std::max(used, blocks.cache.used());
        makings += blocks.cache.used() < before + kSize ? 1U : 0U;
        Pinned block = blocks.cache.find(i * Address{1000});
        blocks.cache.settle();
        MetadataCache::mark_dirty(*block, 0, Phase::object);
    }
    EXPECT_LE(used, kBudget);
    EXPECT_GT(used, kBudget / 10 * 9);
    EXPECT_GT(blocks.commits, kBlocks / (kBudget / kSize) / 2);
    EXPECT_LT(blocks.commits, kBlocks / (kBudget / kSize) * 3);
    if (H5MOTE_ALL_FORMATS != 0) {
        EXPECT_LT(makings, kBlocks / 10);
    }
    ASSERT_EQ(blocks.write_changes(), Status::ok);
    for (unsigned i = 0; i < kBlocks; i += 997) {
        Pinned block;
        EXPECT_EQ(blocks.cache.protect(kUsage, i * Address{1000}, kSize, block), Status::ok) << i;
    }
}

#endif
