// H5Zdeflate - tests that hold for either implementation (built in or zlib).
#include <h5mote/filters/deflate.hpp>

#include "test.hpp"

#if H5MOTE_FILTER_DEFLATE

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::deflate_filter;
using h5mote::DeflateFilter;
using h5mote::FilterSpec;
using h5mote::Status;

namespace {

constexpr std::size_t kLargest = 1024;
constexpr FilterSpec kSpec = h5mote::filters::deflate;
std::byte plain[kLargest];
std::byte packed[kLargest + 64];
std::byte back[kLargest];
alignas(8) std::byte scratch[DeflateFilter::kEncodeScratch];

enum Kind { kConstant, kRamp, kRecords, kNoise, kKinds };

[[maybe_unused]] void fill(Kind kind) {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < kLargest; ++i) {
        state = state * 1664525U + 1013904223U;
        const std::uint32_t noise = state >> 24;
        const std::uint32_t values[kKinds] = {0x5a, static_cast<std::uint32_t>(i) / 3,
                                              i % 8 < 5 ? static_cast<std::uint32_t>(i % 8) : noise & 0x0f, noise};
        plain[i] = static_cast<std::byte>(values[kind]);
    }
}

Status decode(ConstBytes in, Bytes out, std::size_t& size) {
    return deflate_filter.decode(kSpec, in, out, size, scratch);
}

// Whether `stream` expands to `length` bytes that begin with those of `plain`.
bool expands(ConstBytes stream, std::size_t length) {
    std::size_t size = 0;
    bool same = decode(stream, {back, length}, size) == Status::ok && size == length;
    for (std::size_t i = 0; same && i < length; ++i) {
        same = back[i] == plain[i];
    }
    return same;
}

}  // namespace

#if H5MOTE_WRITE
TEST(DeflateFilter, RoundTripsAllSizes) {
    FilterSpec mandatory = kSpec;
    mandatory.optional = false;
    for (unsigned kind = 0; kind < kKinds; ++kind) {
        fill(static_cast<Kind>(kind));
        for (std::size_t length = 0; length <= kLargest; length += length < 300 ? 1 : 181) {
            const Bytes out{packed, deflate_filter.encoded_limit(mandatory, length)};
            std::size_t size = 0;
            ASSERT_TRUE(deflate_filter.encode(mandatory, {plain, length}, out, size, scratch) == Status::ok);
            ASSERT_TRUE(expands({packed, size}, length));
            // One byte less room than needed is refused.
            ASSERT_TRUE(deflate_filter.encode(mandatory, {plain, length}, {packed, size - 1}, size, scratch) ==
                        Status::no_space);
        }
    }
}

TEST(DeflateFilter, Shrinks) {
    std::size_t size = 0;
    fill(kConstant);
    ASSERT_TRUE(deflate_filter.encode(kSpec, plain, packed, size, scratch) == Status::ok);
    EXPECT_LT(size, 24U);
    fill(kRecords);
    ASSERT_TRUE(deflate_filter.encode(kSpec, plain, packed, size, scratch) == Status::ok);
    EXPECT_LT(size, kLargest / 2);
    fill(kNoise);
    ASSERT_TRUE(deflate_filter.encode(kSpec, plain, {packed, kLargest + 11}, size, scratch) == Status::ok);
    EXPECT_EQ(size, kLargest + 11);
    EXPECT_EQ(deflate_filter.encoded_limit(kSpec, kLargest), kLargest - 1);
    EXPECT_TRUE(deflate_filter.encode(kSpec, plain, {packed, kLargest - 1}, size, scratch) == Status::no_space);
}
#endif

// Streams that zlib made, with a stored and a fixed block. For dynamic blocks see filter_deflate_host_test.cpp.
TEST(DeflateFilter, ExpandsStreamsOfZlib) {
    static constexpr unsigned char kStored[] = {0x78, 0x01, 0x01, 0x05, 0x00, 0xfa, 0xff, 0x68,
                                                0x65, 0x6c, 0x6c, 0x6f, 0x06, 0x2c, 0x02, 0x15};
    static constexpr unsigned char kFixed[] = {0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9,
                                               0x07, 0x00, 0x06, 0x2c, 0x02, 0x15};
    static constexpr unsigned char kHello[] = {0x68, 0x65, 0x6c, 0x6c, 0x6f};
    for (std::size_t i = 0; i < 5; ++i) {
        plain[i] = static_cast<std::byte>(kHello[i]);
    }
    EXPECT_TRUE(expands({reinterpret_cast<const std::byte*>(kStored), sizeof kStored}, 5));
    EXPECT_TRUE(expands({reinterpret_cast<const std::byte*>(kFixed), sizeof kFixed}, 5));
}

