// Creation orders of links and attributes, counted as libhdf5 counts them: after the last one has gone, from 0 again.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "hdf5_files.hpp"
#include "object_changes.hpp"

#include <random>

namespace {

using namespace h5mote_test;

// What libhdf5 says of the numbers of a group and its attributes.
std::string orders_of(hid_t file) {
    const Hdf5Id group(H5Gopen2(file, "group", H5P_DEFAULT), H5Gclose);
    H5G_info_t info{};
    EXPECT_GE(H5Gget_info(group, &info), 0);
    std::string text = "next " + std::to_string(info.max_corder) + ":";
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        H5L_info_t link{};
        EXPECT_GE(H5Lget_info_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, &link, H5P_DEFAULT), 0);
        text += " " + std::to_string(link.corder);
    }
    H5O_info_t object{};
    EXPECT_GE(H5Oget_info2(group, &object, H5O_INFO_ALL), 0);
    constexpr unsigned kAttributeInfo = 0x15;
    text += (object.hdr.mesg.present >> kAttributeInfo & 1U) != 0 ? ", attribute info:" : ", none:";
    const Hdf5Id create(H5Gget_create_plist(group), H5Pclose);
    unsigned tracked = 0;
    EXPECT_GE(H5Pget_attr_creation_order(create, &tracked), 0);
    for (hsize_t i = 0; tracked != 0 && i < object.num_attrs; ++i) {
        H5A_info_t attribute{};
        EXPECT_GE(H5Aget_info_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, &attribute, H5P_DEFAULT), 0);
        text += " " + std::to_string(attribute.corder);
    }
    return text;
}

hid_t create_file() {
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access, 65536, 0);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    return H5Fcreate("reference", H5F_ACC_TRUNC, H5P_DEFAULT, access);
}

hid_t create_group(hid_t file, const GroupCreate& properties) {
    const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (properties.attributes.track_order) {
        H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    }
    H5Pset_link_phase_change(create, properties.max_compact, properties.min_dense);
    H5Pset_attr_phase_change(create, properties.attributes.max_compact, properties.attributes.min_dense);
    return H5Gcreate2(file, "group", H5P_DEFAULT, create, H5P_DEFAULT);
}

