// Blocks that are moved so that each change is one atomic write: what is moved and what is not, in which order it
// reaches the storage, and that a failure at each step leaves everything as it was.
#include "block_mover.hpp"
#include "failing_driver.hpp"
#include "promising_driver.hpp"
#include "storage_bench.hpp"

#if H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Usage kUsage = Usage::btree;
constexpr std::size_t kUnit = 128;
constexpr std::size_t kHolder = 64;   // bytes of a holder within one unit
constexpr std::size_t kPointer = 40;  // offset of the pointer in it, and of its map of pages before
constexpr std::size_t kLarge = 300;   // bytes of a block that no unit holds
constexpr std::size_t kPage = 140;    // bytes of a page
constexpr std::size_t kPrefix = 24;   // bytes of a block with pages
constexpr std::uint32_t kPages = 4;   // the last one has only half of the bytes
constexpr Address kSpace = kPrefix + 3 * kPage + kPage / 2;

// A file with a unit of 128 bytes whose driver fails on demand.
class Rig {
public:
    explicit Rig(std::size_t cache = 2048, bool torn = false, std::size_t capacity = sizeof bench_storage) noexcept
        : bench_(capacity),
          promising_(bench_.driver, with_unit(kUnit)),
          driver(promising_),
          state(bench_.library, driver) {
        FileAccess access;
        access.metadata_cache = cache;
        access.torn_headers = torn;
        EXPECT_EQ(state.create(access, {}), Status::ok);
    }
    ~Rig() {
        state.abandon();
        EXPECT_TRUE(bench_.empty());
    }
    /// Makes a block whose bytes are all `value`.
    Address make(std::size_t size, int value, Address space = 0) noexcept {
        Pinned block;
        EXPECT_EQ(state.create_block(kUsage, size, space == 0 ? narrow(size) : space, block), Status::ok);
        fill(*block, value);
        return block->address();
    }
    static void fill(CacheEntry& block, int value, Phase phase = Phase::index) noexcept {
        std::memset(block.at(0), value, block.size() - kChecksumSize);
        MetadataCache::mark_dirty(block, 0, phase);
    }
    Pinned pin(Address address, std::size_t size) noexcept {
        Pinned block;
        EXPECT_EQ(state.cache.protect(kUsage, address, size, block), Status::ok);
        return block;
    }
    /// Makes a block of `size` bytes that leads to `to` at kPointer.
    Address make_holder(Address to, std::size_t size = kHolder) noexcept {
        const Address address = make(size, 0);
        const Pinned holder = pin(address, size);
        state.shape().store_addr(holder->at(kPointer), to);
        MetadataCache::mark_dirty(*holder, kPointer, Phase::index);
        return address;
    }
    Address pointer(CacheEntry& holder) noexcept { return state.shape().load_addr(holder.at(kPointer)); }
    Address stored_pointer(Address holder) noexcept {
        return state.shape().load_addr(bench_storage + holder + kPointer);
    }

private:
    Bench bench_;
    PromisingDriver promising_;

public:
    FailingDriver driver;
    FileState state;
};

// Makes a block with pages 0, 1 and 3 behind it; page i has bytes 10 + i. Its address is in a holder. The bits of the
// pages are in the holder's byte 20, or in the block's byte 12, from the third bit on.
struct Paged {
    Paged(Rig& rig, bool map_in_holder) noexcept : in_holder(map_in_holder), rig_(rig) {
        constexpr std::byte kMap{0x34};  // 0b00'1101'00
        block = rig.make(kPrefix, 1, kSpace);
        holder = rig.make_holder(block);
        *rig.pin(block, kPrefix)->at(12) = kMap;
        *rig.pin(holder, kHolder)->at(20) = kMap;
        for (const std::uint32_t page : {0U, 1U, 3U}) {
            Pinned made;
            EXPECT_EQ(rig.state.cache.create(kUsage, address_of(block, page), size_of(page), made), Status::ok);
            Rig::fill(*made, static_cast<int>(10 + page));
        }
        EXPECT_EQ(rig.state.commit(), Status::ok);
    }
    static Address address_of(Address from, std::uint32_t page) noexcept { return from + kPrefix + page * kPage; }
    static std::size_t size_of(std::uint32_t page) noexcept { return page + 1 < kPages ? kPage : kPage / 2; }
    BlockPages pages(std::uint32_t last) const noexcept {
        return {kPrefix, kSpace, kPage, kPages, last, 8 * (in_holder ? 20U : 12U) + 2U, in_holder};
    }
    /// Whether the block and its pages are found from the holder on, with what is expected in page 1.
    bool found(int expected) noexcept {
        const Pinned top = rig_.pin(holder, kHolder);
        const Address from = rig_.pointer(*top);
        bool same = *rig_.pin(from, kPrefix)->at(0) == std::byte{1};
        for (const std::uint32_t page : {0U, 1U, 3U}) {
            const Pinned each = rig_.pin(address_of(from, page), size_of(page));
            const auto value = static_cast<std::byte>(page == 1 ? static_cast<unsigned>(expected) : 10 + page);
            same = same && *each->at(0) == value && *each->at(size_of(page) - 5) == value;
        }
        return same;
    }

