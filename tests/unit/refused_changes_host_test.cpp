// A change that cannot be written safely is refused by the call that makes it, before anything changes: not by a later
// flush, when the caller was told already that the change was made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "recording_driver.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;

// What most programs have that do not change files of other libraries: all parts but formats::any_placement, with which
// hardly any change is refused (tests/powercut/placement_cuts_test.cpp).
constexpr Formats without_any_placement() {
    Formats formats = formats::standard;
    formats.any_placement = nullptr;
    return formats;
}
constexpr Formats kFormats = without_any_placement();

// A file in memory, opened for writing. All operations of the driver are recorded.
struct Storage {
    explicit Storage(const Image& image, std::size_t metadata_cache, bool torn_headers = false,
                     const Formats& formats = kFormats)
        : library(memory, port, filters, formats), filled(driver.assign({image.data(), image.size()})) {
        EXPECT_EQ(filled, Status::ok);
        FileAccess access;
        access.metadata_cache = metadata_cache;
        access.torn_headers = torn_headers;
        auto opened = File::open_or_create(library, recorder, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }
    Image image() const { return recorder.image(recorder.operations().size()); }

    MallocAllocator memory;
    NullPort port;
    const Filter* filters[1] = {&fletcher32_filter};
    Library library;
    GrowingMemoryDriver driver{memory};
    Status filled;
    RecordingDriver recorder{driver};
    File file;
};

#ifdef H5MOTE_TEST_HDF5

// A dataset "d" as libhdf5 makes it.
struct Made {
    hsize_t most = H5S_UNLIMITED;  // maximum number of rows
    bool filtered = false;
    std::size_t element = 4;  // bytes of an element, and of the fill value in the header
    bool written = false;
    hsize_t chunk = 4;  // rows of a chunk, at most
    hsize_t rows = 3;
    bool early = false;   // space for chunks is allocated early
    bool shared = false;  // dataspaces are shared messages
};

// Makes its file, with an object header of about `pad` bytes before that of the dataset.
Image made_by_libhdf5(std::size_t pad, const Made& made) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const std::string name = "refused_changes.h5";
    const hid_t create = H5Pcreate(H5P_FILE_CREATE);
    if (made.shared) {
        H5Pset_shared_mesg_nindexes(create, 1);
        H5Pset_shared_mesg_index(create, 0, H5O_SHMESG_SDSPACE_FLAG, 8);
    }
    const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access);
    const hid_t compact = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(compact, H5D_COMPACT);
    const hsize_t size = pad;
    const hid_t bytes = H5Screate_simple(1, &size, nullptr);
    H5Dclose(H5Dcreate2(file, "pad", H5T_NATIVE_UCHAR, bytes, H5P_DEFAULT, compact, H5P_DEFAULT));
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = std::min(made.most, made.chunk);
    H5Pset_chunk(chunked, 1, &chunk);
    const hid_t type = H5Tcreate(H5T_OPAQUE, made.element);
    const Image elements(static_cast<std::size_t>(made.rows) * made.element, std::byte{1});
    H5Pset_fill_value(chunked, type, elements.data());
    if (made.early) {
        H5Pset_alloc_time(chunked, H5D_ALLOC_TIME_EARLY);
    }
    if (made.filtered) {
        H5Pset_fletcher32(chunked);
    }
    const hid_t space = H5Screate_simple(1, &made.rows, &made.most);
    const hid_t dataset = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, chunked, H5P_DEFAULT);
    EXPECT_GE(dataset, 0);
    if (made.written) {
        EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()), 0);
    }
    H5Dclose(dataset);
    H5Tclose(type);
    for (const hid_t each : {bytes, space}) {
        H5Sclose(each);
    }
    for (const hid_t each : {access, create, compact, chunked}) {
        H5Pclose(each);
    }
    EXPECT_GE(H5Fclose(file), 0);
    return take_file(name);
}

// Returns the number of rows that libhdf5 finds and can read, or -1 if it cannot read them.
int rows_by_libhdf5(const Image& image) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    const Hdf5Id dataset(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    const hssize_t rows = H5Sget_simple_extent_npoints(space);
    Image values(rows < 0 ? 0 : static_cast<std::size_t>(rows) * H5Tget_size(type));
    const bool read = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0 &&
                      (rows < 1500 || values == Image(values.size(), std::byte{1}));
    return read ? static_cast<int>(rows) : -1;
}

