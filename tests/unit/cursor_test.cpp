#include "cursor.hpp"

#include "checked.hpp"
#include "test.hpp"

namespace {

using namespace h5mote;

TEST(Cursor, LoadsAndStoresAtEveryAlignment) {
    alignas(8) std::byte buffer[32];
    for (std::size_t offset = 0; offset < 8; ++offset) {
        for (std::size_t i = 0; i < sizeof buffer; ++i) {
            buffer[i] = std::byte{0xee};
        }
        store_le<std::uint64_t>(buffer + offset, 0x0123456789abcdefU);
        EXPECT_EQ(buffer[offset], std::byte{0xef});
        EXPECT_EQ(buffer[offset + 7], std::byte{0x01});
        EXPECT_EQ(buffer[offset + 8], std::byte{0xee});
        EXPECT_EQ(load_le<std::uint64_t>(buffer + offset), 0x0123456789abcdefU);
        EXPECT_EQ(load_le<std::uint32_t>(buffer + offset), 0x89abcdefU);
        EXPECT_EQ(load_le<std::uint16_t>(buffer + offset + 1), 0xabcdU);
        EXPECT_EQ(load_le<std::uint8_t>(buffer + offset + 7), 0x01U);
        store_le<std::uint16_t>(buffer + offset + 9, 0xf00d);
        store_le<std::uint32_t>(buffer + offset + 11, 0xcafef00dU);
        EXPECT_EQ(load_uint(buffer + offset + 9, 6), 0xcafef00df00dU);
    }
}

TEST(Cursor, UintsOfEveryWidth) {
    std::byte buffer[9];
    for (unsigned width = 1; width <= 8; ++width) {
        buffer[width] = std::byte{0x77};
        store_uint(buffer, width, 0xf1f2f3f4f5f6f7f8U);
        EXPECT_EQ(buffer[width], std::byte{0x77});
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * width);
        EXPECT_EQ(load_uint(buffer, width), 0xf1f2f3f4f5f6f7f8U & mask);
    }
}

TEST(Cursor, WidthAndLogarithm) {
    EXPECT_EQ(uint_width(0), 1U);
    EXPECT_EQ(uint_width(255), 1U);
    EXPECT_EQ(uint_width(256), 2U);
    EXPECT_EQ(uint_width(0xffffffffU), 4U);
    EXPECT_EQ(uint_width(0x100000000U), 5U);
    EXPECT_EQ(uint_width(~std::uint64_t{0}), 8U);
    EXPECT_EQ(floor_log2(0), 0U);
    EXPECT_EQ(floor_log2(1), 0U);
    for (unsigned n = 1; n < 64; ++n) {
        EXPECT_EQ(floor_log2(std::uint64_t{1} << n), n);
        EXPECT_EQ(floor_log2((std::uint64_t{1} << n) - 1), n - 1);
    }
}

TEST(Cursor, ReaderReadsFieldsInOrder) {
    const std::byte bytes[] = {std::byte{1},    std::byte{2},    std::byte{3}, std::byte{4}, std::byte{5},
                               std::byte{0xff}, std::byte{0xfe}, std::byte{7}, std::byte{8}, std::byte{9}};
    Reader reader{ConstBytes(bytes)};
    EXPECT_EQ(reader.u8(), 1U);
    EXPECT_EQ(reader.u16(), 0x0302U);
    EXPECT_EQ(reader.uint(3), 0xff0504U);
    reader.skip(1);
    EXPECT_EQ(reader.remaining(), 3U);
    const ConstBytes two = reader.bytes(2);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two.data(), bytes + 7);
    EXPECT_EQ(reader.rest().size(), 1U);
    EXPECT_EQ(reader.rest()[0], std::byte{9});
    EXPECT_TRUE(reader.ok());
}

