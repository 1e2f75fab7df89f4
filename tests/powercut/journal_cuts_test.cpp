// The power fails under a journal: whatever of the file and of the journal's log was not synced is lost, torn at
// sectors or out of order. Everything that a flush acknowledged must be there, logging must be able to go on, and that
// recovery is cut as well.
#include "disk_cuts.hpp"

#include <h5mote/vfd/journal.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A journal driver with its memory, not opened yet, as in a program that has just begun.
struct Journal {
    Journal(Driver& home, Driver& log) : driver(home, log, Bytes(memory)) {}
    alignas(8) std::byte memory[JournalDriver::required_memory()];
    JournalDriver driver;
};

// `checkpoint`: bytes of log after which the log is carried over to the file; small, so that this happens often.
DiskOptions journaled(std::uint32_t checkpoint, std::size_t recoveries = 4) {
    DiskOptions result;
    result.count = 2;
    result.libhdf5 = false;  // disk 0, the home, is not the whole file: changes may still be in the log
    result.recovery_of = 4;
    result.recoveries = recoveries;
    result.random_subsets = 40;  // fewer, because there are many operations without a sync, where these are drawn
    result.mount = [checkpoint](const std::vector<Driver*>& disks) {
        auto journal = std::make_shared<Journal>(*disks[0], *disks[1]);
        JournalOptions options;
        options.checkpoint = checkpoint;
        const Status status = journal->driver.open(options);
        return Mounted{&journal->driver, journal,
                       status == Status::ok ? "" : std::string("journal: ") + to_string(status) + "; "};
    };
    return result;
}

}  // namespace

TEST(PowerCut, Append1) { cut_disks("journal-append-1", appending({1}), 15100, journaled(1024)); }
TEST(PowerCut, Append16) { cut_disks("journal-append-16", appending({16}), 27800, journaled(4096)); }
TEST(PowerCut, Compressed1) { cut_disks("journal-compressed-1", appending({1, true}), 85400, journaled(2048)); }
TEST(PowerCut, Rates) { cut_disks("journal-rates", rates(120, 5, false), 60200, journaled(2048)); }
TEST(PowerCut, Objects) { cut_disks("journal-objects", objects(100, 4, false), 171100, journaled(4096)); }
TEST(PowerCut, Attributes) { cut_disks("journal-attributes", attributes(60, 4), 67200, journaled(4096)); }
TEST(PowerCut, Links) { cut_disks("journal-links", links(24, 2, false), 115600, journaled(4096)); }
TEST(PowerCut, Sessions) { cut_disks("journal-sessions", sessions(4, 30, true, 8), 55500, journaled(2048)); }
// Chunks of one row, so that the chunk index grows up to data blocks with pages.
TEST(PowerCut, Chunks) { cut_disks("journal-chunks", appending({16, false, 200, 1, 48}), 71800, journaled(4096)); }
TEST(PowerCut, CompressedChunks) {
    cut_disks("journal-compressed-chunks", appending({16, true, 200, 1, 48}), 91300, journaled(4096));
}
TEST(PowerCut, Full) {
    DiskOptions full = journaled(1024);
    full.limit = 16000;
    cut_disks("journal-full", filling(false, false), 64000, full);
}
