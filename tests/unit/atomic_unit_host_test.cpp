// Object headers larger than the storage's atomic unit, and headers made by other libraries, are changed in every way
// while the power fails within each write: afterwards the file is as before the change or after it, for units of every
// size. On storages that promise too little for that, nothing may be written.
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/region.hpp>

#include "story.hpp"

namespace {

using namespace h5mote_test;

// An opaque datatype of many bytes. A fill value of this type makes an object header larger than a sector.
struct LargeType {
    explicit LargeType(std::size_t size) : fill(size, std::byte{1}) {
        const unsigned char bytes[] = {0x15,
                                       8,
                                       0,
                                       0,
                                       static_cast<unsigned char>(size & 0xff),
                                       static_cast<unsigned char>(size >> 8),
                                       0,
                                       0,
                                       'x',
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0};
        for (const unsigned char byte : bytes) {
            type.push_back(std::byte{byte});
        }
    }
    DatatypeView view() const { return DatatypeView({type.data(), type.size()}); }

    std::vector<std::byte> fill;
    std::vector<std::byte> type;
};

// Changes the header of a dataset with large elements: adds attributes and appends rows, whose number the header keeps.
void cut_log(std::uint32_t unit, std::size_t pad, std::size_t& cuts) {
    Recorded disk(unit);
    const LargeType type(568);
    Story story(disk.recorder, [](File& file) {
        auto log = file.root().open_dataset("log");
        if (log.status() != Status::ok) {
            return std::string(to_string(log.status()));
        }
        return get(*log, "small", 5) + get(*log, "large", 900) + std::to_string(log->size());
    });
    auto file = File::create(disk.library, disk.recorder, large_cache());
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    ASSERT_EQ(set(root, "pad", 1 + pad, 0), Status::ok);  // moves the header to another offset each time
    DatasetCreate create;
    create.chunk = {1};
    create.fill = {type.fill.data(), type.fill.size()};
    auto log = root.create_dataset("log", type.view(), Dataspace::simple({0}, {kUnlimited}), create);
    ASSERT_EQ(log.status(), Status::ok);
    story.change(*file, Status::ok);
    story.change(*file, set(*log, "large", 900, 1));
    story.change(*file, log->append_records(type.fill.data(), 1));
    story.change(*file, set(*log, "large", 900, 2));
    story.change(*file, set(*log, "small", 5, 3));
    story.change(*file, log->append_records(type.fill.data(), 1));
    story.change(*file, log->remove_attribute("large"));
    story.change(*file, set(*log, "small", 5, 4));
    ASSERT_EQ(log->close(), Status::ok);
    root.close();
    ASSERT_EQ(file->close(), Status::ok);
    cuts += story.cut(unit);
}

TEST(AtomicUnit, HeaderOfALog) {
    std::size_t cuts = 0;
    for (const std::uint32_t unit : kUnits) {
        for (std::size_t pad = 0; pad < 512 && !HasFailure(); pad += 48) {
            cut_log(unit, pad, cuts);
        }
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 3000U);
}

#if H5MOTE_PARTIAL_IO

// Describes a dataset as text: the value of its first element, all of whose bytes are equal, and the number of rows.
std::string first_of(File& file, const char* path, DatatypeView type, unsigned rank = 4) {
    auto dataset = file.root().open_dataset(path);
    if (dataset.status() != Status::ok) {
        return std::string(to_string(dataset.status())) + " ";
    }
    const std::vector<std::uint64_t> one(rank, 1);
    const std::vector<std::uint64_t> start(one.size(), 0);
    std::vector<std::byte> element(type.size());
    const Status status =
        dataset->read(Selection::hyperslab(Span<const std::uint64_t>(start.data(), rank), {one.data(), rank}), type,
                      {element.data(), element.size()});
    return std::string(to_string(status)) + " " + std::to_string(static_cast<int>(element[0])) + " of " +
           std::to_string(dataset->size()) + ", ";
}

Status write_first(Dataset& dataset, DatatypeView type, int value, unsigned rank = 4) {
    const std::vector<std::uint64_t> one(rank, 1);
    const std::vector<std::uint64_t> start(one.size(), 0);
    const std::vector<std::byte> element(type.size(), static_cast<std::byte>(value));
    return dataset.write(Selection::hyperslab(Span<const std::uint64_t>(start.data(), rank), {one.data(), rank}), type,
                         {element.data(), element.size()});
}

// Changes everything else that is stored in the header of a dataset: extents of several dimensions, the addresses of
// the data and of the chunk index, compact data, the link count.
void cut_datasets(std::uint32_t unit, std::size_t pad, std::size_t& cuts) {
    Recorded disk(unit);
    const LargeType type(568);
    Story story(disk.recorder, [&](File& file) {
        std::string text = first_of(file, "grid", type.view()) + first_of(file, "whole", type.view()) +
                           first_of(file, "compact", kByte.view(), 1) + first_of(file, "one", type.view());
        text += first_of(file, "grid2", type.view());
        auto grid = file.root().open_dataset("grid");
        return text + (grid.status() == Status::ok ? get(*grid, "a", 900) : std::string());
    });
    auto file = File::create(disk.library, disk.recorder, large_cache());
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    ASSERT_EQ(set(root, "pad", 1 + pad, 0), Status::ok);
    DatasetCreate create;
    create.fill = {type.fill.data(), type.fill.size()};
    create.chunk = {1, 1, 1, 1};
    auto grid =
        root.create_dataset("grid", type.view(), Dataspace::simple({1, 1, 1, 1}, {2, kUnlimited, 4, 4}), create);
    ASSERT_EQ(grid.status(), Status::ok);
    DatasetCreate late;
    late.fill = create.fill;
    late.layout = Layout::contiguous;
    late.allocation = AllocationTime::late;
    auto whole = root.create_dataset("whole", type.view(), Dataspace::simple({2, 1, 1, 1}), late);
    ASSERT_EQ(whole.status(), Status::ok);
    DatasetCreate inside;
    inside.layout = Layout::compact;
    auto compact = root.create_dataset("compact", kByte.view(), Dataspace::simple({700}), inside);
    ASSERT_EQ(compact.status(), Status::ok);
    create.chunk = {2, 1, 1, 1};
    auto one = root.create_dataset("one", type.view(), Dataspace::simple({2, 1, 1, 1}), create);
    ASSERT_EQ(one.status(), Status::ok);
    story.change(*file, Status::ok);
    story.change(*file, grid->set_extent({1, 2, 1, 1}));
    story.change(*file, write_first(*whole, type.view(), 2));
    story.change(*file, write_first(*compact, kByte.view(), 3, 1));
    story.change(*file, write_first(*one, type.view(), 4));
    story.change(*file, root.create_hard_link("grid2", *grid));
    story.change(*file, grid->set_extent({2, 3, 4, 4}));
    story.change(*file, set(*grid, "a", 900, 5));
    story.change(*file, write_first(*compact, kByte.view(), 6, 1));
    story.change(*file, root.unlink("grid2"));
    story.change(*file, set(*grid, "a", 900, 7));
    story.change(*file, grid->remove_attribute("a"));
    for (Dataset* each : {&*grid, &*whole, &*compact, &*one}) {
        ASSERT_EQ(each->close(), Status::ok);
    }
    root.close();
    ASSERT_EQ(file->close(), Status::ok);
    cuts += story.cut(unit);
}

TEST(AtomicUnit, HeadersOfDatasets) {
    std::size_t cuts = 0;
    for (const std::uint32_t unit : kUnits) {
        for (std::size_t pad = 0; pad < 512 && !HasFailure(); pad += 64) {
            cut_datasets(unit, pad, cuts);
        }
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 3000U);
}

// ---- what an interrupted session left beyond the extent ----------------------------------------------------------

struct Growth {
    const char* name;
    std::vector<std::uint64_t> begin;
    std::vector<std::uint64_t> end;
    std::vector<std::uint64_t> most;
    ChunkDims chunk;
    bool filtered = false;
    bool large = false;  // chunks that do not fit into the chunk cache
};

std::uint64_t product(const std::vector<std::uint64_t>& dims) {
    std::uint64_t result = 1;
    for (const std::uint64_t dim : dims) {
        result *= dim;
    }
    return result;
}

FileAccess cache_for(const Growth& growth) {
    FileAccess access = large_cache();
    access.chunk_cache = growth.large ? 2 : 4096;
    return access;
}

// Extends the dataset of an image taken at a power cut: all elements outside the extent found there are the fill value.
void grow_after_cut(const Growth& growth, const Image& image, std::size_t operation) {
    MallocAllocator memory;
    NullPort port;
    const Filter* const filters[] = {&fletcher32_filter};
    Library library{memory, port, filters};
    GrowingMemoryDriver copy(memory);
    ASSERT_EQ(copy.assign({image.data(), image.size()}), Status::ok);
    std::vector<std::uint64_t> before;
    {
        auto file = File::open(library, copy, cache_for(growth));
        ASSERT_EQ(file.status(), Status::ok);
        auto grid = file->root().open_dataset("grid");
        ASSERT_EQ(grid.status(), Status::ok);
        Dataspace space;
        ASSERT_EQ(grid->dataspace(space), Status::ok);
        before.assign(space.dims().begin(), space.dims().end());
        ASSERT_EQ(grid->set_extent({growth.end.data(), growth.end.size()}), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(grid->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(library, copy, cache_for(growth));
    ASSERT_EQ(file.status(), Status::ok);
    auto grid = file->root().open_dataset("grid");
    ASSERT_EQ(grid.status(), Status::ok);
    std::vector<std::byte> all(static_cast<std::size_t>(product(growth.end)));
    ASSERT_EQ(grid->read(Selection::all(), kByte.view(), {all.data(), all.size()}), Status::ok);
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool inside = true;
        std::size_t rest = i;
        for (std::size_t d = growth.end.size(); d-- > 0; rest /= static_cast<std::size_t>(growth.end[d])) {
            inside = inside && rest % growth.end[d] < before[d];
        }
        ASSERT_TRUE(inside || all[i] == std::byte{7})
            << growth.name << ": element " << i << " is " << static_cast<int>(all[i]) << " after " << operation;
    }
}

// Extends and writes a dataset, and cuts the power after each operation of the driver.
std::size_t cut_growth(const Growth& growth) {
    Recorded disk(512);
    const Filter* const filters[] = {&fletcher32_filter};
    Library library{disk.memory, disk.port, filters};
    auto file = File::create(library, disk.recorder, cache_for(growth));
    EXPECT_EQ(file.status(), Status::ok);
    const std::byte seven{7};
    DatasetCreate create;
    create.chunk = growth.chunk;
    create.fill = {&seven, 1};
    if (growth.filtered) {
        create.filters = {filters::fletcher32};
    }
    auto grid = file->root().create_dataset(
        "grid", kByte.view(),
        Dataspace::simple({growth.begin.data(), growth.begin.size()}, {growth.most.data(), growth.most.size()}),
        create);
    EXPECT_EQ(grid.status(), Status::ok);
    EXPECT_EQ(file->flush(), Status::ok);
    const std::size_t begin = disk.recorder.operations().size();
    EXPECT_EQ(grid->set_extent({growth.end.data(), growth.end.size()}), Status::ok);
    const std::vector<std::byte> nines(static_cast<std::size_t>(product(growth.end)), std::byte{9});
    // Write the second half only, so that no chunks are allocated for the first half.
    const std::uint64_t half = growth.end[0] / 2;
    std::vector<std::uint64_t> start(growth.end.size(), 0);
    std::vector<std::uint64_t> count = growth.end;
    start[0] = half;
    count[0] -= half;
    EXPECT_EQ(grid->write(Selection::hyperslab({start.data(), start.size()}, {count.data(), count.size()}),
                          kByte.view(), {nines.data(), static_cast<std::size_t>(product(count))}),
              Status::ok);
    EXPECT_EQ(file->flush(), Status::ok);
    const std::size_t end = disk.recorder.operations().size();
    EXPECT_EQ(grid->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
    std::size_t cuts = 0;
    for (std::size_t i = begin; i <= end && !testing::Test::HasFailure(); ++i) {
        grow_after_cut(growth, disk.recorder.image(i), i);
        ++cuts;
    }
    return cuts;
}

TEST(Extent, NothingReappears) {
    const Growth growths[] = {
        {"rank 1", {0}, {9}, {kUnlimited}, {1}},
        {"rank 1, filtered", {0}, {9}, {kUnlimited}, {1}, true},
        {"rank 1, edge", {3}, {17}, {kUnlimited}, {4}},
        {"rank 1, limited", {3}, {17}, {40}, {4}},
        {"rank 1, limited, in place", {3}, {17}, {40}, {4}, false, true},
        {"one chunk", {3}, {9}, {10}, {10}},
        {"rank 2", {2, 3}, {7, 8}, {kUnlimited, 10}, {3, 4}},
        {"rank 2, filtered", {2, 3}, {7, 8}, {kUnlimited, 10}, {3, 4}, true},
        {"rank 2, second unlimited", {2, 3}, {7, 8}, {10, kUnlimited}, {3, 4}},
        {"rank 2, slowest only", {2, 8}, {9, 8}, {kUnlimited, 8}, {3, 4}},
        {"rank 2, limited", {2, 3}, {7, 8}, {9, 10}, {3, 4}},
        {"rank 2, in place", {2, 3}, {7, 8}, {kUnlimited, 10}, {3, 4}, false, true},
        {"rank 3, nothing at first", {0, 3, 0}, {5, 4, 5}, {5, 4, kUnlimited}, {2, 3, 2}, true},
    };
    std::size_t cuts = 0;
    for (const Growth& growth : growths) {
        cuts += cut_growth(growth);
    }
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 100U);
}

// As NothingReappears, but the blocks of the chunk index do not fit into the metadata cache. If elements beyond the
// extent cannot be cleared, set_extent() must refuse to grow over them.
TEST(Extent, NothingReappearsForWantOfCache) {
    constexpr std::size_t kRows = 127;
    Recorded disk(512);
    const Filter* const filters[] = {&fletcher32_filter};
    Library library{disk.memory, disk.port, filters};
    std::size_t begin = 0;
    {
        FileAccess access;
        access.metadata_cache = 16384;
        auto file = File::create(library, disk.recorder, access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {1};
        create.filters = {filters::fletcher32};
        auto log = file->root().create_dataset("log", kByte.view(), Dataspace::unlimited(), create);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        begin = disk.recorder.operations().size();
        const std::vector<std::byte> rows(kRows, std::byte{9});
        ASSERT_EQ(log->append_records(rows.data(), rows.size()), Status::ok);
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    std::size_t refused = 0;
    std::size_t grown = 0;
    for (std::size_t i = begin; i <= disk.recorder.operations().size(); ++i) {
        const Image image = disk.recorder.image(i);
        GrowingMemoryDriver copy(disk.memory);
        ASSERT_EQ(copy.assign({image.data(), image.size()}), Status::ok);
        std::uint64_t before = 0;
        std::uint64_t size = 0;
        {
            FileAccess access;
            access.metadata_cache = 1024;
            auto file = File::open(library, copy, access);
            ASSERT_EQ(file.status(), Status::ok);
            auto log = file->root().open_dataset("log");
            ASSERT_EQ(log.status(), Status::ok);
            before = log->size();
            const Status status = log->set_extent({kRows + 3});
            EXPECT_TRUE(status == Status::ok || status == Status::over_budget) << i;
            (status == Status::ok ? grown : refused) += 1;
            size = log->size();
            EXPECT_EQ(size, status == Status::ok ? kRows + 3 : before);
            EXPECT_EQ(log->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
        }
        FileAccess access;
        access.metadata_cache = 16384;
        auto file = File::open(library, copy, access);
        ASSERT_EQ(file.status(), Status::ok);
        auto log = file->root().open_dataset("log");
        ASSERT_EQ(log.status(), Status::ok);
        std::vector<std::byte> all(static_cast<std::size_t>(size));
        ASSERT_EQ(log->read(Selection::all(), kByte.view(), {all.data(), all.size()}), Status::ok);
        for (std::size_t row = 0; row < all.size(); ++row) {
            ASSERT_EQ(all[row], row < before ? std::byte{9} : std::byte{0}) << "row " << row << " after " << i;
        }
    }
    EXPECT_GT(refused, 0U);
    EXPECT_GT(grown, 0U);
}

#endif

// ---- storages that promise too little ---------------------------------------------------------------------------

bool refused(Library& library, Status status) {
    return status == Status::unsupported &&
           (H5MOTE_ERROR_TRAIL == 0 ||
            library.trail().newest().value == static_cast<std::uint64_t>(Feature::ordered_writing));
}

TEST(AtomicUnit, WhatIsNotPromisedIsNotReliedOn) {
    std::vector<Capabilities> too_little{with_unit(1), with_unit(64),  with_unit(66),
                                         with_unit(0), with_unit(512), with_unit(512)};
    too_little[4].overwrite = false;
    too_little[5].sync_is_barrier = false;
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    for (const Capabilities& promised : too_little) {
        GrowingMemoryDriver storage(memory);
        PromisingDriver driver(storage, promised);
        EXPECT_TRUE(refused(library, File::create(library, driver).status()));
        EXPECT_EQ(storage.contents().size(), 0U);
        auto file = File::create(library, storage);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        EXPECT_TRUE(refused(library, File::open(library, driver).status()));
        FileAccess access;
        access.read_only = true;
        EXPECT_EQ(File::open(library, driver, access).status(), Status::ok);
        // A storage that commits all writes between two syncs as one needs none of these promises.
        Capabilities commits = promised;
        commits.sync_is_commit = true;
        PromisingDriver committing(storage, commits);
        EXPECT_EQ(File::open(library, committing).status(), Status::ok);
    }
    // A journal makes up for units that are too small, but not for storages without overwriting or without sync
    // barriers.
    for (std::size_t i : {0U, 4U, 5U}) {
        GrowingMemoryDriver home(memory);
        GrowingMemoryDriver log(memory);
        PromisingDriver file(home, too_little[i]);
        alignas(8) std::byte work[JournalDriver::required_memory()];
        for (const bool of_log : {false, true}) {
            JournalDriver journal(of_log ? static_cast<Driver&>(log) : file, of_log ? static_cast<Driver&>(file) : log,
                                  work);
            EXPECT_EQ(journal.capabilities().sync_is_commit, i == 0);
        }
        JournalDriver journal(file, log, work);
        ASSERT_EQ(journal.open(), Status::ok);
        const Status status = File::create(library, journal).status();
        EXPECT_TRUE(i == 0 ? status == Status::ok : refused(library, status)) << i;
    }
    // A storage that keeps all writes in order needs no sync as a barrier.
    Capabilities ordered = with_unit(512);
    ordered.sync_is_barrier = false;
    ordered.ordered = true;
    GrowingMemoryDriver storage(memory);
    PromisingDriver driver(storage, ordered);
    EXPECT_EQ(File::create(library, driver).status(), Status::ok);
}

TEST(AtomicUnit, OfARegion) {
    MallocAllocator memory;
    GrowingMemoryDriver storage(memory);
    const auto unit_at = [&](std::uint32_t unit, std::uint64_t start) {
        PromisingDriver driver(storage, with_unit(unit));
        return RegionDriver(driver, start).capabilities().atomic_unit;
    };
    EXPECT_EQ(unit_at(512, 0), 512U);
    EXPECT_EQ(unit_at(512, 4096), 512U);
    EXPECT_EQ(unit_at(512, 256), 256U);
    EXPECT_EQ(unit_at(512, 1000), 8U);
    EXPECT_EQ(unit_at(512, 77), 1U);
    EXPECT_EQ(unit_at(4096, 512), 512U);
    EXPECT_EQ(unit_at(528, 66), 66U);
    EXPECT_EQ(unit_at(1, 12), 1U);
    EXPECT_EQ(unit_at(512, 0x1234567800000100U), 256U);
    NullPort port;
    Library library{memory, port};
    PromisingDriver driver(storage, with_unit(512));
    RegionDriver odd(driver, 1000);
    EXPECT_TRUE(refused(library, File::create(library, odd).status()));
    RegionDriver even(driver, 1024);
    EXPECT_EQ(File::create(library, even).status(), Status::ok);
}

// A header of many blocks, made on a storage of larger units, is changed in a small metadata cache. Blocks have to
// move, and moved blocks stay in memory until the message that refers to them is switched. If they do not fit, the
// change ends with over_budget and changes nothing, and a larger cache carries it out. (Without a bound it would go on
// for ever.)
TEST(AtomicUnit, ManyBlocksInASmallCache) {
    const auto add = [](GrowingMemoryDriver& storage, MallocAllocator& memory, std::size_t cache, std::size_t size) {
        NullPort port;
        Library library{memory, port};
        PromisingDriver driver(storage, with_unit(128));
        FileAccess access;
        access.metadata_cache = cache;
        auto file = File::open(library, driver, access);
        EXPECT_EQ(file.status(), Status::ok);
        Group root = file->root();
        const Status status = set(root, "new", size, 99);
        EXPECT_EQ(get(root, "new", size), status == Status::ok ? "99 " : "not_found ");
        EXPECT_EQ(get(root, "0", size), "0 ");
        root.close();
        EXPECT_EQ(file->close(), Status::ok);
        return status;
    };
    std::size_t refusals = 0;
    for (const std::size_t cache : {1024, 1536, 2048}) {
        for (std::size_t size = 4; size < 420; size += 8) {
            for (int count = 2; count < 14 && !HasFailure(); ++count) {
                MallocAllocator memory;
                GrowingMemoryDriver storage(memory);
                {
                    NullPort port;
                    Library library{memory, port};
                    PromisingDriver driver(storage, with_unit(4096));
                    auto file = File::create(library, driver, large_cache());
                    ASSERT_EQ(file.status(), Status::ok);
                    Group root = file->root();
                    for (int i = 0; i < count; ++i) {
                        ASSERT_EQ(set(root, std::to_string(i).c_str(), size, i), Status::ok);
                        ASSERT_EQ(file->flush(), Status::ok);
                    }
                }
                const Status status = add(storage, memory, cache, size);
                if (status != Status::ok) {
                    EXPECT_EQ(status, Status::over_budget) << size << " " << count;
                    EXPECT_EQ(add(storage, memory, 16384, size), Status::ok) << size << " " << count;
                    ++refusals;
                }
            }
        }
    }
    EXPECT_GT(refusals, 100U);
}

}  // namespace
