// Gathering, scattering and filling elements in memory, beside libhdf5.
#include <h5mote/compound.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selected_memory.hpp>

#include <gtest/gtest.h>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <cstring>
#include <vector>

namespace {

using namespace h5mote;

ConstBytes bytes_of_vector(const std::vector<std::int32_t>& values) {
    return as_bytes(Span<const std::int32_t>(values.data(), values.size()));
}
Bytes room(std::vector<std::int32_t>& values) {
    return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(std::int32_t)};
}

#ifdef H5MOTE_TEST_HDF5
herr_t take(const void* data, std::size_t bytes, void* to) {
    auto& values = *static_cast<std::vector<std::int32_t>*>(to);
    const auto* const from = static_cast<const std::int32_t*>(data);
    values.insert(values.end(), from, from + bytes / sizeof(std::int32_t));
    return 0;
}
#endif

TEST(SelectedMemory, AsLibhdf5) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    const Dataspace extent = Dataspace::simple({5, 7});
    const std::uint64_t start[2] = {1, 0};
    const std::uint64_t stride[2] = {2, 3};
    const std::uint64_t count[2] = {2, 3};
    const Selection selection = Selection::hyperslab(start, count, stride);
    std::vector<std::int32_t> array(35);
    for (std::size_t i = 0; i < array.size(); ++i) {
        array[i] = static_cast<std::int32_t>(i * i);
    }
    std::vector<std::int32_t> packed(6);
    ASSERT_EQ(gather(library, extent, selection, 4, bytes_of_vector(array), room(packed)), Status::ok);
    EXPECT_EQ(packed, (std::vector<std::int32_t>{49, 100, 169, 441, 576, 729}));
    std::vector<std::int32_t> spread(35, -1);
    ASSERT_EQ(scatter(library, extent, selection, 4, bytes_of_vector(packed), room(spread)), Status::ok);
    std::vector<std::int32_t> filled(35, -1);
    const double value = 77;
    ASSERT_EQ(fill(library, extent, selection, datatype_of<double>(), as_bytes(Span(&value, 1)),
                   datatype_of<std::int32_t>(), room(filled)),
              Status::ok);
    for (std::size_t i = 0; i < 35; ++i) {
        const bool selected = (i / 7 == 1 || i / 7 == 3) && i % 7 % 3 == 0;
        EXPECT_EQ(spread[i], selected ? array[i] : -1) << i;
        EXPECT_EQ(filled[i], selected ? 77 : -1) << i;
    }
#ifdef H5MOTE_TEST_HDF5
    const hsize_t dims[2] = {5, 7};
    const h5mote_test::Hdf5Id space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    const hsize_t first[2] = {1, 0};
    const hsize_t step[2] = {2, 3};
    const hsize_t number[2] = {2, 3};
    ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, step, number, nullptr), 0);
    std::vector<std::int32_t> theirs;
    std::int32_t buffer[4];
    ASSERT_GE(H5Dgather(space, array.data(), H5T_NATIVE_INT32, sizeof buffer, buffer, take, &theirs), 0);
    EXPECT_EQ(theirs, packed);
    std::vector<std::int32_t> theirs_filled(35, -1);
    ASSERT_GE(H5Dfill(&value, H5T_NATIVE_DOUBLE, theirs_filled.data(), H5T_NATIVE_INT32, space), 0);
    EXPECT_EQ(theirs_filled, filled);
#endif
}

TEST(SelectedMemory, ZerosAndRefusals) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    const Dataspace extent = Dataspace::simple({4});
    std::vector<std::int32_t> array(4, 9);
    ASSERT_EQ(fill(library, extent, Selection::all(), {}, {}, datatype_of<std::int32_t>(), room(array)), Status::ok);
    EXPECT_EQ(array, std::vector<std::int32_t>(4, 0));
    std::vector<std::int32_t> packed(3);
    EXPECT_EQ(gather(library, extent, Selection::all(), 4, bytes_of_vector(array), room(packed)),
              Status::invalid_argument);
    EXPECT_EQ(gather(library, extent, Selection::all(), 4, bytes_of_vector(packed), room(array)),
              Status::invalid_argument);
    EXPECT_EQ(scatter(library, extent, Selection::all(), 0, {}, {}), Status::invalid_argument);
    const std::uint64_t start[1] = {3};
    const std::uint64_t count[1] = {2};
    EXPECT_NE(scatter(library, extent, Selection::hyperslab(start, count), 4, bytes_of_vector(packed), room(array)),
              Status::ok);
    const double value = 1;
    EXPECT_EQ(fill(library, extent, Selection::all(), datatype_of<float>(), as_bytes(Span(&value, 1)),
                   datatype_of<std::int32_t>(), room(array)),
              Status::invalid_argument);
    EXPECT_EQ(memory.usage().now, 0U);
}

}  // namespace
