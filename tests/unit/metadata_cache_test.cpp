// What lies below the object model: the caches of metadata blocks and of raw chunks, and file space.
#include "metadata_cache.hpp"
#include "checksum.hpp"
#include "chunk_cache.hpp"
#include "cursor.hpp"
#include "file_space.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr bool kRemembersLeft = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;

class Hook final : public CommitHook {
public:
    bool is_unrecorded(Address address) const noexcept override {
        return address >= recorded_end || cache->has_left(address);
    }
    Status write_changes() noexcept override {
        ++commits;
        Status status = cache->flush(Phase::fresh);
        cache->settle();
        if (status == Status::ok) {
            status = cache->flush(Phase::index);
        }
        return status == Status::ok ? cache->flush(Phase::object) : status;
    }
    MetadataCache* cache = nullptr;
    unsigned commits = 0;
    Address recorded_end = 0;
};

class CacheBench : public Bench {
public:
    explicit CacheBench(std::size_t budget) noexcept : cache(library, driver, hook) {
        hook.cache = &cache;
        EXPECT_EQ(cache.open(budget), Status::ok);
    }
    ~CacheBench() { cache.close(); }
    Hook hook;
    MetadataCache cache;
};

constexpr Usage kUsage = Usage::btree;

}  // namespace

TEST(MetadataCache, ReadsVerifies) {
    CacheBench bench(2048);
    Pinned block;
    ASSERT_EQ(bench.driver.truncate(40), Status::ok);
    std::memset(bench_storage, 9, 36);
    store_le<std::uint32_t>(bench_storage + 36, lookup3({bench_storage, 36}));
    ASSERT_EQ(bench.cache.protect(kUsage, 0, 40, block), Status::ok);
    EXPECT_EQ(*block->at(5), std::byte{9});
    EXPECT_EQ(bench.cache.protect(kUsage, 0, 41, block), Status::corrupt_file);  // another size at that address
    block.reset();
    bench.cache.discard(0);
    bench_storage[20] ^= std::byte{1};
    EXPECT_EQ(bench.cache.protect(kUsage, 0, 40, block), Status::corrupt_file);
    EXPECT_FALSE(bool(block));
    EXPECT_EQ(bench.cache.protect(kUsage, 30, 40, block), Status::io_error);  // behind the end of the storage
    EXPECT_EQ(bench.cache.used(), 0U);
}

TEST(MetadataCache, ASizeNearTheLargestIsOverBudget) {
    CacheBench bench(1024);
    Pinned block;
    EXPECT_EQ(bench.cache.protect(kUsage, 0, 0xfffffff0U, block), Status::over_budget);
    EXPECT_EQ(bench.cache.used(), 0U);
}

#if H5MOTE_WRITE

namespace {

bool stored(std::size_t address, std::size_t size, unsigned char value) noexcept {
    for (std::size_t i = 0; i + 4 < size; ++i) {
        if (bench_storage[address + i] != std::byte{value}) {
            return false;
        }
    }
    return load_le<std::uint32_t>(bench_storage + address + size - 4) == lookup3({bench_storage + address, size - 4});
}

}  // namespace

TEST(MetadataCache, APinnedBlockWhoseSpaceIsReleasedStaysButIsNotWritten) {
    for (const Address size : {Address{1}, Address{40}, Address{100}}) {
        CacheBench bench(2048);
        Pinned block;
        ASSERT_EQ(bench.driver.truncate(100), Status::ok);
        std::memset(bench_storage, 7, 100);
        ASSERT_EQ(bench.cache.create(kUsage, 0, 40, block), Status::ok);
        MetadataCache::mark_dirty(*block, 0, Phase::index);
        bench.cache.discard(0, size);
        ASSERT_EQ(block->address(), 0U);
        EXPECT_FALSE(block->dirty());
        block.reset();
        EXPECT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
        EXPECT_EQ(bench_storage[0], std::byte{7});
        bench.cache.discard(0, size);
        EXPECT_EQ(bench.cache.used(), 0U);
    }
}

