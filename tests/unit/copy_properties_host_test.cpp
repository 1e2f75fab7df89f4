// Copies of objects that libhdf5 has made with properties that h5mote never chooses itself.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/variable_length.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Makes 15 strings in filtered chunks of 10, with a fill value; two are written.
void make_filtered_texts(hid_t file) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
    const hsize_t size = 15;
    const hsize_t chunk = 10;
    const char* const fill = "fill";
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_chunk(create, 1, &chunk), 0);
    ASSERT_GE(H5Pset_deflate(create, 6), 0);
    ASSERT_GE(H5Pset_fill_value(create, type, static_cast<const void*>(&fill)), 0);
    const Hdf5Id data(H5Dcreate2(file, "texts", type, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    const Hdf5Id memory(H5Screate(H5S_SCALAR), H5Sclose);
    for (const hsize_t at : {hsize_t{3}, hsize_t{12}}) {
        ASSERT_GE(H5Sselect_elements(space, H5S_SELECT_SET, 1, &at), 0);
        const char* const text = at == 3 ? "three" : "twelve";
        ASSERT_GE(H5Dwrite(data, type, memory, space, H5P_DEFAULT, static_cast<const void*>(&text)), 0);
    }
}

// The elements beyond the extent, of which the original has fill values, are empty in the copy.
TEST(CopyProperties, FilteredTextsWithAFillValue) {
    Turns turns;
    turns.access.chunk_cache = 4096;
    turns.begin();
    turns.by_libhdf5(make_filtered_texts);
    GrowingMemoryDriver storage{turns.heap};
    {
        auto to = File::create(turns.library, storage, turns.access);
        ASSERT_EQ(to.status(), Status::ok);
        EXPECT_EQ(copy_file(turns.file, *to), Status::ok);
        EXPECT_TRUE(findings_in(*to).none());
        auto data = to->root().open_dataset("texts");
        ASSERT_EQ(data.status(), Status::ok);
        ChunkIterator chunks(*data);
        ChunkInfo chunk;
        unsigned count = 0;
        for (; chunks.next(chunk) == Status::ok; ++count) {
            EXPECT_EQ(chunk.filter_mask, 0U);
        }
        EXPECT_EQ(count, 2U);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(to->close(), Status::ok);
    }
    const std::vector<std::byte> image = image_of(storage);
    const Hdf5Id file(open_image({image.data(), image.size()}));
    const Hdf5Id data(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Dget_type(data), H5Tclose);
    char* texts[15] = {};
    ASSERT_GE(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(texts)), 0);
    for (unsigned i = 0; i < 15; ++i) {
        ASSERT_NE(texts[i], nullptr);
        EXPECT_EQ(std::string(texts[i]), i == 3 ? "three" : i == 12 ? "twelve" : "fill") << i;
        (void)H5free_memory(texts[i]);
    }
}

}  // namespace

#endif