TEST(DeflateFilter, RefusesDamagedFrames) {
    static constexpr unsigned char kFixed[] = {0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07,
                                               0x00, 0x06, 0x2c, 0x02, 0x15, 0x55, 0xaa};
    for (std::size_t i = 0; i < sizeof kFixed; ++i) {
        packed[i] = static_cast<std::byte>(kFixed[i]);
    }
    std::size_t size = 0;
    // Bytes after the stream are ignored, unlike changes before its end.
    EXPECT_TRUE(decode({packed, 15}, back, size) == Status::ok);
    EXPECT_EQ(size, 5U);
    for (std::size_t length = 0; length < 13; ++length) {
        EXPECT_TRUE(decode({packed, length}, back, size) == Status::corrupt_file);
    }
    EXPECT_TRUE(decode({packed, 13}, {back, 4}, size) == Status::corrupt_file);
    const auto with = [&](std::size_t at, unsigned value) {
        const std::byte old = packed[at];
        packed[at] = static_cast<std::byte>(value);
        const Status status = decode({packed, 13}, back, size);
        packed[at] = old;
        return status;
    };
    EXPECT_TRUE(with(0, 0x79) == Status::corrupt_file);   // method
    EXPECT_TRUE(with(0, 0x88) == Status::corrupt_file);   // window
    EXPECT_TRUE(with(1, 0x9d) == Status::corrupt_file);   // check of the header
    EXPECT_TRUE(with(1, 0xbb) == Status::corrupt_file);   // preset dictionary
    EXPECT_TRUE(with(2, 0xcf) == Status::corrupt_file);   // block type 3
    EXPECT_TRUE(with(12, 0x16) == Status::corrupt_file);  // Adler-32
}

#if H5MOTE_WRITE
TEST(DeflateFilter, EveryTruncationAndBitFlipEnds) {
    fill(kRecords);
    std::size_t stream = 0;
    ASSERT_TRUE(deflate_filter.encode(kSpec, {plain, 500}, packed, stream, scratch) == Status::ok);
    std::size_t size = 0;
    for (std::size_t i = 0; i < stream; ++i) {
        ASSERT_TRUE(decode({packed, i}, {back, 500}, size) == Status::corrupt_file);
        for (unsigned bit = 0; bit < 8; ++bit) {
            packed[i] ^= static_cast<std::byte>(1U << bit);
            // Damage to padding, or to the length of an unused code, may leave the result unchanged.
            const Status status = decode({packed, stream}, {back, 500}, size);
            ASSERT_TRUE(status == Status::corrupt_file || expands({packed, stream}, 500));
            packed[i] ^= static_cast<std::byte>(1U << bit);
        }
    }
    EXPECT_TRUE(expands({packed, stream}, 500));
}

TEST(DeflateFilter, ClientDataAndScratch) {
    FilterSpec spec = h5mote::filters::deflate_level(10);
    std::size_t size = 0;
    fill(kConstant);
    EXPECT_TRUE(deflate_filter.set_local(spec, {4, 64}) == Status::invalid_argument);
    EXPECT_TRUE(deflate_filter.encode(spec, plain, packed, size, scratch) == Status::invalid_argument);
    spec.values[0] = 9;
    EXPECT_TRUE(deflate_filter.set_local(spec, {4, 64}) == Status::ok);
    EXPECT_LE(deflate_filter.scratch_need(true, kLargest), 4096U);
    EXPECT_LE(deflate_filter.scratch_need(false, kLargest), 2304U);
    if (const std::size_t need = deflate_filter.scratch_need(true, kLargest)) {
        EXPECT_TRUE(deflate_filter.encode(spec, plain, packed, size, {scratch, need - 1}) == Status::over_budget);
        EXPECT_TRUE(deflate_filter.encode(spec, plain, packed, size, {scratch + 1, need}) == Status::over_budget);
        EXPECT_TRUE(deflate_filter.decode(spec, {packed, 20}, back, size, {scratch, 100}) == Status::over_budget);
    }
}
#endif

#endif