TEST(MetadataCache, BlocksAreWrittenByPhase) {
    CacheBench bench(2048);
    Pinned a;
    Pinned b;
    Pinned c;
    ASSERT_EQ(bench.cache.create(kUsage, 0, 40, a), Status::ok);
    ASSERT_EQ(bench.cache.create(kUsage, 100, 40, b), Status::ok);
    std::memset(a->at(0), 1, 36);
    std::memset(b->at(0), 2, 36);
    MetadataCache::mark_dirty(*a, 0, Phase::object);
    MetadataCache::mark_dirty(*b, 0, Phase::index);
    EXPECT_TRUE(bench.cache.has_dirty(Phase::fresh));
    EXPECT_FALSE(bench.cache.has_dirty(Phase::object));
    ASSERT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
    EXPECT_TRUE(stored(0, 40, 1) && stored(100, 40, 2));
    bench.cache.settle();
    std::memset(a->at(0), 3, 36);
    std::memset(b->at(0), 4, 36);
    MetadataCache::mark_dirty(*a, 0, Phase::object);
    MetadataCache::mark_dirty(*b, 10, Phase::index);  // only the bytes from 10 on have changed
    ASSERT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
    EXPECT_TRUE(stored(0, 40, 1));
    ASSERT_EQ(bench.cache.flush(Phase::index), Status::ok);
    EXPECT_TRUE(stored(0, 40, 1));
    EXPECT_EQ(bench_storage[109], std::byte{2});
    EXPECT_EQ(bench_storage[110], std::byte{4});
    ASSERT_EQ(bench.cache.flush(Phase::object), Status::ok);
    EXPECT_TRUE(stored(0, 40, 3));
    // A block waits for the latest phase of its changes: a change of an earlier phase does not bring it forward.
    MetadataCache::mark_dirty(*a, 0, Phase::object);
    MetadataCache::mark_dirty(*a, 0, Phase::index);
    EXPECT_FALSE(bench.cache.has_dirty(Phase::index));
    EXPECT_TRUE(bench.cache.has_dirty(Phase::object));
}

TEST(MetadataCache, ABlockIsHeldHoweverManyHoldIt) {
    CacheBench bench(1024);
    Pinned block;
    ASSERT_EQ(bench.cache.create(kUsage, 0, 40, block), Status::ok);
    constexpr unsigned kMany = 256;
    Pinned many[kMany];
    for (Pinned& each : many) {
        each = bench.cache.find(0);
    }
    ASSERT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
    block.reset();
    bench.cache.reclaim();
    EXPECT_TRUE(bool(bench.cache.find(0)));
}

TEST(MetadataCache, ChangedBlocksLeaveForOneBetweenHoles) {
    CacheBench bench(1024);
    Pinned block;
    // Four changed blocks that are live in the file, each with a small allocation behind it; all other memory is taken.
    void* between[4];
    for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(bench.cache.create(kUsage, i * 100, 100, block), Status::ok);
        between[i] = bench.library.allocate(MemoryKind::other, 8);
        ASSERT_TRUE(between[i] != nullptr);
    }
    block.reset();
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(bench.cache.protect(kUsage, i * 100, 100, block), Status::ok);
        std::memset(block->at(0), 7, 96);
        MetadataCache::mark_dirty(*block, 0, Phase::object);
    }
    block.reset();
    bench.library.release(MemoryKind::other, between[1], 8);
    const std::size_t rest = bench.arena.largest_free();
    void* const taken = bench.library.allocate(MemoryKind::other, rest);
    ASSERT_TRUE(taken != nullptr);
    const unsigned commits = bench.hook.commits;
    ASSERT_EQ(bench.cache.create(kUsage, 1000, 200, block), Status::ok);
    EXPECT_EQ(bench.hook.commits, commits + 1);
    EXPECT_TRUE(stored(0, 100, 7) && stored(300, 100, 7));
    block.reset();
    // A request for which no eviction can make room fails.
    EXPECT_EQ(bench.cache.create(kUsage, 2000, 600, block), Status::out_of_memory);
    bench.library.release(MemoryKind::other, taken, rest);
    for (const unsigned i : {0, 2, 3}) {
        bench.library.release(MemoryKind::other, between[i], 8);
    }
}

