// What an object is asked to do with its attributes when it is created, and what its copies keep of that: creation
// order, limits of compact and dense storage, times. libhdf5 finds what it makes itself for the same properties.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/copy.hpp>
#include <h5mote/named_datatype.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr const char* kNames[] = {"zeta", "eta", "theta", "alpha", "beta", "gamma"};

AttributesCreate tracked(std::uint16_t max_compact = 8, std::uint16_t min_dense = 6) {
    return {true, max_compact, min_dense};
}

void write_all(Object& object) {
    std::int32_t value = 0;
    for (const char* const name : kNames) {
        ASSERT_EQ(object.write_attribute(name, value++), Status::ok);
    }
}

std::string in_order(const Object& object) {
    std::string all;
    AttributeIterator attributes(object, IndexOrder::creation);
    Attribute attribute;
    Status status = Status::ok;
    while ((status = attributes.next(attribute)) == Status::ok) {
        all += std::string(attribute.name()) + " ";
    }
    EXPECT_EQ(status, Status::not_found);
    return all;
}

struct Properties {
    unsigned order = 0;
    unsigned max_compact = 0;
    unsigned min_dense = 0;
    bool operator==(const Properties& other) const {
        return order == other.order && max_compact == other.max_compact && min_dense == other.min_dense;
    }
};

Hdf5Id list_of(hid_t object) {
    switch (H5Iget_type(object)) {
        case H5I_GROUP:
            return Hdf5Id(H5Gget_create_plist(object), H5Pclose);
        case H5I_DATATYPE:
            return Hdf5Id(H5Tget_create_plist(object), H5Pclose);
        default:
            return Hdf5Id(H5Dget_create_plist(object), H5Pclose);
    }
}

Properties properties_by_libhdf5(hid_t file, const char* path) {
    const Hdf5Id object(H5Oopen(file, path, H5P_DEFAULT), H5Oclose);
    const Hdf5Id list = list_of(object);
    Properties result;
    EXPECT_GE(H5Pget_attr_creation_order(list, &result.order), 0);
    EXPECT_GE(H5Pget_attr_phase_change(list, &result.max_compact, &result.min_dense), 0);
    return result;
}

std::string order_by_libhdf5(hid_t file, const char* path) {
    const Hdf5Id object(H5Oopen(file, path, H5P_DEFAULT), H5Oclose);
    std::string all;
    const int count = H5Aget_num_attrs(object);
    for (int i = 0; i < count; ++i) {
        char name[32] = "";
        EXPECT_GE(H5Aget_name_by_idx(object, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, static_cast<hsize_t>(i), name,
                                     sizeof name, H5P_DEFAULT),
                  0);
        all += std::string(name) + " ";
    }
    return all;
}

class AttributesCreateTest : public ::testing::TestWithParam<FormatVersion> {};

constexpr unsigned kTracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr const char* kAll = "zeta eta theta alpha beta gamma ";

// Groups, datasets, committed datatypes and the root group, with attributes in the header and in dense storage.
TEST_P(AttributesCreateTest, KeepTheCreationOrder) {
    Turns turns(GetParam());
    turns.create.attributes = tracked();
    turns.begin();
    GroupCreate group;
    group.attributes = tracked(3, 2);
    DatasetCreate dataset;
    dataset.attributes = tracked(0, 0);
    auto made_group = turns.root.create_group("group", group);
    auto made_dataset = turns.root.create_dataset<std::int32_t>("dataset", dataset, Dataspace::scalar());
    auto made_type = turns.root.commit_datatype("type", datatype_of<double>(), tracked(100, 50));
    ASSERT_EQ(made_group.status(), Status::ok);
    ASSERT_EQ(made_dataset.status(), Status::ok);
    ASSERT_EQ(made_type.status(), Status::ok);
    Object* const all[] = {&turns.root, &*made_group, &*made_dataset, &*made_type};
    for (Object* const each : all) {
        write_all(*each);
        EXPECT_EQ(in_order(*each), kAll);
        ObjectInfo info;
        EXPECT_EQ(each->info(info), Status::ok);
        EXPECT_TRUE(info.tracks_attribute_order);
        EXPECT_EQ(info.header.version, 2);
    }
    ObjectInfo info;
    EXPECT_EQ(made_group->info(info), Status::ok);
    EXPECT_EQ(info.max_compact_attributes, 3);
    EXPECT_EQ(info.min_dense_attributes, 2);
    EXPECT_NE(info.attribute_storage.heap, 0U);
    EXPECT_EQ(made_type->info(info), Status::ok);
    EXPECT_EQ(info.attribute_storage.heap, 0U);
    turns.by_libhdf5([](hid_t file) {
        EXPECT_EQ(properties_by_libhdf5(file, "/"), (Properties{kTracked, 8, 6}));
        EXPECT_EQ(properties_by_libhdf5(file, "group"), (Properties{kTracked, 3, 2}));
        EXPECT_EQ(properties_by_libhdf5(file, "dataset"), (Properties{kTracked, 0, 0}));
        EXPECT_EQ(properties_by_libhdf5(file, "type"), (Properties{kTracked, 100, 50}));
        for (const char* const path : {"/", "group", "dataset", "type"}) {
            EXPECT_EQ(order_by_libhdf5(file, path), kAll);
            // The storage changes back with fewer attributes than the limits.
            for (int i = 0; i < 5; ++i) {
                EXPECT_GE(H5Adelete_by_name(file, path, kNames[i], H5P_DEFAULT), 0);
            }
        }
    });
    EXPECT_EQ(in_order(turns.root), "gamma ");
    write_all(turns.root);
    EXPECT_EQ(in_order(turns.root), "gamma zeta eta theta alpha beta ");
}

