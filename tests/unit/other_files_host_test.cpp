// External data and virtual datasets in files that libhdf5 makes.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <hdf5.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace h5mote;

struct Opened {
    explicit Opened(const std::string& path, bool with_opener = true) : opener(heap, driver, path.c_str()) {
        EXPECT_EQ(driver.open(path.c_str(), PosixDriver::Mode::read_only), Status::ok);
        FileAccess access;
        access.read_only = true;
        access.opener = with_opener ? &opener : nullptr;
        auto result = File::open(library, driver, access);
        EXPECT_EQ(result.status(), Status::ok);
        file = static_cast<File&&>(*result);
    }
    MallocAllocator heap;
    NullPort port;
    Library library{heap, port};
    PosixDriver driver;
    PosixOpener opener;
    File file;
};

// If the file with data behind the selected elements is missing, reading succeeds: libhdf5 does not look for it either.
TEST(OtherFiles, PointsBesideAMissingExternalFile) {
    const std::string folder = ::testing::TempDir();
    const std::string name = folder + "external_points.h5";
    const std::string here = folder + "external_points.here";
    const std::string missing = folder + "external_points.missing";
    std::vector<int> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 100);
    std::FILE* const data = std::fopen(here.c_str(), "wb");
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(std::fwrite(numbers.data(), sizeof(int), numbers.size(), data), numbers.size());
    ASSERT_EQ(std::fclose(data), 0);
    const hid_t made = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    ASSERT_GE(H5Pset_external(list, here.c_str(), 0, 64 * sizeof(int)), 0);
    ASSERT_GE(H5Pset_external(list, missing.c_str(), 0, 64 * sizeof(int)), 0);
    const hsize_t dims[] = {128};
    const hid_t space = H5Screate_simple(1, dims, nullptr);
    const hid_t dataset = H5Dcreate2(made, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(list);
    ASSERT_GE(H5Fclose(made), 0);

    Opened opened(name);
    auto mine = opened.file.root().open_dataset("a");
    ASSERT_EQ(mine.status(), Status::ok);
    int values[3] = {};
    const Bytes to{reinterpret_cast<std::byte*>(values), sizeof values};
    std::uint64_t points[] = {63, 2, 62};
    EXPECT_EQ(mine->read(Selection::points(1, points), datatype_of<int>(), to), Status::ok);
    EXPECT_EQ(values[0], 163);
    EXPECT_EQ(values[1], 102);
    EXPECT_EQ(values[2], 162);
    points[2] = 64;
    EXPECT_EQ(mine->read(Selection::points(1, points), datatype_of<int>(), to), Status::not_found);
    std::remove(name.c_str());
    std::remove(here.c_str());
}

// Sources in the virtual dataset's own file need no opener, whatever other mappings need.
TEST(OtherFiles, ExtentOfAVirtualDatasetWithoutAnOpener) {
    const std::string name = ::testing::TempDir() + "virtual_extent.h5";
    const hid_t made = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = 8;
    hsize_t now = 33;
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    ASSERT_GE(H5Pset_chunk(chunked, 1, &chunk), 0);
    const hid_t source_space = H5Screate_simple(1, &now, &unlimited);
    H5Dclose(H5Dcreate2(made, "source", H5T_NATIVE_INT, source_space, H5P_DEFAULT, chunked, H5P_DEFAULT));
    now = 7;
    const hid_t space =
        H5Screate_simple(2, std::vector<hsize_t>{2, 7}.data(), std::vector<hsize_t>{2, unlimited}.data());
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    for (const hsize_t row : {0, 1}) {
        const hsize_t start[] = {row, 0};
        const hsize_t count[] = {1, unlimited};
        const hsize_t zero = 0;
        const hsize_t one = 1;
        ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), 0);
        ASSERT_GE(H5Sselect_hyperslab(source_space, H5S_SELECT_SET, &zero, &one, &unlimited, &one), 0);
        ASSERT_GE(H5Pset_virtual(list, space, row == 0 ? "elsewhere.h5" : ".", "source", source_space), 0);
    }
    ASSERT_GE(H5Sselect_all(space), 0);
    const hid_t dataset = H5Dcreate2(made, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    H5Dclose(dataset);
    for (const hid_t each : {chunked, list}) {
        H5Pclose(each);
    }
    H5Sclose(space);
    H5Sclose(source_space);
    ASSERT_GE(H5Fclose(made), 0);

    for (const bool with_opener : {true, false}) {
        Opened opened(name, with_opener);
        auto mine = opened.file.root().open_dataset("virtual");
        ASSERT_EQ(mine.status(), Status::ok);
        Dataspace extent;
        ASSERT_EQ(mine->dataspace(extent), Status::ok);
        EXPECT_EQ(extent.dims()[1], 33U);
    }
    std::remove(name.c_str());
}

}  // namespace

#endif
