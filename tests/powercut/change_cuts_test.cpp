// The power fails while links and attributes get other names and places, attributes other types, and a log becomes
// shorter: on a file, under a journal, and on flash. Whatever is renamed is found under its old name or its new one.
#include "disk_cuts.hpp"
#include "flash_cuts.hpp"

#include <h5mote/vfd/journal.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

DiskOptions file() {
    DiskOptions result;
    result.samples = 20;
    result.recoveries = 24;
    result.recovery_of = 4;
    return result;
}

struct Journal {
    Journal(Driver& home, Driver& log) : driver(home, log, Bytes(memory)) {}
    alignas(8) std::byte memory[JournalDriver::required_memory()];
    JournalDriver driver;
};

DiskOptions journaled() {
    DiskOptions result;
    result.count = 2;
    result.libhdf5 = false;  // disk 0, the home, is not the whole file: changes may still be in the log
    result.recovery_of = 16;
    result.recoveries = 4;
    result.random_subsets = 40;
    result.mount = [](const std::vector<Driver*>& disks) {
        auto journal = std::make_shared<Journal>(*disks[0], *disks[1]);
        JournalOptions options;
        options.checkpoint = 2048;
        const Status status = journal->driver.open(options);
        return Mounted{&journal->driver, journal,
                       status == Status::ok ? "" : std::string("journal: ") + to_string(status) + "; "};
    };
    return result;
}

FlashCutOptions flash() {
    FlashCutOptions result;
    result.geometry = {72, 1024, 256, 4, 0xff};
    result.format.reserve = 25;
    result.changes = 8;
    return result;
}

}  // namespace

TEST(PowerCut, Changing) { cut_disks("changing-1", changing(14, 1, false), 10000, file()); }
TEST(PowerCut, Changing3) { cut_disks("changing-3", changing(24, 3, false), 10900, file()); }
TEST(PowerCut, ChangingCompressed) { cut_disks("changing-compressed", changing(14, 2, true), 9500, file()); }
TEST(PowerCut, ChangingUnderAJournal) { cut_disks("journal-changing", changing(18, 2, false), 64000, journaled()); }
TEST(PowerCut, ChangingOnFlash) { cut_flash("flash-changing", changing(9, 2, false), 20000, flash()); }