TEST(MetadataCache, KeepsItsBudget) {
    CacheBench bench(1024);
    Pinned block;
    EXPECT_EQ(bench.cache.create(kUsage, 0, 2000, block), Status::over_budget);
    // Create many more blocks than fit: fresh ones are written and evicted.
    for (unsigned i = 0; i < 60; ++i) {
        ASSERT_EQ(bench.cache.create(kUsage, i * 100, 100, block), Status::ok);
        std::memset(block->at(0), static_cast<int>(i), 96);
        MetadataCache::mark_dirty(*block, 0, Phase::object);
        EXPECT_LE(bench.cache.used(), bench.cache.budget());
    }
    block.reset();
    EXPECT_EQ(bench.hook.commits, 0U);
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    bench.hook.recorded_end = 6000;
    for (unsigned i = 0; i < 60; ++i) {
        ASSERT_EQ(bench.cache.protect(kUsage, i * 100, 100, block), Status::ok);
        EXPECT_EQ(*block->at(50), static_cast<std::byte>(i));
        // Changed blocks that are live in the file need a commit before they can be evicted.
        *block->at(50) = std::byte{200};
        MetadataCache::mark_dirty(*block, 50, Phase::object);
        EXPECT_LE(bench.cache.used(), bench.cache.budget());
    }
    block.reset();
    EXPECT_GT(bench.hook.commits, 4U);
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    for (unsigned i = 0; i < 60; ++i) {
        EXPECT_EQ(bench_storage[i * 100 + 50], std::byte{200});
    }
    // Pinned blocks stay.
    Pinned pins[12];
    Status status = Status::ok;
    unsigned held = 0;
    while (held < 12 && (status = bench.cache.protect(kUsage, held * 100, 100, pins[held])) == Status::ok) {
        ++held;
    }
    EXPECT_EQ(status, Status::over_budget);
    EXPECT_GE(held, 5U);
    bench.library.garbage_collect();
    for (unsigned i = 0; i < held; ++i) {
        EXPECT_EQ(*pins[i]->at(50), std::byte{200});
        pins[i].reset();
    }
    bench.library.garbage_collect();
    EXPECT_EQ(bench.cache.used(), 0U);
}

TEST(MetadataCache, MovedBlocksAreFreshAgain) {
    CacheBench bench(2048);
    Pinned block;
    ASSERT_EQ(bench.cache.create(kUsage, 0, 40, block), Status::ok);
    std::memset(block->at(0), 1, 36);
    ASSERT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
    bench.cache.settle();
    bench.cache.move(*block, 300);
    EXPECT_TRUE(block->fresh());
    std::memset(block->at(0), 2, 36);
    EXPECT_FALSE(bool(bench.cache.find(0)));
    EXPECT_TRUE(bool(bench.cache.find(300)));
    ASSERT_EQ(bench.cache.flush(Phase::fresh), Status::ok);
    EXPECT_TRUE(stored(0, 40, 1) && stored(300, 40, 2));
}

#if H5MOTE_ALL_FORMATS

namespace {

constexpr auto kInside = static_cast<ChecksumPlace>(15);

// The checksum of a block of 100 bytes that has it at byte 15.
std::uint32_t inside(std::size_t address) noexcept {
    std::byte copy[100];
    std::memcpy(copy, bench_storage + address, sizeof copy);
    store_le<std::uint32_t>(copy + 15, 0);
    return lookup3(copy);
}

}  // namespace

