// A call fails while the index of shared messages should forget a message that the call changes. What is called next
// finds the header without a mark, and the index must not lead there any more when the object is deleted.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && defined(H5MOTE_TEST_HDF5)

#include "hdf5_image.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "test_allocators.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Datasets whose dataspaces stand in their own headers, where a B-tree leads.
std::vector<std::byte> with_shared_dataspaces() {
    const std::string name = "shared_message_faults.h5";
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST), 0);
    EXPECT_GE(H5Pset_shared_mesg_nindexes(create, 1), 0);
    EXPECT_GE(H5Pset_shared_mesg_index(create, 0, H5O_SHMESG_SDSPACE_FLAG, 8), 0);
    EXPECT_GE(H5Pset_shared_mesg_phase_change(create, 3, 2), 0);
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose);
        for (int i = 0; i < 40; ++i) {
            const hsize_t dims = 10U + static_cast<unsigned>(i);
            const hsize_t most = H5S_UNLIMITED;
            const hsize_t chunk = 4;
            const Hdf5Id space(H5Screate_simple(1, &dims, &most), H5Sclose);
            const Hdf5Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_chunk(properties, 1, &chunk), 0);
            const Hdf5Id made(H5Dcreate2(file, ("d" + std::to_string(i)).c_str(), H5T_STD_U32LE, space, H5P_DEFAULT,
                                         properties, H5P_DEFAULT),
                              H5Dclose);
            EXPECT_GE(made, 0);
        }
    }
    return take_file(name);
}

// Returns whether an allocation was refused.
bool run(const std::vector<std::byte>& image, std::uint64_t k) {
    MallocAllocator heap;
    GrowingMemoryDriver storage(heap);
    EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    FailingAllocator memory(heap);
    NullPort port;
    Library library(memory, port, {}, formats::all);
    FileAccess access;
    access.metadata_cache = 2200;
    auto file = File::open(library, storage, access);
    EXPECT_EQ(file.status(), Status::ok);
    Group root = file->root();
    bool failed = false;
    {
        auto data = root.open_dataset("d20");
        EXPECT_EQ(data.status(), Status::ok);
        memory.arm(k, true);
        (void)data->set_extent({5});
        failed = memory.failures() != 0;
        memory.disarm();
        EXPECT_EQ(data->set_extent({6}), Status::ok);
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(data->close(), Status::ok);
    }
    EXPECT_EQ(root.unlink("d20"), Status::ok);
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(file->flush(), Status::ok);
    }
    // The space of the header is used again.
    for (unsigned i = 0; i < 20; ++i) {
        auto made = root.create_group("g" + std::to_string(i));
        EXPECT_EQ(made.status(), Status::ok);
        EXPECT_EQ(made->write_attribute("a", i), Status::ok);
        EXPECT_EQ(made->set_comment("a comment"), Status::ok);
    }
    EXPECT_EQ(file->flush(), Status::ok);
    const Findings findings = findings_in(*file);
    EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
    EXPECT_EQ(file->close(), Status::ok);
    return failed;
}

}  // namespace

TEST(SharedMessageFaults, ASmallerExtent) {
    const std::vector<std::byte> image = with_shared_dataspaces();
    std::uint64_t points = 0;
    for (std::uint64_t k = 1; run(image, k) && !testing::Test::HasFailure(); k += sweep_step()) {
        SCOPED_TRACE(k);
        ++points;
    }
    std::printf("%u points\n", static_cast<unsigned>(points));
    EXPECT_GT(points * sweep_step(), 3U);
}

#endif
