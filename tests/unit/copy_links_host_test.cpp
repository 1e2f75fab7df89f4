// Copies in which soft and external links are expanded, and copies of what references lead to.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "copy_files.hpp"
#include "drawer.hpp"

#include <h5mote/named_datatype.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct CopyLinks : public CopyFiles {
    // The groups data and data/run, which has a dataset.
    void make_runs(Group& top) {
        Group data = made(top.create_group("data"));
        Group run = made(data.create_group("run"));
        EXPECT_EQ(run.create_dataset("values", datatype_of<double>(), Dataspace::simple({3})).status(), Status::ok);
    }
    // Two paths of a copy lead to the same object.
    static void expect_same(Group& group, const std::string& one, const std::string& two) {
        auto first = group.open_object(one);
        auto second = group.open_object(two);
        ASSERT_EQ(first.status(), Status::ok) << one;
        ASSERT_EQ(second.status(), Status::ok) << two;
        EXPECT_EQ(first->address(), second->address()) << one << ' ' << two;
    }
    static void refer(Object& from, const char* name, const Object& target) {
        std::byte stored[8] = {};
        EXPECT_EQ(from.create_reference(ReferenceType::object1, target, Bytes(stored)), Status::ok);
        EXPECT_EQ(from.write_attribute(name, kReference, Dataspace::scalar(), ConstBytes(stored)), Status::ok);
    }
    // What the reference in an attribute leads to; undefined for null.
    static Address referenced(Group& group, const std::string& object, const char* name) {
        std::byte stored[8] = {};
        ReferenceTarget target;
        auto from = group.open_object(object);
        EXPECT_EQ(from.status(), Status::ok) << object;
        EXPECT_EQ(from->read_attribute(name, kReference, Bytes(stored)), Status::ok);
        EXPECT_EQ(from->reference_target(ReferenceType::object1, stored, target), Status::ok);
        return target.null ? kUndefinedAddress : target.address;
    }
    static Address address_of(Group& group, const std::string& path) {
        auto object = group.open_object(path);
        EXPECT_EQ(object.status(), Status::ok) << path;
        return object ? object->address() : kUndefinedAddress;
    }
    static constexpr auto kReference = make_reference();
};

// The second link leads to a group that has a group of which the first link has brought a copy.
TEST_F(CopyLinks, ExpandedLinksToGroupsWithinEachOther) {
    make_runs(root);
    Group links = made(root.create_group("links"));
    ASSERT_EQ(links.create_soft_link("1", "/data/run"), Status::ok);
    ASSERT_EQ(links.create_soft_link("2", "/data"), Status::ok);
    ASSERT_EQ(links.create_soft_link("3", "/links"), Status::ok);
    ASSERT_EQ(links.create_soft_link("4", "/"), Status::ok);
    CopyOptions options;
    options.expand_soft_links = true;
    for (Group* const to : {&root, &other_root}) {
        ASSERT_EQ(copy_object(root, "links", *to, "copy", options), Status::ok);
        Group copy = made(to->open_group("copy"));
        expect_same(copy, "1", "2/run");
        expect_same(copy, "3", ".");
        expect_same(copy, "4/data/run", "1");
        expect_same(copy, "4/links", ".");
    }
}

// The same with a reference to the group above the one that is copied.
TEST_F(CopyLinks, ReferenceToTheGroupAbove) {
    make_runs(root);
    Group run = made(root.open_group("data/run"));
    refer(run, "parent", made(root.open_object("data")));
    CopyOptions options;
    options.expand_references = true;
    ASSERT_EQ(copy_object(root, "data/run", other_root, "copy", options), Status::ok);
    const Address parent = referenced(other_root, "copy", "parent");
    Group above = made(other_root.open_group("~obj_pointed_by_" + std::to_string(parent)));
    EXPECT_EQ(above.address(), parent);
    EXPECT_EQ(address_of(above, "run"), address_of(other_root, "copy"));
}

