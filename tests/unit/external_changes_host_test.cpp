// DatasetCreate::external: datasets in files without HDF5 structure are made, written, resized, copied and deleted, and
// libhdf5 reads and writes what was made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "drawer.hpp"
#include "hdf5_image.hpp"
#include "sweep.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Numbers = std::vector<std::int32_t>;

ConstBytes bytes_of(const Numbers& values) { return as_bytes(Span<const std::int32_t>(values.data(), values.size())); }

Numbers counted(std::size_t count, std::int32_t from = 1) {
    Numbers values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

Status read(Dataset& data, Numbers& values) {
    return data.read(Selection::all(), kNumber.view(),
                     {reinterpret_cast<std::byte*>(values.data()), values.size() * 4});
}

constexpr NewExternalFile kFiles[] = {{"first", 8, 12}, {"second", 0, 20}, {"first", 100, kUnlimited}};

struct Bench : World {
    explicit Bench(const Formats& formats = formats::all) : World(formats) {
        access.opener = &drawer;
        access.metadata_cache = 4096;
    }
    Status begin() {
        auto made = File::create(library, driver, access);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    Result<Dataset> make(const char* name, const Dataspace& space, Span<const NewExternalFile> files) {
        DatasetCreate create;
        create.external = files;
        return file.root().create_dataset(name, kNumber.view(), space, create);
    }
    Drawer drawer;
};

TEST(ExternalChanges, SeveralFiles) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    auto data = bench.make("d", Dataspace::simple({4, 5}), kFiles);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_FALSE(bench.drawer.exists("first"));
    const Numbers values = counted(20);
    ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(values)), Status::ok);
    EXPECT_EQ(bench.drawer.open_files(), 0);
    EXPECT_EQ(bench.drawer.file("first").storage.contents().size(), 100U + 80 - 12 - 20);
    EXPECT_EQ(bench.drawer.file("second").storage.contents().size(), 20U);
    Numbers found(20);
    ASSERT_EQ(read(*data, found), Status::ok);
    EXPECT_EQ(found, values);
    // Across the border of two files, by another type.
    const std::int16_t small[] = {-1, -2, -3};
    ASSERT_EQ(data->write(Selection::hyperslab({0, 2}, {1, 3}), datatype_of<std::int16_t>(),
                          as_bytes(Span<const std::int16_t>(small))),
              Status::ok);
    ASSERT_EQ(read(*data, found), Status::ok);
    EXPECT_EQ(found[1], 2);
    EXPECT_EQ(found[2], -1);
    EXPECT_EQ(found[4], -3);
    EXPECT_EQ(found[5], 6);
    ExternalFile info;
    char name[16];
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(data->external_file(i, info, name), Status::ok);
        EXPECT_EQ(std::string(name, info.name_length), kFiles[i].name);
        EXPECT_EQ(info.offset, kFiles[i].offset);
        EXPECT_EQ(info.size, kFiles[i].size);
    }
    EXPECT_EQ(data->append_records(small, 1), Status::invalid_argument);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
}

TEST(ExternalChanges, TheFirstDimensionGrowsAndShrinks) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    const NewExternalFile files[] = {{"raw"}};
    auto data = bench.make("d", Dataspace::simple({2, 3}, {kUnlimited, 3}), files);
    ASSERT_EQ(data.status(), Status::ok);
    ASSERT_EQ(data->set_extent({4, 3}), Status::ok);
    ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(12))), Status::ok);
    ASSERT_EQ(data->set_extent({1, 3}), Status::ok);
    ASSERT_EQ(bench.file.flush(), Status::ok);
    EXPECT_EQ(data->set_extent({1, 4}), Status::invalid_argument);
    // More bytes than can be counted: the dataset stays as it is.
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    EXPECT_EQ(data->storage_size(before), Status::ok);
    EXPECT_EQ(data->set_extent({std::uint64_t{1} << 62, 3}), Status::invalid_argument);
    EXPECT_EQ(data->storage_size(after), Status::ok);
    EXPECT_EQ(after, before);
    EXPECT_EQ(data->close(), Status::ok);
    auto again = bench.file.root().open_dataset("d");
    Numbers found(3);
    ASSERT_EQ(read(*again, found), Status::ok);
    EXPECT_EQ(found, counted(3));
    // The rows are still in the file, as with libhdf5.
    ASSERT_EQ(again->set_extent({4, 3}), Status::ok);
    found.resize(12);
    ASSERT_EQ(read(*again, found), Status::ok);
    EXPECT_EQ(found, counted(12));
}

