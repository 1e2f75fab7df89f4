#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

bool text_is(const char* text, std::size_t length, const char* wanted) noexcept {
    return std::strlen(wanted) == length && std::memcmp(text, wanted, length) == 0;
}

// Returns "link" and a number.
const char* name_of(unsigned i, char (&name)[16]) noexcept {
    std::memcpy(name, "link00000", 10);
    for (unsigned digit = 8; digit > 3; --digit, i /= 10) {
        name[digit] = static_cast<char>('0' + i % 10);
    }
    return name;
}

}  // namespace

TEST(Group, PathsLeadToObjects) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    auto flight = root.create_group("flight");
    ASSERT_TRUE(bool(flight));
    auto sensors = root.create_group("/flight/sensors");
    ASSERT_TRUE(bool(sensors));
    auto deep = flight->create_group("sensors/deep/");
    ASSERT_TRUE(bool(deep));
    for (const char* path : {"flight/sensors/deep", "/flight/sensors/deep", "//flight///sensors//deep//",
                             "./flight/./sensors/deep/.", "flight/sensors/deep/"}) {
        auto found = root.open_group(path);
        ASSERT_TRUE(bool(found));
        EXPECT_EQ(found->address(), deep->address());
        EXPECT_TRUE(root.exists(path));
    }
    EXPECT_EQ(deep->open_group("/flight")->address(), flight->address());
    EXPECT_EQ(deep->open_group("/")->address(), root.address());
    EXPECT_EQ(deep->open_group(".")->address(), deep->address());
    EXPECT_EQ(root.open_group("sensors").status(), Status::not_found);
    EXPECT_EQ(root.open_group("flight/sensor").status(), Status::not_found);
    EXPECT_EQ(root.open_group("flight/sensorss").status(), Status::not_found);
    EXPECT_FALSE(root.exists("nothing"));
    EXPECT_EQ(root.create_group("flight").status(), Status::already_exists);
    EXPECT_EQ(root.create_group("no/parent").status(), Status::not_found);
    for (const char* bad : {"", "/", "//", ".", "/.", "flight/."}) {
        EXPECT_EQ(root.create_group(bad).status(), Status::invalid_argument);
    }
    EXPECT_EQ(root.open_or_create_group("flight")->address(), flight->address());
    EXPECT_TRUE(bool(root.open_or_create_group("new")));
    std::uint32_t count = 0;
    EXPECT_EQ(root.link_count(count), Status::ok);
    EXPECT_EQ(count, 2U);
    // A dataset cannot be opened as a group, nor a group as a dataset.
    DatasetCreate create;
    create.chunk = {4};
    ASSERT_TRUE(bool(root.create_dataset<std::int32_t>("log", create)));
    EXPECT_EQ(root.open_group("log").status(), Status::not_found);
    EXPECT_EQ(root.open_dataset("flight").status(), Status::not_found);
    EXPECT_EQ(root.create_group("log/child").status(), Status::not_found);
    EXPECT_EQ(root.open_group("log/child").status(), Status::not_found);
}

TEST(Group, AllGroupsOfAPath) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    auto flight = root.create_group("flight");
    ASSERT_TRUE(bool(flight));
    auto deep = flight->open_or_create_groups("raw//./left/deep/");
    ASSERT_TRUE(bool(deep));
    EXPECT_EQ(root.open_group("flight/raw/left/deep")->address(), deep->address());
    // What is there already stays as it is.
    EXPECT_EQ(deep->open_or_create_groups("/flight/raw/left/deep")->address(), deep->address());
    EXPECT_EQ(root.open_or_create_groups("flight/raw/right")->open_group("/flight/raw/left/deep")->address(),
              deep->address());
    EXPECT_EQ(root.open_or_create_groups("/")->address(), root.address());
    EXPECT_EQ(deep->open_or_create_groups("")->address(), deep->address());
    // A part that is no group, or no name, ends the call, and nothing is left of the groups before it.
    DatasetCreate create;
    create.chunk = {4};
    ASSERT_TRUE(bool(flight->create_dataset<std::int32_t>("log", create)));
    EXPECT_EQ(root.open_or_create_groups("flight/log").status(), Status::already_exists);
    EXPECT_EQ(root.open_or_create_groups("flight/log/more").status(), Status::already_exists);
    EXPECT_EQ(flight->create_soft_link("nowhere", "/no/where"), Status::ok);
    EXPECT_EQ(root.open_or_create_groups("flight/nowhere/more").status(), Status::already_exists);
    EXPECT_EQ(flight->open_or_create_groups(std::string_view("one/two/thr\0ee", 13)).status(),
              Status::invalid_argument);
    EXPECT_FALSE(root.exists("flight/one"));
    std::uint32_t count = 0;
    EXPECT_EQ(flight->link_count(count), Status::ok);
    EXPECT_EQ(count, 3U);
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(bench.file.root().exists("flight/raw/left/deep"));
    EXPECT_TRUE(bench.file.root().exists("flight/raw/right"));
}