// The group of libhdf5's own file.
struct Reference {
    bool add_link(const std::string& name) const {
        return H5Lcreate_soft("there", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    bool remove_link(const std::string& name) const { return H5Ldelete(group, name.c_str(), H5P_DEFAULT) >= 0; }
    bool move_link(const std::string& from, const std::string& to) const {
        return H5Lmove(group, from.c_str(), group, to.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    bool add_attribute(const std::string& name) const {
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        return Hdf5Id(H5Acreate2(group, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose) >= 0;
    }
    bool remove_attribute(const std::string& name) const { return H5Adelete(group, name.c_str()) >= 0; }

    const Hdf5Id group;
};

struct CreationOrders : public Changes {
    // Adds, moves and removes at random, often until nothing is left, and compares the numbers.
    void run(std::uint16_t max_compact, std::uint16_t min_dense, unsigned seed) {
        GroupCreate create;
        create.track_link_order = true;
        create.max_compact = max_compact;
        create.min_dense = min_dense;
        create.attributes = {true, max_compact, min_dense};
        auto made = root.create_group("group", create);
        ASSERT_EQ(made.status(), Status::ok);
        const Hdf5Id theirs(create_file(), H5Fclose);
        const Reference reference{Hdf5Id(create_group(theirs, create), H5Gclose)};
        std::mt19937 random(seed);
        unsigned emptied = 0;
        for (unsigned round = 0; round < 100; ++round) {
            const auto steps = static_cast<unsigned>(random() % 100);
            const bool removes = random() % 2 == 0;
            for (unsigned i = 0; i < steps; ++i) {
                change(*made, reference, random, removes);
            }
            ASSERT_EQ(file.flush(), Status::ok);
            const std::vector<std::byte> bytes = image();
            const Hdf5Id opened = open_image({bytes.data(), bytes.size()});
            ASSERT_GE(opened, 0);
            const std::string expected = orders_of(theirs);
            ASSERT_EQ(orders_of(opened), expected) << "round " << round << " seed " << seed;
            emptied += expected.compare(0, 7, "next 0:") == 0 ? 1 : 0;
        }
        EXPECT_GT(emptied, 4U);
    }

private:
    // One of eleven names, of different lengths.
    static std::string random_name(std::mt19937& random) {
        const auto number = static_cast<unsigned>(random() % 11);
        return "n" + std::to_string(number) + std::string(number, 'x');
    }
    static void change(Group& group, const Reference& reference, std::mt19937& random, bool removes) {
        const std::string name = random_name(random);
        const bool removing = random() % 10 < (removes ? 9U : 3U);
        Status status = Status::ok;
        bool done = false;
        if (random() % 6 == 0) {
            const std::string other = random_name(random);
            status = group.move_link(name, group, other);
            done = reference.move_link(name, other);
        } else if (random() % 2 == 0) {
            status = removing ? group.unlink(name) : group.create_soft_link(name, "there");
            done = removing ? reference.remove_link(name) : reference.add_link(name);
        } else if (removing) {
            status = group.remove_attribute(name);
            done = reference.remove_attribute(name);
        } else {
            status = group.open_attribute(name).status() == Status::not_found
                         ? group.write_attribute(name, std::int32_t{1})
                         : Status::already_exists;
            done = reference.add_attribute(name);
        }
        EXPECT_EQ(status == Status::ok, done) << name;
    }
};

TEST_F(CreationOrders, CountAsThoseOfLibhdf5) { run(8, 6, 1); }
TEST_F(CreationOrders, CountInGroupsThatAreSoonDense) { run(2, 1, 2); }
TEST_F(CreationOrders, CountInGroupsThatAreAlwaysDense) { run(0, 0, 3); }
TEST_F(CreationOrders, CountInGroupsThatStayDense) { run(4, 0, 4); }

// A group of a file whose cache has room for little.
struct InASmallCache {
    InASmallCache(std::size_t cache, const GroupCreate& create) {
        auto made = File::create(library, storage);
        EXPECT_EQ(made.status(), Status::ok);
        EXPECT_EQ(made->root().create_group("group", create).status(), Status::ok);
        EXPECT_EQ(made->close(), Status::ok);
        FileAccess access;
        access.metadata_cache = cache;
        auto opened = File::open(library, storage, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        auto found = file.root().open_group("group");
        EXPECT_EQ(found.status(), Status::ok);
        group = static_cast<Group&&>(*found);
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    File file;
    Group group;
};

// Dense storage does not fit the cache, so that the header keeps the attributes. Each of them takes one number.
TEST(CreationOrdersInASmallCache, EachAttributeTakesOneNumber) {
    GroupCreate create;
    create.attributes = {true, 0, 0};
    InASmallCache test(900, create);
    std::uint32_t order = 0;
    for (const char* const name : {"one", "two", "three"}) {
        ASSERT_EQ(test.group.write_attribute(name, std::int32_t{1}), Status::ok);
        EXPECT_EQ(test.group.open_attribute(name)->creation_order(), order++);
    }
}

// An attribute that is refused leaves no attribute info message behind: libhdf5 has none without an attribute.
TEST(CreationOrdersInASmallCache, ARefusedAttributeLeavesNothing) {
    InASmallCache test(1024, {});
    const std::vector<std::int32_t> values(500);
    ASSERT_EQ(test.group.write_attribute("large", datatype_of<std::int32_t>(), Dataspace::simple({values.size()}),
                                         as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
              Status::over_budget);
    ASSERT_EQ(test.file.close(), Status::ok);
    const Hdf5Id opened = open_image(test.storage.contents());
    ASSERT_GE(opened, 0);
    EXPECT_EQ(orders_of(opened), "next 0:, none:");
}

// Moves each of the links of a group in turn, in the same file each time, to a longer name.
void move_each(const std::vector<std::byte>& image, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        MallocAllocator memory;
        NullPort port;
        Library library(memory, port, {}, formats::all);
        GrowingMemoryDriver storage(memory);
        ASSERT_EQ(storage.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
        auto file = File::open(library, storage);
        ASSERT_EQ(file.status(), Status::ok);
        auto group = file->root().open_group("group");
        ASSERT_EQ(group->move_link(name, *group, "a name of some length"), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        const Hdf5Id opened = open_image(storage.contents());
        const std::string next = "next " + std::to_string(names.size() + 1) + ":";
        EXPECT_EQ(orders_of(opened).substr(0, next.size()), next) << names.size() << " links, " << name;
    }
}

// A link that gets a longer name takes one number, whether its message can be replaced or one is added and the old one
// removed. That happens where a block has a short link and an attribute info message: neither is large enough for a
// continuation message. The group behind it keeps libhdf5 from making the first block of the header longer.
TEST(CreationOrdersOfOthers, AMovedLinkTakesOneNumber) {
    GroupCreate create;
    create.attributes = {false, 0, 0};
    for (const std::size_t length : {1U, 2U, 3U, 4U, 8U}) {
        std::vector<std::string> names;
        for (char first = 'a'; first <= 'h'; ++first) {
            names.emplace_back(length, first);
            const Hdf5Id made(create_file(), H5Fclose);
            const Reference reference{Hdf5Id(create_group(made, create), H5Gclose)};
            const Hdf5Id behind(H5Gcreate2(made, "behind", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            for (const std::string& name : names) {
                EXPECT_GE(H5Lcreate_soft(".", reference.group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
            }
            EXPECT_TRUE(reference.add_attribute("attribute"));
            move_each(finished_image(made), names);
        }
    }
}

// An object can have more than 65,535 attributes one after the other.
TEST_F(CreationOrders, DoNotRunOut) {
    GroupCreate create;
    create.attributes.track_order = true;
    auto group = root.create_group("group", create);
    ASSERT_EQ(group.status(), Status::ok);
    for (unsigned i = 0; i < 0x10001; ++i) {
        ASSERT_EQ(group->write_attribute("one", std::int32_t{1}), Status::ok) << i;
        ASSERT_EQ(group->remove_attribute("one"), Status::ok) << i;
    }
}

}  // namespace

#endif
