// Messages of the superblock extension, the table of shared messages and references to shared messages, in a file that
// libhdf5 made: each field damaged, with right checksums.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS

#include "hdf5_image.hpp"

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

#include "checksum.hpp"
#include "cursor.hpp"
#include "test_allocators.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;

constexpr unsigned kDatatype = 3;
constexpr unsigned kTable = 0x0f;
constexpr unsigned kContinuation = 0x10;
constexpr unsigned kBtreeK = 0x13;
constexpr unsigned kDriverInfo = 0x14;
constexpr unsigned kCacheImage = 0x18;

struct Made {
    Image image;
    std::size_t extension, shared, committed, named, root;  // addresses of object headers
};

// The datatype of "shared" is in the heap of shared messages; that of "committed" is the committed type "type".
Made make() {
    const std::string name = ::testing::TempDir() + "shared_message_damage.h5";
    Made made;
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_sym_k(create, 20, 6), 0);
        EXPECT_GE(H5Pset_istore_k(create, 40), 0);
        EXPECT_GE(H5Pset_shared_mesg_nindexes(create, 2), 0);
        EXPECT_GE(H5Pset_shared_mesg_index(create, 0, H5O_SHMESG_SDSPACE_FLAG, 400), 0);
        EXPECT_GE(H5Pset_shared_mesg_index(create, 1, H5O_SHMESG_DTYPE_FLAG, 8), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose);
        EXPECT_GE(file, 0);
        const hsize_t size = 4;
        const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Hdf5Id compound(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
        EXPECT_GE(H5Tinsert(compound, "a", 0, H5T_STD_I32LE), 0);
        EXPECT_GE(H5Tinsert(compound, "b", 4, H5T_STD_I32LE), 0);
        const auto dataset = [&](const char* path, hid_t type) {
            EXPECT_GE(Hdf5Id(H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose), 0);
        };
        dataset("first", compound);  // libhdf5 moves a message into the heap when it is used a second time
        dataset("shared", compound);
        const Hdf5Id type(H5Tcopy(H5T_STD_I16LE), H5Tclose);
        EXPECT_GE(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
        dataset("committed", type);
        const auto header = [&](const char* path) {
            H5O_info_t info;
            EXPECT_GE(H5Oget_info_by_name2(file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
            return static_cast<std::size_t>(info.addr);
        };
        made.shared = header("shared");
        made.committed = header("committed");
        made.named = header("type");
        made.root = header("/");
    }
    PosixDriver driver;
    EXPECT_EQ(driver.open(name.c_str(), PosixDriver::Mode::read_only), Status::ok);
    made.image = image_of(driver);
    std::remove(name.c_str());
    made.extension = static_cast<std::size_t>(load_le<std::uint64_t>(made.image.data() + 20));
    return made;
}

void seal_block(Image& image, std::size_t at, std::size_t size) {
    store_le(image.data() + at + size - 4, lookup3({image.data() + at, size - 4}));
}

/// An object header of version 2, with its continuation blocks.
struct Header {
    Header(const Image& image, std::size_t address) {
        const auto flags = std::to_integer<unsigned>(image[address + 5]);
        const std::size_t width = std::size_t{1} << (flags & 3U);
        const std::size_t first = 6 + ((flags & 0x20U) != 0 ? 16U : 0U) + ((flags & 0x10U) != 0 ? 4U : 0U) + width;
        std::size_t messages = 0;
        for (std::size_t i = 0; i < width; ++i) {
            messages |= std::to_integer<std::size_t>(image[address + first - width + i]) << (8 * i);
        }
        head = (flags & 4U) != 0 ? 6 : 4;
        blocks = {{address, first, first + messages + 4}};
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (const std::size_t next = find_in(image, i, kContinuation)) {
                blocks.push_back({static_cast<std::size_t>(load_le<std::uint64_t>(image.data() + next + head)), 4,
                                  static_cast<std::size_t>(load_le<std::uint64_t>(image.data() + next + head + 8))});
            }
        }
    }
    /// Returns the offset of the message of that type, or 0 if there is none.
    std::size_t find(const Image& image, unsigned type) const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < blocks.size() && found == 0; ++i) {
            found = find_in(image, i, type);
        }
        return found;
    }
    std::size_t find_in(const Image& image, std::size_t block, unsigned type) const {
        const auto [at, first, size] = blocks[block];
        for (std::size_t next = at + first; next + head < at + size - 4;) {
            if (std::to_integer<unsigned>(image[next]) == type) {
                return next;
            }
            next += head + load_le<std::uint16_t>(image.data() + next + 1);
        }
        return 0;
    }
    void seal(Image& image) const {
        for (const Block& block : blocks) {
            seal_block(image, block.at, block.size);
        }
    }
    struct Block {
        std::size_t at, first, size;  // first: offset of the first message from `at`
    };
    std::vector<Block> blocks;
    std::size_t head;
};

