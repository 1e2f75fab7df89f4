// Files of the split and multi drivers: libhdf5 opens and continues what h5mote made, and h5mote what libhdf5 made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_OTHER_FILES && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "family_members.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/posix_files.hpp>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

class MultiFiles : public ::testing::Test {
protected:
    MultiFiles() {
        clear();
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~MultiFiles() override { std::filesystem::remove_all(folder_); }
    void clear() const {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    std::uintmax_t size_of(const char* part) const { return std::filesystem::file_size(path_ + "-" + part + ".h5"); }

    std::string folder_ = ::testing::TempDir() + "parts/";
    std::string path_ = folder_ + "f";
};

/// A file in parts that is open for writing.
struct Opened {
    Opened(const std::string& path, bool split, bool make, bool writing = true) {
        parts.set_path(path.c_str(), writing);
        const MultiLayout layout = split ? split_layout() : multi_layout();
        status = make ? driver.open_or_create(layout) : driver.open(layout);
        access.metadata_cache = 16384;
        access.read_only = !writing;
    }
    MallocAllocator heap;
    NullPort port;
    Library library{heap, port, {}, formats::all};
    PosixParts parts;
    MultiDriver driver{parts};
    FileAccess access;
    Status status;
};

Hdf5Id access_by_libhdf5(bool split, H5F_libver_t low = H5F_LIBVER_EARLIEST) {
    Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (split) {
        EXPECT_GE(H5Pset_fapl_split(access, "-m.h5", H5P_DEFAULT, "-r.h5", H5P_DEFAULT), 0);
    } else {
        EXPECT_GE(H5Pset_fapl_multi(access, nullptr, nullptr, nullptr, nullptr, false), 0);
    }
    EXPECT_GE(H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST), 0);
    return Hdf5Id(H5Pcopy(access), H5Pclose);
}

// libhdf5 reads "rows", of which there are `count`, appends to them, and makes or removes "big", of 20,000 bytes.
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

// libhdf5 writes most of a file when it is closed.
herr_t close_by_libhdf5(hid_t file) {
    const herr_t status = H5Fclose(file);
    EXPECT_GE(status, 0);
    return status;
}

struct Form {
    const char* name;
    FormatVersion low;
    H5F_libver_t theirs;
};

constexpr Form kForms[] = {{"usual", FormatVersion::standard, H5F_LIBVER_V18},
                           {"old", FormatVersion::earliest, H5F_LIBVER_EARLIEST},
                           {"new", FormatVersion::v110, H5F_LIBVER_V110}};

TEST_F(MultiFiles, BothContinueOurs) {
    for (const bool split : {true, false}) {
        for (const Form& form : kForms) {
            SCOPED_TRACE(std::string(form.name) + (split ? " split" : " multi"));
            clear();
            {
                Opened ours(path_, split, true);
                ASSERT_EQ(ours.status, Status::ok);
                ours.access.low = form.low;
                auto file = File::create(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                ASSERT_EQ(append(*file, 0), Status::ok);
                FileInfo info;
                ASSERT_EQ(file->info(info), Status::ok);
                EXPECT_TRUE(info.has_driver_info);
                ASSERT_EQ(file->flush(), Status::ok);
                expect_rows(*file, kRows);
                ASSERT_EQ(file->close(), Status::ok);
            }
            EXPECT_EQ(size_of("r"), 4U * kRows);
            {
                const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(split, form.theirs)),
                                  H5Fclose);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, kRows, true);
            }
            {
                Opened ours(path_, split, false);
                ASSERT_EQ(ours.status, Status::ok);
                ours.access.low = form.low;
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                expect_rows(*file, 2 * kRows);
                ASSERT_EQ(append(*file, 2 * kRows), Status::ok);
                expect_rows(*file, 3 * kRows);
                ASSERT_EQ(file->close(), Status::ok);
            }
            {
                const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(split, form.theirs)),
                                  H5Fclose);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, 3 * kRows, false);
            }
            {
                Opened ours(path_, split, true);
                ours.access.low = form.low;
                ours.access.reclaim = true;
                auto file = File::open_or_create(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                EXPECT_EQ(file->reclaim(), Status::unsupported);
                ASSERT_EQ(append(*file, 4 * kRows), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
                ASSERT_EQ(file->root().unlink("rows"), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
                ASSERT_EQ(append(*file, 0), Status::ok);
                ASSERT_EQ(file->close(), Status::ok);
            }
            {
                Opened ours(path_, split, false, false);
                ASSERT_EQ(ours.status, Status::ok);
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                expect_rows(*file, kRows);
            }
            const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(split, form.theirs)), H5Fclose);
            ASSERT_GE(file, 0);
            continue_by_libhdf5(file, kRows, true);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST_F(MultiFiles, TheirsContinued) {
    for (const bool split : {true, false}) {
        for (const auto& [low, user_block] : {std::pair<H5F_libver_t, hsize_t>{H5F_LIBVER_EARLIEST, 0},
                                              {H5F_LIBVER_V18, 0},
                                              {H5F_LIBVER_LATEST, 0},
                                              {H5F_LIBVER_EARLIEST, 512},
                                              {H5F_LIBVER_V18, 2048},
                                              {H5F_LIBVER_LATEST, 1024}}) {
            SCOPED_TRACE(std::string(split ? "split " : "multi ") + std::to_string(low) + ' ' +
                         std::to_string(user_block));
            clear();
            // libhdf5 1.10.8 cannot close a file in several parts with a user block, its own neither, in which a group
            // got more links than stay in its header.
            const unsigned groups = split || user_block == 0 ? 40 : 3;
            {
                const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
                ASSERT_GE(H5Pset_userblock(create, user_block), 0);
                const Hdf5Id file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, create, access_by_libhdf5(split, low)),
                                  close_by_libhdf5);
                ASSERT_GE(file, 0);
                continue_by_libhdf5(file, 0, true);
            }
            {
                Opened ours(path_, split, false);
                ASSERT_EQ(ours.status, Status::ok);
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                ASSERT_EQ(append(*file, kRows), Status::ok);
                ASSERT_EQ(file->root().unlink("big"), Status::ok);
                for (unsigned i = 0; i < groups; ++i) {
                    ASSERT_EQ(file->root().create_group(("group" + std::to_string(i)).c_str()).status(), Status::ok);
                }
                expect_rows(*file, 2 * kRows);
                EXPECT_TRUE(findings_in(*file).none());
                ASSERT_EQ(file->close(), Status::ok);
            }
            {
                Opened ours(path_, split, false, false);
                auto file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                EXPECT_TRUE(findings_in(*file).none());
                expect_rows(*file, 2 * kRows);
                ASSERT_EQ(file->close(), Status::ok);
                // The driver is as before: the same file is opened on it again.
                file = File::open(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
                expect_rows(*file, 2 * kRows);
            }
            const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(split, low)), close_by_libhdf5);
            ASSERT_GE(file, 0);
            EXPECT_GT(H5Lexists(file, ("group" + std::to_string(groups - 1)).c_str(), H5P_DEFAULT), 0);
            continue_by_libhdf5(file, 2 * kRows, true);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

constexpr auto kText = make_variable_string(CharacterSet::utf8);
constexpr const char* kTexts[] = {"one", "a second text", "the third text of them"};

// Strings of any length lie in the global heap; the other datasets have every kind of chunk index.
void make_objects(File& file) {
    Group root = file.root();
    auto texts = root.create_dataset("texts", kText, Dataspace::simple({3}));
    ASSERT_EQ(texts.status(), Status::ok);
    ASSERT_EQ(texts->write(Selection::all(), kText, {reinterpret_cast<const std::byte*>(kTexts), sizeof kTexts}),
              Status::ok);
    std::vector<std::int32_t> values(3000);
    std::iota(values.begin(), values.end(), 0);
    struct Kind {
        const char* name;
        Dataspace space;
    };
    const Kind kinds[] = {{"fixed", Dataspace::simple({3000})},
                          {"extensible", Dataspace::simple({3000}, {kUnlimited})},
                          {"two", Dataspace::simple({3000, 1}, {kUnlimited, kUnlimited})}};
    for (const Kind& kind : kinds) {
        DatasetCreate create;
        create.chunk = {2, 1};
        if (kind.space.rank() == 1) {
            create.chunk = {2};
        }
        auto made = root.create_dataset(kind.name, datatype_of<std::int32_t>(), kind.space, create);
        ASSERT_EQ(made.status(), Status::ok) << kind.name;
        ASSERT_EQ(made->write(Selection::all(), datatype_of<std::int32_t>(),
                              ConstBytes(reinterpret_cast<const std::byte*>(values.data()), 12000)),
                  Status::ok)
            << kind.name;
        ASSERT_EQ(made->close(), Status::ok);
    }
    // More links than a group keeps in its header, and attributes.
    auto group = root.create_group("group");
    ASSERT_EQ(group.status(), Status::ok);
    for (std::int32_t i = 0; i < 40; ++i) {
        ASSERT_EQ(group->create_group(("link" + std::to_string(i)).c_str()).status(), Status::ok) << i;
        ASSERT_EQ(group->write_attribute(("attribute" + std::to_string(i)).c_str(), i), Status::ok) << i;
    }
}

void expect_objects(hid_t file) {
    const Hdf5Id texts(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
    ASSERT_GE(texts, 0);
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
    ASSERT_GE(H5Tset_cset(type, H5T_CSET_UTF8), 0);
    char* read[3] = {};
    ASSERT_GE(H5Dread(texts, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(read)), 0);
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_STREQ(read[i], kTexts[i]);
        H5free_memory(read[i]);
    }
    for (const char* name : {"fixed", "extensible", "two"}) {
        const Hdf5Id dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
        std::vector<int> values(3000);
        ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
        for (int i = 0; i < 3000; ++i) {
            ASSERT_EQ(values[static_cast<std::size_t>(i)], i) << name;
        }
    }
    const Hdf5Id group(H5Gopen2(file, "group", H5P_DEFAULT), H5Gclose);
    ASSERT_GE(group, 0);
    H5G_info_t info;
    ASSERT_GE(H5Gget_info(group, &info), 0);
    EXPECT_EQ(info.nlinks, 40U);
    for (int i = 0; i < 40; ++i) {
        const Hdf5Id attribute(H5Aopen(group, ("attribute" + std::to_string(i)).c_str(), H5P_DEFAULT), H5Aclose);
        int value = -1;
        ASSERT_GE(H5Aread(attribute, H5T_NATIVE_INT, &value), 0) << i;
        EXPECT_EQ(value, i);
    }
}

// libhdf5 finds every kind of block in the part of its usage, changes it there and removes it.
TEST_F(MultiFiles, EveryKindOfObject) {
    for (const bool split : {true, false}) {
        for (const Form& form : kForms) {
            SCOPED_TRACE(std::string(form.name) + (split ? " split" : " multi"));
            clear();
            {
                Opened ours(path_, split, true);
                ours.access.low = form.low;
                auto file = File::create(ours.library, ours.driver, ours.access);
                ASSERT_EQ(file.status(), Status::ok);
                make_objects(*file);
                ASSERT_FALSE(HasFatalFailure());
                ASSERT_EQ(file->close(), Status::ok);
            }
            {
                const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_by_libhdf5(split, form.theirs)),
                                  H5Fclose);
                ASSERT_GE(file, 0);
                expect_objects(file);
                for (const char* name : {"texts", "fixed", "two"}) {
                    ASSERT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0) << name;
                }
                const Hdf5Id grown(H5Dopen2(file, "extensible", H5P_DEFAULT), H5Dclose);
                const hsize_t longer = 9000;
                ASSERT_GE(H5Dset_extent(grown, &longer), 0);
                const std::vector<int> values(9000, 7);
                ASSERT_GE(H5Dwrite(grown, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            }
            Opened ours(path_, split, false);
            auto file = File::open(ours.library, ours.driver, ours.access);
            ASSERT_EQ(file.status(), Status::ok);
            auto grown = file->root().open_dataset("extensible");
            ASSERT_EQ(grown.status(), Status::ok);
            std::vector<std::int32_t> values(9000);
            ASSERT_EQ(grown->read(Selection::all(), datatype_of<std::int32_t>(),
                                  Bytes(reinterpret_cast<std::byte*>(values.data()), 36000)),
                      Status::ok);
            EXPECT_EQ(values, std::vector<std::int32_t>(9000, 7));
            ASSERT_EQ(grown->close(), Status::ok);
            ASSERT_EQ(file->root().unlink("extensible"), Status::ok);
            ASSERT_EQ(file->root().unlink("group/link7"), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
        }
    }
}

}  // namespace

#endif
