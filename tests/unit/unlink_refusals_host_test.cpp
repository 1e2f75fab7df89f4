// Objects in files of libhdf5 that unlink() cannot remove yet: the error names the feature, and nothing changes.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/vfd/posix.hpp>

#include "hdf5_image.hpp"

#include <cstdio>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

void attribute(hid_t object, const char* name, hid_t type) {
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id made(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(made, 0);
}

void dataset(hid_t file, const char* name, hid_t type) {
    const hsize_t size = 10;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id made(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(made, 0);
}

Hdf5Id group(hid_t file, const char* name, unsigned link_order = 0, unsigned attribute_order = 0) {
    const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_link_creation_order(list, link_order), 0);
    EXPECT_GE(H5Pset_attr_creation_order(list, attribute_order), 0);
    return Hdf5Id(H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
}

// Makes new groups and objects of the oldest format in them; types and attributes that several objects share.
void make(const char* name) {
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_link_phase_change(create, 20, 10), 0);  // of the root group: links stay in its header
    const Hdf5Id file(H5Fcreate(name, H5F_ACC_TRUNC, create, access), H5Fclose);
    EXPECT_GE(file, 0);
    const Hdf5Id type(H5Tcopy(H5T_STD_I16LE), H5Tclose);
    EXPECT_GE(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
    dataset(file, "typed", type);
    attribute(group(file, "attribute of a type"), "a", type);
    {
        const Hdf5Id many = group(file, "many attributes", 0, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
        const Hdf5Id more = group(file, "more attributes");
        for (int i = 0; i < 20; ++i) {
            attribute(many, std::to_string(i).c_str(), H5T_STD_I16LE);
            attribute(more, std::to_string(i).c_str(), H5T_STD_I16LE);
        }
    }
    EXPECT_GE(group(file, "few", 0, H5P_CRT_ORDER_TRACKED), 0);
    EXPECT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), 0);
    dataset(file, "old dataset", H5T_STD_I16LE);
    EXPECT_GE(group(file, "old group"), 0);
    EXPECT_GE(group(file, "old links", 0, H5P_CRT_ORDER_TRACKED), 0);
    {
        const Hdf5Id ordered = group(file, "old header", H5P_CRT_ORDER_TRACKED);
        EXPECT_GE(H5Lcreate_soft("/type", ordered, "link", H5P_DEFAULT, H5P_DEFAULT), 0);
    }
}

Image made() {
    const std::string name = ::testing::TempDir() + "unlink_refusals.h5";
    make(name.c_str());
    PosixDriver driver;
    EXPECT_EQ(driver.open(name.c_str(), PosixDriver::Mode::read_only), Status::ok);
    Image image = image_of(driver);
    std::remove(name.c_str());
    return image;
}

// What programs refuse that cannot change dense storage and symbol tables.
constexpr Formats kNoDenseChanges = [] {
    Formats list = formats::standard;
    list.dense_changes = nullptr;
    list.symbol_table_changes = nullptr;
    return list;
}();

struct Refusal {
    const char* path;
    Feature feature;
};

TEST(UnlinkRefusals, NameTheFeature) {
    static constexpr Refusal kRefusals[] = {
        {"many attributes", Feature::dense_attributes},
        {"more attributes", Feature::dense_attributes},
        {"old group", Feature::symbol_table_group},
        {"old links", Feature::symbol_table_group},
    };
    const Image image = made();
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    Library library{memory, port, {}, kNoDenseChanges};
    auto file = File::open(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    for (const Refusal& refusal : kRefusals) {
        EXPECT_EQ(root.unlink(refusal.path), Status::unsupported) << refusal.path;
        EXPECT_EQ(static_cast<Feature>(library.trail().newest().value), refusal.feature) << refusal.path;
        EXPECT_EQ(root.open_object(refusal.path).status(), Status::ok) << refusal.path;
    }
    ASSERT_EQ(file->flush(), Status::ok);
    EXPECT_TRUE(Image(storage.contents().begin(), storage.contents().end()) == image);
    // Attributes that are stored in the header go with it, whether their creation order is tracked or not.
    // Objects and links go also if an object header of version 1 has them.
    for (const char* path : {"few", "old dataset", "old header/link"}) {
        EXPECT_EQ(root.unlink(path), Status::ok) << path;
        EXPECT_FALSE(root.exists(path)) << path;
    }
    // What uses a committed datatype goes, and is no longer counted there.
    for (const char* path : {"typed", "attribute of a type"}) {
        EXPECT_EQ(root.unlink(path), Status::ok) << path;
    }
    ObjectInfo info;
    EXPECT_EQ(root.open_object("type")->info(info), Status::ok);
    EXPECT_EQ(info.reference_count, 1U);
    root.close();
    ASSERT_EQ(file->close(), Status::ok);
    const Hdf5Id again = open_image(storage.contents());
    ASSERT_GE(again, 0);
    EXPECT_EQ(H5Lexists(again, "few", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(again, "old dataset", H5P_DEFAULT), 0);
}

}  // namespace

#endif
