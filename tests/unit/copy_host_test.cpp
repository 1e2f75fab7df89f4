// Copies of objects: within a file and between two, with each option; deletion of whole trees.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "copy_files.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

struct Copies : public CopyFiles {
    // A group with two datasets, of which one has a second name, a group below, links, attributes.
    void make_tree() {
        Group tree = made(root.create_group("tree", ordered()));
        EXPECT_EQ(tree.write_attribute("title", "a tree"), Status::ok);
        EXPECT_EQ(tree.set_comment("of two levels"), Status::ok);
        make_chunked(tree, "packed");
        Dataset plain = made(tree.create_dataset("plain", datatype_of<double>(), Dataspace::simple({3, 4})));
        EXPECT_EQ(plain.write(Selection::all(), datatype_of<double>(), as_bytes(Span<const double>(numbers, 12))),
                  Status::ok);
        Group below = made(tree.create_group("below"));
        EXPECT_EQ(below.create_hard_link("again", plain), Status::ok);
        EXPECT_EQ(below.create_hard_link("up", tree), Status::ok);
        EXPECT_EQ(below.create_soft_link("soft", "/tree/plain"), Status::ok);
        EXPECT_EQ(below.create_soft_link("nowhere", "/there/is/none"), Status::ok);
        EXPECT_EQ(below.create_external_link("external", "other.h5", "/object"), Status::ok);
    }
    void make_chunked(Group& group, const char* name) {
        DatasetCreate create;
        create.chunk = {16};
        create.filters = {filters::shuffle, filters::deflate};
        TypedDataset<std::int32_t> data = made(group.create_dataset<std::int32_t>(name, create));
        for (std::int32_t i = 0; i < 100; ++i) {
            EXPECT_EQ(data.append(i * i), Status::ok);
        }
        EXPECT_EQ(data.write_attribute("unit", "m"), Status::ok);
    }
    static void expect_chunked(Group& group, const char* name) {
        auto data = group.open_dataset<std::int32_t>(name);
        ASSERT_EQ(data.status(), Status::ok);
        std::int32_t values[100] = {};
        EXPECT_EQ(data->read(Selection::all(), Span<std::int32_t>(values, 100)), Status::ok);
        for (std::int32_t i = 0; i < 100; ++i) {
            EXPECT_EQ(values[i], i * i);
        }
        EXPECT_EQ(data->append(-1), Status::ok);
        EXPECT_EQ(data->size(), 101U);
    }
    static void expect_plain(Group& group, const char* name) {
        auto data = group.open_dataset<double>(name);
        ASSERT_EQ(data.status(), Status::ok);
        double values[12] = {};
        EXPECT_EQ(data->read(Selection::all(), Span<double>(values, 12)), Status::ok);
        for (unsigned i = 0; i < 12; ++i) {
            EXPECT_EQ(values[i], numbers[i]);
        }
    }
    void expect_tree(Group& group, const std::string& name) {
        auto tree = group.open_group(name);
        ASSERT_EQ(tree.status(), Status::ok);
        char text[32];
        std::size_t length = 0;
        EXPECT_EQ(tree->read_attribute("title", Span<char>(text), length), Status::ok);
        EXPECT_EQ(std::string(text, length), "a tree");
        EXPECT_EQ(tree->comment(Span<char>(text), length), Status::ok);
        EXPECT_EQ(std::string(text, length), "of two levels");
        GroupInfo info;
        EXPECT_EQ(tree->group_info(info), Status::ok);
        EXPECT_TRUE(info.tracks_order);
        EXPECT_EQ(info.links, 3U);
        expect_chunked(*tree, "packed");
        expect_plain(*tree, "plain");
        auto plain = tree->open_dataset("plain");
        auto again = tree->open_dataset("below/again");
        ASSERT_EQ(again.status(), Status::ok);
        EXPECT_EQ(plain->address(), again->address());
        auto up = tree->open_group("below/up");
        ASSERT_EQ(up.status(), Status::ok);
        EXPECT_EQ(up->address(), tree->address());
        Link link;
        EXPECT_EQ(tree->find_link("below/nowhere", link), Status::ok);
        EXPECT_EQ(link.target(), "/there/is/none");
        EXPECT_EQ(tree->find_link("below/external", link), Status::ok);
        EXPECT_EQ(link.file_name(), "other.h5");
    }