INSTANTIATE_TEST_SUITE_P(Versions, AttributesCreateTest,
                         ::testing::Values(FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18,
                                           FormatVersion::latest));

// A group of the oldest kind with a header of version 2 gets links that a symbol table cannot have.
TEST(AttributesCreateLimits, SymbolTablesInNewHeaders) {
    Turns turns(FormatVersion::earliest, 4);
    turns.begin();
    GroupCreate create;
    create.attributes = tracked();
    auto group = turns.root.create_group("g", create);
    ASSERT_EQ(group.status(), Status::ok);
    GroupInfo info;
    ASSERT_EQ(group->group_info(info), Status::ok);
    EXPECT_EQ(info.storage, LinkStorage::symbol_table);
    ASSERT_EQ(group->create_external_link("out", "other.h5", "/x"), Status::ok) << turns.trail();
    ASSERT_EQ(group->group_info(info), Status::ok);
    EXPECT_EQ(info.storage, LinkStorage::compact);
    turns.by_libhdf5([](hid_t file) { EXPECT_GT(H5Lexists(file, "g/out", H5P_DEFAULT), 0); });
}

TEST(AttributesCreateLimits, MoreForDenseStorageThanForTheHeader) {
    Turns turns;
    turns.begin();
    GroupCreate group;
    DatasetCreate dataset;
    FileCreate file;
    group.attributes = dataset.attributes = file.attributes = {false, 2, 3};
    EXPECT_EQ(turns.root.create_group("g", group).status(), Status::invalid_argument);
    EXPECT_EQ(turns.root.create_dataset<double>("d", dataset, Dataspace::scalar()).status(), Status::invalid_argument);
    EXPECT_EQ(turns.root.commit_datatype("t", datatype_of<double>(), group.attributes).status(),
              Status::invalid_argument);
    EXPECT_FALSE(turns.root.exists("g") || turns.root.exists("d") || turns.root.exists("t"));
    GrowingMemoryDriver other(turns.heap);
    EXPECT_EQ(File::create(turns.library, other, turns.access, file).status(), Status::invalid_argument);
}