bool refused(Library& library, Status status) {
    return status == Status::unsupported &&
           (H5MOTE_ERROR_TRAIL == 0 ||
            library.trail().newest().value == static_cast<std::uint64_t>(Feature::ordered_writing));
}

// Tears every write at each sector: the dataset must have as many rows as before or after, and all can be read.
void tear(const Storage& storage, std::uint64_t before, std::uint64_t after) {
    for (std::size_t i = 0; i < storage.recorder.operations().size(); ++i) {
        for (const std::size_t length : storage.recorder.tears(i, 512)) {
            Storage torn(storage.recorder.image_torn(i, length), 4096);
            auto dataset = torn.file.root().open_dataset("d");
            ASSERT_EQ(dataset.status(), Status::ok) << "operation " << i << ", torn after " << length;
            EXPECT_TRUE(dataset->size() == before || dataset->size() == after);
            if constexpr (H5MOTE_PARTIAL_IO != 0) {
                std::byte encoded[64];
                DatatypeView type;
                ASSERT_EQ(dataset->datatype(Bytes(encoded), type), Status::ok);
                Image rows(static_cast<std::size_t>(dataset->size()) * type.size());
                EXPECT_EQ(dataset->read(Selection::all(), type, {rows.data(), rows.size()}), Status::ok)
                    << "operation " << i << ", torn after " << length;
            }
            EXPECT_EQ(dataset->close(), Status::ok);
            EXPECT_EQ(torn.file.close(), Status::ok);
        }
    }
}

// Changes the dataset with its header at each of many offsets: the change is made, or refused and the file stays as it
// was. It must be refused for at least `least` offsets. With all formats it is refused for at most `most`, because a
// chunk index whose header lies across sectors is then made anew.
void change_everywhere(const Made& made, std::uint64_t size, const std::function<Status(Dataset& dataset)>& change,
                       unsigned least = 1, unsigned most = 6) {
    unsigned done = 0;
    unsigned left = 0;
    for (std::size_t pad = 8; pad < 8 + 1024 && !testing::Test::HasFailure(); pad += 8) {
        const Image before = made_by_libhdf5(pad, made);
        Storage storage(before, 4096);
        auto dataset = storage.file.root().open_dataset("d");
        ASSERT_EQ(dataset.status(), Status::ok);
        const Status status = change(*dataset);
        EXPECT_TRUE(status == Status::ok || refused(storage.library, status));
        EXPECT_EQ(storage.file.flush(), Status::ok) << "pad " << pad;
        EXPECT_EQ(dataset->size(), status == Status::ok ? size : 3U);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_EQ(storage.file.close(), Status::ok);
        if (status != Status::ok) {
            ++left;
            EXPECT_TRUE(storage.image() == before);
            continue;
        }
        ++done;
        tear(storage, 3, size);
        Storage again(storage.image(), 4096);
        EXPECT_EQ(again.file.root().open_dataset("d")->size(), size);
        EXPECT_TRUE(findings_in(again.file).none());
        EXPECT_EQ(rows_by_libhdf5(storage.image()), static_cast<int>(size));
        EXPECT_EQ(again.file.close(), Status::ok);
    }
    std::printf("%u done, %u refused\n", done, left);
    EXPECT_GT(done, 64U);
    EXPECT_GE(left, least);
    EXPECT_TRUE(left <= most || H5MOTE_ALL_FORMATS == 0);
}

TEST(RefusedChanges, AppendToAHeaderAcrossSectors) {
    change_everywhere({}, 5, [](Dataset& dataset) {
        const std::int32_t rows[] = {7, 7};
        return dataset.append_records(rows, 2);
    });
}

// Appends to a chunk that is in the index already: the index need not change, and the flush must not extend it ahead.
TEST(RefusedChanges, AppendToAChunkThatTheIndexHas) {
    Made made;
    made.written = true;
    const auto append = [](Dataset& dataset) {
        const std::int32_t row = 7;
        return dataset.append_records(&row, 1);
    };
    change_everywhere(made, 4, append);
}

TEST(RefusedChanges, ExtentInAHeaderAcrossSectors) {
    change_everywhere({}, 9, [](Dataset& dataset) { return dataset.set_extent({9}); });
}

