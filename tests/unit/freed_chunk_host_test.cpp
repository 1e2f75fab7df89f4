// libhdf5 1.10 leaves the address of a single chunk in the layout message when it makes the dataset empty, although it
// has freed the chunk: other objects may lie there.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && defined(H5MOTE_TEST_HDF5)

#include "hdf5_image.hpp"
#include "sound.hpp"
#include "test.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;

constexpr std::uint64_t kSize = 400;

// A dataset "a" whose chunk libhdf5 has freed, which the file records.
Image make_file() {
    const std::string name = ::testing::TempDir() + "freed_chunk.h5";
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_file_space_strategy(properties, H5F_FSPACE_STRATEGY_FSM_AGGR, 1, 1), 0);
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, properties, access), H5Fclose);
        const hsize_t size = kSize;
        const Hdf5Id space(H5Screate_simple(1, &size, &size), H5Sclose);
        const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_chunk(create, 1, &size), 0);
        const std::vector<int> values(kSize, 7);
        for (const char* const each : {"a", "z"}) {
            const Hdf5Id data(H5Dcreate2(file, each, H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
            EXPECT_GE(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        }
    }
    {
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, access), H5Fclose);
        const Hdf5Id data(H5Dopen2(file, "a", H5P_DEFAULT), H5Dclose);
        const hsize_t none = 0;
        EXPECT_GE(H5Dset_extent(data, &none), 0);
    }
    return take_file(name);
}

class Reopened {
public:
    explicit Reopened(const Image& image, const FileAccess& access = {}) {
        EXPECT_EQ(storage_.assign({image.data(), image.size()}), Status::ok);
        auto opened = File::open(library_, storage_, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }

    // Datasets that take all that is free.
    void fill(const char* stem) {
        for (unsigned i = 0; i < 8; ++i) {
            auto made = file.root().create_dataset(stem + std::to_string(i), file_type_of<std::int32_t>(),
                                                   Dataspace::simple({50}));
            ASSERT_EQ(made.status(), Status::ok);
            const std::vector<std::int32_t> values(50, static_cast<std::int32_t>(i));
            ASSERT_EQ(made->write(Selection::all(), datatype_of<std::int32_t>(),
                                  as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
                      Status::ok);
        }
    }
    void expect_filled(const char* stem) {
        for (unsigned i = 0; i < 8; ++i) {
            auto made = file.root().open_dataset<std::int32_t>(stem + std::to_string(i));
            ASSERT_EQ(made.status(), Status::ok);
            std::int32_t values[50] = {};
            ASSERT_EQ(made->read(Selection::all(), Span<std::int32_t>(values)), Status::ok);
            for (const std::int32_t value : values) {
                ASSERT_EQ(value, static_cast<std::int32_t>(i)) << stem << i;
            }
        }
    }
    Image close() {
        EXPECT_EQ(file.close(), Status::ok);
        return image_of(storage_);
    }

private:
    MallocAllocator memory_;
    GrowingMemoryDriver storage_{memory_};
    NullPort port_;
    Library library_{memory_, port_, {}, formats::all};

public:
    File file;
};

void expect_grown(File& file) {
    auto grown = file.root().open_dataset<std::int32_t>("a");
    ASSERT_EQ(grown.status(), Status::ok);
    ASSERT_EQ(grown->size(), 3U);
    std::int32_t values[3] = {1, 1, 1};
    ASSERT_EQ(grown->read(Selection::all(), Span<std::int32_t>(values)), Status::ok);
    for (const std::int32_t value : values) {
        EXPECT_EQ(value, 0);
    }
}

}  // namespace

// The dataset grows again when others have taken the space of its chunk, and has fill values.
TEST(FreedChunk, BelongsToOthers) {
    Image image = make_file();
    {
        Reopened first(image);
        EXPECT_TRUE(findings_in(first.file).none());
        first.fill("before");
        auto data = first.file.root().open_dataset("a");
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->set_extent({3}), Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        expect_grown(first.file);
        first.fill("behind");
        first.expect_filled("before");
        image = first.close();
    }
    Reopened second(image);
    EXPECT_TRUE(findings_in(second.file).none());
    expect_grown(second.file);
    second.expect_filled("before");
    second.expect_filled("behind");
}

TEST(FreedChunk, IsNotDeletedWithTheDataset) {
    Reopened file(make_file());
    file.fill("before");
    ASSERT_EQ(file.file.root().unlink("a"), Status::ok);
    file.fill("behind");
    file.expect_filled("before");
    EXPECT_TRUE(findings_in(file.file).none());
}

// What looks for lost space forgets the address, so that libhdf5, which trusts it, finds none.
TEST(FreedChunk, IsForgottenByReclaim) {
    Image image = make_file();
    {
        Reopened first(image);
        ASSERT_EQ(first.file.reclaim(), Status::ok);
        first.fill("before");
        image = first.close();
    }
    const Hdf5Id theirs = open_image({image.data(), image.size()}, H5F_ACC_RDWR, H5F_LIBVER_LATEST);
    ASSERT_GE(theirs, 0);
    const Hdf5Id data(H5Dopen2(theirs, "a", H5P_DEFAULT), H5Dclose);
    const hsize_t three = 3;
    ASSERT_GE(H5Dset_extent(data, &three), 0);
    int values[3] = {1, 1, 1};
    ASSERT_GE(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    for (const int value : values) {
        EXPECT_EQ(value, 0);
    }
}

// A dataset without elements has no chunk from its creation on, whenever its space is to be allocated.
TEST(FreedChunk, IsNeverAllocated) {
    MallocAllocator memory;
    GrowingMemoryDriver storage(memory);
    NullPort port;
    Library library(memory, port, {}, formats::all);
    auto file = File::create(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {50};
    create.allocation = AllocationTime::early;
    {
        auto data = file->root().create_dataset("a", file_type_of<double>(), Dataspace::simple({0}, {50}), create);
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->set_extent({3}), Status::ok);
        ASSERT_EQ(data->set_extent({0}), Status::ok);
    }
    std::uint64_t lost = 1;
    ASSERT_EQ(file->reclaim(&lost), Status::ok);
    EXPECT_EQ(lost, 0U);
    EXPECT_TRUE(findings_in(*file).none());
}

#endif