// The address of a block that is read again says whether something may lead to it.
TEST(MetadataCache, FreshBlocksStayFresh) {
    CacheBench bench(512);
    MetadataCache& cache = bench.cache;
    bench.hook.recorded_end = 2048;
    const auto make = [&](Address address) {
        Pinned block;
        EXPECT_EQ(cache.create(Usage::btree, address, 96, block), Status::ok);
        MetadataCache::mark_dirty(*block, 0, Phase::index);
    };
    Pinned block;
    for (Address address = 4096; address < 4096 + 8 * 128; address += 128) {
        make(address);
    }
    EXPECT_EQ(bench.hook.commits, 0U);
    EXPECT_FALSE(cache.find(4096));
    ASSERT_EQ(cache.protect(Usage::btree, 4096, 96, block), Status::ok);
    EXPECT_TRUE(block->fresh());
    block.reset();
    // Once the end covers them, blocks that are read may be live.
    bench.hook.recorded_end = 8192;
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    bench.hook.commits = 0;
    ASSERT_EQ(cache.protect(Usage::btree, 4096 + 128, 96, block), Status::ok);
    EXPECT_FALSE(block->fresh());
    block.reset();
    // In space that is used again only builds that remember them tell them from live ones.
    for (Address address = 0; address < 8 * 128; address += 128) {
        make(address);
    }
    EXPECT_EQ(bench.hook.commits, 0U);
    ASSERT_EQ(cache.protect(Usage::btree, 0, 96, block), Status::ok);
    EXPECT_EQ(block->fresh(), kRemembersLeft);
}

// More new blocks in space that is used again than the cache remembers, each in a range of its own.
TEST(MetadataCache, ACommitComesBeforeAFreshBlockIsForgotten) {
    constexpr Address kStep = 256;
    constexpr Address kBlocks = 60;
    CacheBench bench(512);
    bench.hook.recorded_end = kBlocks * kStep;
    Address first = 0;  // the first block that was made since the last commit
    for (Address i = 0; i < kBlocks; ++i) {
        Pinned block;
        const unsigned commits = bench.hook.commits;
        ASSERT_EQ(bench.cache.create(Usage::btree, i * kStep, 96, block), Status::ok);
        MetadataCache::mark_dirty(*block, 0, Phase::index);
        block.reset();
        first = bench.hook.commits == commits ? first : i;
        for (Address k = first; k < i; ++k) {
            EXPECT_TRUE(!kRemembersLeft || bench.cache.find(k * kStep) || bench.cache.has_left(k * kStep));
        }
    }
    EXPECT_EQ(bench.hook.commits > 0, kRemembersLeft);
    EXPECT_TRUE(bench.hook.commits < 5);
}

