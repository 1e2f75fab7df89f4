// Messages that libhdf5 stored once and shared by several objects.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "hdf5_image.hpp"
#include "sound.hpp"
#include "test.hpp"

#include <string>

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Makes a file of datasets with the same fill value, which libhdf5 stores in the old and the new message. `shared`: the
// messages may be shared.
std::vector<std::byte> filled(bool shared) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    if (shared) {
        H5Pset_shared_mesg_nindexes(create, 1);
        H5Pset_shared_mesg_index(create, 0, H5O_SHMESG_FILL_FLAG, 1);
    }
    constexpr const char* kName = "shared_message_host_test.h5";
    const hid_t file = H5Fcreate(kName, H5F_ACC_TRUNC, create, H5P_DEFAULT);
    const Hdf5Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = 77;
    H5Pset_fill_value(properties, H5T_NATIVE_INT, &fill);
    const hsize_t size = 5;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    for (const char* name : {"a", "b", "c"}) {
        H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    }
    H5Fclose(file);
    return take_file(kName);
}

}  // namespace

// The index of shared messages lists only the new fill value message as its kind, but contains both.
TEST(SharedMessage, FillValuesOfTheOldForm) {
    for (const bool shared : {false, true}) {
        const std::vector<std::byte> image = filled(shared);
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port};
        GrowingMemoryDriver storage(memory);
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none()) << shared;
        for (const char* name : {"a", "b", "c"}) {
            auto dataset = file->root().open_dataset<int>(name);
            ASSERT_EQ(dataset.status(), Status::ok);
            int values[5] = {};
            EXPECT_EQ(dataset->read(Selection::all(), Span<int>(values)), Status::ok);
            EXPECT_EQ(values[4], 77);
        }
    }
}

#endif

#endif
