// Free space of a file: released space is used again, and the driver is told of it.
#include "file_space.hpp"
#include "forwarding_driver.hpp"
#include "storage_bench.hpp"

#include <new>
#include <type_traits>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Overwrites released bytes with garbage at the next sync, except those written in between: the library must not read
// them again.
class ForgetfulDriver final : public ForwardingDriver {
public:
    ForgetfulDriver(Driver& inner, bool commits) noexcept : ForwardingDriver(inner), commits_(commits) {}

    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.sync_is_commit = commits_;
        return result;
    }
    Status release(Usage, std::uint64_t address, std::uint64_t size) noexcept override {
        ++releases;
        mark(address, size, true);
        return Status::io_error;  // the library ignores it
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        mark(address, from.size(), false);
        return ForwardingDriver::inner().write(usage, address, from);
    }
    Status truncate(std::uint64_t size) noexcept override {
        mark(size, sizeof bench_storage, false);
        return ForwardingDriver::inner().truncate(size);
    }
    Status sync() noexcept override {
        std::uint64_t size = 0;
        H5MOTE_TRY(end_of_file(size));
        constexpr std::byte garbage{0xa5};
        for (std::uint64_t i = 0; i < size; ++i) {
            if ((released_[i / 8] >> (i % 8) & 1U) != 0) {
                ++forgotten;
                H5MOTE_TRY(ForwardingDriver::inner().write(Usage::raw_data, i, {&garbage, 1}));
            }
        }
        return Status::ok;
    }

    std::uint64_t releases = 0;
    std::uint64_t forgotten = 0;

private:
    void mark(std::uint64_t address, std::uint64_t size, bool released) noexcept {
        for (std::uint64_t i = address; i < address + size && i < sizeof bench_storage; ++i) {
            const auto bit = static_cast<std::uint8_t>(1U << (i % 8));
            released_[i / 8] =
                static_cast<std::uint8_t>(released ? released_[i / 8] | bit : released_[i / 8] & ~unsigned{bit});
        }
    }

    bool commits_;
    std::uint8_t released_[sizeof bench_storage / 8] = {};
};

ForgetfulDriver* make_forgetful(Bench& bench, bool commits) noexcept {
    static std::aligned_storage_t<sizeof(ForgetfulDriver), alignof(ForgetfulDriver)> place;
    return ::new (static_cast<void*>(&place)) ForgetfulDriver(bench.driver, commits);
}

}  // namespace

#if H5MOTE_WRITE

namespace {

struct Row {
    std::uint32_t t;
    std::uint32_t u;
    static Row at(std::uint32_t i) noexcept { return {i, i * 2654435761U}; }
};
H5MOTE_COMPOUND(Row, t, u)

bool intact([[maybe_unused]] TypedDataset<Row>& log, std::uint32_t size) noexcept {
    bool same = log.size() == size;
#if H5MOTE_PARTIAL_IO
    for (std::uint32_t i = 0; same && i < size; ++i) {
        Row row{};
        same = log.read(Selection::hyperslab({i}, {1}), Span<Row>(&row, 1)) == Status::ok && row.t == i &&
               row.u == Row::at(i).u;
    }
#endif
    return same;
}

}  // namespace