struct Told {
    Status opened = Status::ok;
    Status info = Status::ok;
    Status shared = Status::ok;
    Status committed = Status::ok;
};

Told look(const Image& image) {
    MallocAllocator heap;
    TrackingAllocator tracking(heap);
    NullPort port;
    Told told;
    {
        Library library(tracking, port);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, driver, access);
        told.opened = file.status();
        if (file) {
            FileInfo info;
            told.info = file->info(info);
            told.shared = file->root().open_dataset("shared").status();
            told.committed = file->root().open_dataset("committed").status();
        }
    }
    EXPECT_EQ(tracking.blocks(), 0U);
    return told;
}

struct Damage {
    const char* name;
    std::size_t at;
    unsigned width;
    std::uint64_t value;
    Told expected;
};

void put(Image& image, const Damage& damage) {
    for (unsigned i = 0; i < damage.width; ++i) {
        image[damage.at + i] = static_cast<std::byte>(damage.value >> (8 * i));
    }
}

void expect(const Told& told, const Damage& damage) {
    EXPECT_EQ(told.opened, damage.expected.opened) << damage.name;
    EXPECT_EQ(told.info, damage.expected.info) << damage.name;
    EXPECT_EQ(told.shared, damage.expected.shared) << damage.name;
    EXPECT_EQ(told.committed, damage.expected.committed) << damage.name;
}

constexpr Status kOk = Status::ok;
constexpr Status kCorrupt = Status::corrupt_file;
constexpr Status kUnsupported = Status::unsupported;
constexpr Told kNotOpened{kCorrupt, kOk, kOk, kOk};
constexpr std::uint64_t kMost = ~std::uint64_t{0};

TEST(SharedMessageDamage, SuperblockExtension) {
    const Made made = make();
    expect(look(made.image), {"whole", 0, 0, 0, {}});
    const Header header(made.image, made.extension);
    const std::size_t k = header.find(made.image, kBtreeK);
    const std::size_t table = header.find(made.image, kTable);
    ASSERT_NE(k, 0U);
    ASSERT_NE(table, 0U);
    const std::size_t of_k = k + header.head;
    const std::size_t of_table = table + header.head;
    const Damage damages[] = {
        {"k, version", of_k, 1, 1, kNotOpened},
        {"k, chunks", of_k + 1, 2, 0, kNotOpened},
        {"k, groups", of_k + 3, 2, 0, kNotOpened},
        {"k, symbols", of_k + 5, 2, 0, kNotOpened},
        {"table, version", of_table, 1, 1, kNotOpened},
        {"table, nine indexes", of_table + 9, 1, 9, kNotOpened},
        // Bytes behind the table are not part of it: a wrong number of indexes is noticed.
        {"table, eight indexes", of_table + 9, 1, 8, {kOk, kCorrupt, kCorrupt, kOk}},
        {"table, no indexes", of_table + 9, 1, 0, {kOk, kOk, kCorrupt, kOk}},
        {"table, one index", of_table + 9, 1, 1, {kOk, kCorrupt, kCorrupt, kOk}},
        {"table, nowhere", of_table + 1, 8, kMost, {kOk, kCorrupt, kCorrupt, kOk}},
        {"table, behind the file", of_table + 1, 8, made.image.size() - 8, {kOk, kCorrupt, kCorrupt, kOk}},
        {"table, elsewhere", of_table + 1, 8, made.root, {kOk, kCorrupt, kCorrupt, kOk}},
        // Messages that are shorter than their changed type requires.
        {"k as a table", k, 1, kTable, kNotOpened},
        {"k as driver information", k, 1, kDriverInfo, kNotOpened},
        {"k as a cache image", k, 1, kCacheImage, kNotOpened},
        {"table as k", table, 1, kBtreeK, kNotOpened},
    };
    for (const Damage& damage : damages) {
        Image image = made.image;
        put(image, damage);
        header.seal(image);
        expect(look(image), damage);
    }
}

