// Every public call of a group takes the lock of its Library once: see lock_bench.hpp.
#include "lock_bench.hpp"

#if H5MOTE_WRITE

using namespace h5mote_test;

TEST(LibraryLock, EveryCallOfAGroup) {
    LockBench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    DatasetCreate create;
    create.chunk = {8};
    const Dataspace space = Dataspace::simple({0}, {kUnlimited});
    TAKES_AND_ENDS(1, root.create_group("group"));
    TAKES_AND_ENDS(1, root.open_group("group"));
    TAKES_AND_ENDS(1, root.open_or_create_group("group"));
    TAKES_AND_ENDS(1, root.open_or_create_groups("group/below"));
    TAKES_AND_ENDS(1, root.create_dataset("a", datatype_of<std::int32_t>(), space, create));
    TAKES_AND_ENDS(1, root.open_dataset("a"));
    TAKES_AND_ENDS(1, root.open_or_create_dataset("a", datatype_of<std::int32_t>(), space, create));
    TAKES_AND_ENDS(1, root.create_dataset<std::int32_t>("b", create));
    TAKES_AND_ENDS(1, root.open_dataset<std::int32_t>("b"));
    TAKES_AND_ENDS(1, root.open_or_create_dataset<std::int32_t>("b", create));
    TAKES(root.create_soft_link("soft", "/group"));
    auto opened = root.open_group("group");
    TAKES(root.create_hard_link("hard", *opened));
    TAKES(root.exists("hard"));
    std::uint32_t count = 0;
    LinkInfo info;
    char name[16];
    TAKES(root.link_count(count));
    TAKES(root.link(0, info, Span<char>(name)));
#if H5MOTE_ALL_FORMATS
    TAKES_AND_ENDS(1, root.open_object("group"));
    TAKES_AND_ENDS(1, root.open_object_at(opened->address()));
    GroupInfo facts;
    TAKES(root.group_info(facts));
    Link link;
    TAKES(root.find_link("soft", link));
    TAKES(link.clear());
    (void)bench.took(0);
    {
        LinkIterator links(root);
        EXPECT_TRUE(bench.took(1));
        TAKES(links.next(link));
    }
    EXPECT_TRUE(bench.took(2));
    link.clear();
    class Everything final : public Visitor {
    } everything;
    TAKES(root.visit(everything));
    auto object = root.open_object("group");
    TAKES_AND_ENDS(1, Group::from(static_cast<Object&&>(*object)));
    TAKES(root.unmount("group"));
    auto other = File::open(bench.library, bench.driver, bench.access);
    TAKES(root.mount("group", *other));
    TAKES(other->close());
    TAKES_AND_ENDS(1, root.commit_datatype("type", datatype_of<std::int32_t>()));
    TAKES(root.create_external_link("external", "other.h5", "/object"));
    TAKES(root.create_user_link("user", static_cast<LinkType>(70), {}));
    TAKES(root.copy_link("soft", root, "copied"));
    TAKES(root.move_link("copied", root, "moved"));
    TAKES(root.rename("moved", "renamed"));
    TAKES(root.unlink_tree("renamed"));
#endif
    TAKES(root.unlink("soft"));
}

#endif
