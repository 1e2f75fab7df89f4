// Every allocation and every driver call of a copy fails, once and for good: the call returns the error and there is no
// copy, or there is a whole one; nothing else has changed. The file stays sound, the same call then succeeds, and what
// the failed one has left is found by reclaim().
#include "copied_tree.hpp"
#include "failing_driver.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "test_allocators.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Plan {
    const char* name;
    bool within = false;  // the copy is in the file of the original
    bool whole = false;   // copy_file()
    FormatVersion low = FormatVersion::standard;
    unsigned outside = 0;  // objects outside of the tree that references lead to
};

FileAccess access_of(const Plan& plan) {
    FileAccess access;
    access.metadata_cache = 16384;
    access.chunk_cache = 2048;
    access.low = plan.low;
    return access;
}

// Two files. What is done to the first, or to the only one of `within`, may fail.
struct World {
    explicit World(const Plan& plan, bool atomic)
        : failing(storage), driver(failing, promised(atomic)), memory(heap), access(access_of(plan)) {
        EXPECT_EQ(open(), Status::ok);
    }
    Status open() {
        Result<File> made = File::create(library, driver, access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        Result<File> second = File::create(library, other, access);
        H5MOTE_TRY(second.status());
        source = static_cast<File&&>(*second);
        return Status::ok;
    }
    Capabilities promised(bool atomic) const {
        Capabilities result = storage.capabilities();
        result.sync_is_commit = atomic;
        return result;
    }

    MallocAllocator heap;
    GrowingMemoryDriver storage{heap};
    GrowingMemoryDriver other{heap};
    FailingDriver failing;
    PromisingDriver driver;
    FailingAllocator memory;
    NullPort port;
    FileAccess access;
    Library library{memory, port, kCopiedFilters, formats::all};
    File file;
    File source;
};

Status make_source(const Plan& plan, World& world) {
    if (plan.whole) {
        Group root = world.source.root();
        return make_copied_tree(root);
    }
    Group root = (plan.within ? world.file : world.source).root();
    Result<Group> tree = root.create_group("tree");
    H5MOTE_TRY(tree.status());
    H5MOTE_TRY(make_copied_tree(*tree));
    for (unsigned i = 0; i < plan.outside; ++i) {
        static constexpr auto kReference = make_reference();
        std::byte stored[8] = {};
        Result<Group> outside = root.create_group("outside" + std::to_string(i));
        H5MOTE_TRY(outside.status());
        H5MOTE_TRY(tree->create_reference(ReferenceType::object1, *outside, stored));
        H5MOTE_TRY(tree->write_attribute("reference" + std::to_string(i), kReference, Dataspace::scalar(), stored));
    }
    return world.file.root().create_group("stays").status();
}

Status copy(const Plan& plan, World& world) {
    if (plan.whole) {
        return copy_file(world.source, world.file);
    }
    CopyOptions options;
    options.expand_references = true;
    Group from = (plan.within ? world.file : world.source).root();
    Group to = world.file.root();
    return copy_object(from, "tree", to, "copy", options);
}

std::string judge(const Plan& plan, World& world) {
    Group root = world.file.root();
    if (plan.whole) {
        return judge_copied_tree(world.library, root, true);
    }
    Result<Group> tree = root.open_group("copy");
    GroupInfo info;
    if (!tree || !root.exists("stays") || root.group_info(info) != Status::ok ||
        info.links != 2U + plan.outside + (plan.within ? 1U : 0U)) {
        return "no copy, or other links; ";
    }
    // Within one file references lead where they did.
    return plan.within ? "" : judge_copied_tree(world.library, *tree, true);
}

std::uint64_t links_of(World& world) {
    GroupInfo info;
    EXPECT_EQ(world.file.root().group_info(info), Status::ok);
    return info.links;
}

Status remove_referenced(Group& root) {
    Link link;
    for (;;) {
        Status status = Status::not_found;
        {
            LinkIterator links(root);
            while ((status = links.next(link)) == Status::ok && link.name().substr(0, 5) != "~obj_") {
            }
        }
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        H5MOTE_TRY(root.unlink(link.name()));
    }
}

// Returns whether something failed.
bool fail_once(const Plan& plan, bool allocations, bool persistent, bool atomic, std::uint64_t k) {
    World world(plan, atomic);
    EXPECT_EQ(make_source(plan, world), Status::ok);
    EXPECT_EQ(world.file.flush(), Status::ok);
    EXPECT_EQ(world.source.flush(), Status::ok);
    const std::uint64_t before = links_of(world);
    world.library.garbage_collect();
    DriverFault fault;
    fault.at = allocations ? 0 : k;
    fault.persistent = persistent;
    world.failing.arm(fault);
    world.memory.arm(allocations ? k : 0, persistent);
    Status status = copy(plan, world);
    const bool failed = world.failing.failures() + world.memory.failures() != 0;
    world.failing.disarm();
    world.memory.disarm();
    // The staging group may remain when a copy is complete: that is lost space, and the copy counts.
    if (status == Status::ok) {
        EXPECT_EQ(judge(plan, world), "");
    } else if (plan.outside != 0 && allocations && persistent && links_of(world) != before) {
        // Not even the links to objects that references lead to could be removed.
        Group root = world.file.root();
        EXPECT_EQ(remove_referenced(root), Status::ok);
        EXPECT_EQ(links_of(world), before);
    } else {
        EXPECT_EQ(links_of(world), before);
    }
    EXPECT_TRUE(findings_in(world.file).none()) << findings_in(world.file).last_kind;
    EXPECT_EQ(world.file.flush(), Status::ok);
    if (status != Status::ok && links_of(world) == before) {
        status = copy(plan, world);
        EXPECT_EQ(status, Status::ok);
        EXPECT_EQ(judge(plan, world), "");
    }
    EXPECT_EQ(world.file.reclaim(), Status::ok);
    EXPECT_TRUE(findings_in(world.file).none());
    EXPECT_EQ(judge(plan, world), "");
    EXPECT_EQ(world.file.close(), Status::ok);
    EXPECT_EQ(world.source.close(), Status::ok);
    return failed;
}

void sweep(const Plan& plan, std::uint64_t floor) {
    std::uint64_t points = 0;
    for (unsigned i = 0; i < 8; ++i) {
        const bool allocations = (i & 1U) != 0;
        const bool persistent = (i & 2U) != 0;
        const bool atomic = (i & 4U) != 0;
        SCOPED_TRACE(std::string(plan.name) + (allocations ? " allocation" : " call") +
                     (persistent ? " persistent" : "") + (atomic ? " atomic" : ""));
        for (std::uint64_t k = 1; !testing::Test::HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(k);
            if (!fail_once(plan, allocations, persistent, atomic, k)) {
                break;
            }
            ++points;
        }
    }
    std::printf("%s: %u points\n", plan.name, static_cast<unsigned>(points));
    EXPECT_GT(points * sweep_step(), floor);
}

}  // namespace

TEST(CopyFaults, IntoAnotherFile) { sweep({"another file"}, 800); }
TEST(CopyFaults, WithReferencesToOtherObjects) {
    sweep({"other objects", false, false, FormatVersion::standard, 3}, 1000);
}
TEST(CopyFaults, WithinAFile) { sweep({"within a file", true}, 1000); }
TEST(CopyFaults, WholeFile) { sweep({"whole file", false, true}, 800); }
TEST(CopyFaults, OldestVersions) { sweep({"oldest versions", false, false, FormatVersion::earliest}, 1000); }

#endif
