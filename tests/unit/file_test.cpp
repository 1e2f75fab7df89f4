#include "checksum.hpp"
#include "cursor.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

FileCreate properties(unsigned sizeof_addr, unsigned version = 2) noexcept {
    FileCreate create;
    create.sizeof_addr = static_cast<std::uint8_t>(sizeof_addr);
    create.superblock_version = static_cast<std::uint8_t>(version);
    return create;
}

// Repairs the checksum of the superblock.
void repair(std::size_t sizeof_addr) noexcept {
    const std::size_t size = 12 + 4 * sizeof_addr;
    store_le<std::uint32_t>(bench_storage + size, lookup3({bench_storage, size}));
}

}  // namespace

TEST(File, IsCreatedInEveryShapeAndOpensAgain) {
    for (const unsigned sizeof_addr : {4U, 8U}) {
        for (const unsigned version : {2U, 3U}) {
            Bench bench;
            ASSERT_EQ(bench.create(properties(sizeof_addr, version)), Status::ok);
            EXPECT_TRUE(bench.file.valid());
            EXPECT_TRUE(bench.file.root().valid());
            EXPECT_EQ(bench.file.root().write_attribute("answer", std::int32_t{42}), Status::ok);
            EXPECT_EQ(bench.file.close(), Status::ok);
            EXPECT_FALSE(bench.file.valid());
            EXPECT_TRUE(bench.empty());
            const ConstBytes bytes = bench.driver.contents();
            EXPECT_EQ(static_cast<unsigned>(bytes[0]), 0x89U);
            EXPECT_EQ(static_cast<unsigned>(bytes[8]), version);
            EXPECT_EQ(static_cast<unsigned>(bytes[9]), sizeof_addr);
            EXPECT_EQ(static_cast<unsigned>(bytes[11]), 0U);  // not marked as open
            // The superblock records the file's real end.
            EXPECT_EQ(load_uint(&bytes[12 + 2 * sizeof_addr], sizeof_addr), bytes.size());
            ASSERT_EQ(bench.open(), Status::ok);
            std::int32_t answer = 0;
            EXPECT_EQ(bench.file.root().read_attribute("answer", answer), Status::ok);
            EXPECT_EQ(answer, 42);
            EXPECT_EQ(bench.file.close(), Status::ok);
            EXPECT_TRUE(bench.empty());
        }
    }
}

TEST(File, RefusesPropertiesThatMakeNoFile) {
    Bench bench;
    EXPECT_EQ(bench.create(properties(2)), Status::invalid_argument);
    EXPECT_EQ(bench.create(properties(16)), Status::invalid_argument);
    EXPECT_EQ(bench.create(properties(8, 1)), Status::invalid_argument);
    EXPECT_EQ(bench.create(properties(8, 4)), Status::invalid_argument);
    EXPECT_EQ(bench.driver.contents().size(), 0U);
    EXPECT_TRUE(bench.empty());
}

