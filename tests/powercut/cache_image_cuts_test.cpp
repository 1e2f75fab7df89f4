// Power cuts while a file is continued that libhdf5 has closed with an image of its metadata cache, wherever the header
// of the superblock extension, which leads to the image, lies in its sectors. After every cut both libraries find what
// the file had.
#include "cuts.hpp"
#include "hdf5_image.hpp"
#include "recorded_cuts.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <unistd.h>
#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = RecordingDriver::Image;

constexpr unsigned kGroups = 3;

std::string group_name(unsigned i) { return "group " + std::to_string(i); }

std::string target(unsigned length) { return std::string(length, 't'); }

// A link whose target has `length` characters lies before the extension.
Image with_cache_image(unsigned length) {
    const std::string name = "cache_image_cuts." + std::to_string(getpid()) + ".h5";
    {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, true, false,
                                           H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
        EXPECT_GE(H5Pset_mdc_image_config(access, &image), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        EXPECT_GE(H5Lcreate_soft(target(length).c_str(), file, "moves", H5P_DEFAULT, H5P_DEFAULT), 0);
        for (unsigned i = 0; i < kGroups; ++i) {
            const Hdf5Id group(H5Gcreate2(file, group_name(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                               H5Gclose);
            EXPECT_GE(H5Lcreate_soft("/", group, "up", H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    }
    return take_file(name);
}

bool libhdf5_finds_all(const Image& image, unsigned length) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR, H5F_LIBVER_LATEST);
    H5L_info_t info{};
    bool all = file >= 0 && H5Lget_info(file, "moves", &info, H5P_DEFAULT) >= 0 && info.u.val_size == length + 1;
    for (unsigned i = 0; i < kGroups && all; ++i) {
        all = H5Lexists(file, (group_name(i) + "/up").c_str(), H5P_DEFAULT) > 0;
    }
    return all && H5Gclose(H5Gcreate2(file, "theirs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0;
}

bool we_find_all(Driver& driver, const char* added) {
    MallocAllocator allocator;
    NullPort port;
    Library library(allocator, port, {}, formats::all);
    Result<File> file = File::open(library, driver);
    bool all = file.status() == Status::ok && findings_in(*file).none();
    for (unsigned i = 0; i < kGroups && all; ++i) {
        Result<Group> group = file->root().open_group(group_name(i));
        all = group.status() == Status::ok && group->create_soft_link("up", "/") == Status::already_exists;
    }
    all = all && file->root().create_group(added).status() == Status::ok;
    return all && file->close() == Status::ok;
}

void judge(const Image& image, unsigned length, const std::string& where, Tally& tally) {
    if (tally.enough() || !tally.is_new(hash_of({image.data(), image.size()}, length))) {
        return;
    }
    tally.cut(true);
    std::string bad = libhdf5_finds_all(image, length) ? "" : "libhdf5 does not find all; ";
    MallocAllocator allocator;
    GrowingMemoryDriver driver(allocator);
    EXPECT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
    bad += we_find_all(driver, "ours after the cut") ? "" : "we do not find all; ";
    if (bad.empty()) {
        const std::vector<std::byte> after = image_of(driver);
        bad = libhdf5_finds_all(after, length) ? "" : "libhdf5 does not find all afterwards; ";
    }
    if (!bad.empty()) {
        tally.lost(where + ": " + bad);
    }
}

void cut(unsigned length, Tally& tally) {
    const Image begin = with_cache_image(length);
    MallocAllocator allocator;
    GrowingMemoryDriver memory(allocator);
    ASSERT_EQ(memory.assign({begin.data(), begin.size()}), Status::ok);
    RecordingDriver driver(memory);
    ASSERT_TRUE(we_find_all(driver, "ours")) << length << " characters";
    for_each_cut(driver, 0, [&](const Image& image, std::size_t, const std::string& where) {
        judge(image, length, std::to_string(length) + " characters, " + where, tally);
    });
}

}  // namespace

TEST(CacheImageCuts, EachPlaceOfTheExtension) {
    Tally tally("cache_image");
    for (unsigned length = 255; length < 320 && !testing::Test::HasFailure(); ++length) {
        cut(length, tally);
    }
    tally.report(2000);
}
