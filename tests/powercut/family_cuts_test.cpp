// The power fails at every point of a logger's work on a family of files, each of which is a disk: between two syncs
// sectors of all members arrive in any order, so that a member may have its bytes before the one in front of it is
// full. After each cut h5mote must find everything that a flush acknowledged, and logging must be able to go on.
#include "disk_cuts.hpp"

#include <h5mote/vfd/family.hpp>
#include <h5mote/vfd/journal.hpp>

#include <gtest/gtest.h>

#if H5MOTE_OTHER_FILES

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Family {
    Family(const std::vector<Driver*>& disks, std::size_t count)
        : list(disks.begin(), disks.begin() + static_cast<std::ptrdiff_t>(count)),
          members({list.data(), list.size()}) {}

    std::vector<Driver*> list;
    FamilySpan members;
    FamilyDriver driver{members};
};

std::string opened(const char* what, Status status) {
    return status == Status::ok ? "" : std::string(what) + ": " + to_string(status) + "; ";
}

// `count` members of `size` bytes.
DiskOptions family(std::uint64_t size, unsigned count, std::size_t recoveries = 24) {
    DiskOptions result;
    result.count = count;
    result.libhdf5 = false;  // no disk is the whole file
    result.recoveries = recoveries;
    result.random_subsets = 60;
    result.mount = [size](const std::vector<Driver*>& disks) {
        auto made = std::make_shared<Family>(disks, disks.size());
        const Status status = made->driver.open_or_create(size);
        return Mounted{&made->driver, made, opened("family", status)};
    };
    return result;
}

// The same under a journal, which is the last disk.
struct Journaled {
    Journaled(const std::vector<Driver*>& disks, std::uint64_t size)
        : family(disks, disks.size() - 1),
          status(family.driver.open_or_create(size)),
          driver(family.driver, *disks.back(), memory) {}

    Family family;
    Status status;
    alignas(8) std::byte memory[JournalDriver::required_memory()] = {};
    JournalDriver driver;
};

DiskOptions journaled(std::uint64_t size, unsigned count) {
    DiskOptions result = family(size, count + 1, 4);
    result.recovery_of = 4;
    result.mount = [size](const std::vector<Driver*>& disks) {
        auto made = std::make_shared<Journaled>(disks, size);
        JournalOptions options;
        options.checkpoint = 2048;
        std::string failure = opened("family", made->status);
        failure += failure.empty() ? opened("journal", made->driver.open(options)) : "";
        return Mounted{&made->driver, made, failure};
    };
    return result;
}

}  // namespace

TEST(PowerCut, Append1) { cut_disks("family-append-1", appending({1}), 14800, family(2048, 12)); }
TEST(PowerCut, SmallMembers) { cut_disks("family-small", appending({4, false, 120}), 22000, family(512, 40)); }
TEST(PowerCut, Compressed) { cut_disks("family-compressed", appending({4, true, 120}), 8300, family(1024, 24)); }
TEST(PowerCut, Objects) { cut_disks("family-objects", objects(60, 4, false), 31900, family(8192, 16)); }
TEST(PowerCut, Sessions) { cut_disks("family-sessions", sessions(4, 24, false, 8), 18600, family(2048, 16)); }
TEST(PowerCut, Rotating) { cut_disks("family-rotating", rotating(8, 13, 5, 8), 53000, family(2048, 16)); }
TEST(PowerCut, AfterFaults) {
    DiskOptions options = family(2048, 8);
    options.random_subsets = 4;
    cut_disks_after_faults("family-faults", appending({5, false, 30}), 1100, options);
}
TEST(PowerCut, Journal) { cut_disks("family-journal", appending({4, false, 80}), 20300, journaled(2048, 12)); }

#endif