TEST(File, HandlesOutliveTheirFileAndSaySo) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    auto group = root.create_group("g");
    ASSERT_TRUE(bool(group));
    DatasetCreate create;
    create.chunk = {4};
    auto log = root.create_dataset<std::int32_t>("log", create);
    ASSERT_TRUE(bool(log));
    EXPECT_EQ(log->append(1), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_FALSE(root.valid());
    EXPECT_FALSE(log->valid());
    std::uint32_t count = 7;
    std::int32_t value = 0;
    LinkInfo info;
    char name[8];
    EXPECT_EQ(root.create_group("h").status(), Status::invalid_handle);
    EXPECT_EQ(root.open_group("g").status(), Status::invalid_handle);
    EXPECT_EQ(root.open_dataset("log").status(), Status::invalid_handle);
    EXPECT_EQ(root.create_hard_link("x", *group), Status::invalid_handle);
    EXPECT_EQ(root.create_soft_link("x", "g"), Status::invalid_handle);
    EXPECT_EQ(root.link_count(count), Status::invalid_handle);
    EXPECT_EQ(root.link(0, info, {name, sizeof name}), Status::invalid_handle);
    EXPECT_FALSE(root.exists("g"));
    EXPECT_EQ(group->write_attribute("a", value), Status::invalid_handle);
    EXPECT_EQ(group->read_attribute("a", value), Status::invalid_handle);
    EXPECT_EQ(group->remove_attribute("a"), Status::invalid_handle);
    EXPECT_EQ(group->attribute_count(count), Status::invalid_handle);
    EXPECT_FALSE(group->has_attribute("a"));
    EXPECT_EQ(log->append(2), Status::invalid_handle);
    EXPECT_EQ(log->append_records(&value, 1), Status::invalid_handle);
    EXPECT_EQ(log->size(), 0U);
    EXPECT_EQ(log->set_extent({9}), Status::invalid_handle);
    EXPECT_EQ(bench.file.flush(), Status::invalid_handle);
    EXPECT_EQ(bench.file.close(), Status::invalid_handle);
    EXPECT_FALSE(bench.empty());  // open handles keep some memory
    root.close();
    group->close();
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(log->close(), Status::invalid_handle);
    EXPECT_TRUE(bench.empty());
    // close() has flushed the row that was not flushed before.
    ASSERT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.root().open_dataset("log")->size(), 1U);
}

TEST(File, EmptyHandlesRefuseEverything) {
    File file;
    Group group;
    Dataset dataset;
    std::int32_t value = 0;
    EXPECT_EQ(file.flush(), Status::invalid_handle);
    EXPECT_EQ(group.create_group("g").status(), Status::invalid_handle);
    EXPECT_EQ(group.write_attribute("a", value), Status::invalid_handle);
    EXPECT_EQ(dataset.append_records(&value, 1), Status::invalid_handle);
    EXPECT_EQ(dataset.size(), 0U);
    EXPECT_EQ(dataset.element_size(), 0U);
    EXPECT_EQ(dataset.close(), Status::invalid_handle);
    EXPECT_EQ(dataset.set_memory_type(datatype_of<int>()), Status::invalid_handle);
}

TEST(File, OpenTellsWhatTheStorageHolds) {
    Bench bench;
    EXPECT_EQ(bench.open(), Status::not_found);
    // The storage holds something else than an HDF5 file.
    ASSERT_EQ(bench.driver.truncate(100), Status::ok);
    std::memset(bench_storage, 'x', 100);
    EXPECT_EQ(bench.open(), Status::not_hdf5);
    EXPECT_EQ(File::open_or_create(bench.library, bench.driver, bench.access).status(), Status::not_hdf5);
    EXPECT_EQ(static_cast<char>(bench_storage[0]), 'x');
    EXPECT_EQ(bench.driver.contents().size(), 100U);
    // Storages shorter than a signature, or with a signature but not the rest of a superblock.
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{12}, std::size_t{40}}) {
        Bench other;
        ASSERT_EQ(other.create(), Status::ok);
        ASSERT_EQ(other.file.close(), Status::ok);
        ASSERT_EQ(other.driver.truncate(size), Status::ok);
        EXPECT_EQ(other.open(), size < 12 ? Status::not_hdf5 : Status::corrupt_file);
        EXPECT_TRUE(other.empty());
    }
    EXPECT_TRUE(bench.empty());
}