TEST(MetadataCache, AChecksumIsWrittenWhereTheBlockHasIt) {
    CacheBench bench(2048);
    ASSERT_EQ(bench.driver.truncate(1000), Status::ok);
    Pinned block;
    ASSERT_EQ(bench.cache.create(kUsage, 0, 100, block, kInside), Status::ok);
    std::memset(block->at(0), 7, 100);
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    EXPECT_EQ(load_le<std::uint32_t>(bench_storage + 15), inside(0));
    EXPECT_EQ(bench_storage[99], std::byte{7});
    // A change behind the checksum is written from the checksum on, one before it from its own first byte on.
    EXPECT_EQ(block->written_from(50), std::size_t{15});
    EXPECT_EQ(block->written_from(3), std::size_t{3});
    std::memset(bench_storage, 0xee, 15);
    *block->at(99) = std::byte{8};
    MetadataCache::mark_dirty(*block, 99, Phase::index);
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    EXPECT_EQ(bench_storage[14], std::byte{0xee});
    EXPECT_EQ(bench_storage[99], std::byte{8});
    std::memset(bench_storage, 7, 15);
    EXPECT_EQ(load_le<std::uint32_t>(bench_storage + 15), inside(0));
    // It stays there when the block is copied, changed or not, or split.
    Pinned other;
    *block->at(60) = std::byte{9};
    MetadataCache::mark_dirty(*block, 60, Phase::index);
    block.reset();
    ASSERT_EQ(bench.cache.copy(kUsage, 0, 200, 100, other, kInside), Status::ok);
    EXPECT_TRUE(other->checksum() == kInside);
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    EXPECT_EQ(load_le<std::uint32_t>(bench_storage + 215), inside(200));
    EXPECT_EQ(bench_storage[260], std::byte{9});
    ASSERT_EQ(bench.cache.split(other, 400, 50, block), Status::ok);
    EXPECT_TRUE(other->checksum() == kInside && block->checksum() == kInside);
    // A block without a checksum is written as it is.
    ASSERT_EQ(bench.cache.create(kUsage, 600, 40, block, ChecksumPlace::none), Status::ok);
    std::memset(block->at(0), 3, 40);
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    EXPECT_EQ(block->written_from(30), std::size_t{30});
    ASSERT_EQ(bench.hook.write_changes(), Status::ok);
    EXPECT_EQ(bench_storage[600], std::byte{3});
    EXPECT_EQ(bench_storage[639], std::byte{3});
}

#endif

#endif

#if H5MOTE_ALL_FORMATS

TEST(MetadataCache, AChecksumIsVerifiedWhereTheBlockHasIt) {
    constexpr auto kPlace = static_cast<ChecksumPlace>(15);
    CacheBench bench(2048);
    ASSERT_EQ(bench.driver.truncate(100), Status::ok);
    std::memset(bench_storage, 9, 100);
    store_le<std::uint32_t>(bench_storage + 15, 0);
    store_le<std::uint32_t>(bench_storage + 15, lookup3({bench_storage, 100}));
    Pinned block;
    ASSERT_EQ(bench.cache.protect(kUsage, 0, 100, block, kPlace), Status::ok);
    EXPECT_EQ(std::memcmp(block->at(0), bench_storage, 100), 0);
    block.reset();
    for (const std::size_t at : {std::size_t{0}, std::size_t{16}, std::size_t{99}}) {
        bench.cache.discard(0);
        bench_storage[at] ^= std::byte{1};
        EXPECT_EQ(bench.cache.protect(kUsage, 0, 100, block, kPlace), Status::corrupt_file);
        EXPECT_EQ(bench.cache.protect(kUsage, 0, 100, block, ChecksumPlace::none), Status::ok);
        block.reset();
        bench_storage[at] ^= std::byte{1};
    }
}

#endif

namespace {

class Owner final : public ChunkOwner {
public:
    Status write_back(ChunkSlot& slot) noexcept override {
        if (fail) {
            return Status::io_error;
        }
        written = written * 10 + slot.number + 1;
        slot.clean();
        return Status::ok;
    }
    void evicted(ChunkSlot&) noexcept override { ++gone; }
    Address written = 0;
    unsigned gone = 0;
    bool fail = false;
};

}  // namespace

TEST(ChunkCache, EvictsCompleteOnesFirst) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    ChunkCache cache(bench.library, space);
    cache.open(1000);
    Owner owner;
    ChunkSlot* slot[4] = {};
    EXPECT_EQ(cache.add(owner, 0, 1001, slot[0]), Status::over_budget);
    EXPECT_EQ(cache.find(owner, 0), nullptr);
    for (unsigned i = 0; i < 3; ++i) {
        ASSERT_EQ(cache.add(owner, i, 100, slot[i]), Status::ok);
        slot[i]->touch(10, 20);
    }
    slot[1]->complete = true;
    EXPECT_EQ(cache.find(owner, 0), slot[0]);
    Owner other;
    ChunkSlot* large = nullptr;
    const std::size_t before = cache.budget() - 300;
    ASSERT_EQ(cache.add(other, 0, static_cast<std::uint32_t>(before - 100), large), Status::ok);
    EXPECT_EQ(other.written, 0U);
    if (owner.gone > 0) {
        EXPECT_EQ(owner.written % 10 == 2 || owner.written / 10 == 2, true);  // the complete chunk was evicted first
    }
    ASSERT_EQ(cache.add(other, 1, 1000 - 200, large), Status::ok);
    EXPECT_GE(owner.gone, 2U);
    EXPECT_EQ(cache.find(owner, 1), nullptr);
    cache.drop_all(other);
    cache.drop_all(owner);
    EXPECT_TRUE(bench.empty());
}

