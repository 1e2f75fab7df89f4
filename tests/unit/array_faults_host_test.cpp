// Chunk indexes that are arrays (fixed, extensible), with small pages and a small cache, while every allocation and
// every call of the driver fails in turn. A failed change changes nothing and can be repeated; what was committed is
// found again when the file is opened after a permanent fault.
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_FIXED_CHUNKS

#include "extensible_array.hpp"
#include "fixed_array.hpp"
#include "promising_driver.hpp"
#include "storage_bench.hpp"

#include <cstdio>
#include <memory>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr unsigned kElements = 120;
constexpr unsigned kChanges = 60;

using Values = std::vector<unsigned>;  // the value of each element; 0: never set

constexpr FaultKind kFaults[] = {
    {"one allocation", 1, 0, false},
    {"every allocation", ~std::uint64_t{0}, 0, true},
    {"one read", 0, kReadCall, false},
    {"every call", 0, kAllCalls, true},
    {"one change", 0, kAllCalls & ~unsigned{kReadCall}, false},
};

ChunkLocation location_of(unsigned value, bool filtered) {
    ChunkLocation location;
    location.address = value == 0 ? kUndefinedAddress : 100000 + Address{value} * 3;
    location.size = filtered && value != 0 ? value : 0;
    location.mask = filtered && value != 0 ? value & 7U : 0;
    return location;
}

// How long the blocks and pages of an array are.
struct Blocks {
    std::uint8_t page_bits;
    std::uint8_t least;  // elements of the shortest data blocks of an extensible array
    unsigned stride;     // only every so many elements are ever set
};
constexpr Blocks kSmall = {4, 4, 1};
// In a cache of 1 KiB these are changed on the storage.
constexpr Blocks kLarge[] = {{6, 32, 3}, {10, 128, 1}};

Status create(FixedArray& array, FileState& file, Blocks blocks, std::uint8_t width, Address& address) {
    return array.create(file, kElements * blocks.stride, blocks.page_bits, width, address);
}

Status create(ExtensibleArray& array, FileState& file, Blocks blocks, std::uint8_t width, Address& address) {
    ExtensibleArrayParameters parameters;
    parameters.page_bits = blocks.page_bits == kSmall.page_bits ? 3 : blocks.page_bits;
    parameters.data_block_min_elements = blocks.least;
    parameters.super_block_min_pointers = 2;
    return array.create(file, parameters, width, address);
}

Status set(FixedArray& array, unsigned index, const ChunkLocation& location) { return array.set(index, location); }

Status set(ExtensibleArray& array, unsigned index, const ChunkLocation& location) {
    return array.set(index, location, 0, 1);
}

// Returns the element that change number `n` sets to n + 1.
unsigned index_of(unsigned n) { return n * 47 % kElements / (1 + n % 3); }

// A chunk index in a file whose allocator and driver fail on demand.
template <typename Array>
struct Rig {
    Rig(std::size_t cache, bool filtered, unsigned each, Blocks blocks)
        : filtered_(filtered),
          width_(filtered ? std::uint8_t{3} : std::uint8_t{0}),
          stride_(blocks.stride),
          each_(each) {
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        access.metadata_cache = cache;
        state = std::make_unique<FileState>(library, driver);
        EXPECT_EQ(state->create(access, {}), Status::ok);
        EXPECT_EQ(create(array, *state, blocks, width_, address), Status::ok);
        EXPECT_EQ(state->commit(), Status::ok);
    }
    ~Rig() {
        state->abandon();
        state.reset();
        EXPECT_EQ(memory.blocks(), 0U);
    }
    void arm(const FaultKind& fault, std::uint64_t k) { h5mote_test::arm(refusing, driver, fault, k); }
    bool disarm() { return h5mote_test::disarm(refusing, driver); }
    /// Makes the changes from number `n` on. After a failure `n` is the number of the change that failed.
    Status change(unsigned& n) {
        for (; n < kChanges; ++n) {
            const unsigned index = index_of(n);
            if (n != set_) {
                H5MOTE_TRY(set(array, index * stride_, location_of(n + 1, filtered_)));
                now[index] = n + 1;
                set_ = n;
            }
            if (n % each_ == each_ - 1) {
                H5MOTE_TRY(state->commit());
                committed = now;
            }
        }
        return Status::ok;
    }
    Values found() {
        Values values(kElements);
        for (unsigned i = 0; i < kElements; ++i) {
            ChunkLocation location;
            EXPECT_EQ(array.find(i * stride_, location), Status::ok);
            const unsigned value =
                location.address == kUndefinedAddress ? 0 : static_cast<unsigned>((location.address - 100000) / 3);
            const ChunkLocation expected = location_of(value, filtered_);
            EXPECT_TRUE(location.address == expected.address && location.size == expected.size &&
                        location.mask == expected.mask);
            values[i] = value;
        }
        return values;
    }
    /// Opens the file again from the bytes in the storage; changes that were not committed are lost.
    void reopen() {
        state->abandon();
        state = std::make_unique<FileState>(library, driver);
        ASSERT_EQ(state->open(access), Status::ok);
        array = Array();
        ASSERT_EQ(array.open(*state, address, width_), Status::ok);
    }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes, std::size_t{1} << 22};
    PromisingDriver promising{storage, with_unit(512)};
    FailingDriver driver{promising};
    NullPort port;
    Library library{refusing, port};
    FileAccess access;
    std::unique_ptr<FileState> state;
    Array array;
    Address address = 0;
    Values now = Values(kElements, 0);
    Values committed = now;