TEST(File, BlankStorageIsCreatedIn) {
    for (const unsigned sizeof_addr : {4U, 8U}) {
        Bench bench;
        ASSERT_EQ(bench.driver.truncate(600), Status::ok);
        auto file = File::open_or_create(bench.library, bench.driver, bench.access, properties(sizeof_addr));
        EXPECT_EQ(file.status(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        // A creation was cut off before its superblock was written.
        std::memset(bench_storage, 0, 16 + 4 * sizeof_addr);
        auto again = File::open_or_create(bench.library, bench.driver, bench.access, properties(sizeof_addr));
        EXPECT_EQ(again.status(), Status::ok);
    }
}

TEST(File, ATruncatedFileIsCorrupt) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_TRUE(bool(bench.file.root().create_group("g")));
    ASSERT_EQ(bench.file.close(), Status::ok);
    const std::size_t whole = bench.driver.contents().size();
    // A file may be longer than its superblock records, because a power cut leaves such files.
    ASSERT_EQ(bench.driver.truncate(whole + 1), Status::ok);
    EXPECT_EQ(bench.open(), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::ok);
    for (std::size_t size = whole - 1; size >= 48; size -= 13) {
        ASSERT_EQ(bench.driver.truncate(size), Status::ok);
        EXPECT_EQ(bench.open(), Status::corrupt_file);
        EXPECT_TRUE(bench.empty());
    }
}

// The storage is cut while the file is open: flush() and close() report it, and do not extend it again over the loss.
TEST(File, CutBeneathItsHandle) {
    for (const bool written : {false, true}) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {4};
        auto log = bench.file.root().create_dataset<std::int32_t>("log", create);
        ASSERT_TRUE(bool(log));
        for (std::int32_t i = 0; i < 100; ++i) {
            ASSERT_EQ(log->append(i), Status::ok);
        }
        ASSERT_EQ(bench.file.flush(), Status::ok);
        ASSERT_EQ(bench.driver.truncate(200), Status::ok);
        if (written) {
            (void)log->append(1);
            EXPECT_EQ(bench.file.flush(), Status::io_error);
            EXPECT_EQ(bench.file.flush(), Status::io_error);
        }
        EXPECT_EQ(bench.file.close(), Status::io_error);
        EXPECT_EQ(bench.driver.contents().size(), 200U);
        (void)log->close();
        EXPECT_TRUE(bench.empty());
    }
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    bench.access.read_only = true;
    ASSERT_EQ(bench.open(), Status::ok);
    ASSERT_EQ(bench.driver.truncate(bench.driver.contents().size() - 1), Status::ok);
    EXPECT_EQ(bench.file.close(), Status::io_error);
}