TEST(Group, ManyLinksInBlocksThatAreChained) {
    for (const bool ordered : {false, true}) {
        if (ordered && H5MOTE_CREATION_ORDER == 0) {
            continue;
        }
        Bench bench;
        FileCreate properties;
        properties.track_link_order = ordered;
        ASSERT_EQ(bench.create(properties), Status::ok);
        constexpr unsigned kCount = 150;
        char name[16];
        for (unsigned i = 0; i < kCount; ++i) {
            ASSERT_EQ(bench.file.root().create_soft_link(name_of(i * 7 % kCount, name), "/somewhere"), Status::ok);
            if (i % 40 == 39) {
                ASSERT_EQ(bench.file.flush(), Status::ok);
            }
            if (i % 60 == 59) {
                ASSERT_EQ(bench.reopen(), Status::ok);
            }
        }
        ASSERT_EQ(bench.reopen(), Status::ok);
        Group root = bench.file.root();
        std::uint32_t count = 0;
        EXPECT_EQ(root.link_count(count), Status::ok);
        EXPECT_EQ(count, kCount);
        bool seen[kCount] = {};
        for (unsigned i = 0; i < kCount; ++i) {
            LinkInfo info;
            char found[16];
            char target[16];
            ASSERT_EQ(root.link(i, info, {found, sizeof found}, {target, sizeof target}), Status::ok);
            EXPECT_EQ(info.type, LinkType::soft);
            EXPECT_EQ(info.has_order, ordered);
            EXPECT_TRUE(text_is(target, info.target_length, "/somewhere"));
            unsigned which = 0;
            for (unsigned n = 4; n < 9; ++n) {
                which = which * 10 + static_cast<unsigned>(found[n] - '0');
            }
            ASSERT_LT(which, kCount);
            EXPECT_FALSE(seen[which]);
            seen[which] = true;
            if (ordered) {
                EXPECT_EQ(info.order * 7 % kCount, which);
            }
        }
        EXPECT_EQ(root.create_soft_link(name_of(3, name), "x"), Status::already_exists);
        LinkInfo info;
        EXPECT_EQ(root.link(kCount, info, {}), Status::not_found);
        char small[3];
        EXPECT_EQ(root.link(0, info, {small, sizeof small}), Status::invalid_argument);
        EXPECT_EQ(info.name_length, 9U);
        root.close();
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
    }
}

TEST(Group, SoftLinksAreFollowedAndLoopsEnd) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    auto a = root.create_group("a");
    auto b = root.create_group("a/b");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(root.create_soft_link("absolute", "/a/b"), Status::ok);
    EXPECT_EQ(a->create_soft_link("relative", "b"), Status::ok);
    EXPECT_EQ(b->create_soft_link("here", "."), Status::ok);
    EXPECT_EQ(root.create_soft_link("second", "a/relative"), Status::ok);
    EXPECT_EQ(root.create_soft_link("dangling", "/a/c"), Status::ok);
    EXPECT_EQ(root.create_soft_link("loop", "loop"), Status::ok);
    EXPECT_EQ(root.create_soft_link("ping", "/pong"), Status::ok);
    EXPECT_EQ(root.create_soft_link("pong", "/ping/x"), Status::ok);
    EXPECT_EQ(root.create_soft_link("empty", ""), Status::invalid_argument);
    for (const char* path : {"absolute", "a/relative", "second", "second/here/here", "/absolute/here"}) {
        auto found = root.open_group(path);
        ASSERT_TRUE(bool(found));
        EXPECT_EQ(found->address(), b->address());
    }
    for (const char* path : {"dangling", "loop", "ping", "loop/x"}) {
        EXPECT_EQ(root.open_group(path).status(), Status::not_found);
        EXPECT_FALSE(root.exists(path));
    }
    // A new object can be created through a soft link to a group, but not in place of a soft link.
    EXPECT_TRUE(bool(root.create_group("second/made")));
    EXPECT_TRUE(root.exists("a/b/made"));
    EXPECT_EQ(root.create_group("dangling").status(), Status::already_exists);
    EXPECT_EQ(root.create_group("loop/made").status(), Status::not_found);
    // A path may pass 16 soft links, and no more.
    char name[3] = "s0";
    char target[3] = "a";
    for (char i = 0; i < 18; ++i) {
        name[1] = static_cast<char>('A' + i);
        ASSERT_EQ(root.create_soft_link(name, target), Status::ok);
        std::memcpy(target, name, sizeof target);
    }
    EXPECT_TRUE(root.exists("sP"));
    EXPECT_FALSE(root.exists("sQ"));
    root.close();
    a->close();
    b->close();
    ASSERT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}

