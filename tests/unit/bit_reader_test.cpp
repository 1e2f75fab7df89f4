// Reading bits from the highest on, compared with a reading bit by bit.
#include "bit_reader.hpp"

#include "test.hpp"

using h5mote::BitReader;
using h5mote::ConstBytes;

namespace {

std::byte bytes[64];

void fill() {
    std::uint32_t state = 7;
    for (std::byte& each : bytes) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
}

std::uint64_t slow(std::size_t& at, unsigned count) {
    std::uint64_t result = 0;
    for (; count > 0; --count, ++at) {
        result = result << 1 | (static_cast<std::uint32_t>(bytes[at / 8]) >> (7 - at % 8) & 1U);
    }
    return result;
}

}  // namespace

TEST(BitReader, AllWidths) {
    fill();
    for (unsigned first = 0; first <= 64; ++first) {
        BitReader reader{ConstBytes(bytes)};
        std::size_t at = 0;
        for (unsigned width = first; at + width <= 8 * sizeof bytes; width = (width + 7) % 65) {
            const bool narrow = width <= BitReader::kMost && width % 2 == 0;
            ASSERT_TRUE((narrow ? reader.bits(width) : reader.wide(width)) == slow(at, width));
        }
        EXPECT_TRUE(reader.ok());
    }
}

TEST(BitReader, RunsOfZeros) {
    for (unsigned zeros = 0; zeros < 8 * sizeof bytes; ++zeros) {
        for (std::byte& each : bytes) {
            each = std::byte{0};
        }
        bytes[zeros / 8] = static_cast<std::byte>(0x80U >> zeros % 8);
        for (unsigned before = 0; before <= zeros && before <= BitReader::kMost; ++before) {
            BitReader reader{ConstBytes(bytes)};
            EXPECT_EQ(reader.bits(before), 0U);
            ASSERT_EQ(reader.zeros(), zeros - before);
            EXPECT_TRUE(reader.ok());
            // Only zeros are left up to the end.
            EXPECT_EQ(reader.zeros(), 0U);
            EXPECT_FALSE(reader.ok());
        }
    }
}

TEST(BitReader, TheEndIsRemembered) {
    fill();
    for (std::size_t size = 0; size < 9; ++size) {
        BitReader reader{ConstBytes(bytes, size)};
        for (std::size_t i = 0; i < size; ++i) {
            EXPECT_EQ(reader.bits(8), static_cast<std::uint32_t>(bytes[i]));
        }
        EXPECT_EQ(reader.bits(0), 0U);
        EXPECT_TRUE(reader.ok());
        EXPECT_EQ(reader.bits(1), 0U);
        EXPECT_FALSE(reader.ok());
        EXPECT_EQ(reader.wide(64), 0U);
        EXPECT_FALSE(reader.ok());
    }
}
