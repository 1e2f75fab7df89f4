// Families of files: libhdf5 opens and continues what h5mote made, and h5mote what libhdf5 made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_OTHER_FILES && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "family_members.hpp"
#include "hdf5_image.hpp"

#include <h5mote/vfd/posix_files.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

class FamilyFiles : public ::testing::Test {
protected:
    FamilyFiles() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~FamilyFiles() override { std::filesystem::remove_all(folder_); }

    std::vector<std::uintmax_t> sizes() const {
        std::vector<std::uintmax_t> result;
        for (int i = 0; i < 10000; ++i) {
            char name[32];
            (void)std::snprintf(name, sizeof name, "f%04d.h5", i);
            if (!std::filesystem::exists(folder_ + name)) {
                break;
            }
            result.push_back(std::filesystem::file_size(folder_ + name));
        }
        return result;
    }
    std::string folder_ = ::testing::TempDir() + "families/";
    std::string pattern_ = folder_ + "f%04d.h5";
};

/// A family of files that is open for writing.
struct Opened {
    Opened(const std::string& pattern, std::uint64_t size, bool writing = true) {
        EXPECT_EQ(members.set_pattern(pattern.c_str(), writing), Status::ok);
        EXPECT_EQ(size == 0 ? driver.open() : driver.open_or_create(size), Status::ok);
        access.metadata_cache = 8192;
        access.read_only = !writing;
    }
    ~Opened() { members.close(); }
    MallocAllocator heap;
    NullPort port;
    Library library{heap, port, {}, formats::all};
    PosixFamily members;
    FamilyDriver driver{members};
    FileAccess access;
};

Hdf5Id access_by_libhdf5(std::uint64_t size, H5F_libver_t low = H5F_LIBVER_EARLIEST) {
    Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_fapl_family(access, size, H5P_DEFAULT), 0);
    EXPECT_GE(H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST), 0);
    return Hdf5Id(H5Pcopy(access), H5Pclose);
}

