// Files mounted in other files: where that is refused, closing in every order, and without memory.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

/// Another file of the same library. Its root group has the attribute "which" with the file's number, and a group
/// "here".
struct Other {
    Other(World& world, std::int32_t number) : storage(world.bytes) {
        auto created = File::create(world.library, storage, world.access);
        EXPECT_EQ(created.status(), Status::ok);
        file = static_cast<File&&>(*created);
        Group root = file.root();
        EXPECT_EQ(root.write_attribute("which", number), Status::ok);
        EXPECT_EQ(root.create_group("here").status(), Status::ok);
    }
    GrowingMemoryDriver storage;
    File file;
};

std::int32_t which(World& world, const char* path) {
    std::int32_t number = 0;
    auto group = world.root.open_group(path);
    return group && group->read_attribute("which", number) == Status::ok ? number : 0;
}

class Mounts : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(world.open(make_world()), Status::ok); }
    void TearDown() override {
        for (Other* other : {&one, &two, &three}) {
            (void)other->file.close();
        }
        EXPECT_EQ(world.close(), Status::ok);
        EXPECT_EQ(world.memory.blocks(), 0U);
    }
    World world;
    Other one{world, 1}, two{world, 2}, three{world, 3};
};

TEST_F(Mounts, Refused) {
    Group& root = world.root;
    EXPECT_EQ(root.mount("nothing", one.file), Status::not_found);
    EXPECT_EQ(root.mount("log", one.file), Status::not_found);
    EXPECT_EQ(Group().mount("empty", one.file), Status::invalid_handle);
    File none;
    EXPECT_EQ(root.mount("empty", none), Status::invalid_handle);
    EXPECT_EQ(root.unmount("nothing"), Status::not_found);
    EXPECT_EQ(root.unmount("empty"), Status::not_found);
    EXPECT_EQ(root.unmount("/"), Status::not_found);
    EXPECT_EQ(Group().unmount("empty"), Status::invalid_handle);
    ASSERT_EQ(root.mount("empty", one.file), Status::ok);
    EXPECT_EQ(root.mount("group", one.file), Status::already_exists);
    // A file is mounted inside a mounted one. Mounting the outermost file inside that one would make a circle.
    ASSERT_EQ(root.mount("empty/here", two.file), Status::ok);
    EXPECT_EQ(which(world, "empty/here"), 2);
    EXPECT_EQ(two.file.root().mount("here", world.file), Status::invalid_argument);
    EXPECT_EQ(two.file.root().mount("here", two.file), Status::already_exists);
    EXPECT_EQ(two.file.root().mount("here", one.file), Status::already_exists);
    EXPECT_EQ(three.file.root().mount("here", three.file), Status::invalid_argument);
    EXPECT_EQ(which(world, "empty"), 1);
    EXPECT_EQ(which(world, "empty/here"), 2);
    EXPECT_EQ(root.unmount("empty"), Status::ok);
    EXPECT_EQ(which(world, "empty"), 0);
}

TEST_F(Mounts, EndInEveryOrder) {
    static constexpr const char* kPaths[] = {"empty", "group/1", "group/2"};
    static constexpr unsigned kOrders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const auto& order : kOrders) {
        Other* const others[] = {&one, &two, &three};
        for (unsigned i = 0; i < 3; ++i) {
            ASSERT_EQ(world.root.mount(kPaths[i], others[i]->file), Status::ok);
        }
        for (unsigned done = 0; done < 3; ++done) {
            EXPECT_EQ(world.root.unmount(kPaths[order[done]]), Status::ok);
            EXPECT_EQ(which(world, kPaths[order[done]]), 0);
            for (unsigned i = done + 1; i < 3; ++i) {
                EXPECT_EQ(which(world, kPaths[order[i]]), static_cast<int>(order[i]) + 1);
            }
        }
    }
}