#if H5MOTE_ALL_FORMATS

// Chunks of a dataset that can grow in several dimensions may share their number.
TEST(ChunkCache, CoordinatesTellChunksApart) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    ChunkCache cache(bench.library, space);
    cache.open(1000);
    Owner owner;
    std::uint64_t scaled[3] = {7, 0, std::uint64_t{1} << 40};
    const ChunkKey key(5, scaled, sizeof scaled);
    ChunkSlot* slots[3] = {};
    for (ChunkSlot*& slot : slots) {
        EXPECT_EQ(cache.find(owner, key), nullptr);
        ASSERT_EQ(cache.add(owner, key, 21, slot), Status::ok);
        slot->touch(0, 21);
        std::memset(slot->data(), static_cast<int>(scaled[1]), 21);
        ++scaled[1];
    }
    for (scaled[1] = 0; scaled[1] < 3; ++scaled[1]) {
        ChunkSlot* const found = cache.find(owner, key);
        ASSERT_EQ(found, slots[scaled[1]]);
        EXPECT_EQ(found->data()[20], static_cast<std::byte>(scaled[1]));
        // The slot names its chunk itself, for whoever writes it.
        const ChunkKey own = found->key();
        EXPECT_EQ(own.number, 5U);
        EXPECT_EQ(own.bytes(), sizeof scaled);
        EXPECT_EQ(std::memcmp(own.scaled(), scaled, sizeof scaled), 0);
    }
    scaled[1] = 1;
    cache.drop(*slots[1]);
    EXPECT_EQ(cache.find(owner, key), nullptr);
    scaled[1] = 2;
    EXPECT_EQ(cache.find(owner, key), slots[2]);
    EXPECT_EQ(cache.evict_all(), Status::ok);
    EXPECT_EQ(owner.written, 66U);
    EXPECT_TRUE(bench.empty());
}

#endif

TEST(ChunkCache, AFailureLeavesTheChunk) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    ChunkCache cache(bench.library, space);
    cache.open(250);
    Owner owner;
    ChunkSlot* slot = nullptr;
    ASSERT_EQ(cache.add(owner, 3, 200, slot), Status::ok);
    std::memset(slot->data(), 7, 200);
    slot->touch(0, 200);
    owner.fail = true;
    ChunkSlot* second = nullptr;
    EXPECT_EQ(cache.add(owner, 4, 200, second), Status::io_error);
    EXPECT_EQ(cache.write_back(owner), Status::io_error);
    slot = cache.find(owner, 3);
    ASSERT_TRUE(slot != nullptr);
    EXPECT_TRUE(slot->dirty());
    EXPECT_EQ(slot->data()[199], std::byte{7});
    owner.fail = false;
    EXPECT_EQ(cache.add(owner, 4, 200, second), Status::ok);
    EXPECT_EQ(owner.written, 4U);
    second->touch(5, 6);
    second->touch(1, 2);
    EXPECT_EQ(second->dirty_from, 1U);
    EXPECT_EQ(second->dirty_to, 6U);
    EXPECT_EQ(cache.write_back(owner), Status::ok);
    EXPECT_EQ(owner.written, 45U);
    cache.drop_all(owner);
    EXPECT_TRUE(bench.empty());
}