#if H5MOTE_ALL_FORMATS

// With torn_headers nothing is refused, also where all attributes of the header move to dense storage.
TEST(RefusedChanges, NoAttributeWithTornHeaders) {
    for (std::size_t pad = 8; pad < 8 + 512 && !testing::Test::HasFailure(); pad += 4) {
        Storage storage(made_by_libhdf5(pad, {}), 8192, true, formats::all);
        auto dataset = storage.file.root().open_dataset("d");
        ASSERT_EQ(dataset.status(), Status::ok);
        for (int i = 0; i < 12; ++i) {
            ASSERT_EQ(dataset->write_attribute("attribute " + std::to_string(i), i), Status::ok) << "pad " << pad;
        }
        ObjectInfo info;
        EXPECT_EQ(dataset->Object::info(info), Status::ok);
        EXPECT_NE(info.attribute_storage.heap, 0U);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_TRUE(findings_in(storage.file).none());
        EXPECT_EQ(storage.file.close(), Status::ok);
        EXPECT_EQ(rows_by_libhdf5(storage.image()), 3);
    }
}

// A dataspace that is shared is the first message of its header. It may become one that is not shared, for instance
// because no message can be added to the heap of shared messages.
TEST(RefusedChanges, NoExtentWithTornHeaders) {
    Made made;
    made.shared = true;
    for (std::size_t pad = 8; pad < 8 + 512 && !testing::Test::HasFailure(); pad += 4) {
        Storage storage(made_by_libhdf5(pad, made), 8192, true, formats::all);
        auto dataset = storage.file.root().open_dataset("d");
        ASSERT_EQ(dataset.status(), Status::ok);
        ASSERT_EQ(dataset->set_extent({9}), Status::ok) << "pad " << pad;
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_TRUE(findings_in(storage.file).none());
        EXPECT_EQ(storage.file.close(), Status::ok);
        EXPECT_EQ(rows_by_libhdf5(storage.image()), 9);
    }
}

#endif

TEST(RefusedChanges, TheSameExtentInAHeaderAcrossSectors) {
    for (std::size_t pad = 8; pad < 8 + 512; pad += 8) {
        Storage storage(made_by_libhdf5(pad, {}), 4096);
        auto dataset = storage.file.root().open_dataset("d");
        ASSERT_EQ(dataset.status(), Status::ok);
        EXPECT_EQ(dataset->append_records(nullptr, 0), Status::ok);
        EXPECT_EQ(dataset->set_extent({3}), Status::ok);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_EQ(storage.file.close(), Status::ok);
    }
}

#if H5MOTE_FILTERS && H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO

// For such a dataset libhdf5 allocates all chunks in one piece without an index, when the first row is written.
TEST(RefusedChanges, NotTheFirstRowOfChunksWithoutAnIndex) {
    Made made;
    made.most = 158;
    made.rows = 0;
    made.chunk = 2;
    made.early = true;
    Storage storage(made_by_libhdf5(8, made), 4096);
    auto dataset = storage.file.root().open_dataset("d");
    ASSERT_EQ(dataset.status(), Status::ok);
    const std::int32_t rows[3] = {7, 8, 9};
    EXPECT_EQ(dataset->append_records(rows, 3), Status::ok);
    EXPECT_EQ(dataset->set_extent({100}), Status::ok);
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_TRUE(findings_in(storage.file).none());
    EXPECT_EQ(storage.file.close(), Status::ok);
    EXPECT_EQ(rows_by_libhdf5(storage.image()), 100);
}

// Writes three rows of bytes 7.
Status write_rows(Dataset& dataset) {
    std::byte encoded[64];
    DatatypeView type;
    H5MOTE_TRY(dataset.datatype(Bytes(encoded), type));
    const std::vector<std::byte> rows(3 * type.size(), std::byte{7});
    return dataset.write(Selection::all(), type, {rows.data(), rows.size()});
}