TEST(File, NamesWhatItDoesNotKnowYet) {
    struct Case {
        std::size_t offset;
        unsigned char value;
        Feature feature;
    };
    constexpr Case kCases[] = {
#if !H5MOTE_ALL_FORMATS
        {8, 0, Feature::superblock_version},
        {8, 1, Feature::superblock_version},
        {12, 1, Feature::base_address},
#endif
        {8, 4, Feature::superblock_version},
        {9, 3, Feature::sizeof_offsets},
        {10, 16, Feature::sizeof_offsets},
        {11, 1, Feature::file_locked_for_writing},
        {11, 5, Feature::file_locked_for_writing},
    };
    for (const Case& each : kCases) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        bench_storage[each.offset] = std::byte{each.value};
        repair(8);
        const std::uint32_t before = lookup3(bench.driver.contents());
        EXPECT_EQ(bench.open(), Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
        EXPECT_EQ(bench.library.trail().newest().value, static_cast<std::uint64_t>(each.feature));
#endif
        EXPECT_EQ(File::open_or_create(bench.library, bench.driver, bench.access).status(), Status::unsupported);
        EXPECT_EQ(lookup3(bench.driver.contents()), before);
        EXPECT_TRUE(bench.empty());
    }
    // A file with a superblock extension of messages that say nothing about writing: those of a group.
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    auto group = bench.file.root().create_group("g");
    ASSERT_EQ(group.status(), Status::ok);
    const Address extension = group->address();
    ASSERT_EQ(bench.file.close(), Status::ok);
    store_le<std::uint64_t>(bench_storage + 20, extension);
    repair(8);
    const std::uint32_t unchanged = lookup3(bench.driver.contents());
    EXPECT_EQ(bench.open(), Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
    EXPECT_EQ(bench.library.trail().newest().value, static_cast<std::uint64_t>(Feature::superblock_extension));
#endif
    EXPECT_EQ(lookup3(bench.driver.contents()), unchanged);
    bench.access.read_only = true;
    EXPECT_EQ(bench.open(), H5MOTE_ALL_FORMATS != 0 ? Status::ok : Status::unsupported);
    bench.file = File();
    bench.access.read_only = false;
    // A file that is marked as open for writing can still be read.
    ASSERT_EQ(bench.create(), Status::ok);
    ASSERT_EQ(bench.file.close(), Status::ok);
    bench_storage[11] = std::byte{1};
    repair(8);
    bench.access.read_only = true;
    EXPECT_EQ(bench.open(), Status::ok);
}

TEST(File, ReadOnlyMeansReadOnly) {
    for (const bool by_driver : {false, true}) {
        Bench bench;
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {4};
        {
            auto log = bench.file.root().create_dataset<std::int32_t>("log", create);
            ASSERT_TRUE(bool(log));
            ASSERT_EQ(log->append(5), Status::ok);
        }
        ASSERT_EQ(bench.file.root().write_attribute("a", std::int32_t{1}), Status::ok);
        ASSERT_EQ(bench.file.close(), Status::ok);
        const ConstBytes bytes = bench.driver.contents();
        const std::uint32_t before = lookup3(bytes);
        MemoryDriver reading = MemoryDriver::reading(bytes);
        bench.access.read_only = !by_driver;
        auto file = by_driver ? File::open(bench.library, reading, bench.access)
                              : File::open(bench.library, bench.driver, bench.access);
        ASSERT_TRUE(bool(file));
        Group root = file->root();
        auto log = root.open_dataset<std::int32_t>("log");
        ASSERT_TRUE(bool(log));
        std::int32_t value = 0;
        EXPECT_EQ(root.read_attribute("a", value), Status::ok);
        EXPECT_EQ(value, 1);
        EXPECT_EQ(log->append(6), Status::read_only);
        EXPECT_EQ(log->size(), 1U);
        EXPECT_EQ(log->set_extent({9}), Status::read_only);
        EXPECT_EQ(root.write_attribute("a", std::int32_t{2}), Status::read_only);
        EXPECT_EQ(root.remove_attribute("a"), Status::read_only);
        EXPECT_EQ(root.create_group("g").status(), Status::read_only);
        EXPECT_EQ(root.create_dataset<std::int32_t>("other", create).status(), Status::read_only);
        EXPECT_EQ(root.create_hard_link("hard", *log), Status::read_only);
        EXPECT_EQ(root.create_soft_link("soft", "log"), Status::read_only);
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        EXPECT_EQ(lookup3(bytes), before);
        EXPECT_EQ(File::create(bench.library, reading, bench.access).status(), Status::read_only);
    }
}

TEST(File, LastHandleReleasesEverything) {
    Bench bench;
    bench.access.close_degree = CloseDegree::weak;
    ASSERT_EQ(bench.create(), Status::ok);
    {
        Group root = bench.file.root();
        Group moved = static_cast<Group&&>(root);
        EXPECT_FALSE(root.valid());
        EXPECT_TRUE(moved.valid());
        // The file's own handle ends before that of a group.
        bench.file = File();
        EXPECT_TRUE(moved.valid());
        EXPECT_EQ(moved.write_attribute("late", std::int32_t{3}), Status::ok);
    }
    EXPECT_TRUE(bench.empty());
    ASSERT_EQ(bench.open(), Status::ok);
    std::int32_t value = 0;
    EXPECT_EQ(bench.file.root().read_attribute("late", value), Status::ok);
    EXPECT_EQ(value, 3);
}

TEST(File, MemoryThatDoesNotReachIsSaidSo) {
    for (std::size_t size = 0; size < 6000; size += 200) {
        Arena arena({bench_memory, size});
        NullPort port;
        Library library{arena, port};
        MemoryDriver driver(Bytes{bench_storage, sizeof bench_storage});
        auto file = File::create(library, driver);
        EXPECT_TRUE(file.status() == Status::ok || file.status() == Status::out_of_memory);
        if (file) {
            auto group = file->root().create_group("a group");
            EXPECT_TRUE(group.status() == Status::ok || group.status() == Status::out_of_memory);
            group->close();
        }
        (void)file->close();
        EXPECT_EQ(arena.usage().now, 0U);
    }
}