TEST_F(CopyLinks, ExpandedExternalLinks) {
    Drawer drawer;
    FileAccess access;
    access.metadata_cache = 4096;
    {
        File outside = made(File::create(library, drawer.file("outside.h5").storage, access));
        Group top = outside.root();
        make_runs(top);
        ASSERT_EQ(outside.close(), Status::ok);
    }
    access.opener = &drawer;
    GrowingMemoryDriver third_storage(memory);
    File third = made(File::create(library, third_storage, access));
    Group links = made(third.root().create_group("links"));
    ASSERT_EQ(links.create_external_link("1", "outside.h5", "/data/run"), Status::ok);
    ASSERT_EQ(links.create_external_link("2", "outside.h5", "/data"), Status::ok);
    ASSERT_EQ(links.create_external_link("3", "none.h5", "/data"), Status::ok);
    CopyOptions options;
    options.expand_external_links = true;
    Group from = third.root();
    ASSERT_EQ(copy_object(from, "links", other_root, "copy", options), Status::ok);
    Group copy = made(other_root.open_group("copy"));
    expect_same(copy, "1", "2/run");
    Link link;
    EXPECT_EQ(copy.find_link("3", link), Status::ok);
    EXPECT_EQ(link.type(), LinkType::external);
    EXPECT_EQ(third.close(), Status::ok);
}

// Links that are expanded keep their numbers, and so do those before and behind them.
TEST_F(CopyLinks, CreationOrdersOfExpandedLinks) {
    make_runs(root);
    for (const std::uint16_t most : {std::uint16_t{8}, std::uint16_t{0}}) {
        GroupCreate create = ordered();
        create.max_compact = most;
        create.min_dense = 0;
        const std::string name = most == 0 ? "dense" : "compact";
        Group links = made(root.create_group(name, create));
        ASSERT_EQ(links.create_soft_link("s", "/data"), Status::ok);
        ASSERT_EQ(links.create_group("d").status(), Status::ok);
        ASSERT_EQ(links.create_soft_link("e", "/nowhere"), Status::ok);
        ASSERT_EQ(links.create_soft_link("gone", "/data"), Status::ok);
        ASSERT_EQ(links.create_soft_link("z", "/data/run"), Status::ok);
        ASSERT_EQ(links.create_soft_link("last", "/data"), Status::ok);
        ASSERT_EQ(links.unlink("gone"), Status::ok);
        CopyOptions options;
        options.expand_soft_links = true;
        for (Group* const to : {&root, &other_root}) {
            SCOPED_TRACE(name);
            ASSERT_EQ(copy_object(root, name, *to, name + " copy", options), Status::ok);
            Group copy = made(to->open_group(name + " copy"));
            ASSERT_EQ(copy.create_soft_link("next", "b"), Status::ok);
            const std::pair<const char*, std::int64_t> orders[] = {{"s", 0}, {"d", 1},    {"e", 2},
                                                                   {"z", 4}, {"last", 5}, {"next", 6}};
            for (const auto& [link, order] : orders) {
                EXPECT_EQ(order_of(copy, link), order) << link;
            }
            expect_same(copy, "s", "last");
            expect_same(copy, "s/run", "z");
        }
    }
}

