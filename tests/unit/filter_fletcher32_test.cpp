// H5Zfletcher32
#include <h5mote/filters/fletcher32.hpp>

#include "test.hpp"

#if H5MOTE_FILTER_FLETCHER32

using h5mote::fletcher32_filter;
using h5mote::Status;

namespace {

constexpr std::size_t kLargest = 300;
std::byte plain[kLargest + 4];
std::byte stored[kLargest + 4];
std::byte back[kLargest];
const h5mote::FilterSpec& spec = h5mote::filters::fletcher32;

void fill() {
    for (std::size_t i = 0; i < sizeof plain; ++i) {
        plain[i] = static_cast<std::byte>(i * 7 + 3);
    }
}

}  // namespace

// A chunk that libhdf5 1.10.8 wrote: the bytes 03 0a 11 18 1f, then the checksum 22 33 4e 4a.
TEST(Fletcher32Filter, AppendsTheChecksum) {
    fill();
    std::size_t size = 0;
    ASSERT_TRUE(fletcher32_filter.encode(spec, {plain, 5}, stored, size, {}) == Status::ok);
    ASSERT_EQ(size, 9U);
    static constexpr unsigned kExpected[9] = {0x03, 0x0a, 0x11, 0x18, 0x1f, 0x22, 0x33, 0x4e, 0x4a};
    for (unsigned i = 0; i < 9; ++i) {
        EXPECT_EQ(static_cast<unsigned>(stored[i]), kExpected[i]);
    }
}

TEST(Fletcher32Filter, RoundTripsApartAndInPlace) {
    for (std::size_t length = 0; length <= kLargest; ++length) {
        fill();
        std::size_t size = 0;
        ASSERT_EQ(fletcher32_filter.encoded_limit(spec, length), length + 4);
        ASSERT_TRUE(fletcher32_filter.encode(spec, {plain, length}, {stored, length + 4}, size, {}) == Status::ok);
        ASSERT_EQ(size, length + 4);
        ASSERT_TRUE(fletcher32_filter.decode(spec, {stored, size}, {back, length}, size, {}) == Status::ok);
        ASSERT_EQ(size, length);
        for (std::size_t i = 0; i < length; ++i) {
            ASSERT_TRUE(back[i] == plain[i]);
        }
        ASSERT_TRUE(fletcher32_filter.encode(spec, {plain, length}, {plain, length + 4}, size, {}) == Status::ok);
        for (std::size_t i = 0; i < length + 4; ++i) {
            ASSERT_TRUE(plain[i] == stored[i]);
        }
        ASSERT_TRUE(fletcher32_filter.decode(spec, {plain, size}, {plain, size}, size, {}) == Status::ok);
        ASSERT_EQ(size, length);
    }
}

// HDF5 before 1.6.3 swapped the bytes of both 16-bit halves on little-endian machines.
TEST(Fletcher32Filter, AcceptsTheOldByteOrder) {
    fill();
    std::size_t size = 0;
    ASSERT_TRUE(fletcher32_filter.encode(spec, {plain, 44}, stored, size, {}) == Status::ok);
    std::byte* const sum = stored + 44;
    const std::byte original[4] = {sum[0], sum[1], sum[2], sum[3]};
    static constexpr unsigned kOld[4] = {1, 0, 3, 2};
    static constexpr unsigned kReversed[4] = {3, 2, 1, 0};
    for (unsigned i = 0; i < 4; ++i) {
        sum[i] = original[kOld[i]];
    }
    EXPECT_TRUE(fletcher32_filter.decode(spec, {stored, 48}, back, size, {}) == Status::ok);
    EXPECT_EQ(size, 44U);
    for (unsigned i = 0; i < 4; ++i) {
        sum[i] = original[kReversed[i]];
    }
    EXPECT_TRUE(fletcher32_filter.decode(spec, {stored, 48}, back, size, {}) == Status::corrupt_file);
}

TEST(Fletcher32Filter, RefusesDamage) {
    fill();
    std::size_t size = 0;
    ASSERT_TRUE(fletcher32_filter.encode(spec, {plain, 60}, stored, size, {}) == Status::ok);
    for (std::size_t i = 0; i < 64; ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            stored[i] ^= static_cast<std::byte>(1U << bit);
            ASSERT_TRUE(fletcher32_filter.decode(spec, {stored, 64}, back, size, {}) == Status::corrupt_file);
            stored[i] ^= static_cast<std::byte>(1U << bit);
        }
        ASSERT_TRUE(fletcher32_filter.decode(spec, {stored, i}, back, size, {}) == Status::corrupt_file);
    }
    EXPECT_TRUE(fletcher32_filter.decode(spec, {stored, 64}, {back, 59}, size, {}) == Status::corrupt_file);
    EXPECT_TRUE(fletcher32_filter.encode(spec, {plain, 60}, {stored, 63}, size, {}) == Status::no_space);
}

#endif
