// Variable-length data that libhdf5 wrote, read while memory runs out: a failed read releases what it had delivered.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include "test.hpp"
#include "test_allocators.hpp"

#include <hdf5.h>

#include <vector>

#if H5MOTE_ALL_FORMATS

#include "faulty_files.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr hsize_t kRows = 40;

// Makes a file in memory with the dataset "d" of strings, chunked or contiguous.
std::vector<std::byte> strings(bool chunked) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 65536, false);
    const hid_t file = H5Fcreate("strings.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t space = H5Screate_simple(1, &kRows, nullptr);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 7;
    if (chunked) {
        H5Pset_chunk(create, 1, &chunk);
    }
    const hid_t data = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    const char* values[kRows];
    for (hsize_t i = 0; i < kRows; ++i) {
        values[i] = i % 3 == 0 ? "a longer text than the others" : "text";
    }
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(data);
    H5Pclose(create);
    H5Sclose(space);
    H5Tclose(type);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    std::vector<std::byte> image(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    H5Fget_file_image(file, image.data(), image.size());
    H5Fclose(file);
    H5Pclose(access);
    return image;
}

}  // namespace

TEST(DatasetVariable, AReadThatFailsLeavesNoSequence) {
    for (const bool chunked : {false, true}) {
        for (const bool points : {false, true}) {
            const std::vector<std::byte> image = strings(chunked);
            MallocAllocator memory;
            FailingAllocator failing(memory);
            NullPort port;
            Library library(failing, port);
            library.set_free_list_limits({0, 0});  // so that every allocation can fail
            MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
            FileAccess access;
            access.read_only = true;
            access.chunk_cache = 256;
            auto file = File::open(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            auto data = file->root().open_dataset("d");
            ASSERT_EQ(data.status(), Status::ok);
            static constexpr auto kText = make_variable_string();
            std::uint64_t order[kRows];
            for (std::uint64_t i = 0; i < kRows; ++i) {
                order[i] = (i * 7) % kRows;
            }
            const Selection selection = points ? Selection::points(1, order) : Selection::all();
            char* got[kRows];
            const Bytes to{reinterpret_cast<std::byte*>(got), sizeof got};
            Status status = Status::out_of_memory;
            std::uint64_t failures = 0;
            for (std::uint64_t k = 1; status != Status::ok; ++k) {
                for (char*& each : got) {
                    each = nullptr;
                }
                failing.arm(k, true);
                status = data->read(selection, kText, to);
                failing.disarm();
                if (status != Status::ok) {
                    ++failures;
                    for (const char* each : got) {
                        ASSERT_TRUE(each == nullptr);
                    }
                    ASSERT_EQ(library.memory_report().kinds[static_cast<std::size_t>(MemoryKind::value)].now, 0U);
                }
            }
            EXPECT_GE(failures, std::uint64_t{kRows});
            EXPECT_EQ(std::strcmp(got[0], "a longer text than the others"), 0);
            EXPECT_EQ(reclaim(library, kText, kRows, sizeof(char*), got), Status::ok);
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
            EXPECT_EQ(memory.blocks(), 0U);
        }
    }
}

// Sequences of sequences: once of elements that need no conversion, and once of elements that are converted.
TEST(DatasetVariable, NestedSequencesOfAReadThatFails) {
    constexpr std::size_t kCount = 5;
    Images images;
    images["main"] = made([](hid_t file) {
        const Hdf5Id inner(H5Tvlen_create(H5T_STD_I32LE), H5Tclose);
        const Hdf5Id outer(H5Tvlen_create(inner), H5Tclose);
        const Hdf5Id memory(H5Tvlen_create(Hdf5Id(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose)), H5Tclose);
        int numbers[] = {1, 2, 3, 4, 5, 6};
        hvl_t parts[kCount];
        hvl_t rows[kCount];
        for (std::size_t i = 0; i < kCount; ++i) {
            parts[i] = {i, numbers + 1};
            rows[i] = {kCount - i, parts + i};
        }
        const Hdf5Id space(simple({kCount}), H5Sclose);
        const Hdf5Id data(H5Dcreate2(file, "d", outer, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        EXPECT_GE(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows), 0);
    });
    static constexpr auto kSame = make_variable_length(make_variable_length(make_integer(4, true, ByteOrder::little)));
    static constexpr auto kOther = make_variable_length(make_variable_length(make_integer(2, true, ByteOrder::big)));
    for (const DatatypeView type : {kSame.view(), kOther.view()}) {
        FaultyFile with(images, "main");
        const unsigned refused = with.sweep<std::vector<std::size_t>>([type](Library& library, FaultyFile& on,
                                                                             std::vector<std::size_t>& seen) {
            auto file = File::open(library, on.main, on.access());
            H5MOTE_TRY(file.status());
            auto data = file->root().open_dataset("d");
            H5MOTE_TRY(data.status());
            VariableLength rows[kCount];
            const Status status = data->read(Selection::all(), type, {reinterpret_cast<std::byte*>(rows), sizeof rows});
            for (const VariableLength& row : rows) {
                EXPECT_TRUE(status == Status::ok || (row.data == nullptr && row.count == 0));
                seen.push_back(row.count);
                for (std::size_t i = 0; i < row.count; ++i) {
                    seen.push_back(static_cast<const VariableLength*>(row.data)[i].count);
                }
            }
            EXPECT_EQ(reclaim(library, type, kCount, sizeof *rows, rows), Status::ok);
            return status;
        });
        EXPECT_GT(refused, 30U);
    }
}

#endif
#endif