// References to what was deleted become null in a copy of a whole file, whether another object has the space or not.
// What the file's links lead to only after the reference is met has its copy all the same.
TEST_F(CopyLinks, DanglingReferencesInAWholeFile) {
    make_runs(root);
    Group first = made(root.create_group("a"));
    Group deleted = made(root.create_group("deleted"));
    EXPECT_EQ(deleted.write_attribute("what", "deleted"), Status::ok);
    Dataset overwritten = made(root.create_dataset("overwritten", datatype_of<double>(), Dataspace::simple({2})));
    refer(first, "deleted", deleted);
    refer(first, "overwritten", overwritten);
    refer(first, "run", made(root.open_object("data/run")));
    refer(first, "root", root);
    deleted = Group();
    ASSERT_EQ(overwritten.close(), Status::ok);
    ASSERT_EQ(root.unlink("overwritten"), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    const std::string text(600, 'x');
    ASSERT_EQ(root.write_attribute("text", std::string_view(text)), Status::ok);
    ASSERT_EQ(root.unlink("deleted"), Status::ok);
    ASSERT_EQ(copy_file(file, other), Status::ok);
    other_root = other.root();
    EXPECT_EQ(referenced(other_root, "a", "deleted"), kUndefinedAddress);
    EXPECT_EQ(referenced(other_root, "a", "overwritten"), kUndefinedAddress);
    EXPECT_EQ(referenced(other_root, "a", "run"), address_of(other_root, "data/run"));
    EXPECT_EQ(referenced(other_root, "a", "root"), other_root.address());
    std::uint32_t links = 0;
    EXPECT_EQ(other_root.link_count(links), Status::ok);
    EXPECT_EQ(links, 2U);
}

// Links with the names that the copies of what references lead to would get, at first with other numbers: the copies
// have the same addresses in both files.
TEST_F(CopyLinks, NamesOfReferencedObjectsThatAreTaken) {
    Group from = made(root.create_group("from"));
    Group first = made(root.create_group("first"));
    Group second = made(root.create_group("second"));
    refer(from, "first", first);
    refer(from, "second", second);
    CopyOptions options;
    options.expand_references = true;
    std::string names[] = {"~obj_pointed_by_1000", "~obj_pointed_by_1001"};
    for (unsigned round = 0; round < 3; ++round) {
        SCOPED_TRACE(round);
        GrowingMemoryDriver fresh(memory);
        FileAccess access;
        access.metadata_cache = 4096;
        File to = made(File::create(library, fresh, access));
        Group top = to.root();
        for (const std::string& name : names) {
            ASSERT_EQ(top.create_soft_link(name, "nowhere"), Status::ok);
        }
        // A copy whose own name is taken in the end leaves nothing behind.
        const bool clash = round == 1;
        const std::string name = clash ? names[1] + "_1" : "copy";
        ASSERT_EQ(copy_object(from, ".", top, name, options), clash ? Status::already_exists : Status::ok);
        std::uint32_t links = 0;
        EXPECT_EQ(top.link_count(links), Status::ok);
        EXPECT_EQ(links, clash ? 2U : 5U);
        for (unsigned i = 0; !clash && i < 2; ++i) {
            const Address copy = referenced(top, "copy", i == 0 ? "first" : "second");
            const std::string expected = "~obj_pointed_by_" + std::to_string(copy);
            EXPECT_EQ(address_of(top, round == 0 ? expected : names[i] + "_1"), copy);
            EXPECT_TRUE(round == 0 || expected == names[i]);
            names[i] = expected;
        }
        EXPECT_TRUE(sound(to));
        EXPECT_EQ(to.close(), Status::ok);
    }
}

// A link of the object itself is none by which one could find it.
TEST_F(CopyLinks, ReferencedObjectsInCircles) {
    Group from = made(root.create_group("from"));
    Group circle = made(root.create_group("circle"));
    Group below = made(circle.create_group("below"));
    ASSERT_EQ(below.create_hard_link("up", circle), Status::ok);
    ASSERT_EQ(circle.create_hard_link("self", circle), Status::ok);
    refer(from, "circle", circle);
    refer(from, "below", below);
    CopyOptions options;
    options.expand_references = true;
    ASSERT_EQ(copy_object(root, "from", other_root, "copy", options), Status::ok);
    ASSERT_EQ(other.reclaim(), Status::ok);
    for (unsigned i = 0; i < 20; ++i) {
        ASSERT_EQ(other_root.create_group(std::to_string(i)).status(), Status::ok);
    }
    const Address copy = referenced(other_root, "copy", "circle");
    Group found = made(other_root.open_group("~obj_pointed_by_" + std::to_string(copy)));
    expect_same(found, "self", ".");
    expect_same(found, "below/up", ".");
    EXPECT_EQ(address_of(found, "below"), referenced(other_root, "copy", "below"));
}

// Of what expanded links and references lead to, a shallow copy has no more than of what hard links lead to.
TEST_F(CopyLinks, ShallowCopies) {
    make_runs(root);
    Group from = made(root.create_group("from"));
    ASSERT_EQ(from.create_soft_link("soft", "/data"), Status::ok);
    refer(from, "run", made(root.open_object("data/run")));
    CopyOptions options;
    options.shallow = true;
    options.expand_soft_links = true;
    options.expand_references = true;
    ASSERT_EQ(copy_object(root, "from", other_root, "copy", options), Status::ok);
    const Address run = referenced(other_root, "copy", "run");
    for (const std::string& path : {std::string("copy/soft"), "~obj_pointed_by_" + std::to_string(run)}) {
        Group below = made(other_root.open_group(path));
        std::uint32_t links = 1;
        EXPECT_EQ(below.link_count(links), Status::ok);
        EXPECT_EQ(links, 0U) << path;
    }
}

// Whether a committed datatype is met by its own link, by that of a dataset that uses it, or by a reference.
TEST_F(CopyLinks, CommittedDatatypesAreMerged) {
    NamedDatatype there = made(other_root.commit_datatype("there", datatype_of<double>()));
    for (const char* const name : {"a type", "z type"}) {
        SCOPED_TRACE(name);
        Group from = made(root.create_group(std::string("from ") + name));
        NamedDatatype type = made(from.commit_datatype(name, datatype_of<double>()));
        EXPECT_EQ(type.write_attribute("what", "not copied"), Status::ok);
        Dataset dataset = made(from.create_dataset("dataset", type, Dataspace::simple({3})));
        refer(from, "other", made(root.commit_datatype(std::string("outside ") + name, datatype_of<double>())));
        CopyOptions options;
        options.merge_datatypes = true;
        options.expand_references = true;
        const std::string path = std::string("copy ") + name;
        ASSERT_EQ(copy_object(from, ".", other_root, path, options), Status::ok);
        Group copy = made(other_root.open_group(path));
        EXPECT_EQ(address_of(copy, name), there.address());
        DatasetInfo info;
        EXPECT_EQ(made(copy.open_dataset("dataset")).info(info), Status::ok);
        EXPECT_EQ(info.type_object, there.address());
        EXPECT_EQ(referenced(copy, ".", "other"), there.address());
        EXPECT_FALSE(there.has_attribute("what"));
        EXPECT_FALSE(other_root.exists("~obj_pointed_by_" + std::to_string(there.address())));
        options.merge_datatypes = false;
        ASSERT_EQ(copy_object(from, name, other_root, std::string("own ") + name, options), Status::ok);
        EXPECT_NE(address_of(other_root, std::string("own ") + name), there.address());
        EXPECT_EQ(other_root.unlink(std::string("own ") + name), Status::ok);
    }
}

// An equal datatype may be anywhere in the destination's file, and it need not have a link.
TEST_F(CopyLinks, EqualDatatypesAreFoundAnywhere) {
    Group deep = made(made(other_root.create_group("a")).create_group("b"));
    NamedDatatype deep_type = made(deep.commit_datatype("type", datatype_of<float>()));
    NamedDatatype second_type = made(other_root.commit_datatype("z", datatype_of<float>()));
    NamedDatatype used = made(other_root.commit_datatype("used", datatype_of<std::int16_t>()));
    Dataset dataset = made(deep.create_dataset("dataset", used, Dataspace::simple({2})));
    NamedDatatype of_attribute = made(other_root.commit_datatype("attribute", datatype_of<std::uint64_t>()));
    const std::uint64_t value = 7;
    ASSERT_EQ(deep.write_attribute("what", of_attribute, datatype_of<std::uint64_t>(), Dataspace::scalar(),
                                   {reinterpret_cast<const std::byte*>(&value), sizeof value}),
              Status::ok);
    const Address used_at = used.address();
    const Address attribute_at = of_attribute.address();
    used.close();
    of_attribute.close();
    ASSERT_EQ(other_root.unlink("used"), Status::ok);
    ASSERT_EQ(other_root.unlink("attribute"), Status::ok);
    ASSERT_EQ(root.commit_datatype("float", datatype_of<float>()).status(), Status::ok);
    ASSERT_EQ(root.commit_datatype("short", datatype_of<std::int16_t>()).status(), Status::ok);
    ASSERT_EQ(root.commit_datatype("long", datatype_of<std::uint64_t>()).status(), Status::ok);
    CopyOptions options;
    options.merge_datatypes = true;
    ASSERT_EQ(copy_object(root, "float", other_root, "copied float", options), Status::ok);
    EXPECT_EQ(address_of(other_root, "copied float"), deep_type.address());
    ASSERT_EQ(copy_object(root, "short", other_root, "copied short", options), Status::ok);
    EXPECT_EQ(address_of(other_root, "copied short"), used_at);
    ASSERT_EQ(copy_object(root, "long", other_root, "copied long", options), Status::ok);
    EXPECT_EQ(address_of(other_root, "copied long"), attribute_at);
    const std::string_view paths[] = {"not/there", "z"};
    options.merge_paths = paths;
    ASSERT_EQ(copy_object(root, "float", other_root, "second float", options), Status::ok);
    EXPECT_EQ(address_of(other_root, "second float"), second_type.address());
    // What a path leads to in another file is passed over.
    ASSERT_EQ(other_root.create_group("mount").status(), Status::ok);
    ASSERT_EQ(other_root.mount("mount", file), Status::ok);
    const std::string_view elsewhere[] = {"mount/float"};
    options.merge_paths = elsewhere;
    ASSERT_EQ(copy_object(root, "float", other_root, "third float", options), Status::ok);
    EXPECT_EQ(address_of(other_root, "third float"), deep_type.address());
    ASSERT_EQ(other_root.unmount("mount"), Status::ok);
}

// Equal datatypes of the original have one copy, and a copy within one file uses the datatype itself.
TEST_F(CopyLinks, EqualDatatypesOfTheOriginalBecomeOne) {
    Group from = made(root.create_group("from"));
    NamedDatatype first = made(from.commit_datatype("first", datatype_of<float>()));
    NamedDatatype second = made(from.commit_datatype("second", datatype_of<float>()));
    Dataset dataset = made(from.create_dataset("dataset", second, Dataspace::simple({2})));
    CopyOptions options;
    options.merge_datatypes = true;
    ASSERT_EQ(copy_object(root, "from", other_root, "to", options), Status::ok);
    Group to = made(other_root.open_group("to"));
    EXPECT_EQ(address_of(to, "first"), address_of(to, "second"));
    DatasetInfo info;
    EXPECT_EQ(made(to.open_dataset("dataset")).info(info), Status::ok);
    EXPECT_EQ(info.type_object, address_of(to, "first"));
    ASSERT_EQ(copy_object(root, "from", root, "to", options), Status::ok);
    Group beside = made(root.open_group("to"));
    EXPECT_EQ(address_of(beside, "first"), first.address());
    EXPECT_EQ(address_of(beside, "second"), second.address());
    EXPECT_EQ(made(beside.open_dataset("dataset")).info(info), Status::ok);
    EXPECT_EQ(info.type_object, second.address());
}

// Strings of any length take 16 bytes where addresses have 8, and 12 where they have 4: the same datatype all the same.
TEST_F(CopyLinks, DatatypesAreComparedInTheFormOfTheDestination) {
    GrowingMemoryDriver small(memory);
    FileCreate create;
    create.sizeof_addr = 4;
    auto narrow_file = File::create(library, small, {}, create);
    ASSERT_EQ(narrow_file.status(), Status::ok);
    constexpr auto kText = make_variable_string();
    const NamedDatatype there = made(narrow_file->root().commit_datatype("there", kText));
    ASSERT_EQ(root.commit_datatype("text", kText).status(), Status::ok);
    CopyOptions options;
    options.merge_datatypes = true;
    Group to = narrow_file->root();
    ASSERT_EQ(copy_object(root, "text", to, "text", options), Status::ok);
    EXPECT_EQ(address_of(to, "text"), there.address());
    EXPECT_TRUE(sound(*narrow_file));
}

}  // namespace

#endif
