// The chunk indexes of growing datasets against a model: set in any order, across commits, evictions and sessions.
#include "extensible_array.hpp"
#include "fixed_array.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr unsigned kMost = 1400;
std::uint16_t model[kMost];  // 0: never set

ChunkLocation location_of(unsigned value, bool filtered) noexcept {
    ChunkLocation location;
    location.address = 100000 + value * 3U;
    if (filtered) {
        location.size = value;
        location.mask = value & 7U;
    }
    return location;
}

// An open file without the public interface.
class OpenFile {
public:
    explicit OpenFile(std::uint8_t sizeof_addr, std::size_t cache = 2048) noexcept
        : state_(bench_.library, bench_.driver) {
        FileAccess access;
        access.metadata_cache = cache;
        FileCreate create;
        create.sizeof_addr = sizeof_addr;
        EXPECT_EQ(state_.create(access, create), Status::ok);
    }
    ~OpenFile() { state_.abandon(); }
    FileState& operator*() noexcept { return state_; }
    FileState* operator->() noexcept { return &state_; }
    Library& library() noexcept { return bench_.library; }

private:
    Bench bench_;
    FileState state_;
};

template <typename Array>
bool equals_model(Array& array, unsigned count, bool filtered) noexcept {
    for (unsigned i = 0; i < count; ++i) {
        ChunkLocation found;
        if (array.find(i, found) != Status::ok) {
            return false;
        }
        const ChunkLocation wanted = model[i] == 0 ? ChunkLocation{} : location_of(model[i], filtered);
        if (found.address != wanted.address ||
            (model[i] != 0 && (found.size != wanted.size || found.mask != wanted.mask))) {
            return false;
        }
    }
    return true;
}

void fill(ExtensibleArray& array, FileState& file, unsigned count, bool in_order, bool filtered) noexcept {
    Numbers numbers(count);
    for (unsigned n = 0; n < count; ++n) {
        const unsigned i = in_order ? n : numbers.below(count);
        model[i] = static_cast<std::uint16_t>(n + 1);
        ASSERT_EQ(array.set(i, location_of(model[i], filtered), 0, 1), Status::ok);
        if (n % 50 == 49) {
            ASSERT_EQ(file.commit(), Status::ok);
        }
    }
}

}  // namespace

TEST(ExtensibleArray, HoldsWhatWasSet) {
    // Builds without filters have no elements with a size: no such dataset is opened.
    for (const bool filtered : {false, H5MOTE_FILTERS != 0}) {
        for (const std::uint8_t sizeof_addr : {std::uint8_t{4}, std::uint8_t{8}}) {
            for (const bool in_order : {true, false}) {
                if (!in_order && H5MOTE_FREE_EXTENTS < 16) {
                    continue;  // moving pages leaves more gaps than such a profile remembers as free space
                }
                const std::uint8_t width = filtered ? 3 : 0;
                const unsigned count = filtered ? 500 : 900;
                OpenFile file(sizeof_addr);
                std::memset(model, 0, sizeof model);
                ExtensibleArray array;
                Address address = 0;
                ASSERT_EQ(array.create(*file, ExtensibleArrayParameters(), width, address), Status::ok);
                EXPECT_TRUE(equals_model(array, 40, filtered));
                fill(array, *file, count, in_order, filtered);
                EXPECT_TRUE(equals_model(array, count, filtered));
                ASSERT_EQ(file->commit(), Status::ok);
                // A second object opens the same array.
                ExtensibleArray again;
                ASSERT_EQ(again.open(*file, address, width), Status::ok);
                EXPECT_TRUE(equals_model(again, count, filtered));
                if constexpr (H5MOTE_FILTERS != 0) {
                    EXPECT_EQ(again.open(*file, address, filtered ? 0 : 3), Status::corrupt_file);
                }
                EXPECT_EQ(again.open(*file, address + 1, width), Status::corrupt_file);
            }
        }
    }
}

TEST(ExtensibleArray, SetsRunsWithinItsReach) {
    OpenFile file(8);
    ExtensibleArray array;
    Address address = 0;
    ASSERT_EQ(array.create(*file, ExtensibleArrayParameters(), 0, address), Status::ok);
    unsigned index = 0;
    unsigned runs = 0;
    while (index < 1200) {
        const std::uint32_t reach = array.reach(index);
        ASSERT_GE(reach, 1U);
        ChunkLocation first;
        first.address = 1000 + index * 10U;
        ASSERT_EQ(array.set(index, first, 10, reach), Status::ok);
        index += reach;
        ++runs;
    }
    EXPECT_LT(runs, 50U);
    for (unsigned i = 0; i < index; ++i) {
        ChunkLocation found;
        ASSERT_EQ(array.find(i, found), Status::ok);
        ASSERT_EQ(found.address, 1000 + i * 10U);
    }
}