TEST(FileSpace, WhatIsReleasedIsNotReadAgain) {
    for (const bool commits : {false, true}) {
        for (const bool filtered : {false, true}) {
            if (filtered && H5MOTE_FILTERS == 0) {
                continue;
            }
            Bench bench;
            ForgetfulDriver& driver = *make_forgetful(bench, commits);
            DatasetCreate create;
            create.chunk = {filtered ? 8U : 1U};
            create.reserve = 64;
#if H5MOTE_FILTERS
            if (filtered) {
                create.filters = {filters::shuffle, filters::fletcher32};
            }
#endif
            auto file = File::create(bench.library, driver, bench.access);
            ASSERT_EQ(file.status(), Status::ok);
            auto log = file->root().create_dataset<Row>("log", create);
            ASSERT_EQ(log.status(), Status::ok);
            std::uint32_t rows = 0;
            for (; rows < 300; ++rows) {
                ASSERT_EQ(log->append(Row::at(rows)), Status::ok);
                ASSERT_EQ(file->root().write_attribute("rows", rows), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
            }
            EXPECT_TRUE(intact(*log, rows));
            ASSERT_EQ(log->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
            EXPECT_GT(driver.releases, 0U);
            EXPECT_GT(driver.forgotten, 0U);

            file = File::open(bench.library, driver, bench.access);
            ASSERT_EQ(file.status(), Status::ok);
            log = file->root().open_dataset<Row>("log");
            ASSERT_EQ(log.status(), Status::ok);
            EXPECT_TRUE(intact(*log, rows));
            EXPECT_EQ(log->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
            EXPECT_TRUE(bench.empty());
        }
    }
}

#endif

namespace {

// A committing storage that is full and records which space it is asked to keep.
class FullDriver final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.sync_is_commit = true;
        return result;
    }
    Status truncate(std::uint64_t) noexcept override { return Status::no_space; }
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        kept_ranges = ranges;
        kept_bytes = bytes;
        return Status::ok;
    }

    std::uint32_t kept_ranges = 0;
    std::uint64_t kept_bytes = 0;
};

class UnitDriver final : public ForwardingDriver {
public:
    UnitDriver(Driver& inner, std::uint32_t unit) noexcept : ForwardingDriver(inner), unit_(unit) {}
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.atomic_unit = unit_;
        return result;
    }

private:
    std::uint32_t unit_;
};

}  // namespace

TEST(FileSpace, NoRoomIsKeptForWhatFoundNoPlace) {
    Bench bench;
    FullDriver driver(bench.driver);
    FileSpace space(bench.library, driver);
    space.open(1000, 100000, 1000);
    Address address = 0;
    EXPECT_EQ(space.allocate(Usage::btree, 300, address), Status::no_space);
    EXPECT_EQ(driver.kept_ranges, 0U);
    EXPECT_EQ(driver.kept_bytes, 0U);
}

// The end of the file moves down when its last bytes become free: what lay behind the new end is not lost space.
TEST(FileSpace, NothingIsLostBehindTheEnd) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    space.open(3000, 100000, 3000);
    EXPECT_EQ(space.add_unused(500, 600), 100U);
    EXPECT_EQ(space.add_unused(2000, 3000), 1000U);
    EXPECT_EQ(space.end(), 2000U);
    EXPECT_EQ(space.add_unused(1900, 3000), 100U);
    EXPECT_EQ(space.end(), 1900U);
    Address address = 0;
    ASSERT_EQ(space.allocate(Usage::raw_data, 800, address), Status::ok);
    EXPECT_EQ(address, 1900U);
    EXPECT_EQ(space.end(), 2700U);
    space.close();
}

// Near the largest address, rounding up to the next unit must not wrap round to address 0.
TEST(FileSpace, NothingIsPlacedBeyondTheLargestAddress) {
    Bench bench;
    ForgetfulDriver& driver = *make_forgetful(bench, false);
    FileSpace space(bench.library, driver);
    constexpr Address kMost = 0xfffffffeU;
    for (const Usage usage : {Usage::btree, Usage::object_header}) {
        for (const Address size : {Address{100}, Address{500}, Address{513}, Address{600}, Address{1000}}) {
            for (Address left = 2; left < 1100; left += 7) {
                space.open(kMost - left, kMost, kMost);
                Address address = 0;
                const Status status = space.allocate(usage, size, address);
                if (status == Status::ok) {
                    ASSERT_GE(address, kMost - left);
                    ASSERT_LE(size, kMost - address);
                } else {
                    ASSERT_EQ(status, Status::no_space);
                }
            }
        }
    }
}

