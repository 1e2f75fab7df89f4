// The power fails while logs are made and unlinked in sessions that close the file and in sessions that are killed, in
// every way in which a file can use its space. After each cut the file opens and is sound: no block is in use twice,
// and no section of a free-space manager that the file names lies in anything that is in use. Opening it with
// FileAccess::reclaim leaves no byte lost, and that is cut, too.
//
// The same program is built once more for two free extents in memory, so that the others go to the table in the file.
#include "disk_cuts.hpp"
#include "flash_cuts.hpp"
#include "workload_allocator.hpp"

#include <h5mote/vfd/journal.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr bool kFew = H5MOTE_TEST_FREE_EXTENTS < 8;

std::string named(const std::string& name) { return (kFew ? "space-few-" : "space-") + name; }

Churning space(SpaceStrategy strategy, bool persist, unsigned sessions = 4, unsigned rounds = 8) {
    Churning result;
    result.create.file_space = strategy;
    result.create.persist_free_space = persist;
    result.create.page_size = 512;
    // Each extent that goes to the table is one more write, so that there are many more states.
    result.sessions = kFew ? 3 : sessions;
    result.rounds = kFew ? 5 : rounds;
    return result;
}

DiskOptions disk() {
    DiskOptions result;
    result.reclaim = true;
    result.random_subsets = kFew ? 8 : 40;
    result.recovery_of = 48;
    result.recoveries = kFew ? 4 : 8;
    return result;
}

struct Journal {
    Journal(Driver& home, Driver& log) : driver(home, log, Bytes(memory)) {}
    alignas(8) std::byte memory[JournalDriver::required_memory()];
    JournalDriver driver;
};

DiskOptions journaled() {
    DiskOptions result = disk();
    result.count = 2;
    result.libhdf5 = false;  // disk 0, the home, is not the whole file: changes may still be in the log
    result.mount = [](const std::vector<Driver*>& disks) {
        auto journal = std::make_shared<Journal>(*disks[0], *disks[1]);
        JournalOptions options;
        options.checkpoint = 4096;
        const Status status = journal->driver.open(options);
        return Mounted{&journal->driver, journal,
                       status == Status::ok ? "" : std::string("journal: ") + to_string(status) + "; "};
    };
    return result;
}

FlashCutOptions chip() {
    FlashCutOptions result;
    result.geometry = {96, 1024, 256, 4, 0xff};
    result.format.reserve = 25;
    result.changes = 64;  // each extent that goes to the table is a change
    result.reclaim = true;
    result.recovery_of = 256;
    result.recoveries = 4;
    return result;
}

// With few free extents in memory, the table in the file must have been used.
class UsesTheTable final : public ::testing::Environment {
public:
    void TearDown() override { EXPECT_TRUE(!kFew || FrugalAllocator::refusals() > 0); }
};
const ::testing::Environment* const kUsesTheTable = ::testing::AddGlobalTestEnvironment(new UsesTheTable);

}  // namespace

TEST(SpaceCut, Managers) { cut_disks(named("managers"), churning(space(SpaceStrategy::managers, true)), 3000, disk()); }
TEST(SpaceCut, Pages) { cut_disks(named("pages"), churning(space(SpaceStrategy::pages, true)), 3000, disk()); }
TEST(SpaceCut, Unrecorded) {
    cut_disks(named("unrecorded"), churning(space(SpaceStrategy::managers, false)), 3000, disk());
    cut_disks(named("unrecorded-pages"), churning(space(SpaceStrategy::pages, false, 3, 6)), 3000, disk());
}
TEST(SpaceCut, Aggregation) {
    cut_disks(named("aggregation"), churning(space(SpaceStrategy::aggregation, false, 3, 6)), 3000, disk());
    cut_disks(named("none"), churning(space(SpaceStrategy::none, false, 3, 6)), 3000, disk());
}
TEST(SpaceCut, Threshold) {
    Churning options = space(SpaceStrategy::managers, true, 4, 6);
    options.create.free_space_threshold = 100;
    options.create.sizeof_addr = 4;
    cut_disks(named("threshold"), churning(options), 3000, disk());
}
TEST(SpaceCut, Journal) {
    cut_disks(named("journal"), churning(space(SpaceStrategy::managers, true, 3, 7)), 3000, journaled());
}
TEST(SpaceCut, JournalPages) {
    cut_disks(named("journal-pages"), churning(space(SpaceStrategy::pages, true, 3, 6)), 3000, journaled());
}
TEST(SpaceCut, Flash) { cut_flash(named("flash"), churning(space(SpaceStrategy::managers, true, 3, 6)), 3000, chip()); }
TEST(SpaceCut, FlashPages) {
    cut_flash(named("flash-pages"), churning(space(SpaceStrategy::pages, true, 3, 5)), 3000, chip());
}