    bool in_holder;
    Address block = 0;
    Address holder = 0;

private:
    Rig& rig_;
};

}  // namespace

TEST(BlockMover, OnlyWhatCouldBeTornIsMoved) {
    Rig rig;
    const Address large = rig.make(kLarge, 1);
    const Address top = rig.make_holder(large);
    Pinned holder = rig.pin(top, kHolder);
    Pinned block = rig.pin(large, kLarge);
    const BlockMover mover(rig.state, kUndefinedAddress);
    EXPECT_EQ(mover.secure(*holder, kPointer, block, 0), Status::ok);  // it is fresh
    EXPECT_EQ(block->address(), large);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    EXPECT_EQ(mover.allow_change(*holder, 0), Status::ok);
    EXPECT_EQ(mover.allow_change(*block, 0), Status::busy);
    EXPECT_EQ(mover.secure(*holder, kPointer, block, kLarge - 8), Status::ok);  // these bytes lie in one unit
    EXPECT_EQ(block->address(), large);
    EXPECT_FALSE(holder->dirty());
    ASSERT_EQ(mover.secure(*holder, kPointer, block, 0), Status::ok);
    const Address moved = block->address();
    EXPECT_NE(moved, large);
    EXPECT_TRUE(block->fresh() && block->dirty());
    EXPECT_EQ(rig.pointer(*holder), moved);
    EXPECT_EQ(holder->phase(), Phase::index);
    Rig::fill(*block, 2);
    // Until a commit the storage has the old block, and nothing else takes its place.
    EXPECT_EQ(rig.stored_pointer(top), large);
    EXPECT_EQ(bench_storage[large + 50], std::byte{1});
    const Address other = rig.make(kLarge, 3);
    EXPECT_NE(other, large);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    EXPECT_EQ(rig.stored_pointer(top), moved);
    EXPECT_EQ(bench_storage[moved + 50], std::byte{2});
    EXPECT_EQ(rig.make(kLarge, 4), large);
}

TEST(BlockMover, APointerThatCouldBeTornIsNotChanged) {
    for (const bool torn : {false, true}) {
        Rig rig(2048, torn);
        const Address large = rig.make(kLarge, 1);
        const Address top = rig.make_holder(large, kLarge);
        ASSERT_EQ(rig.state.commit(), Status::ok);
        const Address end = rig.state.space.end();
        Pinned holder = rig.pin(top, kLarge);
        Pinned block = rig.pin(large, kLarge);
        EXPECT_EQ(BlockMover(rig.state, kUndefinedAddress).move(*holder, kPointer, block), Status::busy);
        const Status status = BlockMover(rig.state, top).move(*holder, kPointer, block);
        EXPECT_EQ(status, torn ? Status::ok : Status::unsupported);
        EXPECT_EQ(block->address() == large, !torn);
        EXPECT_EQ(rig.pointer(*holder), block->address());
        EXPECT_EQ(holder->dirty(), torn);
        EXPECT_EQ(rig.state.space.end() == end, !torn);
    }
}

TEST(BlockMover, WithoutSpaceNothingChanges) {
    Rig rig(2048, false, 1024);
    const Address large = rig.make(kLarge, 1);
    const Address top = rig.make_holder(large);
    (void)rig.make(kLarge, 1);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    Pinned holder = rig.pin(top, kHolder);
    Pinned block = rig.pin(large, kLarge);
    const BlockMover mover(rig.state, kUndefinedAddress);
    const Address end = rig.state.space.end();
    EXPECT_EQ(mover.move(*holder, kPointer, block), Status::no_space);
    Pinned first;
    EXPECT_EQ(mover.split(block, kHolder, first), Status::no_space);
    EXPECT_EQ(block->address(), large);
    EXPECT_EQ(rig.pointer(*holder), large);
    EXPECT_FALSE(holder->dirty() || block->dirty() || bool(first));
    EXPECT_EQ(rig.state.space.end(), end);
}

