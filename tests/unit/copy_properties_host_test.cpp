// Copies of objects that libhdf5 has made with properties that h5mote never chooses itself.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/variable_length.hpp>

#include <algorithm>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Makes 15 strings in filtered chunks of 10, with a fill value; two are written.
void make_filtered_texts(hid_t file) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
    const hsize_t size = 15;
    const hsize_t chunk = 10;
    const char* const fill = "fill";
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_chunk(create, 1, &chunk), 0);
    ASSERT_GE(H5Pset_deflate(create, 6), 0);
    ASSERT_GE(H5Pset_fill_value(create, type, static_cast<const void*>(&fill)), 0);
    const Hdf5Id data(H5Dcreate2(file, "texts", type, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    const Hdf5Id memory(H5Screate(H5S_SCALAR), H5Sclose);
    for (const hsize_t at : {hsize_t{3}, hsize_t{12}}) {
        ASSERT_GE(H5Sselect_elements(space, H5S_SELECT_SET, 1, &at), 0);
        const char* const text = at == 3 ? "three" : "twelve";
        ASSERT_GE(H5Dwrite(data, type, memory, space, H5P_DEFAULT, static_cast<const void*>(&text)), 0);
    }
}

// The elements beyond the extent, of which the original has fill values, are empty in the copy.
TEST(CopyProperties, FilteredTextsWithAFillValue) {
    Turns turns;
    turns.access.chunk_cache = 4096;
    turns.begin();
    turns.by_libhdf5(make_filtered_texts);
    GrowingMemoryDriver storage{turns.heap};
    {
        auto to = File::create(turns.library, storage, turns.access);
        ASSERT_EQ(to.status(), Status::ok);
        EXPECT_EQ(copy_file(turns.file, *to), Status::ok);
        EXPECT_TRUE(findings_in(*to).none());
        auto data = to->root().open_dataset("texts");
        ASSERT_EQ(data.status(), Status::ok);
        ChunkIterator chunks(*data);
        ChunkInfo chunk;
        unsigned count = 0;
        for (; chunks.next(chunk) == Status::ok; ++count) {
            EXPECT_EQ(chunk.filter_mask, 0U);
        }
        EXPECT_EQ(count, 2U);
        EXPECT_EQ(data->close(), Status::ok);
        EXPECT_EQ(to->close(), Status::ok);
    }
    const std::vector<std::byte> image = image_of(storage);
    const Hdf5Id file(open_image({image.data(), image.size()}));
    const Hdf5Id data(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Dget_type(data), H5Tclose);
    char* texts[15] = {};
    ASSERT_GE(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(texts)), 0);
    for (unsigned i = 0; i < 15; ++i) {
        ASSERT_NE(texts[i], nullptr);
        EXPECT_EQ(std::string(texts[i]), i == 3 ? "three" : i == 12 ? "twelve" : "fill") << i;
        (void)H5free_memory(texts[i]);
    }
}

