// Chunks that get their space before there are rows for them: when the file is closed none is left, because libhdf5
// takes what it finds behind the last row for data when it makes the dataset longer.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::uint32_t kChunk = 10;
constexpr std::uint64_t kLonger = 90;

// Free space that is full of old bytes.
void leave_old_bytes(Turns& turns) {
    const std::vector<std::uint8_t> old(8000, 0xaa);
    auto dataset = turns.root.create_dataset("old", file_type_of<std::uint8_t>(), Dataspace::simple({old.size()}));
    ASSERT_EQ(dataset->write(Selection::all(), datatype_of<std::uint8_t>(),
                             as_bytes(Span<const std::uint8_t>(old.data(), old.size()))),
              Status::ok);
    ASSERT_EQ(turns.root.create_group("behind").status(), Status::ok);
    ASSERT_EQ(dataset->close(), Status::ok);
    ASSERT_EQ(turns.file.flush(), Status::ok);
    ASSERT_EQ(turns.root.unlink("old"), Status::ok);
    ASSERT_EQ(turns.file.flush(), Status::ok);
}

// What libhdf5 sees of the dataset when it has made it longer.
struct Seen {
    hsize_t chunks = 0;
    std::vector<std::int32_t> values = std::vector<std::int32_t>(kLonger);
};

void make_longer(hid_t file, Seen& seen) {
    const Hdf5Id dataset(H5Dopen2(file, "data", H5P_DEFAULT), H5Dclose);
    const hsize_t longer = kLonger;
    ASSERT_GE(dataset, 0);
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    ASSERT_GE(H5Dget_num_chunks(dataset, space, &seen.chunks), 0);
    ASSERT_GE(H5Dset_extent(dataset, &longer), 0);
    ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen.values.data()), 0);
}

void expect_no_old_bytes(FormatVersion version, std::uint64_t most, std::uint32_t reserve) {
    SCOPED_TRACE(testing::Message() << "version " << static_cast<int>(version) << ", at most " << most << " rows, "
                                    << reserve << " bytes in advance");
    Turns turns(version);
    turns.access.chunk_cache = 1024;
    turns.begin();
    leave_old_bytes(turns);
    DatasetCreate create;
    create.chunk = {kChunk};
    create.reserve = reserve;
    std::int32_t rows = 0;
    {
        auto dataset = turns.root.create_dataset<std::int32_t>("data", create, Dataspace::simple({0}, {most}));
        ASSERT_EQ(dataset.status(), Status::ok);
        while (rows < 47) {
            ASSERT_EQ(dataset->append(++rows), Status::ok);
            ASSERT_EQ(rows % 12 == 0 ? turns.file.flush() : Status::ok, Status::ok);
        }
    }
    Seen seen;
    turns.by_libhdf5([&](hid_t file) { make_longer(file, seen); });
    EXPECT_EQ(seen.chunks, 5U);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(kLonger); ++i) {
        ASSERT_EQ(seen.values[static_cast<std::size_t>(i)], i < rows ? i + 1 : 0) << "row " << i;
    }
}

TEST(ChunksAhead, AreGivenBackWhenTheFileIsClosed) {
    for (const FormatVersion version :
         {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18, FormatVersion::v110}) {
        for (const std::uint64_t most : {kUnlimited, std::uint64_t{313}}) {
            expect_no_old_bytes(version, most, 0);
            expect_no_old_bytes(version, most, 65536);
        }
    }
}

}  // namespace

#endif