// What leads to a moved block is written no earlier than the block would have been, except that the root of an index
// comes before the elements that it counts.
TEST(BlockMover, ThePointerWaitsForWhatTheBlockWaitedFor) {
    for (const bool root : {false, true}) {
        for (const Phase phase : {Phase::prepared, Phase::index, Phase::element}) {
            Rig rig;
            const Address large = rig.make(kLarge, 1);
            const Address top = rig.make_holder(large);
            ASSERT_EQ(rig.state.commit(), Status::ok);
            Pinned holder = rig.pin(top, kHolder);
            Pinned block = rig.pin(large, kLarge);
            MetadataCache::mark_dirty(*block, kLarge - 8, phase);
            ASSERT_EQ(BlockMover(rig.state, root ? top : 0).move(*holder, kPointer, block), Status::ok);
            EXPECT_EQ(holder->phase(), phase == Phase::element && !root ? Phase::element : Phase::index);
        }
    }
    Rig rig;
    Paged paged(rig, true);
    Pinned holder = rig.pin(paged.holder, kHolder);
    MetadataCache::mark_dirty(*rig.pin(Paged::address_of(paged.block, 3), Paged::size_of(3)), 60, Phase::element);
    Pinned page;
    const BlockPages pages = paged.pages(1);
    ASSERT_EQ(BlockMover(rig.state, 0).move(*holder, kPointer, page, &pages), Status::ok);
    EXPECT_EQ(holder->phase(), Phase::element);
}

// A block that waits for another one can be moved only after a commit. That makes the holder live, so that a change of
// it could be torn where it could not before.
TEST(BlockMover, AHolderThatWasWrittenIsNotChanged) {
    Rig rig;
    const Address first = rig.make(kHolder, 1);
    const Address large = rig.make(kLarge, 1);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    Pinned earlier = rig.pin(first, kHolder);
    Pinned block = rig.pin(large, kLarge);
    MetadataCache::mark_dirty(*earlier, 50, Phase::object);
    ASSERT_TRUE(rig.state.cache.write_after(*block, *earlier));
    MetadataCache::mark_dirty(*block, kLarge - 8, Phase::object);
    ASSERT_TRUE(block->waits());
    Pinned holder = rig.pin(rig.make_holder(large, kLarge), kLarge);
    const BlockMover mover(rig.state, kUndefinedAddress, Phase::object);
    EXPECT_EQ(mover.move(*holder, kPointer, block), Status::busy);
    EXPECT_EQ(block->address(), large);
    EXPECT_FALSE(block->dirty() || earlier->dirty() || holder->fresh());
}

TEST(BlockMover, PagesMoveWithTheirBlock) {
    for (const bool in_holder : {false, true}) {
        Rig rig;
        Paged paged(rig, in_holder);
        // What is in the place of page 2 was never written, and is not read.
        std::memset(bench_storage + Paged::address_of(paged.block, 2), 0xee, Paged::size_of(2));
        Rig::fill(*rig.pin(Paged::address_of(paged.block, 3), Paged::size_of(3)), 13);
        Pinned holder = rig.pin(paged.holder, kHolder);
        Pinned block;
        const BlockPages pages = paged.pages(1);
        ASSERT_EQ(BlockMover(rig.state, 0).move(*holder, kPointer, block, &pages), Status::ok);
        const Address to = rig.pointer(*holder);
        EXPECT_NE(to, paged.block);
        EXPECT_EQ(block->address(), in_holder ? Paged::address_of(to, 1) : to);
        EXPECT_TRUE(block->fresh());
        EXPECT_FALSE(bool(rig.state.cache.find(Paged::address_of(to, 2))));
        EXPECT_FALSE(bool(rig.state.cache.find(Paged::address_of(paged.block, 3))));
        block.reset();
        Rig::fill(*rig.pin(Paged::address_of(to, 1), Paged::size_of(1)), 99);
        EXPECT_EQ(bench_storage[Paged::address_of(paged.block, 1)], std::byte{11});
        holder.reset();
        EXPECT_TRUE(paged.found(99));
        ASSERT_EQ(rig.state.commit(), Status::ok);
        EXPECT_EQ(rig.stored_pointer(paged.holder), to);
        rig.state.cache.reclaim();
        EXPECT_TRUE(paged.found(99));
    }
}

