// Names in local heaps, of any length and at any offset, and damaged heaps.
#include "local_heap.hpp"
#include "structure_file.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Address kHeap = 1024;
constexpr Address kData = 2048;

void write_header(StructureFile& file, Address size, Address free = 1, Address data = kData) noexcept {
    Writer writer = file.write(kHeap);
    writer.bytes(bytes_of("HEAP"));
    writer.u32(0);
    file->shape().write_size(writer, size);
    file->shape().write_size(writer, free);
    file.write_addr(writer, data);
}

int sign(int value) noexcept { return value < 0 ? -1 : value > 0 ? 1 : 0; }

}  // namespace

TEST(LocalHeap, NamesAreComparedAsBytes) {
    for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
        StructureFile file(width);
        write_header(file, 64);
        file.write(kData).bytes(bytes_of(std::string_view("\0abc\0abd\0\xc3\xa4\0", 12)));
        LocalHeap heap;
        ASSERT_EQ(heap.open(*file, kHeap), Status::ok);
        const std::string_view names[] = {"", "abc", "abd", "\xc3\xa4"};
        const Address offsets[] = {0, 1, 5, 9};
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 4; ++k) {
                int order = 99;
                EXPECT_EQ(heap.compare(offsets[k], bytes_of(names[i]), order), Status::ok);
                EXPECT_EQ(sign(order), sign(i - k));
            }
            std::byte copied[2] = {};
            std::size_t length = 0;
            EXPECT_EQ(heap.copy(offsets[i], copied, length), Status::ok);
            EXPECT_EQ(length, names[i].size());
            EXPECT_EQ(std::memcmp(copied, names[i].data(), length < 2 ? length : 2), 0);
            MetadataWindow window;
            EXPECT_EQ(heap.name(offsets[i], window), Status::ok);
            EXPECT_EQ(window.size(), names[i].size());
        }
        int order = 0;
        EXPECT_EQ(heap.compare(1, bytes_of("ab"), order), Status::ok);
        EXPECT_LT(order, 0);
        EXPECT_EQ(heap.compare(1, bytes_of("abcd"), order), Status::ok);
        EXPECT_GT(order, 0);
        EXPECT_EQ(heap.compare(3, bytes_of("c"), order), Status::ok);  // the end of another name
        EXPECT_EQ(order, 0);
    }
}

// A heap larger than the cache is read in pieces; names lie across their borders.
TEST(LocalHeap, LargerThanTheCache) {
    StructureFile file(8, 1024);
    constexpr Address kSize = 12000;
    write_header(file, kSize);
    LocalHeap heap;
    ASSERT_EQ(heap.open(*file, kHeap), Status::ok);
    static char name[2001];
    std::memset(name, 'n', sizeof name - 1);
    for (const Address offset : {Address{0}, Address{511}, Address{505}, Address{9999}}) {
        for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{512}, std::size_t{2000}}) {
            std::memset(file.at(kData), 0, kSize);
            std::memcpy(file.at(kData + offset), name, length);
            std::size_t found = 0;
            int order = 1;
            EXPECT_EQ(heap.length(offset, found), Status::ok);
            EXPECT_EQ(found, length);
            EXPECT_EQ(heap.compare(offset, bytes_of(std::string_view(name, length)), order), Status::ok);
            EXPECT_EQ(order, 0);
            EXPECT_EQ(heap.compare(offset, bytes_of(std::string_view(name, length + 1)), order), Status::ok);
            EXPECT_GT(order, 0);
        }
    }
    BlockSum sum;
    EXPECT_EQ(heap.walk(sum), Status::ok);
    EXPECT_EQ(sum.bytes, kSize + 32);
}

TEST(LocalHeap, NameWithoutEndIsDamage) {
    StructureFile file;
    write_header(file, 16);
    std::memset(file.at(kData), 'x', 17);
    LocalHeap heap;
    ASSERT_EQ(heap.open(*file, kHeap), Status::ok);
    std::size_t length = 0;
    int order = 0;
    std::byte to[32];
    MetadataWindow window;
    for (const Address offset : {Address{0}, Address{15}, Address{16}, Address{17}, ~Address{0}, ~Address{0} - 1}) {
        EXPECT_EQ(heap.length(offset, length), Status::corrupt_file);
        EXPECT_EQ(heap.copy(offset, to, length), Status::corrupt_file);
        EXPECT_EQ(heap.name(offset, window), Status::corrupt_file);
        EXPECT_EQ(heap.compare(offset, bytes_of("xxxxxxxxxxxxxxxxx"), order), Status::corrupt_file);
    }
    // A comparison that is decided by earlier bytes does not look for the end of the name.
    EXPECT_EQ(heap.compare(0, bytes_of("y"), order), Status::ok);
}

TEST(LocalHeap, DamagedHeaders) {
    StructureFile file;
    LocalHeap heap;
    for (const Address data : {Address{sizeof bench_storage - 63}, ~Address{0} - 1, kUndefinedAddress}) {
        write_header(file, 64, 1, data);
        EXPECT_EQ(heap.open(*file, kHeap), Status::corrupt_file);
    }
    write_header(file, ~Address{0} - kData);
    EXPECT_EQ(heap.open(*file, kHeap), Status::corrupt_file);
    write_header(file, 64);
    *file.at(kHeap + 4) = std::byte{1};
    EXPECT_EQ(heap.open(*file, kHeap), Status::corrupt_file);
    write_header(file, 64);
    *file.at(kHeap) = std::byte{'h'};
    EXPECT_EQ(heap.open(*file, kHeap), Status::corrupt_file);
    EXPECT_EQ(heap.open(*file, sizeof bench_storage - 8), Status::corrupt_file);
    EXPECT_EQ(heap.open(*file, kUndefinedAddress), Status::corrupt_file);
}

TEST(LocalHeap, FreeBlocks) {
    StructureFile file;
    LocalHeap heap;
    Address bytes = 99;
    write_header(file, 128);
    ASSERT_EQ(heap.open(*file, kHeap), Status::ok);
    EXPECT_EQ(heap.free_space(bytes), Status::ok);
    EXPECT_EQ(bytes, 0U);
    write_header(file, 128, 16);
    Writer first = file.write(kData + 16);
    first.u64(64);
    first.u64(24);
    Writer second = file.write(kData + 64);
    second.u64(1);
    second.u64(64);
    ASSERT_EQ(heap.open(*file, kHeap), Status::ok);
    EXPECT_EQ(heap.free_space(bytes), Status::ok);
    EXPECT_EQ(bytes, 88U);
    // A list of free blocks that never ends, blocks that end behind the segment, and sizes smaller than a block's
    // header.
    for (const Address next : {Address{16}, Address{64}, Address{120}, Address{0}, ~Address{0} - 8}) {
        file.write(kData + 64).u64(next);
        EXPECT_EQ(heap.free_space(bytes), Status::corrupt_file);
    }
    for (const Address size : {Address{65}, Address{0}, ~Address{0}}) {
        file.write(kData + 64).u64(1);
        file.write(kData + 72).u64(size);
        EXPECT_EQ(heap.free_space(bytes), Status::corrupt_file);
    }
}

#endif