// The header of a chunk index cannot move alone, because every block of the index has its address.
TEST(RefusedChanges, AppendToAnIndexWithAHeaderAcrossSectors) {
    for (const bool filtered : {false, true}) {
        Made made;
        made.filtered = filtered;
        made.written = true;
        made.chunk = 3;
        const auto append = [](Dataset& dataset) {
            const std::int32_t row = 7;
            return dataset.append_records(&row, 1);
        };
        // Four offsets are refused because of the object header, as above.
        change_everywhere(made, 4, append, H5MOTE_ALL_FORMATS != 0 ? 4 : 4 + 6, 4);
        made.most = 400;
        change_everywhere(made, 4, append, H5MOTE_ALL_FORMATS != 0 ? 4 : 4 + 1, 4);
    }
}

#if H5MOTE_ALL_FORMATS
// A large index, with many blocks and pages, is moved as a whole.
TEST(RefusedChanges, AppendToALargeIndexWithAHeaderAcrossSectors) {
    Made made;
    made.written = true;
    made.chunk = 1;
    made.rows = 1500;
    for (const hsize_t most : {hsize_t{H5S_UNLIMITED}, hsize_t{2000}}) {
        made.most = most;
        for (const bool filtered : {false, true}) {
            made.filtered = filtered;
            for (std::size_t pad = 8; pad < 8 + 512; pad += 24) {
                const Image before = made_by_libhdf5(pad, made);
                Storage storage(before, 65536);
                auto dataset = storage.file.root().open_dataset("d");
                ASSERT_EQ(dataset.status(), Status::ok);
                const std::int32_t row = 0x01010101;
                const Status status = dataset->append_records(&row, 1);
                ASSERT_TRUE(status == Status::ok || refused(storage.library, status)) << pad;
                EXPECT_EQ(dataset->close(), Status::ok);
                EXPECT_TRUE(findings_in(storage.file).none()) << pad;
                EXPECT_EQ(storage.file.close(), Status::ok);
                EXPECT_EQ(rows_by_libhdf5(storage.image()), status == Status::ok ? 1501 : 1500) << pad;
            }
        }
    }
}
#endif

TEST(RefusedChanges, AreMadeWhereTheProgramAllowsIt) {
    Made made;
    made.written = true;
    made.chunk = 3;
    for (const hsize_t most : {hsize_t{H5S_UNLIMITED}, hsize_t{400}}) {
        made.most = most;
        for (std::size_t pad = 8; pad < 8 + 512; pad += 8) {
            Storage storage(made_by_libhdf5(pad, made), 4096, true);
            auto dataset = storage.file.root().open_dataset("d");
            ASSERT_EQ(dataset.status(), Status::ok);
            const std::int32_t row = 7;
            EXPECT_EQ(dataset->append_records(&row, 1), Status::ok);
            EXPECT_EQ(dataset->close(), Status::ok);
            EXPECT_EQ(storage.file.close(), Status::ok);
        }
    }
}

// The first chunk changes the object header, which gets the address of the chunk or of its index. A filtered chunk is
// stored by the flush.
TEST(RefusedChanges, FirstChunkOfAHeaderAcrossSectors) {
    // The header is a little larger than a sector: if its beginning lies across sectors, so does its end.
    for (const hsize_t most : {hsize_t{3}, hsize_t{40}}) {
        change_everywhere({most, true, 432}, 3, write_rows);
    }
}

// A chunk that is rewritten changes one block of the index, which moves if it lies across sectors.
TEST(RefusedChanges, ChunkInAnIndexWithAHeaderAcrossSectors) {
    change_everywhere({H5S_UNLIMITED, true, 4, true}, 3, write_rows, 0);
    change_everywhere({400, true, 4, true}, 3, write_rows, H5MOTE_ALL_FORMATS != 0 ? 0 : 1, 0);
}

// A filtered chunk gets its entry in the index when it is flushed. With a limited maximum size, the index is a fixed
// array in one block, which need not fit into the metadata cache.
TEST(RefusedChanges, AnIndexLargerThanTheMetadataCacheIsNoReason) {
    for (const bool written : {false, true}) {
        Storage storage(made_by_libhdf5(8, {4000, true, 4, written}), 4096);
        auto dataset = storage.file.root().open_dataset("d");
        ASSERT_EQ(dataset.status(), Status::ok);
        EXPECT_EQ(write_rows(*dataset), Status::ok);
        EXPECT_EQ(storage.file.flush(), Status::ok);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_EQ(storage.file.close(), Status::ok);
    }
}

#endif
#endif

}  // namespace

#endif