// Every call of the driver fails in turn, in caches that have to write copies to make room for others.
TEST(BlockMover, AFailureLeavesTheOldPages) {
    unsigned failures = 0;
    for (const bool in_holder : {false, true}) {
        for (const std::size_t cache : {1024U, 2048U}) {
            bool failed = true;
            for (std::uint64_t k = 1; failed; ++k) {
                Rig rig(cache);
                Paged paged(rig, in_holder);
                rig.state.cache.reclaim();
                if (cache == 2048) {
                    Rig::fill(*rig.pin(Paged::address_of(paged.block, 0), Paged::size_of(0)), 10);
                }
                Pinned holder = rig.pin(paged.holder, kHolder);
                // So little room is left that pages have to leave for each other.
                Pinned rest;
                if (cache == 1024) {
                    ASSERT_EQ(rig.state.create_block(kUsage, 500, 500, rest), Status::ok);
                    MetadataCache::mark_dirty(*rest, 0, Phase::index);
                }
                const Address end = rig.state.space.end();
                DriverFault fault;
                fault.at = k;
                rig.driver.arm(fault);
                Pinned block;
                const BlockPages pages = paged.pages(1);
                const Status status = BlockMover(rig.state, 0).move(*holder, kPointer, block, &pages);
                failed = rig.driver.failures() != 0;
                rig.driver.disarm();
                EXPECT_EQ(status, failed ? Status::io_error : Status::ok);
                EXPECT_EQ(rig.pointer(*holder) == paged.block, failed);
                if (failed) {
                    ++failures;
                    EXPECT_FALSE(bool(block));
                    EXPECT_EQ(rig.state.space.end(), end);
                }
                block.reset();
                rest.reset();
                holder.reset();
                EXPECT_TRUE(paged.found(11));
                ASSERT_EQ(rig.state.commit(), Status::ok);
                rig.state.cache.reclaim();
                EXPECT_TRUE(paged.found(11));
            }
        }
    }
    EXPECT_GT(failures, 10U);
}

TEST(BlockMover, WithoutRoomInTheCacheNothingChanges) {
    Rig rig(1024);
    Paged paged(rig, true);
    rig.state.cache.reclaim();
    Pinned holder = rig.pin(paged.holder, kHolder);
    Pinned rest;
    ASSERT_EQ(rig.state.create_block(kUsage, 750, 750, rest), Status::ok);
    const Address end = rig.state.space.end();
    Pinned block;
    const BlockPages pages = paged.pages(1);
    EXPECT_EQ(BlockMover(rig.state, 0).move(*holder, kPointer, block, &pages), Status::over_budget);
    EXPECT_FALSE(bool(block));
    EXPECT_EQ(rig.state.space.end(), end);
    rest.reset();
    holder.reset();
    EXPECT_TRUE(paged.found(11));
}

TEST(BlockMover, TheFirstBytesOfABlockStay) {
    Rig rig;
    const Address large = rig.make(kLarge, 1);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    Pinned block = rig.pin(large, kLarge);
    MetadataCache::mark_dirty(*block, kLarge - 8, Phase::element);
    const BlockMover mover(rig.state, kUndefinedAddress);
    Pinned first;
    {
        const Pinned other = rig.pin(large, kLarge);
        const Address end = rig.state.space.end();
        EXPECT_EQ(mover.split(block, kHolder, first), Status::busy);
        EXPECT_EQ(block->address(), large);
        EXPECT_EQ(rig.state.space.end(), end);
    }
    ASSERT_EQ(mover.split(block, kHolder, first), Status::ok);
    EXPECT_EQ(first->address(), large);
    EXPECT_EQ(first->size(), kHolder);
    EXPECT_EQ(*first->at(kHolder - 5), std::byte{1});
    EXPECT_EQ(first->phase(), Phase::element);
    EXPECT_TRUE(first->dirty() && !first->fresh() && block->fresh());
    const Address moved = block->address();
    EXPECT_NE(moved, large);
    ASSERT_EQ(rig.state.commit(), Status::ok);
    EXPECT_EQ(bench_storage[moved + kLarge - 5], std::byte{1});
    // The rest of the old place is free after the commit.
    const Address next = rig.make(100, 2);
    EXPECT_TRUE(next >= large + kHolder && next + 100 <= large + kLarge);
}

#endif