    static const double numbers[12];
};

const double Copies::numbers[12] = {1, 2.5, -3, 4e300, 5, 6, 7, 8, 9, 10, 11, 0.125};

TEST_F(Copies, ATreeIntoAnotherFileAndBesideItself) {
    make_tree();
    ASSERT_EQ(copy_object(root, "tree", other_root, "copy"), Status::ok);
    expect_tree(other_root, "copy");
    ASSERT_EQ(copy_object(root, "tree", root, "twin"), Status::ok);
    expect_tree(root, "twin");
    EXPECT_EQ(lost(file), 0U);
    EXPECT_EQ(lost(other), 0U);
}

TEST_F(Copies, IntoItself) {
    make_tree();
    ASSERT_EQ(copy_object(root, "tree", root, "tree/below/inner"), Status::ok);
    auto inner = root.open_group("tree/below/inner");
    ASSERT_EQ(inner.status(), Status::ok);
    EXPECT_FALSE(inner->exists("below/inner"));
    expect_chunked(*inner, "packed");
}

TEST_F(Copies, OneObject) {
    make_tree();
    ASSERT_EQ(copy_object(root, "tree/packed", other_root, "packed"), Status::ok);
    expect_chunked(other_root, "packed");
    EXPECT_EQ(copy_object(root, "tree/packed", other_root, "packed"), Status::already_exists);
    EXPECT_EQ(copy_object(root, "tree/none", other_root, "none"), Status::not_found);
    EXPECT_FALSE(other_root.exists("none"));
}

TEST_F(Copies, Shallow) {
    make_tree();
    CopyOptions options;
    options.shallow = true;
    ASSERT_EQ(copy_object(root, "tree", other_root, "copy", options), Status::ok);
    auto copy = other_root.open_group("copy");
    ASSERT_EQ(copy.status(), Status::ok);
    expect_plain(*copy, "plain");
    auto below = copy->open_group("below");
    ASSERT_EQ(below.status(), Status::ok);
    std::uint32_t links = 1;
    EXPECT_EQ(below->link_count(links), Status::ok);
    EXPECT_EQ(links, 0U);
}

TEST_F(Copies, ElementsLargerThanTheBuffer) {
    std::vector<std::byte> values(3 * 5000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::byte>(i % 251);
    }
    const auto type = make_opaque(5000, "blob");
    Dataset dataset = made(root.create_dataset("large", type.view(), Dataspace::simple({3})));
    ASSERT_EQ(dataset.write(Selection::all(), type.view(), {values.data(), values.size()}), Status::ok);
    ASSERT_EQ(copy_object(root, "large", other_root, "copy"), Status::ok);
    Dataset copy = made(other_root.open_dataset("copy"));
    std::vector<std::byte> read(values.size());
    ASSERT_EQ(copy.read(Selection::all(), type.view(), {read.data(), read.size()}), Status::ok);
    EXPECT_EQ(read, values);
}