private:
    bool filtered_;
    std::uint8_t width_;
    unsigned stride_;
    unsigned each_;       // number of changes between two commits
    unsigned set_ = ~0U;  // number of the last change that was made
};

template <typename Array>
void fail_each(std::size_t cache, bool filtered, unsigned each, Blocks blocks, unsigned& points) {
    for (const FaultKind& fault : kFaults) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += sweep_step() + k / 100) {
            SCOPED_TRACE(std::string(fault.name) + " " + std::to_string(k) + ", cache " + std::to_string(cache) +
                         (filtered ? ", filtered, " : ", ") + std::to_string(each) + " a commit");
            Rig<Array> rig(cache, filtered, each, blocks);
            rig.arm(fault, k);
            unsigned n = 0;
            const Status status = rig.change(n);
            failed = rig.disarm();
            points += failed ? 1U : 0U;
            if (status != Status::ok) {
                ASSERT_TRUE(failed && status == (fault.calls != 0 ? Status::io_error : Status::out_of_memory))
                    << to_string(status);
                ASSERT_EQ(rig.found(), rig.now) << "after change " << n;
            }
            if (fault.persistent) {
                // Each element has its committed value or a newer one: the cache also commits by itself when it runs
                // out of room.
                rig.reopen();
                const Values found = rig.found();
                for (unsigned i = 0; i < kElements; ++i) {
                    ASSERT_TRUE(found[i] == rig.committed[i] ||
                                (found[i] > rig.committed[i] && found[i] <= rig.now[i] && index_of(found[i] - 1) == i))
                        << i;
                }
                continue;
            }
            ASSERT_EQ(rig.change(n), Status::ok);
            ASSERT_EQ(rig.state->commit(), Status::ok);
            ASSERT_EQ(rig.found(), rig.now);
            rig.reopen();
            ASSERT_EQ(rig.found(), rig.now);
        }
    }
}

template <typename Array>
void fail_each() {
    unsigned points = 0;
    for (const std::size_t cache : {1024U, 1280U, 1536U, 2048U, 4096U}) {
        for (const bool filtered : {false, true}) {
            for (const unsigned each : {4U, 100U}) {
                fail_each<Array>(cache, filtered, each, kSmall, points);
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

template <typename Array>
void fail_each_of_large_blocks() {
    unsigned points = 0;
    for (const Blocks& blocks : kLarge) {
        for (const bool filtered : {false, true}) {
            for (const unsigned each : {4U, 100U}) {
                fail_each<Array>(1024, filtered, each, blocks, points);
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

}  // namespace

TEST(ArrayFaults, FixedArray) { fail_each<FixedArray>(); }

TEST(ArrayFaults, ExtensibleArray) { fail_each<ExtensibleArray>(); }

TEST(ArrayFaults, FixedArrayOfLargeBlocks) { fail_each_of_large_blocks<FixedArray>(); }

TEST(ArrayFaults, ExtensibleArrayOfLargeBlocks) { fail_each_of_large_blocks<ExtensibleArray>(); }

#endif
