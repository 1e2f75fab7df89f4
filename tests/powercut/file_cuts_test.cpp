// The power fails after every operation of a logger on a file, within every write of several sectors, and with any of
// the operations since the last sync lost or out of order. After each cut, h5mote and libhdf5 must find everything that
// a flush acknowledged, and logging must be able to go on; that recovery is cut as well.
//
// H5MOTE_EXPECT_LOSSES is set for a build that leaves out one rule of the write order: it must lose something.
// H5MOTE_POWERCUT_SAMPLES names a folder for samples of the files, which check_samples.py opens with h5py.
#include "disk_cuts.hpp"

#include <gtest/gtest.h>

using namespace h5mote_test;

namespace {

// `recoveries`: scenarios whose recoveries have many points to cut choose fewer.
DiskOptions options(std::size_t recoveries = 80) {
    DiskOptions result;
    result.samples = 20;
    result.recoveries = recoveries;
    return result;
}

// A disk whose sectors are not of 512 bytes.
DiskOptions with_sectors(std::uint32_t size) {
    DiskOptions result = options(24);
    result.sector = size;
    result.recovery_of = 4;
    return result;
}

DiskOptions after_faults() {
    DiskOptions result;
    result.random_subsets = 4;
    result.libhdf5 = false;
    return result;
}

// Chunks of one row, so that the chunk index grows through all its levels, up to data blocks with pages.
Appending one_row_chunks(bool filtered) {
    Appending result{1, filtered};
    result.chunk = 1;
    result.rows = 260;
    result.reserve = 48;  // small, so that index pages that exist already are changed
    return result;
}

}  // namespace

TEST(PowerCut, Append1) { cut_disks("append-1", appending({1}), 17900, options()); }
TEST(PowerCut, Links1) { cut_disks("links-1", links(24, 1, false), 143100, options(24)); }
TEST(PowerCut, Chunks) { cut_disks("chunks", appending(one_row_chunks(false)), 171000, options()); }
TEST(PowerCut, Append16) { cut_disks("append-16", appending({16}), 16300, options()); }
TEST(PowerCut, Append64) { cut_disks("append-64", appending({64}), 70800, options(24)); }
TEST(PowerCut, Compressed1) { cut_disks("compressed-1", appending({1, true, 205}), 23600, options()); }
TEST(PowerCut, Compressed16) { cut_disks("compressed-16", appending({16, true}), 10500, options()); }
TEST(PowerCut, Compressed64) { cut_disks("compressed-64", appending({64, true}), 61000, options(24)); }
TEST(PowerCut, Rates) { cut_disks("rates", rates(175, 2, false), 45300, options()); }
TEST(PowerCut, CompressedRates) { cut_disks("compressed-rates", rates(165, 5, true), 50500, options()); }
TEST(PowerCut, Objects) { cut_disks("objects", objects(160, 1, false), 114800, options()); }
TEST(PowerCut, Objects16) { cut_disks("objects-16", objects(160, 16, false), 164800, options(24)); }
TEST(PowerCut, CompressedObjects) { cut_disks("compressed-objects", objects(84, 3, true), 75500, options()); }
TEST(PowerCut, Attributes1) { cut_disks("attributes-1", attributes(58, 1), 23100, options(150)); }
TEST(PowerCut, Attributes4) { cut_disks("attributes-4", attributes(330, 4), 45500, options(750)); }
TEST(PowerCut, Links3) { cut_disks("links-3", links(36, 3, false), 293300, options(24)); }
TEST(PowerCut, CompressedLinks) { cut_disks("compressed-links", links(26, 2, true), 196800, options(24)); }
TEST(PowerCut, CompressedChunks) { cut_disks("compressed-chunks", appending(one_row_chunks(true)), 153700, options()); }
TEST(PowerCut, Sessions) { cut_disks("sessions", sessions(5, 32, false, 4), 38700, options()); }
TEST(PowerCut, CompressedSessions) { cut_disks("compressed-sessions", sessions(7, 44, true, 8), 41100, options()); }
TEST(PowerCut, Rotating) { cut_disks("rotating", rotating(12, 13, 5, 8), 109800, options(24)); }
TEST(PowerCut, Remaking) { cut_disks("remaking", remaking(16, 1), 30000, options(24)); }
TEST(PowerCut, Remaking3) { cut_disks("remaking-3", remaking(16, 3), 32000, options(24)); }
TEST(PowerCut, SectorsOf128) {
    cut_disks("sectors-128", objects(60, 2, false), 30000, with_sectors(128));
    cut_disks("sectors-128-attributes", attributes(30, 2), 12000, with_sectors(128));
}
TEST(PowerCut, SectorsOf256) {
    cut_disks("sectors-256", objects(60, 2, true), 25000, with_sectors(256));
    cut_disks("sectors-256-links", links(12, 2, false), 70000, with_sectors(256));
}
TEST(PowerCut, SectorsOf4096) {
    cut_disks("sectors-4096", objects(60, 2, false), 10000, with_sectors(4096));
    cut_disks("sectors-4096-links", links(12, 2, false), 35000, with_sectors(4096));
}
// A call of the driver fails and the call of the library is repeated, before the power fails.
TEST(PowerCut, AppendAfterFaults) {
    Appending rows{5, false, 90};
    rows.chunk = 16;
    cut_disks_after_faults("faults-append", appending(rows), 1300, after_faults());
    rows = {3, false, 36};
    rows.reserve = 0;
    cut_disks_after_faults("faults-append-0", appending(rows), 1450, after_faults());
    cut_disks_after_faults("faults-compressed", appending({3, true, 36}), 1390, after_faults());
}
TEST(PowerCut, RatesAfterFaults) {
    cut_disks_after_faults("faults-rates", rates(48, 16, false), 13500, after_faults());
}
TEST(PowerCut, ObjectsAfterFaults) {
    cut_disks_after_faults("faults-objects", objects(24, 4, false), 5000, after_faults());
}
TEST(PowerCut, LinksAfterFaults) { cut_disks_after_faults("faults-links", links(6, 2, false), 22000, after_faults()); }
TEST(PowerCut, SessionsAfterFaults) {
    cut_disks_after_faults("faults-sessions", sessions(2, 12, false, 4), 4100, after_faults());
}
TEST(PowerCut, Full) {
    DiskOptions full = options(24);
    full.limit = 12000;
    cut_disks("full", filling(false, false), 75200, full);
    cut_disks("full-compressed", filling(true, true), 75700, full);
}
