#include "superblock.hpp"

#include "checksum.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Made by hand from specification II.A: version 2, 4-byte offsets, 8-byte lengths.
constexpr unsigned char kShort[28] = {0x89, 'H',  'D',  'F',  '\r', '\n', 0x1a, '\n', 2, 4, 8, 0,  // up to the flags
                                      0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff,              // base, extension
                                      0x78, 0x56, 0x34, 0x12, 32,   0,    0,    0};                // end, root

}  // namespace

TEST(Superblock, IsEncodedAsSpecified) {
    Superblock superblock;
    superblock.shape = {4, 8};
    superblock.end_of_file = 0x12345678;
    superblock.root = 32;
    ASSERT_EQ(superblock.size(), 32U);
    std::byte bytes[Superblock::kMaxSize];
    superblock.encode(bytes);
    EXPECT_EQ(std::memcmp(bytes, kShort, sizeof kShort), 0);
    EXPECT_EQ(load_le<std::uint32_t>(bytes + 28), lookup3({bytes, 28}));
    superblock.shape = {8, 8};
    superblock.version = 3;
    ASSERT_EQ(superblock.size(), 48U);
    superblock.encode(bytes);
    EXPECT_EQ(bytes[8], std::byte{3});
    EXPECT_EQ(load_le<std::uint64_t>(bytes + 20), ~std::uint64_t{0});
    EXPECT_EQ(load_le<std::uint64_t>(bytes + 28), 0x12345678U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes + 36), 32U);
}

TEST(Superblock, IsDecodedAndVerified) {
    Bench bench;
    for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
        Superblock superblock;
        superblock.shape = {width, 8};
        superblock.end_of_file = 1234;
        superblock.root = 77;
        std::byte bytes[Superblock::kMaxSize];
        superblock.encode(bytes);
        const std::size_t size = superblock.size();
        Superblock back;
        ASSERT_EQ(back.decode(bench.library, {bytes, size}), Status::ok);
        EXPECT_EQ(back.end_of_file, 1234U);
        EXPECT_EQ(back.root, 77U);
        EXPECT_EQ(back.extension, kUndefinedAddress);
        EXPECT_EQ(back.shape.sizeof_addr, width);
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] ^= std::byte{0x10};
            EXPECT_NE(back.decode(bench.library, {bytes, size}), Status::ok);
            bytes[i] ^= std::byte{0x10};
        }
        for (std::size_t length = 0; length < size; ++length) {
            EXPECT_EQ(back.decode(bench.library, {bytes, length}),
                      length < 12 ? Status::not_hdf5 : Status::corrupt_file);
        }
    }
}