TEST(ExtensibleArray, EndsWhereItsParametersSay) {
    OpenFile file(8);
    ExtensibleArray array;
    ExtensibleArrayParameters parameters;
    parameters.max_bits = 8;
    Address address = 0;
    ASSERT_EQ(array.create(*file, parameters, 0, address), Status::ok);
    ChunkLocation location;
    location.address = 5;
    EXPECT_EQ(array.set(255, location, 0, 1), Status::ok);
    EXPECT_EQ(array.set(256, location, 0, 1), Status::no_space);
    EXPECT_EQ(array.find(256, location), Status::no_space);
    EXPECT_EQ(array.find(255, location), Status::ok);
    EXPECT_EQ(location.address, 5U);
}

// Whoever goes from range to range must come to the end, also where an Address has no more bits than the array has
// elements.
TEST(ExtensibleArray, RangesEndWithTheArray) {
    ExtensibleArrayParameters of_libhdf5;
    of_libhdf5.index_block_elements = 4;
    of_libhdf5.super_block_min_pointers = 4;
    of_libhdf5.page_bits = 10;
    for (const ExtensibleArrayParameters& parameters : {ExtensibleArrayParameters(), of_libhdf5}) {
        OpenFile file(8);
        ExtensibleArray array;
        Address address = 0;
        ASSERT_EQ(array.create(*file, parameters, 0, address), Status::ok);
        ElementBlock block;
        std::uint64_t index = 0;
        for (unsigned ranges = 0; ranges < 100000 && index < 0xffffffffU; ++ranges) {
            ASSERT_EQ(array.block_of(static_cast<Address>(index), block), Status::ok);
            ASSERT_TRUE(block.holds(static_cast<Address>(index)));
            index = std::uint64_t{block.first} + block.count;
        }
        EXPECT_GE(index, 0xffffffffU);
    }
}

// An array whose shortest data blocks have one element has a super block whose first element needs more bits than an
// Address of 32 bits has. No block may be given up twice because of that.
TEST(ExtensibleArray, EachBlockIsGivenUpOnce) {
    ExtensibleArrayParameters parameters;
    parameters.data_block_min_elements = 1;
    OpenFile file(8);
    const Address before = file->space.end();
    ExtensibleArray array;
    Address address = 0;
    ASSERT_EQ(array.create(*file, parameters, 0, address), Status::ok);
    ChunkLocation location;
    location.address = 5;
    for (Address i = 0; i < 100; ++i) {
        ASSERT_EQ(array.set(i, location, 0, 1), Status::ok);
    }
    ASSERT_EQ(file->commit(), Status::ok);
    Disposal disposal(*file, false, false);
    ASSERT_EQ(array.dispose(disposal, 0), Status::ok);
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(file->commit(), Status::ok);
    }
    EXPECT_EQ(file->space.end(), before);
}

#if H5MOTE_FIXED_CHUNKS
TEST(FixedArray, HoldsWhatWasSet) {
    for (const bool filtered : {false, true}) {
        for (const std::uint8_t page_bits : {std::uint8_t{4}, std::uint8_t{10}}) {
            for (const unsigned count : {1U, 15U, 16U, 17U, 100U}) {
                const std::uint8_t width = filtered ? 2 : 0;
                OpenFile file(4);
                std::memset(model, 0, sizeof model);
                FixedArray array;
                Address address = 0;
                ASSERT_EQ(array.create(*file, count, page_bits, width, address), Status::ok);
                EXPECT_TRUE(equals_model(array, count, filtered));
                Numbers numbers(count + page_bits);
                for (unsigned n = 0; n < count; ++n) {
                    const unsigned i = numbers.below(count);
                    model[i] = static_cast<std::uint16_t>(n + 1);
                    ASSERT_EQ(array.set(i, location_of(model[i], filtered)), Status::ok);
                    if (n % 8 == 7) {
                        ASSERT_EQ(file->commit(), Status::ok);
                    }
                }
                EXPECT_TRUE(equals_model(array, count, filtered));
                ASSERT_EQ(file->commit(), Status::ok);
                FixedArray again;
                ASSERT_EQ(again.open(*file, address, width), Status::ok);
                EXPECT_TRUE(equals_model(again, count, filtered));
                ChunkLocation location;
                EXPECT_EQ(again.find(count, location), Status::corrupt_file);
            }
        }
    }
}
#endif