// As copies that libhdf5 makes, they keep the numbers of links and attributes, and go on where the original would.
TEST_F(Copies, CreationOrdersOfLinks) {
    for (const std::uint16_t most : {std::uint16_t{8}, std::uint16_t{0}}) {
        SCOPED_TRACE(most == 0 ? "dense" : "compact");
        const std::string name = most == 0 ? "dense" : "compact";
        GroupCreate create = ordered();
        create.max_compact = most;
        create.min_dense = 0;
        Group original = made(root.create_group(name, create));
        Group below = made(original.create_group("a", create));
        ASSERT_EQ(original.create_group("b").status(), Status::ok);
        ASSERT_EQ(original.create_soft_link("c", "a"), Status::ok);
        ASSERT_EQ(original.create_hard_link("d", below), Status::ok);
        for (const char* const link : {"x", "y"}) {
            ASSERT_EQ(below.create_soft_link(link, "nowhere"), Status::ok);
        }
        ASSERT_EQ(original.unlink("a"), Status::ok);
        ASSERT_EQ(below.unlink("x"), Status::ok);
        ASSERT_EQ(original.create_soft_link("e", "d"), Status::ok);
        ASSERT_EQ(original.unlink("e"), Status::ok);
        for (Group* const to : {&root, &other_root}) {
            ASSERT_EQ(copy_object(root, name, *to, name + " copy"), Status::ok);
            Group copy = made(to->open_group(name + " copy"));
            ASSERT_EQ(copy.create_soft_link("next", "b"), Status::ok);
            const std::pair<const char*, std::int64_t> orders[] = {{"b", 1}, {"c", 2}, {"d", 3}, {"next", 5}};
            for (const auto& [link, order] : orders) {
                EXPECT_EQ(order_of(copy, link), order) << link;
            }
            Group again = made(copy.open_group("d"));
            EXPECT_EQ(order_of(again, "y"), 1);
        }
    }
}

TEST_F(Copies, CreationOrdersOfAttributes) {
    for (const unsigned most : {8U, 0U}) {
        SCOPED_TRACE(most == 0 ? "dense" : "compact");
        GroupCreate create;
        create.attributes.track_order = true;
        create.attributes.max_compact = static_cast<std::uint16_t>(most);
        create.attributes.min_dense = 0;
        const std::string name = most == 0 ? "dense" : "compact";
        Group original = made(root.create_group(name, create));
        for (const char* const attribute : {"a", "b", "c", "d"}) {
            ASSERT_EQ(original.write_attribute(attribute, 1), Status::ok);
        }
        for (const char* const attribute : {"a", "c", "d"}) {
            ASSERT_EQ(original.remove_attribute(attribute), Status::ok);
        }
        for (Group* const to : {&root, &other_root}) {
            ASSERT_EQ(copy_object(root, name, *to, name + " copy"), Status::ok);
            Group copy = made(to->open_group(name + " copy"));
            ASSERT_EQ(copy.write_attribute("next", 1), Status::ok);
            EXPECT_EQ(copy.open_attribute("b")->creation_order(), 1U);
            EXPECT_EQ(copy.open_attribute("next")->creation_order(), 4U);
        }
    }
}

TEST_F(Copies, WithoutAttributes) {
    make_tree();
    CopyOptions options;
    options.without_attributes = true;
    ASSERT_EQ(copy_object(root, "tree", other_root, "copy", options), Status::ok);
    auto copy = other_root.open_group("copy");
    EXPECT_FALSE(copy->has_attribute("title"));
    auto packed = copy->open_dataset("packed");
    EXPECT_FALSE(packed->has_attribute("unit"));
}

TEST_F(Copies, SoftLinksExpanded) {
    make_tree();
    make_chunked(root, "outside");
    ASSERT_EQ(root.create_soft_link("tree/below/far", "/outside"), Status::ok);
    ASSERT_EQ(root.create_soft_link("tree/below/further", "/outside"), Status::ok);
    CopyOptions options;
    options.expand_soft_links = true;
    ASSERT_EQ(copy_object(root, "tree", other_root, "copy", options), Status::ok);
    auto copy = other_root.open_group("copy");
    ASSERT_EQ(copy.status(), Status::ok);
    auto plain = copy->open_dataset("plain");
    auto soft = copy->open_dataset("below/soft");
    ASSERT_EQ(soft.status(), Status::ok);
    EXPECT_EQ(plain->address(), soft->address());
    auto far = copy->open_dataset("below/far");
    auto further = copy->open_dataset("below/further");
    ASSERT_EQ(far.status(), Status::ok);
    EXPECT_EQ(far->address(), further->address());
    Link link;
    EXPECT_EQ(copy->find_link("below/soft", link), Status::ok);
    EXPECT_EQ(link.type(), LinkType::hard);
    EXPECT_EQ(copy->find_link("below/nowhere", link), Status::ok);
    EXPECT_EQ(link.type(), LinkType::soft);
}

