// Virtual datasets whose sources do not have the size that they had when they were mapped: what is read of them, beside
// libhdf5 where that stays within its own data.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "faulty_files.hpp"

#include <h5mote/variable_length.hpp>

#include <numeric>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Values = std::vector<std::int32_t>;
using Sizes = std::vector<hsize_t>;

constexpr auto kText = make_variable_string();
constexpr std::int32_t kOwnFill = -7, kSourceFill = -3;

// Makes a chunked source whose values count up from 1, and that can become smaller.
void put_source(hid_t file, const char* name, const Sizes& size, hid_t type = H5T_STD_I32LE) {
    Values values(std::accumulate(size.begin(), size.end(), std::size_t{1}, std::multiplies<>()));
    std::iota(values.begin(), values.end(), 1);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_chunk(list, static_cast<int>(size.size()), Sizes(size.size(), 4).data()), 0);
    EXPECT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT32, &kSourceFill), 0);
    const Hdf5Id space(simple(size, Sizes(size.size(), H5S_UNLIMITED)), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(data, 0);
    EXPECT_TRUE(values.empty() || H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
}

// Makes "v" with all that `from` selects in a source of that name.
void put_virtual(hid_t file, const Sizes& size, const char* source, hid_t from) {
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT32, &kOwnFill), 0);
    const Hdf5Id space(simple(size), H5Sclose);
    EXPECT_GE(H5Pset_virtual(list, space, ".", source, from), 0);
    const Hdf5Id data(H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(data, 0);
}

enum class Mapped { all, first, later };

// "v" is mapped to 10 elements of "s": to all that there were, to the first ones, or to those from 5 on.
Images images_of(hsize_t size, Mapped mapped) {
    Images images;
    images["main"] = made([=](hid_t file) {
        put_source(file, "s", {size});
        const hsize_t start = mapped == Mapped::later ? 5 : 0, ten = 10;
        const Hdf5Id from(simple({start + ten}), H5Sclose);
        if (mapped != Mapped::all) {
            EXPECT_GE(H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, nullptr, &ten, nullptr), 0);
        }
        put_virtual(file, {10}, "s", from);
    });
    return images;
}

struct Opened {
    explicit Opened(FaultyFile& with) : library(with.failing, with.port) {
        auto opened = File::open(library, with.main, with.access());
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }
    Library library;
    File file;
};

Status read(Dataset& data, const Selection& selection, Values& values) {
    return data.read(selection, datatype_of<std::int32_t>(),
                     {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(std::int32_t)});
}

// What libhdf5 reads; empty if it refuses to.
Values theirs(hid_t data, hsize_t start, hsize_t count) {
    Values values(count);
    const Hdf5Id space(H5Dget_space(data), H5Sclose);
    const Hdf5Id memory(simple({count}), H5Sclose);
    EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr), 0);
    if (H5Dread(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data()) < 0) {
        values.clear();
    }
    return values;
}

struct Range {
    std::uint64_t start, count;
};
constexpr Range kRanges[] = {{0, 10}, {0, 3}, {3, 4}, {5, 5}, {7, 2}, {9, 1}};

TEST(VirtualSizes, OtherThanWhenTheyWereMapped) {
    for (const Mapped mapped : {Mapped::all, Mapped::first, Mapped::later}) {
        for (const hsize_t size : {0U, 3U, 5U, 8U, 10U, 13U, 15U, 20U}) {
            const Images images = images_of(size, mapped);
            const Hdf5Id file = open_image({images.at("main").data(), images.at("main").size()});
            const Hdf5Id data(H5Dopen2(file, "v", H5P_DEFAULT), H5Dclose);
            FaultyFile with(images, "main");
            {
                Opened opened(with);
                auto ours = opened.file.root().open_dataset("v");
                ASSERT_EQ(ours.status(), Status::ok);
                for (const Range& range : kRanges) {
                    SCOPED_TRACE(std::to_string(static_cast<int>(mapped)) + " " + std::to_string(size) + " " +
                                 std::to_string(range.start));
                    const Values expected = theirs(data, range.start, range.count);
                    const auto slab = Selection::hyperslab({&range.start, 1}, {&range.count, 1});
                    Values values(static_cast<std::size_t>(range.count));
                    const Status status = read(*ours, slab, values);
                    EXPECT_EQ(status, expected.empty() ? Status::corrupt_file : Status::ok);
                    EXPECT_TRUE(expected.empty() || values == expected);
                    // The same elements as points, in reverse.
                    std::vector<std::uint64_t> points(values.size());
                    std::iota(points.rbegin(), points.rend(), range.start);
                    EXPECT_EQ(read(*ours, Selection::points(1, {points.data(), points.size()}), values), status);
                    EXPECT_TRUE(expected.empty() || Values(values.rbegin(), values.rend()) == expected);
                }
            }
            EXPECT_EQ(with.tracking.blocks(), 0U);
        }
    }
}