// libhdf5 appends to "rows", which has `count` of them, or makes it, and makes or removes "big", which is 20,000 bytes.
void continue_by_libhdf5(hid_t file, hsize_t count, bool big) {
    const hsize_t chunk = 50;
    const hsize_t unlimited = H5S_UNLIMITED;
    if (count == 0) {
        const Hdf5Id space(H5Screate_simple(1, &count, &unlimited), H5Sclose);
        const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_chunk(create, 1, &chunk), 0);
        const Hdf5Id made(H5Dcreate2(file, "rows", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
        ASSERT_GE(made, 0);
    }
    const Hdf5Id rows(H5Dopen2(file, "rows", H5P_DEFAULT), H5Dclose);
    ASSERT_GE(rows, 0);
    std::vector<int> values(static_cast<std::size_t>(count) + kRows);
    const Hdf5Id space(H5Dget_space(rows), H5Sclose);
    ASSERT_EQ(H5Sget_simple_extent_npoints(space), static_cast<hssize_t>(count));
    ASSERT_GE(H5Dread(rows, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], static_cast<int>(i));
    }
    std::iota(values.begin(), values.end(), 0);
    const hsize_t longer = count + kRows;
    ASSERT_GE(H5Dset_extent(rows, &longer), 0);
    ASSERT_GE(H5Dwrite(rows, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    if (!big) {
        ASSERT_GE(H5Ldelete(file, "big", H5P_DEFAULT), 0);
        return;
    }
    const hsize_t size = 5000;
    const Hdf5Id plain(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id made(H5Dcreate2(file, "big", H5T_STD_I32LE, plain, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    const std::vector<int> zeros(5000);
    ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()), 0);
}

struct Form {
    const char* name;
    FormatVersion low;
    bool records_space = false;
};

TEST_F(FamilyFiles, BothContinueThem) {
    for (const std::uint64_t size : {512U, 1024U, 4096U, 65536U}) {
        for (const Form& form : {Form{"usual", FormatVersion::standard}, Form{"old", FormatVersion::earliest},
                                 Form{"new", FormatVersion::v110}, Form{"free space", FormatVersion::standard, true}}) {
            SCOPED_TRACE(std::string(form.name) + " " + std::to_string(size));
            std::filesystem::remove_all(folder_);
            std::filesystem::create_directories(folder_);
            {
                Opened ours(pattern_, size);
                ours.access.low = form.low;
                FileCreate create;
                create.persist_free_space = form.records_space;
                auto file = File::create(ours.library, ours.driver, ours.access, create);
                ASSERT_EQ(file.status(), Status::ok);
                ASSERT_EQ(append(*file, 0), Status::ok);
                FileInfo info;
                ASSERT_EQ(file->info(info), Status::ok);
                EXPECT_TRUE(info.has_driver_info);
                ASSERT_EQ(file->flush(), Status::ok);
                expect_rows(*file, kRows);
                ASSERT_EQ(file->close(), Status::ok);
            }
            std::vector<std::uintmax_t> members = sizes();
            for (std::size_t i = 0; i + 1 < members.size(); ++i) {
                EXPECT_EQ(members[i], size);
            }
            {
                // libhdf5 compares the size that it is given with the one that the file has.
                const Hdf5Id wrong(H5Fopen(pattern_.c_str(), H5F_ACC_RDONLY, access_by_libhdf5(size * 2)), H5Fclose);
                EXPECT_LT(wrong, 0);
                const Hdf5Id file(H5Fopen(pattern_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(size)), H5Fclose);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, kRows, true);
            }
            const std::size_t most = sizes().size();
            {
                Opened ours(pattern_, 0);
                ours.access.low = form.low;
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                EXPECT_EQ(ours.driver.member_size(), size);
                ASSERT_EQ(append(*file, 2 * kRows), Status::ok);
                expect_rows(*file, 3 * kRows);
                ASSERT_EQ(file->close(), Status::ok);
            }
            {
                const Hdf5Id file(H5Fopen(pattern_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(0)), H5Fclose);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, 3 * kRows, false);
            }
            {
                Opened ours(pattern_, 0);
                ours.access.low = form.low;
                ours.access.reclaim = true;
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                ASSERT_EQ(append(*file, 4 * kRows), Status::ok);
                ASSERT_EQ(file->root().unlink("rows"), Status::ok);
                ASSERT_EQ(append(*file, 0), Status::ok);
                ASSERT_EQ(file->close(), Status::ok);
            }
            EXPECT_GE(sizes().size(), most);  // members that are not needed stay, and are empty
            {
                Opened ours(pattern_, 0, false);
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                expect_rows(*file, kRows);
            }
            const Hdf5Id file(H5Fopen(pattern_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(size)), H5Fclose);
            ASSERT_GE(file, 0);
            continue_by_libhdf5(file, kRows, true);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST_F(FamilyFiles, TheirsContinued) {
    for (const std::uint64_t size : {512U, 2048U, 65536U}) {
        for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
            SCOPED_TRACE(size);
            std::filesystem::remove_all(folder_);
            std::filesystem::create_directories(folder_);
            {
                const Hdf5Id file(H5Fcreate(pattern_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_by_libhdf5(size, low)),
                                  H5Fclose);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, 0, true);
            }
            {
                Opened ours(pattern_, 0);
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                ASSERT_EQ(append(*file, kRows), Status::ok);
                ASSERT_EQ(file->root().unlink("big"), Status::ok);
                ASSERT_EQ(file->root().create_group("group").status(), Status::ok);
                expect_rows(*file, 2 * kRows);
                ASSERT_EQ(file->close(), Status::ok);
            }
            const Hdf5Id file(H5Fopen(pattern_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(size, low)), H5Fclose);
            ASSERT_GE(file, 0);
            EXPECT_GT(H5Lexists(file, "group", H5P_DEFAULT), 0);
            continue_by_libhdf5(file, 2 * kRows, true);
        }
    }
}

// A power cut may leave the first member short, of any length, when the second has bytes already: both change between
// two syncs. How long it is says nothing then about the size of members.
TEST_F(FamilyFiles, AShortFirstMember) {
    constexpr std::uint64_t kSize = 5120;
    std::filesystem::create_directories(folder_);
    {
        Opened ours(pattern_, kSize);
        auto file = File::create(ours.library, ours.driver, ours.access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(append(*file, 0), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    const std::uintmax_t length = sizes()[0];
    ASSERT_TRUE(length % 512 != 0 && length < kSize);
    std::ofstream(folder_ + "f0001.h5") << "what was not committed";
    Opened ours(pattern_, 0);
    auto file = File::open(ours.library, ours.driver, ours.access);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(ours.driver.member_size(), kSize);
    expect_rows(*file, kRows);
    ASSERT_EQ(append(*file, kRows), Status::ok);
    ASSERT_EQ(file->close(), Status::ok);
}

TEST_F(FamilyFiles, RefusedByName) {
    {
        // Members of no multiple of a sector are read, but not written.
        const Hdf5Id file(H5Fcreate(pattern_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_by_libhdf5(700)), H5Fclose);
        ASSERT_GE(file, 0);
        continue_by_libhdf5(file, 0, true);
    }
    Opened ours(pattern_, 0);
    EXPECT_EQ(File::open(ours.library, ours.driver, ours.access).status(), Status::unsupported);
    ours.access.read_only = true;
    EXPECT_EQ(File::open(ours.library, ours.driver, ours.access).status(), Status::ok);
    // Without the part of the format that keeps the size of members, no family is made.
    Members members;
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open_or_create(512), Status::ok);
    Library plain{ours.heap, ours.port, {}, formats::none};
    EXPECT_EQ(File::create(plain, driver, FileAccess{}).status(), Status::unsupported);
    // libhdf5 would not open a family with a user block.
    FileCreate create;
    create.user_block = 512;
    EXPECT_EQ(File::create(ours.library, driver, FileAccess{}, create).status(), Status::unsupported);
    // A member is no file of its own.
    ASSERT_EQ(driver.truncate(0), Status::ok);
    { ASSERT_EQ(File::create(ours.library, driver, FileAccess{}).status(), Status::ok); }
    EXPECT_EQ(File::open(ours.library, *members.members[0], FileAccess{}).status(), Status::unsupported);
}

}  // namespace

#endif