TEST(Cursor, ReaderPastTheEndStaysFailed) {
    const std::byte bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}};
    Reader reader{ConstBytes(bytes)};
    EXPECT_EQ(reader.u32(), 0U);
    EXPECT_FALSE(reader.ok());
    // After a failure nothing more is read, not even a field that would have fitted.
    EXPECT_EQ(reader.u8(), 0U);
    EXPECT_EQ(reader.remaining(), 0U);
    EXPECT_TRUE(reader.bytes(1).empty());
    EXPECT_FALSE(reader.ok());

    Reader huge{ConstBytes(bytes)};
    huge.skip(~std::size_t{0});
    EXPECT_FALSE(huge.ok());

    Reader empty{ConstBytes{}};
    empty.skip(0);
    EXPECT_TRUE(empty.ok());
    EXPECT_EQ(empty.u8(), 0U);
    EXPECT_FALSE(empty.ok());
}

TEST(Cursor, WriterWritesFieldsInOrder) {
    std::byte buffer[24] = {};
    Writer writer{Bytes(buffer)};
    writer.u8(0x11);
    writer.u16(0x2233);
    writer.u32(0x44556677);
    writer.u64(0x8899aabbccddeeffU);
    const std::byte more[] = {std::byte{0xa}, std::byte{0xb}};
    writer.bytes(ConstBytes(more));
    writer.fill(std::byte{0x5c}, 3);
    EXPECT_TRUE(writer.ok());
    EXPECT_EQ(writer.written(), 20U);

    Reader reader{ConstBytes(buffer, sizeof buffer)};
    EXPECT_EQ(reader.u8(), 0x11U);
    EXPECT_EQ(reader.u16(), 0x2233U);
    EXPECT_EQ(reader.u32(), 0x44556677U);
    EXPECT_EQ(reader.u64(), 0x8899aabbccddeeffU);
    EXPECT_EQ(reader.u16(), 0x0b0aU);
    EXPECT_EQ(reader.uint(3), 0x5c5c5cU);
    EXPECT_EQ(reader.u32(), 0U);
    EXPECT_TRUE(reader.ok());
}

TEST(Cursor, WriterPastTheEndWritesNothing) {
    std::byte buffer[6] = {};
    Writer writer{Bytes(buffer, 4)};
    writer.u16(0x1234);
    writer.u32(0xffffffffU);
    EXPECT_FALSE(writer.ok());
    writer.u8(0xff);
    writer.fill(std::byte{0xff}, 1);
    writer.bytes(ConstBytes(buffer, 1));
    EXPECT_FALSE(writer.ok());
    EXPECT_EQ(buffer[0], std::byte{0x34});
    EXPECT_EQ(buffer[1], std::byte{0x12});
    for (std::size_t i = 2; i < sizeof buffer; ++i) {
        EXPECT_EQ(buffer[i], std::byte{0});
    }
}

TEST(Checked, Arithmetic) {
    std::uint32_t result = 0;
    EXPECT_TRUE(checked_add<std::uint32_t>(0xfffffffeU, 1, result));
    EXPECT_EQ(result, 0xffffffffU);
    EXPECT_FALSE(checked_add<std::uint32_t>(0xfffffffeU, 2, result));
    EXPECT_TRUE(checked_multiply<std::uint32_t>(0x10000U, 0xffffU, result));
    EXPECT_FALSE(checked_multiply<std::uint32_t>(0x10000U, 0x10000U, result));
    std::uint64_t wide = 0;
    EXPECT_FALSE(checked_multiply<std::uint64_t>(std::uint64_t{1} << 32, std::uint64_t{1} << 32, wide));
    std::size_t size = 0;
    EXPECT_TRUE(to_size(1234, size));
    EXPECT_EQ(size, 1234U);
    EXPECT_EQ(to_size(0x100000000U, size), sizeof(std::size_t) > 4);
}

TEST(Checked, Within) {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    EXPECT_TRUE(within(0, 0, 0));
    EXPECT_TRUE(within(3, 7, 10));
    EXPECT_TRUE(within(10, 0, 10));
    EXPECT_FALSE(within(3, 8, 10));
    EXPECT_FALSE(within(11, 0, 10));
    EXPECT_FALSE(within(kMost, 2, 10));
    EXPECT_FALSE(within(2, kMost, 10));
    EXPECT_TRUE(within(0, kMost, kMost));
}

}  // namespace
