// Files of libhdf5 with what this library makes differently, or cannot hold, are changed nevertheless: lengths of two
// and four bytes, and datatypes that are nested too deeply to be read.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "hdf5_files.hpp"
#include "sound.hpp"

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = std::vector<std::byte>;
using Numbers = std::vector<std::int32_t>;

struct Session {
    explicit Session(const Image& image, FormatVersion low = FormatVersion::standard) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.metadata_cache = 8192;
        access.low = low;
        auto opened = File::open(library, storage, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    Image close() {
        root = Group();
        EXPECT_TRUE(findings_in(file).none());
        EXPECT_EQ(file.close(), Status::ok);
        return Image(storage.contents().begin(), storage.contents().end());
    }

    MallocAllocator memory;
    NullPort port;
    const Filter* known[1] = {&fletcher32_filter};
    Library library{memory, port, known, formats::all};
    GrowingMemoryDriver storage{memory};
    File file;
    Group root;
};

Numbers counted(std::size_t count) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// Reads a dataset by libhdf5, which then appends `more` elements to it. Returns the file.
Image grown_by_libhdf5(const Image& image, const char* name, std::size_t count, std::size_t more) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
    EXPECT_GE(file, 0);
    {
        const Hdf5Id data(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(data, 0);
        Numbers found(count);
        EXPECT_GE(H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
        EXPECT_EQ(found, counted(count));
        const hsize_t start = count;
        const hsize_t added = more;
        const hsize_t all = count + more;
        EXPECT_GE(H5Dset_extent(data, &all), 0);
        const Hdf5Id space(H5Dget_space(data), H5Sclose);
        const Hdf5Id memory(H5Screate_simple(1, &added, nullptr), H5Sclose);
        EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &added, nullptr), 0);
        const Numbers values = counted(count + more);
        EXPECT_GE(H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data() + count), 0);
    }
    return finished_image(file);
}

void append(Dataset& data, std::size_t from, std::size_t count) {
    const Numbers values = counted(from + count);
    ASSERT_EQ(data.append_rows(datatype_of<std::int32_t>(), values.data() + from, count), Status::ok);
}

}  // namespace

// In lengths of fewer than eight bytes libhdf5 finds a number where "unlimited" was written.
TEST(ContinuedLimits, UnlimitedDatasetsInFilesWithShortLengths) {
    for (const std::size_t lengths : {2U, 4U}) {
        for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
            for (const bool filtered : {false, true}) {
                SCOPED_TRACE(testing::Message() << lengths << ' ' << static_cast<int>(low) << ' ' << filtered);
                Hdf5Maker maker(Hdf5Maker::Format::oldest);
                H5Pset_sizes(maker.properties(), 4, lengths);
                Session first(maker.finish(), low);
                DatasetCreate create;
                create.chunk = {50};
                if (filtered) {
                    create.filters = {filters::fletcher32};
                }
                {
                    auto data =
                        first.root.create_dataset("d", file_type_of<std::int32_t>(), Dataspace::unlimited(), create);
                    ASSERT_EQ(data.status(), Status::ok);
                    append(*data, 0, 330);
                    EXPECT_EQ(data->set_extent({std::uint64_t{1} << (8 * lengths)}), Status::invalid_argument);
                    EXPECT_EQ(data->close(), Status::ok);
                }
                Image image = grown_by_libhdf5(first.close(), "d", 330, 270);
                {
                    Session second(image, low);
                    auto data = second.root.open_dataset("d");
                    ASSERT_EQ(data.status(), Status::ok);
                    append(*data, 600, 400);
                    EXPECT_EQ(data->close(), Status::ok);
                    create.chunk = {5, 5};
                    create.filters = FilterList();
                    EXPECT_EQ(second.root
                                  .create_dataset("2", file_type_of<std::int32_t>(),
                                                  Dataspace::simple({7, 7}, {kUnlimited, kUnlimited}), create)
                                  .status(),
                              Status::ok);
                    image = second.close();
                }
                image = grown_by_libhdf5(image, "d", 1000, 1);
                Session third(image, low);
                ASSERT_EQ(third.root.unlink("d"), Status::ok);
                ASSERT_EQ(third.root.unlink("2"), Status::ok);
                (void)third.close();
            }
        }
    }
}

// What a dataset has of such elements is given up as that of others. Reading it stays refused.
TEST(ContinuedLimits, DatasetsOfTypesNestedTooDeeplyAreRemoved) {
    for (const bool chunked : {false, true}) {
        Hdf5Maker maker(Hdf5Maker::Format::newest);
        {
            hid_t type = H5Tcopy(H5T_STD_I32LE);
            for (unsigned level = 0; level <= H5MOTE_MAX_TYPE_DEPTH; ++level) {
                const hid_t outer = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
                H5Tinsert(outer, "a", 0, type);
                H5Tclose(type);
                type = outer;
            }
            const Hdf5Id owned(type, H5Tclose);
            const hsize_t size = 1000;
            const hsize_t chunk = 100;
            const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
            const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            if (chunked) {
                H5Pset_chunk(list, 1, &chunk);
            }
            const Hdf5Id data(H5Dcreate2(maker.file(), "d", type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
            const Numbers values = counted(size);
            ASSERT_GE(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        }
        const Image before = maker.finish();
        Session session(before);
        EXPECT_EQ(session.root.open_dataset("d").status(), Status::unsupported);
        ASSERT_EQ(session.root.create_group("g").status(), Status::ok);
        ASSERT_EQ(session.root.rename("d", "g/d"), Status::ok);
        ASSERT_EQ(session.root.unlink("g/d"), Status::ok);
        ASSERT_EQ(session.root.unlink("g"), Status::ok);
        const Image after = session.close();
        EXPECT_LT(after.size() + 3000, before.size());
        const Hdf5Id theirs = open_image({after.data(), after.size()});
        EXPECT_EQ(H5Lexists(theirs, "d", H5P_DEFAULT), 0);
    }
}

#endif