// libhdf5 takes the wrong elements of a source that is smaller in another than its first dimension.
TEST(VirtualSizes, SmallerInEachDimension) {
    constexpr std::uint64_t kRows = 6, kColumns = 7;
    for (const std::uint64_t rows : {0U, 2U, 6U}) {
        for (const std::uint64_t columns : {0U, 1U, 5U, 7U}) {
            Images images;
            images["main"] = made([=](hid_t file) {
                put_source(file, "s", {rows, columns}, H5T_STD_I16BE);
                const hsize_t start[] = {0, 0}, count[] = {kRows, kColumns};
                const Hdf5Id from(simple({kRows, kColumns}), H5Sclose);
                EXPECT_GE(H5Sselect_hyperslab(from, H5S_SELECT_SET, start, nullptr, count, nullptr), 0);
                put_virtual(file, {kRows, kColumns}, "s", from);
            });
            FaultyFile with(images, "main");
            Opened opened(with);
            auto data = opened.file.root().open_dataset("v");
            ASSERT_EQ(data.status(), Status::ok);
            const auto expected = [=](std::uint64_t row, std::uint64_t column) {
                return row < rows && column < columns ? static_cast<std::int32_t>(row * columns + column + 1)
                                                      : kSourceFill;
            };
            Values all(kRows * kColumns);
            ASSERT_EQ(read(*data, Selection::all(), all), Status::ok);
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_EQ(all[i], expected(i / kColumns, i % kColumns)) << rows << " " << columns << " " << i;
            }
            // Every other column, into every third element of memory.
            const auto odd = Selection::hyperslab({1, 0}, {4, 4}, {1, 2});
            const Dataspace memory = Dataspace::simple({48});
            const auto thirds = Selection::hyperslab({0}, {16}, {3});
            Values some(48, 99);
            ASSERT_EQ(data->read(odd, datatype_of<std::int32_t>(), memory, thirds,
                                 {reinterpret_cast<std::byte*>(some.data()), some.size() * sizeof(std::int32_t)}),
                      Status::ok);
            for (std::size_t i = 0; i < some.size(); ++i) {
                EXPECT_EQ(some[i], i % 3 == 0 ? expected(1 + i / 12, i / 3 % 4 * 2) : 99) << i;
            }
        }
    }
}

// ---- unlimited mappings ------------------------------------------------------------------------------------------

struct Steps {
    hsize_t start, stride, block;
};

// "v" is mapped to blocks of "s" and, where it has to have 9 elements, to one of "other".
Images images_of(hsize_t size, const Steps& from, const Steps& to, bool longer) {
    Images images;
    images["main"] = made([&](hid_t file) {
        put_source(file, "s", {size});
        put_source(file, "other", {1});
        const hsize_t endless = H5S_UNLIMITED, one = 1, last = 8;
        const Hdf5Id source(simple({1}, {H5S_UNLIMITED}), H5Sclose);
        const Hdf5Id space(simple({longer ? last + 1 : 1}, {H5S_UNLIMITED}), H5Sclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT32, &kOwnFill), 0);
        EXPECT_GE(H5Sselect_hyperslab(source, H5S_SELECT_SET, &from.start, &from.stride, &endless, &from.block), 0);
        EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &to.start, &to.stride, &endless, &to.block), 0);
        EXPECT_GE(H5Pset_virtual(list, space, ".", "s", source), 0);
        if (longer) {
            EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &last, nullptr, &one, nullptr), 0);
            const Hdf5Id single(simple({1}), H5Sclose);
            EXPECT_GE(H5Pset_virtual(list, space, ".", "other", single), 0);
        }
        EXPECT_GE(H5Sselect_all(space), 0);
        const Hdf5Id data(H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(data, 0);
    });
    return images;
}

