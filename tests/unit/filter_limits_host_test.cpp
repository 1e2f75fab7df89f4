// Filters given the smallest and largest sizes, and client data that no dataset has.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

TEST(FilterLimits, Sizes) {
    for (const Filter* const filter : kAllFilters) {
        const auto id = static_cast<unsigned>(filter->id());
        // Filters that are not part of libhdf5 are stored with their names.
        EXPECT_EQ(filter->name() != nullptr && std::strlen(filter->name()) > 0, id >= 256) << id;
        for (const bool optional : {false, true}) {
            FilterSpec spec;
            spec.id = filter->id();
            spec.optional = optional;
            for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, SIZE_MAX - 4, SIZE_MAX}) {
                // The limit does not wrap round; it is below the input's size only if the filter is optional.
                const std::size_t limit = filter->encoded_limit(spec, size);
                EXPECT_TRUE(limit >= size || optional) << id << ' ' << size;
                EXPECT_TRUE(size == 0 || limit >= size - 1) << id << ' ' << size;
            }
        }
    }
}

namespace {

// A specification with which the filter encodes 96 bytes.
FilterSpec small_spec(FilterId id) {
    static std::byte values[80];
    FilterSpec spec{id, false, 1, {4}};
    if (id == FilterId::szip) {
        spec = {id, false, 4, {32 | 8 | 1 | 128, 8, 32, 24}};
    } else if (id == FilterId::nbit) {
        spec = {id, false, 8, {8, 0, 24, 1, 4, 0, 31, 0}};  // numbers of 31 bits
    } else if (id == FilterId::scaleoffset) {
        constexpr std::uint32_t kSome[] = {2, 0, 24, 0, 4};
        for (unsigned i = 0; i < 5; ++i) {
            values[4 * i] = static_cast<std::byte>(kSome[i]);
        }
        spec.value_count = 20;
        spec.encoded = values;
    }
    return spec;
}

}  // namespace

// A target that is too small by any number of bytes gives no_space when encoding and corrupt_file when decoding.
TEST(FilterLimits, TargetsThatAreTooSmall) {
    std::vector<std::byte> chunk(96);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk[i] = static_cast<std::byte>(i * i / 90);
    }
    for (const Filter* const filter : kAllFilters) {
        const FilterSpec spec = small_spec(filter->id());
        std::vector<std::byte> state(filter->scratch_need(true, chunk.size()) + 8);
        std::vector<std::byte> out(filter->encoded_limit(spec, chunk.size()) + 1, std::byte{0xa5});
        const ConstBytes in{chunk.data(), chunk.size()};
        std::size_t size = 0;
        const Status whole = filter->encode(spec, in, {out.data(), out.size() - 1}, size, {state.data(), state.size()});
        ASSERT_EQ(whole, Status::ok);
        const std::vector<std::byte> stored(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
        for (std::size_t room = 0; room < stored.size(); ++room) {
            out.assign(out.size(), std::byte{0xa5});
            EXPECT_EQ(filter->encode(spec, in, {out.data(), room}, size, {state.data(), state.size()}),
                      Status::no_space)
                << static_cast<unsigned>(spec.id) << ' ' << room;
            EXPECT_EQ(out[room], std::byte{0xa5});
        }
        state.assign(filter->scratch_need(false, stored.size()) + 8, {});
        for (std::size_t room = 0; room <= chunk.size(); ++room) {
            std::vector<std::byte> back(chunk.size() + 1, std::byte{0xa5});
            const Status status = filter->decode(spec, {stored.data(), stored.size()}, {back.data(), room}, size,
                                                 {state.data(), state.size()});
            EXPECT_EQ(status, room < chunk.size() ? Status::corrupt_file : Status::ok)
                << static_cast<unsigned>(spec.id) << ' ' << room;
            EXPECT_EQ(back[room], std::byte{0xa5});
            back.resize(chunk.size());
            EXPECT_TRUE(status != Status::ok || (size == chunk.size() && back == chunk));
        }
    }
}

// Client data of n-bit: number of values | whether the chunk is unpacked | elements | encoding of the element's type.
TEST(FilterLimits, NbitOfDamagedTypes) {
    enum : std::uint32_t { kNumber = 1, kArray = 2, kCompound = 3, kOther = 4 };
    struct Case {
        std::vector<std::uint32_t> values;
        bool sound;
    };
    const Case cases[] = {
        {{3, 1, 8}, true},                                      // not packed
        {{3, 1, 0}, true},                                      // not packed: the rest is ignored
        {{5, 0, 2, kOther, 4}, true},                           // two elements of 4 bytes
        {{5, 0, 2, kOther, 0}, false},                          // of size 0
        {{5, 0, 3, kOther, 4}, false},                          // more elements than the chunk has
        {{5, 0, 2, 5, 4}, false},                               // of an unknown class
        {{5, 0, 2, 0, 4}, false},                               //
        {{8, 0, 2, kNumber, 4, 0, 32, 0}, true},                // whole numbers
        {{8, 0, 2, kNumber, 4, 0, 31, 2}, false},               // bit offset 2 with 31 bits: beyond the number
        {{8, 0, 2, kNumber, 4, 2, 32, 0}, false},               // of an unknown byte order
        {{7, 0, 1, kArray, 8, kOther, 4}, true},                //
        {{7, 0, 1, kArray, 8, kOther, 0}, false},               //
        {{9, 0, 1, kCompound, 8, 1, 0, kOther, 8}, true},       //
        {{9, 0, 1, kCompound, 8, 1, 4, kOther, 8}, false},      // a member that ends outside the compound
        {{9, 0, 1, kCompound, 8, 1, 9, kOther, 1}, false},      // a member that begins outside the compound
        {{9, 0, 1, kCompound, 8, 1, ~0U, kOther, ~0U}, false},  //
        {{12, 0, 1, kCompound, 8, 2, 0, kOther, 6, 0, kOther, 6}, false},    // members larger than the compound
        {{12, 0, 1, kCompound, 8, 2, 0, kOther, 8, 0, kOther, ~0U}, false},  // members whose sum overflows
    };
    for (const Case& each : cases) {
        std::vector<std::byte> encoded(4 * each.values.size());
        for (std::size_t i = 0; i < encoded.size(); ++i) {
            encoded[i] = static_cast<std::byte>(each.values[i / 4] >> (8 * (i % 4)));
        }
        FilterSpec spec;
        spec.id = FilterId::nbit;
        spec.value_count = static_cast<std::uint16_t>(each.values.size());
        spec.encoded = encoded.data();
        const std::byte in[8] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                 std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
        std::byte out[9] = {};
        std::size_t size = 0;
        EXPECT_EQ(nbit_filter.decode(spec, {in, 8}, {out, 8}, size, {}), each.sound ? Status::ok : Status::corrupt_file)
            << &each - cases;
        EXPECT_EQ(out[8], std::byte{0});
        for (std::size_t room = 0; room < 8; ++room) {
            EXPECT_EQ(nbit_filter.decode(spec, {in, 8}, {out, room}, size, {}), Status::corrupt_file) << &each - cases;
        }
    }
}

#endif