TEST(ExternalChanges, Refusals) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    const auto made = [&](std::vector<NewExternalFile> files, const Dataspace& space = Dataspace::simple({4})) {
        return bench.make("d", space, {files.data(), files.size()}).status();
    };
    EXPECT_EQ(made({{"f", 0, 15}}), Status::invalid_argument);
    EXPECT_EQ(made({{"f", 0, 0}, {"g"}}), Status::invalid_argument);
    EXPECT_EQ(made({{"f"}, {"g", 0, 16}}), Status::invalid_argument);
    EXPECT_EQ(made({{"", 0, 16}}), Status::invalid_argument);
    EXPECT_EQ(made({{std::string_view("a\0b", 3), 0, 16}}), Status::invalid_argument);
    EXPECT_EQ(made({{"f", 0, 64}}, Dataspace::unlimited()), Status::invalid_argument);
    EXPECT_EQ(made({{"f"}}, Dataspace::simple({2, 2}, {2, 4})), Status::invalid_argument);
    DatasetCreate create;
    const NewExternalFile file{"f"};
    create.external = {&file, 1};
    create.chunk = {4};
    EXPECT_EQ(bench.file.root().create_dataset("d", kNumber.view(), Dataspace::simple({4}), create).status(),
              Status::invalid_argument);
    EXPECT_FALSE(bench.file.root().exists("d"));

    auto data = bench.make("d", Dataspace::simple({4}), {&file, 1});
    ASSERT_EQ(data.status(), Status::ok);
    bench.drawer.writable = false;
    EXPECT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(4))), Status::read_only);
    Formats formats = formats::all;
    formats.external_changes = nullptr;
    Bench without(formats);
    ASSERT_EQ(without.begin(), Status::ok);
    EXPECT_EQ(without.make("d", Dataspace::simple({4}), {&file, 1}).status(), Status::unsupported);
}

TEST(ExternalChanges, DeletedAndCopied) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    {
        auto data = bench.make("d", Dataspace::simple({20}), kFiles);
        ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(20))), Status::ok);
    }
    Group root = bench.file.root();
    ASSERT_EQ(copy_object(root, "d", root, "copy"), Status::ok);
    {
        auto copy = root.open_dataset("copy");
        Numbers found(20);
        ASSERT_EQ(read(*copy, found), Status::ok);
        EXPECT_EQ(found, counted(20));
    }
    EXPECT_EQ(bench.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
    ASSERT_EQ(root.unlink("d"), Status::ok);
    ASSERT_EQ(root.unlink("copy"), Status::ok);
    EXPECT_TRUE(bench.drawer.exists("first"));
    EXPECT_EQ(bench.file.flush(), Status::ok);
    std::uint64_t lost = 0;
    EXPECT_EQ(bench.file.reclaim(&lost), Status::ok);
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_LT(bench.image().size(), 1024U);
}

// Both libraries make the same dataset, read that of the other, and write to it.
TEST(ExternalChanges, BesideLibhdf5) {
    const std::string folder = ::testing::TempDir();
    const std::string raw = folder + "external_changes.raw";
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
        const std::string path = folder + "external_changes.h5";
        std::remove(raw.c_str());
        std::remove(path.c_str());
        {
            MallocAllocator memory;
            NullPort port;
            Library library{memory, port, {}, formats::all};
            PosixDriver driver;
            ASSERT_EQ(driver.open(path.c_str(), PosixDriver::Mode::create), Status::ok);
            PosixOpener opener(memory, driver, path.c_str());
            FileAccess access;
            access.opener = &opener;
            access.low = low;
            auto file = File::create(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            const NewExternalFile files[] = {{raw, 40, 16}, {raw, 0, 24}};
            DatasetCreate create;
            create.external = files;
            auto data = file->root().create_dataset("d", file_type_of<std::int32_t>(), Dataspace::simple({10}), create);
            ASSERT_EQ(data.status(), Status::ok);
            EXPECT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(), bytes_of(counted(10))),
                      Status::read_only);
            opener.allow_writing();
            ASSERT_EQ(data->write(Selection::all(), datatype_of<std::int32_t>(), bytes_of(counted(10))), Status::ok);
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
        }
        {
            const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
            const Hdf5Id list(H5Dget_create_plist(data), H5Pclose);
            EXPECT_EQ(H5Pget_external_count(list), 2);
            Numbers found(10);
            ASSERT_GE(H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            EXPECT_EQ(found, counted(10));
            const Numbers others = counted(10, 100);
            ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, others.data()), 0);
            // Its own dataset, which this library writes to and deletes.
            const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            H5Pset_external(create, raw.c_str(), 200, 12);
            const hsize_t three = 3;
            const Hdf5Id space(H5Screate_simple(1, &three, nullptr), H5Sclose);
            const Hdf5Id theirs(H5Dcreate2(file, "theirs", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT),
                                H5Dclose);
            ASSERT_GE(theirs, 0);
        }
        {
            MallocAllocator memory;
            NullPort port;
            Library library{memory, port, {}, formats::all};
            PosixDriver driver;
            ASSERT_EQ(driver.open(path.c_str(), PosixDriver::Mode::read_write), Status::ok);
            PosixOpener opener(memory, driver, path.c_str());
            opener.allow_writing();
            FileAccess access;
            access.opener = &opener;
            access.metadata_cache = 4096;
            auto file = File::open(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            auto data = file->root().open_dataset("d");
            Numbers found(10);
            ASSERT_EQ(read(*data, found), Status::ok);
            EXPECT_EQ(found, counted(10, 100));
            auto theirs = file->root().open_dataset("theirs");
            ASSERT_EQ(theirs->write(Selection::all(), kNumber.view(), bytes_of(counted(3, 7))), Status::ok);
            found.resize(3);
            ASSERT_EQ(read(*theirs, found), Status::ok);
            EXPECT_EQ(found, counted(3, 7));
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(theirs->close(), Status::ok);
            EXPECT_EQ(file->root().unlink("theirs"), Status::ok);
            EXPECT_TRUE(findings_in(*file).none());
            EXPECT_EQ(file->close(), Status::ok);
        }
        const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        EXPECT_GT(H5Lexists(file, "d", H5P_DEFAULT), 0);
        EXPECT_EQ(H5Lexists(file, "theirs", H5P_DEFAULT), 0);
    }
    std::remove(raw.c_str());
}