// libhdf5 takes the first block for whole that has only begun, and then fails in the view last_available.
TEST(VirtualSizes, BlocksThatAreThereInPart) {
    const Steps steps[] = {{0, 3, 3}, {0, 4, 3}, {2, 5, 3}, {1, 3, 1}};
    unsigned compared = 0;
    for (const Steps& from : steps) {
        for (const Steps& to : steps) {
            for (hsize_t size = 0; from.block == to.block && size < 24; size += size < 8 ? 1 : 5) {
                const bool longer = size % 2 == 1;
                SCOPED_TRACE(std::to_string(from.start) + " " + std::to_string(from.stride) + " " +
                             std::to_string(to.start) + " " + std::to_string(to.stride) + " " + std::to_string(size));
                const Images images = images_of(size, from, to, longer);
                const Hdf5Id file = open_image({images.at("main").data(), images.at("main").size()});
                FaultyFile with(images, "main");
                Opened opened(with);
                auto ours = opened.file.root().open_dataset("v");
                ASSERT_EQ(ours.status(), Status::ok);
                for (const VirtualView view : {VirtualView::first_missing, VirtualView::last_available}) {
                    const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
                    EXPECT_GE(H5Pset_virtual_view(access, static_cast<H5D_vds_view_t>(view)), 0);
                    const Hdf5Id data(H5Dopen2(file, "v", access), H5Dclose);
                    const Hdf5Id space(H5Dget_space(data), H5Sclose);
                    ASSERT_EQ(ours->set_virtual_view(view), Status::ok);
                    ASSERT_EQ(ours->size(), static_cast<hsize_t>(H5Sget_simple_extent_npoints(space)));
                    Values values(static_cast<std::size_t>(ours->size()));
                    EXPECT_EQ(read(*ours, Selection::all(), values), Status::ok);
                    // libhdf5 crashes where blocks of another shape lie beyond the source.
                    const bool sound = from.stride == to.stride || view == VirtualView::last_available ||
                                       (!longer && size >= from.start + from.block);
                    const Values expected = sound ? theirs(data, 0, ours->size()) : Values();
                    EXPECT_TRUE(expected.empty() || values == expected);
                    compared += expected.empty() ? 0 : 1;
                }
            }
        }
    }
    EXPECT_GT(compared, 150U);
}

// ---- faults ------------------------------------------------------------------------------------------------------

// Sequences: each element beyond the source has a copy of the fill value of its own, or an empty sequence.
TEST(VirtualSizes, SequencesAndFaults) {
    Images images;
    images["main"] = made([](hid_t file) {
        const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
        EXPECT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk = 2, start = 0, four = 4;
        const char* fill = "of the source";
        EXPECT_GE(H5Pset_chunk(list, 1, &chunk), 0);
        EXPECT_GE(H5Pset_fill_value(list, type, &fill), 0);
        const Hdf5Id space(simple({3}, {H5S_UNLIMITED}), H5Sclose);
        const Hdf5Id source(H5Dcreate2(file, "s", type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
        const char* values[] = {"first", "second", "third"};
        EXPECT_GE(H5Dwrite(source, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
        const Hdf5Id mapped(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const char* own = "of the virtual dataset";
        EXPECT_GE(H5Pset_fill_value(mapped, type, &own), 0);
        const Hdf5Id from(simple({4}), H5Sclose);
        const Hdf5Id extent(simple({5}), H5Sclose);
        EXPECT_GE(H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, nullptr, &four, nullptr), 0);
        EXPECT_GE(H5Sselect_hyperslab(extent, H5S_SELECT_SET, &start, nullptr, &four, nullptr), 0);
        EXPECT_GE(H5Pset_virtual(mapped, extent, ".", "s", from), 0);
        EXPECT_GE(H5Sselect_all(extent), 0);
        const Hdf5Id data(H5Dcreate2(file, "v", type, extent, H5P_DEFAULT, mapped, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(data, 0);
    });
    FaultyFile with(images, "main");
    using Texts = std::vector<std::string>;
    const auto look = [](Library& library, FaultyFile& file, Texts& seen) {
        seen.clear();
        auto opened = File::open(library, file.main, file.access());
        H5MOTE_TRY(opened.status());
        auto data = opened->root().open_dataset("v");
        H5MOTE_TRY(data.status());
        char* texts[5] = {};
        const Bytes bytes{reinterpret_cast<std::byte*>(texts), sizeof texts};
        H5MOTE_TRY(data->read(Selection::all(), kText, bytes));
        for (const char* text : texts) {
            seen.emplace_back(text == nullptr ? "" : text);
        }
        return reclaim(library, kText, 5, sizeof texts[0], texts);
    };
    Texts seen;
    {
        Library library(with.failing, with.port);
        ASSERT_EQ(look(library, with, seen), Status::ok);
    }
    EXPECT_EQ(seen, (Texts{"first", "second", "third", "of the source", "of the virtual dataset"}));
    EXPECT_GT(with.sweep<Texts>(look), 20U);
}

}  // namespace

#endif
