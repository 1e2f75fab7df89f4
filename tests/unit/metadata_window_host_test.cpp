// Object headers larger than the metadata cache, in files that are changed: reading through a window gives the content
// of the file before and after changes, and a change that needs the whole block is refused.
#ifdef H5MOTE_TEST_HDF5

#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "hdf5_image.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr hsize_t kLarge = 900;  // numbers in an attribute: 3600 bytes

// A file of libhdf5 with the groups "large", whose header has two attributes of kLarge numbers, and "small".
Image make_large_headers() {
    constexpr const char* kName = "metadata_window_host_test.h5";
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    const hid_t file = H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(1, &kLarge, nullptr);
    std::vector<int> values(kLarge);
    const hid_t large = H5Gcreate2(file, "large", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int which = 0; which < 2; ++which) {
        for (std::size_t i = 0; i < kLarge; ++i) {
            values[i] = static_cast<int>(i) * (which + 1);
        }
        const hid_t attribute =
            H5Acreate2(large, which == 0 ? "first" : "second", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, H5T_NATIVE_INT, values.data());
        H5Aclose(attribute);
    }
    H5Gclose(large);
    H5Gclose(H5Gcreate2(file, "small", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    return take_file(kName);
}

void expect_numbers(const Group& group, const char* name, int factor) {
    std::vector<std::int32_t> values(kLarge);
    ASSERT_EQ(group.read_attribute(name, kNumber.view(), {reinterpret_cast<std::byte*>(values.data()), 4 * kLarge}),
              Status::ok);
    for (std::size_t i = 0; i < kLarge; ++i) {
        ASSERT_EQ(values[i], static_cast<std::int32_t>(i) * factor);
    }
}

}  // namespace

TEST(MetadataWindow, HeadersLargerThanTheCacheInFilesThatAreWritten) {
    const Image image = make_large_headers();
    World world;
    world.access.metadata_cache = 1024;
    world.access.torn_headers = true;
    ASSERT_EQ(world.open(image), Status::ok);
    {
        auto large = world.root.open_group("large");
        auto small = world.root.open_group("small");
        ASSERT_EQ(large.status(), Status::ok);
        ASSERT_EQ(small.status(), Status::ok);
        for (std::int32_t round = 0; round < 3; ++round) {
            expect_numbers(*large, "first", 1);
            // Changes fill the cache with blocks that are not in the storage yet.
            EXPECT_EQ(small->write_attribute("round", round), Status::ok);
            expect_numbers(*large, "second", 2);
            // This change would need the whole header block in the cache.
            EXPECT_EQ(large->write_attribute("added", round), Status::over_budget);
            EXPECT_FALSE(large->has_attribute("added"));
            std::int32_t value = -1;
            EXPECT_EQ(small->read_attribute("round", value), Status::ok);
            EXPECT_EQ(value, round);
            EXPECT_EQ(world.file.flush(), Status::ok);
        }
    }
    ASSERT_EQ(world.close(), Status::ok);
    world.access.metadata_cache = 65536;
    ASSERT_EQ(world.open(), Status::ok);
    EXPECT_TRUE(findings_in(world.file).none());
    auto large = world.root.open_group("large");
    expect_numbers(*large, "first", 1);
    expect_numbers(*large, "second", 2);
    // With a larger cache, the refused change can be made.
    EXPECT_EQ(large->write_attribute("added", std::int32_t{5}), Status::ok);
    expect_numbers(*large, "second", 2);
    large->close();
    EXPECT_EQ(world.close(), Status::ok);
    EXPECT_EQ(world.memory.blocks(), 0U);
}

#endif
#endif