TEST(SharedMessageDamage, Table) {
    const Made made = make();
    const Header header(made.image, made.extension);
    const std::size_t message = header.find(made.image, kTable);
    ASSERT_NE(message, 0U);
    const auto at = static_cast<std::size_t>(load_le<std::uint64_t>(made.image.data() + message + header.head + 1));
    ASSERT_EQ(std::memcmp(made.image.data() + at, "SMTB", 4), 0);
    // Table of two indexes, each: version 1 | type 1 | kinds 2 | least size 4 | list 2 | B-tree 2 | messages 2 | index
    // 8 | heap 8.
    constexpr std::size_t kSize = 30;
    const std::size_t second = at + 4 + kSize;
    constexpr Told kNoTypes{kOk, kCorrupt, kCorrupt, kOk};
    const Damage damages[] = {
        {"signature", at, 1, 0, kNoTypes},
        {"version", second, 1, 1, kNoTypes},
        {"type", second + 1, 1, 2, kNoTypes},
        {"list as a B-tree", second + 1, 1, 1, {kOk, kCorrupt, kOk, kOk}},
        {"no kinds", second + 2, 2, 0, {kOk, kOk, kCorrupt, kOk}},
        {"heap behind the file", second + 22, 8, made.image.size(), kNoTypes},
        {"heap elsewhere", second + 22, 8, made.root, kNoTypes},
        {"no heap", second + 22, 8, kMost, {kOk, kOk, kCorrupt, kOk}},
        {"first, version", at + 4, 1, 1, kNoTypes},
    };
    for (const Damage& damage : damages) {
        Image image = made.image;
        put(image, damage);
        seal_block(image, at, 4 + 2 * kSize + 4);
        expect(look(image), damage);
    }
}

TEST(SharedMessageDamage, References) {
    const Made made = make();
    const Header shared(made.image, made.shared);
    const Header committed(made.image, made.committed);
    const std::size_t in_heap = shared.find(made.image, kDatatype) + shared.head;
    const std::size_t in_header = committed.find(made.image, kDatatype) + committed.head;
    ASSERT_EQ(made.image[in_heap], std::byte{3});
    ASSERT_EQ(made.image[in_heap + 1], std::byte{1});
    ASSERT_EQ(load_le<std::uint64_t>(made.image.data() + in_header + 2), made.named);
    const Damage damages[] = {
        {"heap, version 0", in_heap, 1, 0, {kOk, kOk, kUnsupported, kOk}},
        {"heap, version 4", in_heap, 1, 4, {kOk, kOk, kUnsupported, kOk}},
        {"heap, version 1", in_heap, 1, 1, {kOk, kOk, kCorrupt, kOk}},
        {"heap, in a header", in_heap + 1, 1, 2, {kOk, kOk, kCorrupt, kOk}},
        {"heap, no object", in_heap + 2, 8, kMost, {kOk, kOk, kCorrupt, kOk}},
        {"heap, another object", in_heap + 3, 7, 0xffffff, {kOk, kOk, kCorrupt, kOk}},
        {"header, version 0", in_header, 1, 0, {kOk, kOk, kOk, kUnsupported}},
        {"header, version 4", in_header, 1, 4, {kOk, kOk, kOk, kUnsupported}},
        {"header, version 1", in_header, 1, 1, {kOk, kOk, kOk, kCorrupt}},
        {"header, in the heap", in_header, 2, 0x0103, {kOk, kOk, kOk, kCorrupt}},
        {"header, without a type", in_header + 2, 8, made.root, {kOk, kOk, kOk, kCorrupt}},
        {"header, its own", in_header + 2, 8, made.committed, {kOk, kOk, kOk, kCorrupt}},
        {"header, behind the file", in_header + 2, 8, made.image.size(), {kOk, kOk, kOk, kCorrupt}},
        {"header, no address", in_header + 2, 8, kMost, {kOk, kOk, kOk, kCorrupt}},
    };
    for (const Damage& damage : damages) {
        Image image = made.image;
        put(image, damage);
        shared.seal(image);
        committed.seal(image);
        expect(look(image), damage);
    }
}

}  // namespace

#endif
