// H5checksum - against values that libhdf5 wrote, and the published ones of lookup3.
#include "checksum.hpp"

#include <h5mote/lookup3.hpp>

#include "test.hpp"

using h5mote::ConstBytes;
using h5mote::fletcher32;
using h5mote::lookup3;
using h5mote::Lookup3Stream;

namespace {

constexpr std::size_t kLargest = 2881;
std::byte buffer[kLargest];

// Bytes with byte i = 7 i + 3.
ConstBytes ramp(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        buffer[i] = static_cast<std::byte>(i * 7 + 3);
    }
    return {buffer, size};
}

ConstBytes constant(std::size_t size, std::byte value) {
    for (std::size_t i = 0; i < size; ++i) {
        buffer[i] = value;
    }
    return {buffer, size};
}

ConstBytes text(const char* string) {
    std::size_t size = 0;
    for (; string[size] != '\0'; ++size) {
        buffer[size] = static_cast<std::byte>(string[size]);
    }
    return {buffer, size};
}

}  // namespace

// A reader rejects a chunk with another sum: the last four bytes of chunks that libhdf5 1.10.8 wrote with fletcher32.
TEST(Fletcher32, MatchesLibhdf5) {
    EXPECT_EQ(fletcher32(ramp(1)), 0x03000300U);
    EXPECT_EQ(fletcher32(ramp(2)), 0x030a030aU);
    EXPECT_EQ(fletcher32(ramp(3)), 0x1714140aU);
    EXPECT_EQ(fletcher32(ramp(4)), 0x172c1422U);
    EXPECT_EQ(fletcher32(ramp(5)), 0x4a4e3322U);
    EXPECT_EQ(fletcher32(ramp(7)), 0xaabc6048U);
    EXPECT_EQ(fletcher32(ramp(8)), 0xaaf0607cU);
    EXPECT_EQ(fletcher32(ramp(44)), 0x321aed87U);
    EXPECT_EQ(fletcher32(ramp(255)), 0x9d823ec4U);
    EXPECT_EQ(fletcher32(ramp(719)), 0xacc6d0feU);
    EXPECT_EQ(fletcher32(ramp(720)), 0xad72d1aaU);
    EXPECT_EQ(fletcher32(ramp(721)), 0x321e84abU);
    EXPECT_EQ(fletcher32(ramp(722)), 0x32d88565U);
    EXPECT_EQ(fletcher32(ramp(1441)), 0xc46287d7U);
    EXPECT_EQ(fletcher32(ramp(2881)), 0x142a0eb2U);
}

// A sum that is a multiple of 65535 is stored as ffff; only if all bytes are 0 it is 0.
TEST(Fletcher32, Extremes) {
    EXPECT_EQ(fletcher32({}), 0U);
    EXPECT_EQ(fletcher32(constant(1, std::byte{0xff})), 0xff00ff00U);
    EXPECT_EQ(fletcher32(constant(2, std::byte{0xff})), 0xffffffffU);
    EXPECT_EQ(fletcher32(constant(721, std::byte{0xff})), 0xff00ff00U);
    EXPECT_EQ(fletcher32(constant(722, std::byte{0xff})), 0xffffffffU);
    EXPECT_EQ(fletcher32(constant(2881, std::byte{0xff})), 0xff00ff00U);
    EXPECT_EQ(fletcher32(constant(720, std::byte{0})), 0U);
}

// Values that Bob Jenkins publishes with the function.
TEST(Lookup3, PublishedValues) {
    EXPECT_EQ(lookup3({}), 0xdeadbeefU);
    EXPECT_EQ(lookup3({}, 0xdeadbeefU), 0xbd5b7ddeU);
    EXPECT_EQ(lookup3(text("Four score and seven years ago")), 0x17770551U);
    EXPECT_EQ(lookup3(text("Four score and seven years ago"), 1), 0xcd628161U);
}

// Superblock of version 3 that libhdf5 1.10.8 wrote; its last four bytes are the checksum of the others.
TEST(Lookup3, SuperblockOfLibhdf5) {
    static constexpr unsigned char kSuperblock[44] = {0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a, 0x03, 0x08, 0x08,
                                                      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
                                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x9f, 0xdb, 0x00, 0x00, 0x00,
                                                      0x00, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    for (std::size_t i = 0; i < sizeof kSuperblock; ++i) {
        buffer[i] = static_cast<std::byte>(kSuperblock[i]);
    }
    EXPECT_EQ(lookup3({buffer, sizeof kSuperblock}), 0xfa4823ccU);
}

TEST(Lookup3, PiecesGiveTheSame) {
    for (std::size_t size = 0; size <= 64; ++size) {
        const ConstBytes bytes = ramp(size);
        const std::uint32_t whole = lookup3(bytes, 5);
        for (std::size_t first = 0; first <= size; ++first) {
            for (std::size_t step = 1; step <= 13; step += 4) {
                Lookup3Stream stream(static_cast<std::uint32_t>(size), 5);
                stream.update(bytes.first(first));
                for (std::size_t at = first; at < size; at += step) {
                    stream.update(bytes.subspan(at, step < size - at ? step : size - at));
                }
                ASSERT_EQ(stream.finish(), whole);
            }
        }
    }
}

// Twelve bytes can be chosen so that the checksum of what they are part of stays as it was.
TEST(Lookup3, MixingCanBeReversed) {
    h5mote::detail::Lookup3State state{0x01234567U, 0x89abcdefU, 0xdeadbeefU};
    for (unsigned i = 0; i < 100; ++i) {
        const h5mote::detail::Lookup3State before = state;
        state.mix();
        h5mote::detail::Lookup3State after = state;
        EXPECT_TRUE(after.a != before.a || after.b != before.b || after.c != before.c);
        after.unmix();
        EXPECT_EQ(after.a, before.a);
        EXPECT_EQ(after.b, before.b);
        EXPECT_EQ(after.c, before.c);
    }
}
