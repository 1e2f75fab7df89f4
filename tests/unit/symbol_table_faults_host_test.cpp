// Every allocation and every driver call of a change of a symbol table fails, once and for good: the call returns the
// error and nothing has changed, or all of it has. The file stays sound, for libhdf5 as well, and the same call then
// succeeds.
#include "failing_driver.hpp"
#include "hdf5_image.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "test_allocators.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Change = std::function<Status(Group&)>;
using Links = std::map<std::string, std::string>;

// A group "g" that libhdf5 makes and fills, in a file whose symbol tables have nodes of that size.
template <typename Fill>
std::vector<std::byte> made_by_libhdf5(unsigned k, Fill fill) {
    const std::string name = "symbol_table_faults.h5";
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_sym_k(create, k, k), 0);
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
        const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        fill(group);
    }
    return take_file(name);
}

// A group with the links n00, n02, ... n38, in several nodes below two leaves, and an empty group among them.
std::vector<std::byte> with_many_names() {
    return made_by_libhdf5(2, [](hid_t group) {
        for (int i = 0; i < 40; i += 2) {
            const std::string link = (i < 10 ? "n0" : "n") + std::to_string(i);
            EXPECT_GE(H5Lcreate_soft("to", group, link.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        }
        for (const char* const link : {"n001", "n002"}) {
            EXPECT_GE(H5Lcreate_soft("to", group, link, H5P_DEFAULT, H5P_DEFAULT), 0);  // the first node is full
        }
        const Hdf5Id below(H5Gcreate2(group, "below", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        EXPECT_GE(below, 0);
    });
}

// A group with the links a, b and c, whose names are followed by free space.
std::vector<std::byte> with_short_names() {
    return made_by_libhdf5(4, [](hid_t group) {
        for (const char* const link : {"a", "b", "c"}) {
            EXPECT_GE(H5Lcreate_hard(group, "/g", group, link, H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    });
}

Links links_of(Group& group) {
    Links links;
    LinkIterator all(group);
    Link link;
    Status status = Status::ok;
    while ((status = all.next(link)) == Status::ok) {
        links.emplace(link.name(), link.type() == LinkType::hard ? "=" : std::string(link.target()));
    }
    EXPECT_EQ(status, Status::not_found);
    return links;
}

herr_t take(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    char target[2000] = "=";
    if (info->type == H5L_TYPE_SOFT && H5Lget_val(group, name, target, sizeof target, H5P_DEFAULT) < 0) {
        return -1;
    }
    static_cast<Links*>(data)->emplace(name, target);
    return H5Lexists(group, name, H5P_DEFAULT) > 0 ? 0 : -1;
}

Links links_by_libhdf5(ConstBytes image) {
    Links links;
    const Hdf5Id file = open_image(image);
    const Hdf5Id group(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
    hsize_t at = 0;
    EXPECT_GE(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, take, &links), 0);
    return links;
}

struct Faults {
    bool allocations = false;
    bool persistent = false;
    bool atomic = false;
    bool small_cache = false;  // one that keeps few blocks, so that a change reads some again
    bool renames = false;
};

// One file whose calls can fail.
struct World {
    explicit World(const std::vector<std::byte>& image, bool atomic)
        : storage(heap), failing(storage), driver(failing, promised(atomic)), memory(heap) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    }
    Capabilities promised(bool atomic) const {
        Capabilities result = storage.capabilities();
        result.sync_is_commit = atomic;
        return result;
    }

    MallocAllocator heap;
    GrowingMemoryDriver storage;
    FailingDriver failing;
    PromisingDriver driver;
    FailingAllocator memory;
    NullPort port;
};

// Returns whether something failed.
bool fail_once(const std::vector<std::byte>& image, const Change& change, const Faults& faults, std::uint64_t k) {
    World world(image, faults.atomic);
    Library library(world.memory, world.port, {}, formats::all);
    FileAccess access;
    access.metadata_cache = faults.small_cache ? 800 : 4096;
    Result<File> file = File::open(library, world.driver, access);
    EXPECT_EQ(file.status(), Status::ok);
    Result<Group> group = file->root().open_group("g");
    const Links before = links_of(*group);
    library.garbage_collect();
    DriverFault fault;
    fault.at = faults.allocations ? 0 : k;
    fault.persistent = faults.persistent;
    world.failing.arm(fault);
    world.memory.arm(faults.allocations ? k : 0, faults.persistent);
    const Status status = change(*group);
    const bool failed = world.failing.failures() + world.memory.failures() != 0;
    world.failing.disarm();
    world.memory.disarm();
    const Links after = links_of(*group);
    EXPECT_TRUE(status != Status::ok || after != before);
    // A link keeps both names if the storage does not even let the new one be taken back.
    const bool both = faults.persistent && faults.renames && after.size() == before.size() + 1;
    EXPECT_TRUE(status == Status::ok || after == before || both) << to_string(status);
    // Neither does it let links between nodes be taken back, which no reader follows and the next change makes right.
    const Findings findings = findings_in(*file);
    const bool siblings = faults.persistent && findings.status == Status::ok &&
                          findings.last_kind == static_cast<unsigned>(ProblemKind::siblings);
    EXPECT_TRUE(findings.none() || siblings) << findings.last_kind;
    EXPECT_EQ(file->flush(), Status::ok);
    EXPECT_EQ(links_by_libhdf5(world.storage.contents()), after);
    if (status != Status::ok && !both) {
        EXPECT_EQ(change(*group), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
    }
    const Links last = links_of(*group);
    group = Status::not_found;
    EXPECT_EQ(file->close(), Status::ok);
    EXPECT_EQ(links_by_libhdf5(world.storage.contents()), last);
    return failed;
}

void sweep(const char* name, const Change& change, bool renames = false,
           const std::vector<std::byte>& image = with_many_names()) {
    std::uint64_t points = 0;
    for (unsigned i = 0; i < 16; ++i) {
        const Faults faults{(i & 1U) != 0, (i & 2U) != 0, (i & 4U) != 0, (i & 8U) != 0, renames};
        SCOPED_TRACE(std::string(name) + (faults.allocations ? " allocation" : " call") +
                     (faults.persistent ? " persistent" : "") + (faults.atomic ? " atomic" : "") +
                     (faults.small_cache ? " small cache" : ""));
        for (std::uint64_t k = 1; !testing::Test::HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(k);
            if (!fail_once(image, change, faults, k)) {
                break;
            }
            ++points;
        }
    }
    std::printf("%s: %u points\n", name, static_cast<unsigned>(points));
    EXPECT_GT(points * sweep_step(), 30U);
}

}  // namespace

TEST(SymbolTableFaults, Insert) {
    sweep("insert", [](Group& group) { return group.create_soft_link("n05", "somewhere"); });
}

TEST(SymbolTableFaults, InsertALongName) {
    const std::string name(1000, 'n');
    sweep("long name", [=](Group& group) { return group.create_soft_link(name, name); });
}

TEST(SymbolTableFaults, InsertAtTheEnd) {
    sweep("at the end", [](Group& group) { return group.create_soft_link("z", "somewhere"); });
}

TEST(SymbolTableFaults, InsertInAFullNode) {
    sweep("split", [](Group& group) { return group.create_soft_link("n003", "x"); });
}

TEST(SymbolTableFaults, Remove) {
    sweep("remove", [](Group& group) { return group.unlink("n20"); });
}

TEST(SymbolTableFaults, RemoveTheLastName) {
    sweep("remove the last", [](Group& group) { return group.unlink("n38"); });
}

TEST(SymbolTableFaults, RemoveAShortName) {
    sweep(
        "remove a short name", [](Group& group) { return group.unlink("c"); }, false, with_short_names());
}

TEST(SymbolTableFaults, MoveAShortName) {
    const std::string name(100, 'n');
    sweep(
        "move a short name", [=](Group& group) { return group.rename("c", name); }, true, with_short_names());
}

TEST(SymbolTableFaults, Rename) {
    sweep(
        "rename", [](Group& group) { return group.rename("n10", "n33"); }, true);
}

TEST(SymbolTableFaults, DeleteAGroup) {
    sweep("delete", [](Group& group) { return group.unlink("below"); });
}

TEST(SymbolTableFaults, CreateAGroup) {
    sweep("create", [](Group& group) { return group.create_group("n21").status(); });
}

#endif