// libhdf5 makes the header of a committed datatype as small as a continuation message allows: with the datatype, the
// rest is a null message or, where the header tracks creation orders, a gap.
TEST(AttributesCreateLimits, HeadersThatLibhdf5MakesAsSmallAsCanBe) {
    Turns turns;
    turns.begin();
    turns.by_libhdf5([](hid_t file) {
        const Hdf5Id list(H5Pcreate(H5P_DATATYPE_CREATE), H5Pclose);
        const Hdf5Id plain(H5Tcopy(H5T_STD_I8BE), H5Tclose);
        const Hdf5Id bounds(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        ASSERT_GE(H5Pset_attr_creation_order(list, kTracked), 0);
        ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        ASSERT_GE(H5Tcommit2(file, "plain", plain, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
        const Hdf5Id ordered(H5Tcopy(H5T_STD_I8BE), H5Tclose);
        ASSERT_GE(H5Tcommit2(file, "ordered", ordered, H5P_DEFAULT, list, H5P_DEFAULT), 0);
    });
    for (const char* const name : {"plain", "ordered"}) {
        auto type = turns.root.open_object(name);
        ASSERT_EQ(type.status(), Status::ok);
        ASSERT_EQ(turns.root.create_hard_link(std::string(name) + " again", *type), Status::ok) << turns.trail();
        ASSERT_EQ(type->write_attribute("a", 5), Status::ok) << turns.trail();
        ASSERT_EQ(type->set_comment("of this type"), Status::ok) << turns.trail();
    }
    turns.by_libhdf5([](hid_t file) {
        for (const char* const name : {"plain", "ordered"}) {
            H5O_info_t info;
            ASSERT_GE(H5Oget_info_by_name2(file, name, &info, H5O_INFO_ALL, H5P_DEFAULT), 0);
            EXPECT_EQ(info.rc, 2U);
            EXPECT_EQ(info.num_attrs, 1U);
            const Hdf5Id type(H5Topen2(file, name, H5P_DEFAULT), H5Tclose);
            EXPECT_GT(H5Tequal(type, H5T_STD_I8BE), 0);
        }
    });
}

class CopiedProperties : public ::testing::TestWithParam<FormatVersion> {};

// A copy keeps what libhdf5's own copies keep: creation orders, limits, estimates and times.
TEST_P(CopiedProperties, AreThoseOfTheOriginal) {
    constexpr std::uint32_t kThen = 1000000000;
    Turns turns(GetParam());
    turns.begin();
    turns.by_libhdf5([](hid_t file) {
        ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_attr_creation_order(list, kTracked), 0);
        ASSERT_GE(H5Pset_attr_phase_change(list, 4, 1), 0);
        ASSERT_GE(H5Pset_link_phase_change(list, 5, 3), 0);
        ASSERT_GE(H5Pset_est_link_info(list, 20, 30), 0);
        ASSERT_GE(H5Pset_obj_track_times(list, true), 0);
        const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_attr_phase_change(creation, 2, 1), 0);
        const Hdf5Id type(H5Tcopy(H5T_STD_I32LE), H5Tclose);
        const Hdf5Id types(H5Pcreate(H5P_DATATYPE_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_attr_creation_order(types, kTracked), 0);
        ASSERT_GE(H5Tcommit2(group, "type", type, H5P_DEFAULT, types, H5P_DEFAULT), 0);
        const Hdf5Id dataset(H5Dcreate2(group, "data", type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
        ASSERT_GE(dataset, 0);
        for (const char* const name : kNames) {
            const Hdf5Id attribute(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            ASSERT_GE(attribute, 0);
        }
    });
    ASSERT_EQ(copy_object(turns.root, "group", turns.root, "copy"), Status::ok) << turns.trail();
    for (const std::string path : {"", "/type", "/data"}) {
        ObjectInfo before;
        ObjectInfo after;
        ASSERT_EQ(turns.root.open_object("group" + path)->info(before), Status::ok);
        ASSERT_EQ(turns.root.open_object("copy" + path)->info(after), Status::ok);
        EXPECT_EQ(after.has_times, before.has_times);
        EXPECT_GT(before.birth_time, kThen);
        if (after.header.version == 2) {
            EXPECT_EQ(after.birth_time, before.birth_time);
            EXPECT_EQ(after.access_time, before.access_time);
            EXPECT_EQ(after.modification_time, before.modification_time);
            EXPECT_EQ(after.max_compact_attributes, before.max_compact_attributes);
            EXPECT_EQ(after.min_dense_attributes, before.min_dense_attributes);
        }
        EXPECT_EQ(after.change_time, before.change_time);
        EXPECT_EQ(after.tracks_attribute_order, before.tracks_attribute_order);
    }
    auto copy = turns.root.open_group("copy");
    ASSERT_EQ(copy.status(), Status::ok);
    EXPECT_EQ(in_order(*copy), kAll);
    GroupInfo info;
    ASSERT_EQ(copy->group_info(info), Status::ok);
    if (info.storage != LinkStorage::symbol_table) {
        EXPECT_EQ(info.max_compact, 5);
        EXPECT_EQ(info.min_dense, 3);
        EXPECT_EQ(info.estimated_links, 20);
        EXPECT_EQ(info.estimated_name_length, 30);
    }
    turns.by_libhdf5([](hid_t file) {
        EXPECT_EQ(properties_by_libhdf5(file, "copy"), (Properties{kTracked, 4, 1}));
        EXPECT_EQ(order_by_libhdf5(file, "copy"), kAll);
    });
}

INSTANTIATE_TEST_SUITE_P(Versions, CopiedProperties,
                         ::testing::Values(FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18));

}  // namespace

#endif
