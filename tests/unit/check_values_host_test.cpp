// What check_file() reports of variable-length values, wherever they are in an element, and of files that are not open.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS

#include "hdf5_files.hpp"
#include "resealed.hpp"

#include <h5mote/check.hpp>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

class Listed final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { all.push_back(problem); }
    std::vector<Problem> all;
};

// The dataset "d": each element has two texts and an array of three more.
Image make_texts(H5D_layout_t layout, hsize_t rows) {
    struct Row {
        const char* first;
        const char* second;
        const char* others[3];
    };
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text, H5T_VARIABLE);
    const hsize_t three = 3;
    const Hdf5Id array(H5Tarray_create2(text, 1, &three), H5Tclose);
    const Hdf5Id type(H5Tcreate(H5T_COMPOUND, sizeof(Row)), H5Tclose);
    H5Tinsert(type, "first", HOFFSET(Row, first), text);
    H5Tinsert(type, "second", HOFFSET(Row, second), text);
    H5Tinsert(type, "others", HOFFSET(Row, others), array);
    const Hdf5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_layout(list, layout);
    if (layout == H5D_CHUNKED) {
        H5Pset_chunk(list, 1, &rows);
    }
    const Hdf5Id data(H5Dcreate2(maker.file(), "d", type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    const std::vector<Row> values(static_cast<std::size_t>(rows), Row{"1", "2", {"3", "4", "5"}});
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    return maker.finish();
}

std::vector<Problem> problems_of(const Image& image) {
    MallocAllocator memory;
    Listed listed;
    {
        NullPort port;
        Library library(memory, port, kAllFilters);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, driver, access);
        EXPECT_EQ(file.status(), Status::ok);
        EXPECT_EQ(check_file(*file, {}, listed), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(memory.blocks(), 0U);
    return listed.all;
}

}  // namespace

// Each of five values refers to a heap object that does not exist: one damaged value must not hide the others.
TEST(CheckValues, EachPartOfAnElement) {
    constexpr std::size_t kParts = 5;
    constexpr std::size_t kId = 16;  // length 4 | collection 8 | index 4
    for (const H5D_layout_t layout : {H5D_COMPACT, H5D_CONTIGUOUS, H5D_CHUNKED}) {
        for (const std::size_t rows : {std::size_t{1}, std::size_t{2}}) {
            Image image = make_texts(layout, rows);
            ASSERT_TRUE(problems_of(image).empty());
            // The stored form of the first value, up to the index in its heap id: length 1 and the address of the
            // collection.
            Image first(kId - 4);
            store_le<std::uint32_t>(first.data(), 1);
            store_le<std::uint64_t>(first.data() + 4, find_bytes(image, "GCOL"));
            const auto at = std::search(image.begin(), image.end(), first.begin(), first.end());
            ASSERT_NE(at, image.end());
            const auto begin = static_cast<std::size_t>(at - image.begin());
            for (std::size_t i = 0; i < kParts * rows; ++i) {
                store_le<std::uint32_t>(image.data() + begin + i * kId + 12, static_cast<std::uint32_t>(70 + i));
            }
            reseal(image);
            const std::vector<Problem> problems = problems_of(image);
            ASSERT_EQ(problems.size(), kParts * rows);
            for (std::size_t i = 0; i < problems.size(); ++i) {
                EXPECT_EQ(problems[i].kind, ProblemKind::missing_heap_object);
                EXPECT_EQ(problems[i].number, 70 + i);
            }
        }
    }
}

TEST(CheckValues, OnlyOfFilesThatAreOpen) {
    Listed listed;
    CheckSummary summary;
    summary.objects = 9;
    File none;
    EXPECT_EQ(check_file(none, {}, listed, &summary), Status::invalid_handle);
    const Image image = make_texts(H5D_COMPACT, 1);
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
    FileAccess access;
    access.read_only = true;
    auto file = File::open(library, driver, access);
    ASSERT_EQ(file.status(), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
    EXPECT_EQ(check_file(*file, {}, listed, &summary), Status::invalid_handle);
    EXPECT_TRUE(listed.all.empty());
    EXPECT_EQ(summary.objects, 9U);
}

#endif
#endif