TEST_F(Copies, WholeFile) {
    make_tree();
    EXPECT_EQ(root.write_attribute("name", "all of it"), Status::ok);
    EXPECT_EQ(root.create_hard_link("tree/root", root), Status::ok);
    ASSERT_EQ(copy_file(file, other), Status::ok);
    other_root = other.root();
    EXPECT_TRUE(other_root.has_attribute("name"));
    auto tree = other_root.open_group("tree");
    ASSERT_EQ(tree.status(), Status::ok);
    expect_chunked(*tree, "packed");
    auto up = other_root.open_group("tree/root");
    ASSERT_EQ(up.status(), Status::ok);
    EXPECT_EQ(up->address(), other_root.address());
    EXPECT_EQ(lost(other), 0U);
    EXPECT_EQ(copy_file(file, other), Status::invalid_argument);
    EXPECT_EQ(copy_file(file, file), Status::invalid_argument);
}

TEST_F(Copies, TreesAreDeleted) {
    make_tree();
    Group kept = made(root.create_group("kept"));
    auto plain = root.open_dataset("tree/plain");
    ASSERT_EQ(kept.create_hard_link("plain", *plain), Status::ok);
    EXPECT_EQ(plain->close(), Status::ok);
    ASSERT_EQ(root.unlink("tree/below/up"), Status::ok);
    EXPECT_EQ(root.unlink("tree"), Status::busy);
    ASSERT_EQ(root.unlink_tree("tree"), Status::ok);
    EXPECT_FALSE(root.exists("tree"));
    expect_plain(kept, "plain");
    ASSERT_EQ(root.unlink_tree("kept"), Status::ok);
    EXPECT_EQ(lost(file), 0U);
}

TEST_F(Copies, DeepTreesAreCopiedAndDeleted) {
    std::string path = "deep";
    ASSERT_EQ(root.create_group(path).status(), Status::ok);
    for (unsigned i = 0; i < 100; ++i) {
        path += "/g";
        ASSERT_EQ(root.create_group(path).status(), Status::ok);
    }
    ASSERT_EQ(copy_object(root, "deep", root, "again"), Status::ok);
    EXPECT_TRUE(root.exists("again" + path.substr(4)));
    ASSERT_EQ(root.unlink_tree("deep"), Status::ok);
    ASSERT_EQ(root.unlink_tree("again"), Status::ok);
    EXPECT_EQ(lost(file), 0U);
}

// The link of a group leads to the group itself, which has no other link, or its name is empty: what is below never
// ends.
TEST(UnlinkTree, EndsInDamagedFiles) {
    for (const bool circle : {true, false}) {
        MallocAllocator memory;
        NullPort port;
        Library library(memory, port, {}, formats::all);
        GrowingMemoryDriver storage(memory);
        FileAccess access;
        access.low = FormatVersion::earliest;
        Address group = 0;
        Address below = 0;
        {
            auto file = File::create(library, storage, access);
            ASSERT_EQ(file.status(), Status::ok);
            auto tree = file->root().create_group("tree");
            ASSERT_EQ(tree.status(), Status::ok);
            group = tree->address();
            below = tree->create_group("branch")->address();
            ASSERT_EQ(file->close(), Status::ok);
        }
        const ConstBytes bytes = storage.contents();
        std::vector<std::byte> image(bytes.begin(), bytes.end());
        const auto replace = [&](const void* old, const void* by, std::size_t size) {
            const auto* const from = static_cast<const std::byte*>(old);
            const auto at = std::search(image.begin(), image.end(), from, from + size);
            ASSERT_NE(at, image.end());
            std::copy_n(static_cast<const std::byte*>(by), size, at);
        };
        if (circle) {
            std::byte old[8];
            std::byte by[8];
            for (unsigned i = 0; i < 8; ++i) {
                old[i] = static_cast<std::byte>(std::uint64_t{below} >> (8 * i));
                by[i] = static_cast<std::byte>(std::uint64_t{group} >> (8 * i));
            }
            replace(old, by, 8);
        } else {
            replace("branch", "\0ranch", 6);
        }
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_EQ(file->root().unlink_tree("tree"), Status::corrupt_file);
    }
}

}  // namespace

#endif