// A block that fits lies within one atomic unit; of larger ones the first and the last 64 bytes do.
TEST(FileSpace, BlocksArePlacedByTheAtomicUnit) {
    for (const std::uint32_t promised : {128U, 256U, 384U, 512U, 4096U}) {
        Bench bench;
        UnitDriver driver(bench.driver, promised);
        FileSpace space(bench.library, driver);
        space.open(0, 1U << 24, 1U << 24);
        const Address unit = promised == 384 ? 128 : promised < 512 ? promised : 512;
        Numbers numbers(promised);
        for (unsigned i = 0; i < 2000; ++i) {
            const Address size = 20 + numbers.below(1000);
            Address address = 0;
            ASSERT_EQ(space.allocate(Usage::object_header, size, address), Status::ok);
            const auto lies_in_one = [&](Address from, Address to) { return from / unit == (to - 1) / unit; };
            if (size <= unit) {
                ASSERT_TRUE(lies_in_one(address, address + size));
            } else {
                ASSERT_TRUE(lies_in_one(address, address + 64));
                ASSERT_TRUE(lies_in_one(address + size - 64, address + size));
            }
            Address raw = 0;
            ASSERT_EQ(space.allocate(Usage::raw_data, 1 + numbers.below(300), raw), Status::ok);
        }
    }
}

namespace {

constexpr Address kPiece = 16;
constexpr Address kPieces = 200;

// Releases every second of kPieces pieces. Returns how many of them are allocated again before the file grows.
unsigned pieces_found(FileSpace& space, bool pressure, Library& library) {
    space.open(kPieces * kPiece, 1U << 20, 1U << 20);
    for (Address i = 0; i < kPieces; i += 2) {
        space.release(i * kPiece, kPiece, false);
    }
    space.settle();
    if (pressure) {
        // This request cannot be met, but the library releases all memory that it can do without.
        EXPECT_EQ(library.allocate(MemoryKind::other, 2 * sizeof bench_memory), nullptr);
    }
    bool given[kPieces] = {};
    unsigned found = 0;
    for (Address address = 0; space.allocate(Usage::raw_data, kPiece, address) == Status::ok;) {
        if (address >= kPieces * kPiece) {
            break;
        }
        EXPECT_EQ(address % (2 * kPiece), 0U);
        EXPECT_FALSE(given[address / kPiece]);
        given[address / kPiece] = true;
        ++found;
    }
    return found;
}

}  // namespace

// All runs of free space are remembered while there is memory; under pressure that memory is given up.
TEST(FileSpace, ManyRunsAreRemembered) {
    Bench bench;
    {
        FileSpace space(bench.library, bench.driver);
        EXPECT_EQ(pieces_found(space, false, bench.library), kPieces / 2);
        constexpr Address kFew = H5MOTE_FREE_EXTENTS;
        EXPECT_EQ(pieces_found(space, true, bench.library), kFew < kPieces / 2 ? kFew : kPieces / 2);
        EXPECT_EQ(pieces_found(space, false, bench.library), kPieces / 2);
        space.close();
        EXPECT_TRUE(bench.empty());
        EXPECT_EQ(pieces_found(space, false, bench.library), kPieces / 2);
    }
    EXPECT_TRUE(bench.empty());
}

// Remembering runs takes no memory that others hold, and unused memory is given back by garbage_collect().
TEST(FileSpace, RunsTakeOnlyMemoryThatIsLeft) {
    Bench bench;
    FileSpace space(bench.library, bench.driver);
    const std::size_t size = sizeof bench_memory - 256;
    void* const others = bench.library.allocate(MemoryKind::other, size);
    ASSERT_NE(others, nullptr);
    EXPECT_EQ(pieces_found(space, false, bench.library), Address{H5MOTE_FREE_EXTENTS});
    bench.library.release(MemoryKind::other, others, size);
    EXPECT_EQ(pieces_found(space, false, bench.library), kPieces / 2);
    EXPECT_GT(bench.arena.usage().now, 0U);
    bench.library.garbage_collect();
    EXPECT_TRUE(bench.empty());
}
