// Virtual datasets with a source for each block, some of which are missing, in mappings of different lengths: what both
// libraries read, with every gap.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS

#include "hdf5_image.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr hsize_t kColumns = 3;
const char* const kName = "virtual_blocks.h5";

// Makes the sources p0, p1, ..., q0, ... that the bits name, and a virtual dataset with both beside each other.
void make(const unsigned (&there)[2], unsigned blocks) {
    const Hdf5Id file(H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t part[] = {1, kColumns};
    const Hdf5Id piece(H5Screate_simple(2, part, nullptr), H5Sclose);
    const hsize_t dims[] = {1, 2 * kColumns};
    const hsize_t most[] = {H5S_UNLIMITED, 2 * kColumns};
    const Hdf5Id space(H5Screate_simple(2, dims, most), H5Sclose);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = -1;
    ASSERT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT, &fill), 0);
    for (unsigned side = 0; side < 2; ++side) {
        const std::string name = side == 0 ? "p" : "q";
        for (unsigned i = 0; i < blocks; ++i) {
            if ((there[side] >> i & 1U) != 0) {
                const Hdf5Id made(H5Dcreate2(file, (name + std::to_string(i)).c_str(), H5T_STD_I32LE, piece,
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                  H5Dclose);
                const int value = static_cast<int>(100 * side + i);
                const int values[kColumns] = {value, value, value};
                ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
            }
        }
        const hsize_t start[] = {0, side * kColumns}, one[] = {1, kColumns}, count[] = {H5S_UNLIMITED, 1};
        ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, one, count, part), 0);
        ASSERT_GE(H5Pset_virtual(list, space, ".", (name + "%b").c_str(), piece), 0);
    }
    ASSERT_GE(H5Sselect_all(space), 0);
    const Hdf5Id made(H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(made, 0);
}

std::vector<int> read_by_libhdf5(hid_t file, hsize_t gap) {
    const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_virtual_printf_gap(access, gap), 0);
    const Hdf5Id dataset(H5Dopen2(file, "v", access), H5Dclose);
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    std::vector<int> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    return values;
}

}  // namespace

TEST(VirtualBlocks, MissingOnes) {
    std::mt19937 random(3);
    for (unsigned trial = 0; trial < 60; ++trial) {
        constexpr unsigned kBlocks = 7;
        const unsigned there[] = {static_cast<unsigned>(random() % 128), static_cast<unsigned>(random() % 128)};
        make(there, kBlocks);
        const std::vector<std::byte> image = take_file(kName);
        const Hdf5Id opened = open_image({image.data(), image.size()});
        for (const std::uint64_t gap : {0U, 1U, 2U, 9U}) {
            SCOPED_TRACE(std::to_string(there[0]) + " " + std::to_string(there[1]) + " gap " + std::to_string(gap));
            MallocAllocator heap;
            GrowingMemoryDriver storage(heap);
            ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
            NullPort port;
            Library library(heap, port, {}, formats::all);
            auto file = File::open(library, storage);
            ASSERT_EQ(file.status(), Status::ok);
            auto data = file->root().open_dataset("v");
            ASSERT_EQ(data.status(), Status::ok);
            ASSERT_EQ(data->set_virtual_view(VirtualView::last_available, gap), Status::ok);
            const std::vector<int> expected = read_by_libhdf5(opened, gap);
            ASSERT_EQ(data->size() * 2 * kColumns, expected.size());
            std::vector<int> values(expected.size(), -2);
            ASSERT_EQ(data->read(Selection::all(), datatype_of<int>(),
                                 {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(int)}),
                      Status::ok);
            EXPECT_EQ(values, expected);
        }
    }
}

#endif