// Makes a dataset and a reference to a regular region of it, which the newest format stores in version 2.
void make_region(hid_t file) {
    const hsize_t dims[] = {10, 10};
    const Hdf5Id space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(data, 0);
    const hsize_t start[] = {0, 0};
    const hsize_t stride[] = {3, 3};
    const hsize_t count[] = {4, 4};
    ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr), 0);
    hdset_reg_ref_t reference;
    ASSERT_GE(H5Rcreate(&reference, file, "data", H5R_DATASET_REGION, space), 0);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id attribute(H5Acreate2(data, "region", H5T_STD_REF_DSETREG, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    ASSERT_GE(H5Awrite(attribute, H5T_STD_REF_DSETREG, &reference), 0);
}

// Regular hyperslabs of version 2 in the file.
int new_hyperslabs(const std::vector<std::byte>& image) {
    const unsigned char head[] = {2, 0, 0, 0, 2, 0, 0, 0, 1, 68, 0, 0, 0, 2, 0, 0, 0};
    const auto equal = [](std::byte a, unsigned char b) { return a == std::byte{b}; };
    return std::search(image.begin(), image.end(), std::begin(head), std::end(head), equal) == image.end() ? 0 : 1;
}

TEST(CopyProperties, RegionsKeepToTheUpperVersionBound) {
    Turns turns;
    const Hdf5Id bounds(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    ASSERT_GE(H5Pset_libver_bounds(bounds, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    turns.begin_by_libhdf5(H5P_DEFAULT, bounds);
    turns.by_libhdf5(make_region, H5F_LIBVER_LATEST);
    ASSERT_EQ(new_hyperslabs(image_of(turns.storage)), 1);
    for (const FormatVersion high : {FormatVersion::v18, FormatVersion::latest}) {
        FileAccess access = turns.access;
        access.low = FormatVersion::earliest;
        access.high = high;
        GrowingMemoryDriver storage{turns.heap};
        auto to = File::create(turns.library, storage, access);
        ASSERT_EQ(to.status(), Status::ok);
        ASSERT_EQ(copy_file(turns.file, *to), Status::ok);
        EXPECT_TRUE(findings_in(*to).none());
        EXPECT_EQ(to->close(), Status::ok);
        const std::vector<std::byte> image = image_of(storage);
        EXPECT_EQ(new_hyperslabs(image), high == FormatVersion::v18 ? 0 : 1);
        const Hdf5Id file(open_image({image.data(), image.size()}));
        const Hdf5Id data(H5Dopen2(file, "data", H5P_DEFAULT), H5Dclose);
        const Hdf5Id attribute(H5Aopen(data, "region", H5P_DEFAULT), H5Aclose);
        hdset_reg_ref_t reference;
        ASSERT_GE(H5Aread(attribute, H5T_STD_REF_DSETREG, &reference), 0);
        const Hdf5Id region(H5Rget_region(data, H5R_DATASET_REGION, &reference), H5Sclose);
        EXPECT_EQ(H5Sget_select_npoints(region), 16);
        hsize_t first[2] = {1, 1};
        hsize_t last[2] = {};
        EXPECT_GE(H5Sget_select_bounds(region, first, last), 0);
        EXPECT_EQ(first[0] + first[1], 0U);
        EXPECT_EQ(last[0] + last[1], 18U);
    }
}

// Makes a group and a dataset whose links and attributes have creation orders that no index knows.
void make_unindexed(hid_t file) {
    const Hdf5Id group_create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_link_creation_order(group_create, H5P_CRT_ORDER_TRACKED), 0);
    ASSERT_GE(H5Pset_attr_creation_order(group_create, H5P_CRT_ORDER_TRACKED), 0);
    ASSERT_GE(H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED), 0);
    const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, group_create, H5P_DEFAULT), H5Gclose);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id data(H5Dcreate2(group, "data", H5T_NATIVE_INT, scalar, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(data, 0);
    for (int i = 20; i-- > 0;) {
        const std::string name = "soft " + std::to_string(i);
        ASSERT_GE(H5Lcreate_soft("data", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        for (const hid_t object : {hid_t{group}, hid_t{data}}) {
            const Hdf5Id attribute(H5Acreate2(object, name.c_str(), H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT),
                                   H5Aclose);
            ASSERT_GE(attribute, 0);
        }
    }
}

// The storage becomes dense while the copy is made.
TEST(CopyProperties, CreationOrdersWithoutAnIndex) {
    Turns turns;
    turns.begin();
    turns.by_libhdf5(make_unindexed);
    ASSERT_EQ(copy_object(turns.root, "group", turns.root, "copy"), Status::ok);
    turns.by_libhdf5([](hid_t file) {
        const Hdf5Id group(H5Gopen2(file, "copy", H5P_DEFAULT), H5Gclose);
        const Hdf5Id data(H5Dopen2(group, "data", H5P_DEFAULT), H5Dclose);
        const Hdf5Id group_create(H5Gget_create_plist(group), H5Pclose);
        const Hdf5Id create(H5Dget_create_plist(data), H5Pclose);
        unsigned order = 0;
        EXPECT_GE(H5Pget_link_creation_order(group_create, &order), 0);
        EXPECT_EQ(order, unsigned{H5P_CRT_ORDER_TRACKED});
        EXPECT_GE(H5Pget_attr_creation_order(group_create, &order), 0);
        EXPECT_EQ(order, unsigned{H5P_CRT_ORDER_TRACKED});
        EXPECT_GE(H5Pget_attr_creation_order(create, &order), 0);
        EXPECT_EQ(order, unsigned{H5P_CRT_ORDER_TRACKED});
        H5L_info_t link;
        EXPECT_GE(H5Lget_info(group, "soft 3", &link, H5P_DEFAULT), 0);
        EXPECT_EQ(link.corder, 17);
        H5A_info_t attribute;
        EXPECT_GE(H5Aget_info_by_name(data, ".", "soft 3", &attribute, H5P_DEFAULT), 0);
        EXPECT_EQ(attribute.corder, 16U);
        for (int i = 0; i < 18; ++i) {
            const std::string name = "soft " + std::to_string(i);
            EXPECT_GE(H5Ldelete(group, name.c_str(), H5P_DEFAULT), 0);
            EXPECT_GE(H5Adelete(data, name.c_str()), 0);
        }
    });
    Group copy = static_cast<Group&&>(*turns.root.open_group("copy"));
    GroupInfo info;
    EXPECT_EQ(copy.group_info(info), Status::ok);
    EXPECT_TRUE(info.tracks_order);
    EXPECT_FALSE(info.indexes_order);
    EXPECT_EQ(info.links, 3U);
    EXPECT_EQ(info.storage, LinkStorage::compact);
}

// ASCII in UTF-8, and names that are not ASCII although they are said to be.
constexpr const char* kOddNames[] = {"plain", "umlaut \xc3\xa4", "latin \xe4", "last"};

H5T_cset_t odd_set(const char* name) { return name[0] == 'p' || name[0] == 'l' ? H5T_CSET_UTF8 : H5T_CSET_ASCII; }

void make_odd_names(hid_t file) {
    const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), 0);
    const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    for (const char* const name : kOddNames) {
        const Hdf5Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
        const Hdf5Id attributes(H5Pcreate(H5P_ATTRIBUTE_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_char_encoding(links, odd_set(name)), 0);
        ASSERT_GE(H5Pset_char_encoding(attributes, odd_set(name)), 0);
        const Hdf5Id below(H5Gcreate2(group, name, links, create, H5P_DEFAULT), H5Gclose);
        ASSERT_GE(H5Lcreate_soft("/group", below, name, links, H5P_DEFAULT), 0);
        ASSERT_GE(H5Lcreate_hard(group, ".", below, (std::string(name) + " up").c_str(), links, H5P_DEFAULT), 0);
        const Hdf5Id attribute(H5Acreate2(below, name, H5T_NATIVE_INT, scalar, attributes, H5P_DEFAULT), H5Aclose);
        ASSERT_GE(attribute, 0);
    }
}

TEST(CopyProperties, CharacterSetsOfNames) {
    Turns turns;
    turns.begin();
    turns.by_libhdf5(make_odd_names);
    ASSERT_EQ(copy_object(turns.root, "group", turns.root, "copy"), Status::ok);
    CopyOptions expanded;
    expanded.expand_soft_links = true;
    ASSERT_EQ(copy_object(turns.root, "group", turns.root, "expanded", expanded), Status::ok);
    turns.by_libhdf5([](hid_t file) {
        for (const char* const copy : {"copy", "expanded"}) {
            const Hdf5Id group(H5Gopen2(file, copy, H5P_DEFAULT), H5Gclose);
            std::int64_t order = 0;
            for (const char* const name : kOddNames) {
                SCOPED_TRACE(name);
                H5L_info_t link;
                EXPECT_GE(H5Lget_info(group, name, &link, H5P_DEFAULT), 0);
                EXPECT_EQ(link.cset, odd_set(name));
                EXPECT_EQ(link.corder, order++);
                const Hdf5Id below(H5Gopen2(group, name, H5P_DEFAULT), H5Gclose);
                EXPECT_GE(H5Lget_info(below, name, &link, H5P_DEFAULT), 0);
                EXPECT_EQ(link.cset, odd_set(name));
                EXPECT_EQ(link.corder, 0);
                EXPECT_EQ(link.type, copy[0] == 'c' ? H5L_TYPE_SOFT : H5L_TYPE_HARD);
                EXPECT_GE(H5Lget_info(below, (std::string(name) + " up").c_str(), &link, H5P_DEFAULT), 0);
                EXPECT_EQ(link.cset, odd_set(name));
                EXPECT_EQ(link.corder, 1);
                H5A_info_t attribute;
                EXPECT_GE(H5Aget_info_by_name(below, ".", name, &attribute, H5P_DEFAULT), 0);
                EXPECT_EQ(attribute.cset, odd_set(name));
            }
        }
    });
}

}  // namespace

#endif