// Elements of another type are read before they are written. Where a part of them lies in the next file, that is opened
// for it: the one before is synced first, and an error of that is told.
TEST(ExternalChanges, AFileIsSyncedBeforeTheNextIsRead) {
    static constexpr auto kOther =
        make_integer(4, true, kNativeOrder == ByteOrder::big ? ByteOrder::little : ByteOrder::big);
    constexpr std::size_t kCount = 1024;
    constexpr NewExternalFile kHalves[] = {{"first", 0, 2 * kCount}, {"second", 0, 2 * kCount}};
    for (const char* const failing : {"first", "second", ""}) {
        Bench bench;
        ASSERT_EQ(bench.begin(), Status::ok);
        DatasetCreate create;
        create.external = kHalves;
        auto data = bench.file.root().create_dataset("d", kOther.view(), Dataspace::simple({kCount}), create);
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(kCount))), Status::ok);
        DriverFault fault;
        fault.at = 1;
        fault.calls = kSyncCall;
        const std::string name = failing;
        if (!name.empty()) {
            bench.drawer.file(name).driver.arm(fault);
        }
        EXPECT_EQ(data->write(Selection::hyperslab({300}, {300}, {2}), kNumber.view(), bytes_of(counted(300, -300))),
                  name.empty() ? Status::ok : Status::io_error)
            << name;
        EXPECT_EQ(bench.drawer.open_files(), 0);
        EXPECT_EQ(data->close(), Status::ok);
    }
}

// Every call of the file, of the allocator or of the external file fails: nothing leaks, and the call then succeeds.
TEST(ExternalChanges, EveryCallFails) {
    std::uint64_t points = 0;
    const auto run = [](Bench& bench) {
        auto data = bench.file.root().open_dataset("d");
        if (data.status() == Status::not_found) {
            data = bench.make("d", Dataspace::simple({20}), kFiles);
        }
        H5MOTE_TRY(data.status());
        const std::int16_t small[] = {4, 5, 6, 7};
        H5MOTE_TRY(data->write(Selection::hyperslab({1}, {4}), datatype_of<std::int16_t>(),
                               as_bytes(Span<const std::int16_t>(small))));
        H5MOTE_TRY(data->close());
        return bench.file.flush();
    };
    const auto remove = [](Bench& bench) {
        if (!bench.file.root().exists("d")) {
            return bench.file.flush();
        }
        H5MOTE_TRY(bench.file.root().unlink("d"));
        return bench.file.flush();
    };
    for (unsigned which = 0; which < std::size(kFaultKinds) + 1; ++which) {
        const bool in_file = which == std::size(kFaultKinds);
        bool failed = true;
        for (std::uint64_t k = 1; failed && !HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(std::to_string(which) + " " + std::to_string(k));
            Bench bench;
            ASSERT_EQ(bench.begin(), Status::ok);
            FailingDriver& outside = bench.drawer.file("second").driver;
            DriverFault fault;
            fault.at = k;
            if (in_file) {
                outside.arm(fault);
            } else {
                arm(bench.refusing, bench.driver, kFaultKinds[which], k);
            }
            const Status status = run(bench);
            failed = disarm(bench.refusing, bench.driver) || outside.failures() != 0;
            outside.disarm();
            EXPECT_EQ(bench.drawer.open_files(), 0);
            EXPECT_TRUE(failed || status == Status::ok);
            points += failed ? 1 : 0;
            const Status again = run(bench);
            EXPECT_EQ(again, Status::ok) << to_string(again) << " after " << to_string(status);
            EXPECT_TRUE(findings_in(bench.file).none());
            arm(bench.refusing, bench.driver, kFaultKinds[in_file ? 0 : which], k);
            const Status removed = remove(bench);
            const bool fault_seen = disarm(bench.refusing, bench.driver);
            EXPECT_TRUE(fault_seen || removed == Status::ok);
            failed = failed || fault_seen;
            EXPECT_EQ(remove(bench), Status::ok);
            EXPECT_TRUE(findings_in(bench.file).none());
            EXPECT_EQ(bench.file.close(), Status::ok);
            EXPECT_EQ(bench.memory.blocks(), 0U);
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 40U / sweep_step());
}

}  // namespace

#endif
