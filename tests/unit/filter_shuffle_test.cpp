// H5Zshuffle
#include <h5mote/filters/shuffle.hpp>

#include "test.hpp"

#if H5MOTE_FILTER_SHUFFLE

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::FilterSpec;
using h5mote::shuffle_filter;
using h5mote::Status;

namespace {

std::byte plain[300];
std::byte shuffled[300];
std::byte back[300];

FilterSpec shuffle_of(std::uint32_t element_size) {
    FilterSpec spec = h5mote::filters::shuffle;
    EXPECT_TRUE(shuffle_filter.set_local(spec, {element_size, 0}) == Status::ok);
    return spec;
}

}  // namespace

TEST(ShuffleFilter, OrdersBytesByPlanes) {
    for (unsigned i = 0; i < 10; ++i) {
        plain[i] = static_cast<std::byte>(i);
    }
    std::size_t size = 0;
    ASSERT_TRUE(shuffle_filter.encode(shuffle_of(4), {plain, 10}, shuffled, size, {}) == Status::ok);
    ASSERT_EQ(size, 10U);
    // Two elements of four bytes, then the two bytes that are no whole element.
    static constexpr unsigned kExpected[10] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 9};
    for (unsigned i = 0; i < 10; ++i) {
        EXPECT_EQ(static_cast<unsigned>(shuffled[i]), kExpected[i]);
    }
}

TEST(ShuffleFilter, RoundTrips) {
    for (std::size_t i = 0; i < sizeof plain; ++i) {
        plain[i] = static_cast<std::byte>(i * 31 + i / 7);
    }
    static constexpr std::uint32_t kElements[] = {1, 2, 3, 4, 8, 44, 299, 300, 301, 0x80000000U};
    for (const std::uint32_t element : kElements) {
        const FilterSpec spec = shuffle_of(element);
        for (std::size_t length = 0; length <= sizeof plain; ++length) {
            std::size_t size = 0;
            ASSERT_TRUE(shuffle_filter.encode(spec, {plain, length}, {shuffled, length}, size, {}) == Status::ok);
            ASSERT_EQ(size, length);
            ASSERT_TRUE(shuffle_filter.decode(spec, {shuffled, length}, {back, length}, size, {}) == Status::ok);
            ASSERT_EQ(size, length);
            for (std::size_t i = 0; i < length; ++i) {
                ASSERT_TRUE(back[i] == plain[i]);
            }
        }
    }
}

TEST(ShuffleFilter, BadClientData) {
    std::size_t size = 0;
    FilterSpec spec = h5mote::filters::shuffle;
    EXPECT_TRUE(shuffle_filter.set_local(spec, {0, 8}) == Status::invalid_argument);
    EXPECT_TRUE(shuffle_filter.encode(spec, {plain, 8}, shuffled, size, {}) == Status::invalid_argument);
    EXPECT_TRUE(shuffle_filter.decode(spec, {plain, 8}, shuffled, size, {}) == Status::corrupt_file);
    spec.value_count = 1;
    EXPECT_TRUE(shuffle_filter.decode(spec, {plain, 8}, shuffled, size, {}) == Status::corrupt_file);
    spec.values[0] = 4;
    EXPECT_TRUE(shuffle_filter.encode(spec, {plain, 8}, {shuffled, 7}, size, {}) == Status::no_space);
    EXPECT_TRUE(shuffle_filter.decode(spec, {plain, 8}, {shuffled, 7}, size, {}) == Status::corrupt_file);
}

#endif
