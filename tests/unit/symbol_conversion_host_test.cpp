// Groups with a symbol table get the storage of newer groups with the first link that a symbol table cannot have, as
// they do in libhdf5: the same kind of storage, the same links, in files that libhdf5 goes on with.
#include "failing_driver.hpp"
#include "hdf5_image.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"
#include "sweep.hpp"
#include "test_allocators.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Links = std::map<std::string, std::string>;

struct Plan {
    std::string group = "g";
    unsigned links = 3;
    bool atomic = false;
    hsize_t odd = 0;  // bytes that move the header of the group to another place in its sector
};

std::vector<std::byte> made_by_libhdf5(const Plan& plan) {
    const std::string path = "symbol_conversion.h5";
    {
        const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        if (plan.odd != 0) {
            const Hdf5Id space(H5Screate_simple(1, &plan.odd, nullptr), H5Sclose);
            const Hdf5Id pad(H5Acreate2(file, "pad", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            EXPECT_GE(pad, 0);
        }
        if (plan.group != "/") {
            const Hdf5Id made(H5Gcreate2(file, plan.group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            EXPECT_GE(made, 0);
        }
        const Hdf5Id group(H5Gopen2(file, plan.group.c_str(), H5P_DEFAULT), H5Gclose);
        for (unsigned i = 0; i < plan.links; ++i) {
            const std::string name = "n" + std::to_string(i);
            EXPECT_GE(H5Lcreate_soft("to", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    }
    return take_file(path);
}

herr_t take(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    std::string target = "=";
    if (info->type != H5L_TYPE_HARD) {
        target.resize(info->type <= H5L_TYPE_EXTERNAL ? info->u.val_size : 0);
        if (!target.empty() && H5Lget_val(group, name, target.data(), target.size(), H5P_DEFAULT) < 0) {
            return -1;
        }
    }
    static_cast<Links*>(data)->emplace(name, std::to_string(info->type) + target);
    return H5Lexists(group, name, H5P_DEFAULT) > 0 ? 0 : -1;
}

struct Group5 {
    Links links;
    H5G_storage_type_t storage = H5G_STORAGE_TYPE_UNKNOWN;
};

Group5 read_by_libhdf5(hid_t file, const Plan& plan) {
    Group5 found;
    const Hdf5Id group(H5Gopen2(file, plan.group.c_str(), H5P_DEFAULT), H5Gclose);
    hsize_t at = 0;
    H5G_info_t info;
    EXPECT_GE(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, take, &found.links), 0);
    EXPECT_GE(H5Gget_info(group, &info), 0);
    found.storage = info.storage_type;
    return found;
}

Group5 read_by_libhdf5(const std::vector<std::byte>& image, const Plan& plan) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    return read_by_libhdf5(file, plan);
}

// What libhdf5 makes of the same file.
Group5 expected(const std::vector<std::byte>& image, const Plan& plan) {
    const Hdf5Id file = open_image({image.data(), image.size()}, true);
    {
        const Hdf5Id group(H5Gopen2(file, plan.group.c_str(), H5P_DEFAULT), H5Gclose);
        EXPECT_GE(H5Lcreate_external("other.h5", "/there", group, "external", H5P_DEFAULT, H5P_DEFAULT), 0);
    }
    return read_by_libhdf5(file, plan);
}

Capabilities promised(const Driver& storage, bool atomic) {
    Capabilities result = storage.capabilities();
    result.sync_is_commit = atomic;
    return result;
}

// Returns whether the group could be converted.
bool convert(const Plan& plan) {
    SCOPED_TRACE(plan.group + " " + std::to_string(plan.links) + (plan.atomic ? " atomic " : " ordered ") +
                 std::to_string(plan.odd));
    const std::vector<std::byte> image = made_by_libhdf5(plan);
    const Group5 theirs = expected(image, plan);
    MallocAllocator heap;
    GrowingMemoryDriver storage(heap);
    EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    PromisingDriver driver(storage, promised(storage, plan.atomic));
    NullPort port;
    Library library(heap, port, {}, formats::all);
    FileAccess access;
    access.metadata_cache = 8192;
    Result<File> file = File::open(library, driver, access);
    EXPECT_EQ(file.status(), Status::ok);
    Result<Group> group = file->root().open_group(plan.group);
    const Status status = group->create_external_link("external", "other.h5", "/there");
    EXPECT_TRUE(findings_in(*file).none()) << findings_in(*file).last_kind;
    EXPECT_EQ(file->flush(), Status::ok);
    if (status != Status::ok) {
        EXPECT_EQ(status, Status::unsupported);
        EXPECT_EQ(read_by_libhdf5({storage.contents().begin(), storage.contents().end()}, plan).links,
                  read_by_libhdf5(image, plan).links);
        return false;
    }
    std::vector<std::byte> made(storage.contents().begin(), storage.contents().end());
    const Group5 ours = read_by_libhdf5(made, plan);
    EXPECT_EQ(ours.links, theirs.links);
    EXPECT_EQ(ours.storage, theirs.storage);
    // Both go on.
    const std::byte data[] = {std::byte{1}};
    EXPECT_EQ(group->create_user_link("user", static_cast<LinkType>(100), data), Status::ok);
    EXPECT_EQ(group->unlink("external"), Status::ok);
    EXPECT_EQ(group->create_soft_link("soft", "to"), Status::ok);
    EXPECT_TRUE(findings_in(*file).none());
    group = Status::not_found;
    EXPECT_EQ(file->close(), Status::ok);
    made.assign(storage.contents().begin(), storage.contents().end());
    const Hdf5Id again = open_image({made.data(), made.size()}, true);
    {
        const Hdf5Id same(H5Gopen2(again, plan.group.c_str(), H5P_DEFAULT), H5Gclose);
        EXPECT_GE(H5Lcreate_soft("x", same, "theirs", H5P_DEFAULT, H5P_DEFAULT), 0);
        EXPECT_GE(H5Ldelete(same, "soft", H5P_DEFAULT), 0);
    }
    Links links = theirs.links;
    links.erase("external");
    links.insert({{"user", "100"}, {"theirs", std::string("1x") + '\0'}});
    EXPECT_EQ(read_by_libhdf5(again, plan).links, links);
    return true;
}

struct World {
    explicit World(const std::vector<std::byte>& image, bool atomic)
        : storage(heap), failing(storage), driver(failing, promised(storage, atomic)), memory(heap) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    }

    MallocAllocator heap;
    GrowingMemoryDriver storage;
    FailingDriver failing;
    PromisingDriver driver;
    FailingAllocator memory;
    NullPort port;
};

// Returns whether something failed.
bool fail_once(const std::vector<std::byte>& image, const Plan& plan, bool allocations, bool persistent,
               std::uint64_t k) {
    World world(image, plan.atomic);
    Library library(world.memory, world.port, {}, formats::all);
    FileAccess access;
    access.metadata_cache = 8192;
    Result<File> file = File::open(library, world.driver, access);
    EXPECT_EQ(file.status(), Status::ok);
    Result<Group> group = file->root().open_group(plan.group);
    const Links before = read_by_libhdf5(image, plan).links;
    library.garbage_collect();
    DriverFault fault;
    fault.at = allocations ? 0 : k;
    fault.persistent = persistent;
    world.failing.arm(fault);
    world.memory.arm(allocations ? k : 0, persistent);
    const Status status = group->create_external_link("external", "other.h5", "/there");
    const bool failed = world.failing.failures() + world.memory.failures() != 0;
    world.failing.disarm();
    world.memory.disarm();
    Link link;
    EXPECT_EQ(group->find_link("external", link), status == Status::ok ? Status::ok : Status::not_found);
    EXPECT_TRUE(findings_in(*file).none()) << findings_in(*file).last_kind;
    EXPECT_EQ(file->flush(), Status::ok);
    const std::vector<std::byte> left(world.storage.contents().begin(), world.storage.contents().end());
    Links links = read_by_libhdf5(left, plan).links;
    EXPECT_EQ(links.erase("external"), status == Status::ok ? 1U : 0U);
    EXPECT_EQ(links, before);
    if (status != Status::ok) {
        EXPECT_EQ(group->create_external_link("external", "other.h5", "/there"), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
    }
    group = Status::not_found;
    EXPECT_EQ(file->close(), Status::ok);
    return failed;
}

}  // namespace

TEST(SymbolConversion, IsThatOfLibhdf5) {
    for (const char* const group : {"g", "/"}) {
        for (const unsigned links : {0U, 3U, 7U, 8U, 9U, 40U}) {
            for (const bool atomic : {false, true}) {
                EXPECT_TRUE(convert({group, links, atomic, 0}));
            }
        }
    }
    // No single write switches a header of version 1 that lies across the end of a sector. It is moved before.
    for (hsize_t odd = 8; odd < 512; odd += 8) {
        EXPECT_TRUE(convert({"g", 3, false, odd}));
        EXPECT_TRUE(odd % 64 != 0 || convert({"g", 3, true, odd}));
    }
}

// Every allocation and every driver call fails, once and for good.
TEST(SymbolConversion, Faults) {
    std::uint64_t points = 0;
    for (const unsigned links : {3U, 12U}) {
        const Plan ordered{"g", links, false, 0};
        const std::vector<std::byte> image = made_by_libhdf5(ordered);
        for (unsigned i = 0; i < 8; ++i) {
            const Plan plan{"g", links, (i & 4U) != 0, 0};
            SCOPED_TRACE(std::to_string(links) + " " + std::to_string(i));
            for (std::uint64_t k = 1; !testing::Test::HasFailure(); k += sweep_step()) {
                SCOPED_TRACE(k);
                if (!fail_once(image, plan, (i & 1U) != 0, (i & 2U) != 0, k)) {
                    break;
                }
                ++points;
            }
        }
    }
    std::printf("%u points\n", static_cast<unsigned>(points));
    EXPECT_GT(points * sweep_step(), 200U);
}

#endif
