// A link is removed, and the storage fails before the object's reference count is reduced: unlink() returns ok, because
// the link is gone. The count is one too high, which harms nothing, neither then nor when the last link is removed.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

std::uint32_t links_of_old(World& world) {
    ObjectInfo info;
    auto object = world.root.open_object("old");
    return object && object->info(info) == Status::ok ? info.reference_count : 0;
}

}  // namespace

TEST(UnlinkFaults, ACountThatCannotFollowTheLinkHarmsNothing) {
    const Image image = make_world();
    unsigned late = 0;
    bool failed = true;
    for (std::uint64_t k = 1; failed; ++k) {
        SCOPED_TRACE(k);
        World world;
        ASSERT_EQ(world.open(image), Status::ok);
        ASSERT_EQ(links_of_old(world), 2U);
        world.library.garbage_collect();
        DriverFault fault;
        fault.at = k;
        world.driver.arm(fault);
        const Status status = world.root.unlink("also");
        failed = world.driver.failures() != 0;
        world.driver.disarm();
        EXPECT_EQ(world.root.exists("also"), status != Status::ok);
        ASSERT_EQ(world.file.flush(), Status::ok);
        if (status != Status::ok || links_of_old(world) != 2) {
            continue;
        }
        ++late;
        // One link with a count of two is a note of check_file(), no problem. Close the file, so that no handle keeps
        // the object.
        ASSERT_EQ(world.close(), Status::ok);
        ASSERT_EQ(world.open(), Status::ok);
        Findings findings = findings_in(world.file);
        EXPECT_TRUE(findings.none());
        EXPECT_EQ(findings.notes, 1U);
        EXPECT_EQ(world.root.open_dataset("old")->size(), 40U);
        EXPECT_EQ(world.root.unlink("old"), Status::ok);
        EXPECT_FALSE(world.root.exists("old"));
        EXPECT_EQ(world.root.create_group("old").status(), Status::ok);
        ASSERT_EQ(world.close(), Status::ok);
        ASSERT_EQ(world.open(), Status::ok);
        EXPECT_TRUE(findings_in(world.file).none());
        EXPECT_EQ(world.root.open_group("old").status(), Status::ok);
    }
    EXPECT_GT(late, 0U);
}

#endif
