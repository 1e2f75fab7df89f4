// Files that record their free space: damage, storages and allocators that fail, and little memory.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include "world.hpp"

#include "checksum.hpp"
#include "cursor.hpp"
#include "promising_driver.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/formats.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Formats kFormats = [] {
    Formats list = formats::standard;
    list.free_space = &formats::free_space;
    return list;
}();

constexpr std::uint32_t kRows = 60;

/// A library and a file in memory, on a storage where the order of writes counts or one whose sync() is a commit.
struct Place {
    explicit Place(bool ordered, Allocator* allocator = nullptr)
        : promising(storage, with_unit(512)),
          driver(ordered ? static_cast<Driver&>(promising) : static_cast<Driver&>(storage)),
          library(allocator != nullptr ? *allocator : refusing, port, {}, kFormats) {
        library.set_free_list_limits({0, 0});
    }
    Status create() {
        FileCreate properties;
        properties.persist_free_space = true;
        auto made = File::create(library, driver, access, properties);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    Status open(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        return open();
    }
    Status open() {
        auto opened = File::open(library, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    Status make_log(const std::string& name, std::uint32_t rows = kRows, std::uint32_t chunk = 8) {
        DatasetCreate layout;
        layout.chunk = {chunk};
        layout.reserve = 64;
        auto log = file.root().create_dataset(name.c_str(), kNumber.view(), Dataspace::unlimited(), layout);
        H5MOTE_TRY(log.status());
        for (std::uint32_t i = 0; i < rows; ++i) {
            const auto row = static_cast<std::int32_t>(7 * i + name.size());
            H5MOTE_TRY(log->append_records(&row, 1));
        }
        return log->close();
    }
    bool intact(const std::string& name, std::uint32_t rows = kRows) {
        auto log = file.root().open_dataset(name.c_str());
        bool same = log.status() == Status::ok && log->size() == rows;
#if H5MOTE_PARTIAL_IO
        std::vector<std::int32_t> found(rows);
        same = same && log->read(Selection::all(), kNumber.view(),
                                 {reinterpret_cast<std::byte*>(found.data()), rows * sizeof(found[0])}) == Status::ok;
        for (std::uint32_t i = 0; i < rows; ++i) {
            same = same && found[i] == static_cast<std::int32_t>(7 * i + name.size());
        }
#endif
        return same;
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    PromisingDriver promising;
    FailingDriver driver;
    NullPort port;
    Library library;
    FileAccess access;
    File file;
};

/// A file with two logs, and with free space before, between and behind them.
Image make() {
    Place place(true);
    EXPECT_EQ(place.create(), Status::ok);
    for (const char* name : {"old", "kept", "older", "also kept", "oldest", "end"}) {
        EXPECT_EQ(place.make_log(name), Status::ok);
    }
    for (const char* name : {"old", "older", "oldest"}) {
        EXPECT_EQ(place.file.root().unlink(name), Status::ok);
    }
    EXPECT_EQ(place.file.close(), Status::ok);
    return place.image();
}

/// Changes a file so that free space is used and made.
Status change(Place& place) {
    H5MOTE_TRY(place.file.root().unlink("end"));
    H5MOTE_TRY(place.make_log("new"));
    H5MOTE_TRY(place.file.flush());
    return place.make_log("newer");
}

/// Opens the file without faults: what was there before is intact, and the file can be changed.
void judge(const Image& image, bool ordered) {
    Place place(ordered);
    ASSERT_EQ(place.open(image), Status::ok);
    EXPECT_TRUE(findings_in(place.file).none());
    EXPECT_TRUE(place.intact("kept"));
    EXPECT_TRUE(place.intact("also kept"));
    ASSERT_EQ(place.make_log("last"), Status::ok);
    EXPECT_TRUE(place.intact("kept"));
    ASSERT_EQ(place.file.close(), Status::ok);
    ASSERT_EQ(place.open(), Status::ok);
    EXPECT_TRUE(findings_in(place.file).none());
    EXPECT_TRUE(place.intact("kept"));
    EXPECT_TRUE(place.intact("also kept"));
    EXPECT_TRUE(place.intact("last"));
    ASSERT_EQ(place.file.close(), Status::ok);
    EXPECT_EQ(place.memory.blocks(), 0U);
}

std::vector<std::size_t> all_of(const Image& image, std::string_view text) {
    std::vector<std::size_t> found;
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    for (auto at = image.begin(); (at = std::search(at, image.end(), bytes, bytes + text.size())) != image.end();
         ++at) {
        found.push_back(static_cast<std::size_t>(at - image.begin()));
    }
    return found;
}

struct Block {
    std::size_t from;
    std::size_t size;
};

/// The extension's header, and the headers and lists of the managers.
std::vector<Block> blocks_of(const Image& image) {
    constexpr std::size_t kHeader = 14 + 7 * 8 + 8 + 4;
    std::vector<Block> blocks{{load_le<std::uint32_t>(image.data() + 20), 6 + 1 + 4 + 125 + 4}};
    for (const std::size_t at : all_of(image, "FSHD")) {
        blocks.push_back({at, kHeader});
        blocks.push_back({load_le<std::uint32_t>(image.data() + at + kHeader - 28),
                          load_le<std::uint32_t>(image.data() + at + kHeader - 20)});
    }
    return blocks;
}

}  // namespace

TEST(FreeSpaceDamage, NoDamageFreesSpaceInUse) {
    const Image image = make();
    unsigned tried = 0;
    unsigned refused = 0;
    for (const Block& block : blocks_of(image)) {
        ASSERT_LE(block.from + block.size, image.size());
        for (std::size_t at = block.from; at < block.from + block.size; ++at) {
            for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
                SCOPED_TRACE(std::to_string(at) + " ^ " + std::to_string(flip));
                Image damaged = image;
                damaged[at] ^= static_cast<std::byte>(flip);
                Place place(at % 2 == 0);
                ++tried;
                if (place.open(damaged) != Status::ok) {
                    ++refused;  // the extension's header
                    continue;
                }
                ASSERT_EQ(change(place), Status::ok);
                EXPECT_TRUE(place.intact("kept"));
                EXPECT_TRUE(place.intact("also kept"));
                ASSERT_EQ(place.file.close(), Status::ok);
                judge(place.image(), at % 2 == 0);
            }
        }
    }
    EXPECT_GT(tried - refused, 700U);
    EXPECT_GE(refused, 3U * 125U);
}

// Damage with a right checksum may be believed, as far as it does not contradict itself. Nothing worse may happen.
TEST(FreeSpaceDamage, DamageWithARightChecksumIsNoFault) {
    const Image image = make();
    unsigned changed = 0;
    for (const Block& block : blocks_of(image)) {
        for (std::size_t at = block.from; at < block.from + block.size - 4; ++at) {
            for (const unsigned flip : {0x01U, 0x10U, 0x80U, 0xffU}) {
                Image damaged = image;
                damaged[at] ^= static_cast<std::byte>(flip);
                std::byte* const begin = damaged.data() + block.from;
                store_le(begin + block.size - 4, lookup3({begin, block.size - 4}));
                Place place(at % 2 == 0);
                if (place.open(damaged) == Status::ok) {
                    (void)change(place);
                    changed += place.file.close() == Status::ok ? 1 : 0;
                }
                place.file = File();
                EXPECT_EQ(place.memory.blocks(), 0U) << at;
            }
        }
    }
    EXPECT_GT(changed, 1000U);
}

TEST(FreeSpaceDamage, SectionsThatContradictAreNotUsed) {
    const Image image = make();
    const std::vector<Block> blocks = blocks_of(image);
    const auto root = load_le<std::uint64_t>(image.data() + 36);
    unsigned lists = 0;
    for (std::size_t i = 2; i < blocks.size(); i += 2) {
        // The first section of the list: number of sections 1, size 8, address 8, class 1. It is moved to space in use.
        const std::size_t address = blocks[i].from + 13 + 1 + 8;
        for (const std::uint64_t to :
             {std::uint64_t{0}, std::uint64_t{48}, root, std::uint64_t{blocks[1].from}, std::uint64_t{blocks[i].from},
              std::uint64_t{image.size() - 1}, ~std::uint64_t{0}}) {
            Image damaged = image;
            store_le(damaged.data() + address, to);
            std::byte* const begin = damaged.data() + blocks[i].from;
            store_le(begin + blocks[i].size - 4, lookup3({begin, blocks[i].size - 4}));
            Place place(true);
            ASSERT_EQ(place.open(damaged), Status::ok);
            ASSERT_EQ(change(place), Status::ok);
            ASSERT_EQ(place.file.close(), Status::ok);
            judge(place.image(), true);
            ++lists;
        }
    }
    EXPECT_GE(lists, 14U);
}

TEST(FreeSpaceDamage, EveryCallMayFail) {
    const Image image = make();
    unsigned points = 0;
    for (const bool ordered : {false, true}) {
        for (const FaultKind& kind : kFaultKinds) {
            bool failed = true;
            for (std::uint64_t k = 1; failed; ++k) {
                SCOPED_TRACE(std::string(kind.name) + ' ' + std::to_string(k) + (ordered ? " ordered" : ""));
                Place place(ordered);
                ASSERT_EQ(place.storage.assign({image.data(), image.size()}), Status::ok);
                arm(place.refusing, place.driver, kind, k);
                Status status = place.open();
                if (status == Status::ok) {
                    status = change(place);
                    const Status closed = place.file.close();
                    status = status == Status::ok ? closed : status;
                }
                failed = disarm(place.refusing, place.driver);
                place.file = File();
                if (kind.allocations == 0) {
                    EXPECT_EQ(failed, status != Status::ok);
                } else {
                    EXPECT_TRUE(failed || status == Status::ok);
                }
                EXPECT_EQ(place.memory.blocks(), 0U);
                judge(place.image(), ordered);
                ++points;
                ASSERT_FALSE(::testing::Test::HasFailure());
            }
        }
    }
    EXPECT_GT(points, 400U);
}

TEST(FreeSpaceDamage, WithLittleMemoryNothingIsForgotten) {
    constexpr unsigned kLogs = 120;
    std::vector<std::byte> memory(8 * 1024);
    Arena arena{Bytes{memory.data(), memory.size()}};
    Image image;
    std::uint64_t removed = 0;
    {
        Place place(true, &arena);
        place.access.chunk_cache = 256;
        ASSERT_EQ(place.create(), Status::ok);
        for (unsigned i = 0; i < kLogs; ++i) {
            ASSERT_EQ(place.make_log("log" + std::to_string(i), 20 + i % 7, 4 + i % 5), Status::ok);
        }
        for (unsigned i = 0; i < kLogs; i += 2) {
            ASSERT_EQ(place.file.root().unlink(("log" + std::to_string(i)).c_str()), Status::ok);
            removed += (20 + i % 7) * 4;
        }
        ASSERT_EQ(place.file.close(), Status::ok);
        EXPECT_EQ(arena.usage().now, 0U);
        // Once more with a record that is larger than memory.
        ASSERT_EQ(place.open(), Status::ok);
        ASSERT_EQ(place.make_log("log0", 20, 4), Status::ok);
        ASSERT_EQ(place.file.root().unlink("log1"), Status::ok);
        ASSERT_EQ(place.file.close(), Status::ok);
        EXPECT_EQ(arena.usage().now, 0U);
        image = place.image();
    }
    // The message says that nothing was forgotten, and names the manager of metadata as the last of the file.
    const std::size_t message = load_le<std::uint32_t>(image.data() + 20) + 7 + 4;
    EXPECT_EQ(load_le<std::uint16_t>(image.data() + message + 19), 0U);
    EXPECT_EQ(load_le<std::uint64_t>(image.data() + message + 21), load_le<std::uint64_t>(image.data() + message + 29));
    std::uint64_t bytes = 0;
    std::uint64_t sections = 0;
    for (const std::size_t at : all_of(image, "FSHD")) {
        for (unsigned i = 0; i < 2; ++i) {
            const std::uint64_t address = load_le<std::uint64_t>(image.data() + message + 21 + 8 + 16 * i);
            bytes += address == at ? load_le<std::uint64_t>(image.data() + at + 6) : 0;
            sections += address == at ? load_le<std::uint64_t>(image.data() + at + 14) : 0;
        }
    }
    EXPECT_GT(sections, 40U);
    EXPECT_GT(bytes, removed);
    Place place(true);
    ASSERT_EQ(place.open(image), Status::ok);
    EXPECT_TRUE(findings_in(place.file).none());
    for (unsigned i = 3; i < kLogs; i += 2) {
        EXPECT_TRUE(place.intact("log" + std::to_string(i), 20 + i % 7));
    }
    EXPECT_EQ(place.file.close(), Status::ok);
}

#endif