TEST(FileSpace, MetadataLiesInOneSector) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    space.open(0, 1 << 20, 0);
    Numbers numbers(3);
    for (unsigned i = 0; i < 100; ++i) {
        const Address size = 20 + numbers.below(200);
        Address address = 0;
        bool zeros = false;
        ASSERT_EQ(space.allocate(Usage::object_header, size, address, &zeros), Status::ok);
        EXPECT_EQ(address / 512, (address + size - 1) / 512);
        EXPECT_LE(address + size, space.end());
        EXPECT_LE(space.end(), bench.driver.contents().size());
    }
}

// Checked against the owner of each byte: no space is given out twice, and none before its release is committed.
TEST(FileSpace, NothingIsGivenOutTwice) {
    struct Piece {
        Address address;
        Address size;
    };
    static unsigned char owner[8 * 1024];  // 0 free, 1 used, 2 released before a commit
    std::memset(owner, 0, sizeof owner);
    Bench bench(sizeof owner);
    FileSpace space(bench.library, bench.driver);
    space.open(0, 1 << 20, 0);
    Numbers numbers(9);
    Piece pieces[40] = {};
    for (unsigned round = 0; round < 3000; ++round) {
        Piece& piece = pieces[numbers.below(40)];
        if (piece.size != 0) {
            const bool fresh = numbers.below(2) == 0;
            space.release(piece.address, piece.size, fresh);
            std::memset(owner + piece.address, fresh ? 0 : 2, static_cast<std::size_t>(piece.size));
            piece.size = 0;
        } else {
            const Address size = 1 + numbers.below(300);
            const Usage usage = numbers.below(2) == 0 ? Usage::raw_data : Usage::btree;
            Address address = 0;
            const Status status = space.allocate(usage, size, address);
            if (status == Status::no_space) {
                continue;
            }
            ASSERT_EQ(status, Status::ok);
            for (Address i = 0; i < size; ++i) {
                ASSERT_EQ(owner[address + i], 0);
                owner[address + i] = 1;
            }
            piece = {address, size};
        }
        if (numbers.below(20) == 0) {
            space.settle();
            for (unsigned char& each : owner) {
                each = each == 2 ? 0 : each;
            }
        }
    }
    for (Piece& piece : pieces) {
        space.release(piece.address, piece.size, false);
    }
    space.settle();
#if H5MOTE_FREE_EXTENTS >= 64
    // All free space merges and is cut off.
    EXPECT_EQ(space.end(), 0U);
#endif
}

TEST(FileSpace, KnowsWhatReadsAsZero) {
    Bench bench(4096);
    ASSERT_EQ(bench.driver.truncate(1000), Status::ok);
    FileSpace space(bench.library, bench.driver);
    // The storage has 1000 bytes, of which 400 belong to the file.
    space.open(400, 1 << 20, 1000);
    Address address = 0;
    bool zeros = true;
    ASSERT_EQ(space.allocate(Usage::raw_data, 300, address, &zeros), Status::ok);
    EXPECT_EQ(address, 400U);
    EXPECT_FALSE(zeros);
    ASSERT_EQ(space.allocate(Usage::raw_data, 400, address, &zeros), Status::ok);
    EXPECT_FALSE(zeros);
    ASSERT_EQ(space.allocate(Usage::raw_data, 100, address, &zeros), Status::ok);
    EXPECT_TRUE(zeros);
    space.release(address, 100, true);
    ASSERT_EQ(space.allocate(Usage::raw_data, 100, address, &zeros), Status::ok);
    EXPECT_FALSE(zeros);
    EXPECT_EQ(space.allocate(Usage::raw_data, 5000, address, &zeros), Status::no_space);
    space.open(0, 2000, 0);
    EXPECT_EQ(space.allocate(Usage::raw_data, 2001, address, &zeros), Status::no_space);
    EXPECT_EQ(space.allocate(Usage::raw_data, 2000, address, &zeros), Status::ok);
}