// Mounted files stay open without handles of their own, and are closed with the file that they are mounted in.
TEST_F(Mounts, CloseWithTheirFile) {
    ASSERT_EQ(world.root.mount("empty", one.file), Status::ok);
    ASSERT_EQ(world.root.mount("group/1", two.file), Status::ok);
    EXPECT_EQ(one.file.close(), Status::ok);
    EXPECT_EQ(which(world, "empty"), 1);
    EXPECT_EQ(world.root.open_group("empty")->create_group("new").status(), Status::ok);
    EXPECT_EQ(world.close(), Status::ok);
    auto again = File::open(world.library, one.storage, world.access);
    ASSERT_EQ(again.status(), Status::ok);
    EXPECT_TRUE(again->root().exists("new"));
    EXPECT_EQ(again->close(), Status::ok);
    EXPECT_TRUE(two.file.root().exists("here"));
}

// With the mount ends what kept a file open that has no File handle any more. Other handles end with it, or keep it
// open, as its close degree says.
TEST_F(Mounts, LeaveTheirFileClosed) {
    for (const CloseDegree degree : {CloseDegree::strong, CloseDegree::weak}) {
        FileAccess access = world.access;
        access.close_degree = degree;
        (void)one.file.close();
        one.file = static_cast<File&&>(*File::open(world.library, one.storage, access));
        ASSERT_TRUE(one.file.valid());
        Group group = one.file.root();
        ASSERT_EQ(world.root.mount("empty", one.file), Status::ok);
        EXPECT_EQ(one.file.close(), Status::ok);
        EXPECT_TRUE(group.valid());
        EXPECT_EQ(group.write_attribute("changed", static_cast<std::int32_t>(degree)), Status::ok);
        EXPECT_EQ(world.root.unmount("empty"), Status::ok);
        EXPECT_EQ(group.valid(), degree == CloseDegree::weak);
        group = Group();
        World other;
        auto again = File::open(other.library, one.storage, other.access);
        ASSERT_EQ(again.status(), Status::ok);
        std::int32_t changed = -1;
        EXPECT_EQ(again->root().read_attribute("changed", changed), Status::ok);
        EXPECT_EQ(changed, static_cast<std::int32_t>(degree));
        EXPECT_EQ(again->close(), Status::ok);
    }
}

TEST_F(Mounts, EndAsTheirParentCloses) {
    Group group = one.file.root();
    ASSERT_EQ(world.root.mount("empty", one.file), Status::ok);
    EXPECT_EQ(one.file.close(), Status::ok);
    EXPECT_EQ(world.close(), Status::ok);
    EXPECT_FALSE(group.valid());
}

// A mount that fails for want of memory leaves both files unmounted.
TEST_F(Mounts, WithoutMemory) {
    unsigned refused = 0;
    for (std::uint64_t k = 1;; ++k) {
        world.library.garbage_collect();
        world.refusing.arm(k, 1000);
        const Status status = world.root.mount("empty", one.file);
        const bool failed = world.refusing.failures() != 0;
        world.refusing.arm(0, 0);
        EXPECT_EQ(which(world, "empty"), status == Status::ok ? 1 : 0) << k;
        if (!failed) {
            EXPECT_EQ(status, Status::ok);
            break;
        }
        EXPECT_EQ(status, Status::out_of_memory) << k;
        ++refused;
    }
    EXPECT_GT(refused, 1U);
    for (std::uint64_t k = 1;; ++k) {
        world.library.garbage_collect();
        world.refusing.arm(k, 1000);
        const Status status = world.root.unmount("empty");
        const bool failed = world.refusing.failures() != 0;
        world.refusing.arm(0, 0);
        EXPECT_EQ(which(world, "empty"), status == Status::ok ? 0 : 1) << k;
        if (status == Status::ok) {
            ASSERT_EQ(world.root.mount("empty", one.file), Status::ok);
        }
        if (!failed) {
            break;
        }
    }
    EXPECT_EQ(world.root.unmount("empty"), Status::ok);
}

}  // namespace

#endif