TEST(Group, HardLinksNameOneObject) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    auto a = root.create_group("a");
    ASSERT_TRUE(bool(a));
    EXPECT_EQ(root.create_hard_link("again", *a), Status::ok);
    EXPECT_EQ(a->create_hard_link("self", *a), Status::ok);
    EXPECT_EQ(a->create_hard_link("up", root), Status::ok);
    EXPECT_EQ(root.create_hard_link("again", *a), Status::already_exists);
    EXPECT_EQ(root.create_hard_link("none", Group()), Status::invalid_argument);
    EXPECT_EQ(root.open_group("again/self/self/up/a")->address(), a->address());
    EXPECT_EQ(a->write_attribute("n", std::int32_t{5}), Status::ok);
    ASSERT_EQ(bench.reopen(), Status::ok);
    std::int32_t n = 0;
    EXPECT_EQ(bench.file.root().open_group("again")->read_attribute("n", n), Status::ok);
    EXPECT_EQ(n, 5);
}

TEST(Group, AnotherFilesObjectIsNoTarget) {
    Bench bench(16 * 1024);
    ASSERT_EQ(bench.create(), Status::ok);
    MemoryDriver second(Bytes{bench_storage + 16 * 1024, 8 * 1024});
    auto other = File::create(bench.library, second, bench.access);
    ASSERT_TRUE(bool(other));
    EXPECT_EQ(bench.file.root().create_hard_link("x", other->root()), Status::invalid_argument);
    EXPECT_EQ(other->close(), Status::ok);
}

TEST(Group, LongAndForeignNames) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    char name[300];
    std::memset(name, 'n', sizeof name);
    for (const std::size_t length : {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{300}}) {
        EXPECT_TRUE(bool(root.create_group(std::string_view(name, length))));
        EXPECT_TRUE(root.exists(std::string_view(name, length)));
    }
    EXPECT_FALSE(root.exists(std::string_view(name, 257)));
    EXPECT_TRUE(bool(root.create_group("H\xc3\xb6he")));
    EXPECT_TRUE(root.exists("H\xc3\xb6he"));
    ASSERT_EQ(bench.reopen(), Status::ok);
    EXPECT_TRUE(bench.file.root().exists(std::string_view(name, 300)));
}

// Names with a zero byte are refused: other readers would take them for shorter names.
TEST(Group, NamesContainNoZeroByte) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const std::string_view name("nul\0x", 5);
    EXPECT_EQ(root.create_group(name).status(), Status::invalid_argument);
    EXPECT_EQ(root.create_hard_link(name, root), Status::invalid_argument);
    EXPECT_EQ(root.create_soft_link(name, "/"), Status::invalid_argument);
    EXPECT_EQ(root.create_soft_link("soft", name), Status::invalid_argument);
    EXPECT_EQ(root.write_attribute(name, std::int32_t{1}), Status::invalid_argument);
    std::uint32_t count = 0;
    EXPECT_EQ(root.link_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(root.attribute_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
    DatasetCreate create;
    create.chunk = {4};
    EXPECT_EQ(root.create_dataset<std::int32_t>(name, create).status(), Status::invalid_argument);
}

#if H5MOTE_ALL_FORMATS
// An iteration decodes all links into the same Link: a hard link must not keep the target of a soft one before it.
TEST(Group, HardLinksAfterSoftOnesHaveNoTarget) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    ASSERT_TRUE(bool(root.create_group("a")));
    ASSERT_EQ(root.create_soft_link("b", "/some/where/else"), Status::ok);
    ASSERT_TRUE(bool(root.create_group("c")));
    ASSERT_EQ(root.create_soft_link("d", "/a"), Status::ok);
    for (const Direction direction : {Direction::increasing, Direction::decreasing}) {
        LinkIterator iterator(root, IndexOrder::name, direction);
        Link link;
        unsigned links = 0;
        while (iterator.next(link) == Status::ok) {
            ++links;
            const bool soft = link.type() == LinkType::soft;
            EXPECT_EQ(soft, link.name() == "b" || link.name() == "d");
            EXPECT_EQ(link.data().empty(), !soft);
        }
        EXPECT_EQ(links, 4U);
    }
}
#endif

TEST(Group, AFullStorageLosesNothing) {
    Bench bench(1500);
    ASSERT_EQ(bench.create(), Status::ok);
    char name[16];
    unsigned made = 0;
    Status status = Status::ok;
    while (made < 100) {
        auto group = bench.file.root().create_group(name_of(made, name));
        status = group.status();
        if (!group) {
            break;
        }
        ++made;
    }
    EXPECT_EQ(status, Status::no_space);
    EXPECT_GT(made, 5U);
    EXPECT_LT(made, 100U);
    ASSERT_EQ(bench.reopen(), Status::ok);
    std::uint32_t count = 0;
    EXPECT_EQ(bench.file.root().link_count(count), Status::ok);
    EXPECT_EQ(count, made);
    for (unsigned i = 0; i < made; ++i) {
        EXPECT_TRUE(bool(bench.file.root().open_group(name_of(i, name))));
    }
    EXPECT_EQ(bench.file.close(), Status::ok);
    EXPECT_TRUE(bench.empty());
}
