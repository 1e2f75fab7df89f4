// The scenarios of file_cuts_test.cpp in profile logger, cut in the same way. Only libhdf5 reads rows, attributes and
// links, because this profile cannot.
#include "disk_cuts.hpp"

#include <gtest/gtest.h>

using namespace h5mote_test;

namespace {

DiskOptions options(std::uint32_t sector = 512) {
    DiskOptions result;
    result.recoveries = 12;
    result.recovery_of = 16;
    result.sector = sector;
    result.libhdf5 = false;  // compare() uses libhdf5 already in this profile
    return result;
}

Appending one_row_chunks() {
    Appending result{1};
    result.chunk = 1;
    result.rows = 260;
    result.reserve = 48;
    return result;
}

DiskOptions after_faults() {
    DiskOptions result = options();
    result.random_subsets = 4;
    return result;
}

}  // namespace

TEST(LoggerPowerCut, Append1) { cut_disks("logger-append-1", appending({1}), 1850, options()); }
TEST(LoggerPowerCut, Append16) { cut_disks("logger-append-16", appending({16}), 1900, options()); }
TEST(LoggerPowerCut, Chunks) { cut_disks("logger-chunks", appending(one_row_chunks()), 13000, options()); }
TEST(LoggerPowerCut, Rates) { cut_disks("logger-rates", rates(175, 2, false), 4600, options()); }
TEST(LoggerPowerCut, Objects) { cut_disks("logger-objects", objects(160, 4, false), 13700, options()); }
TEST(LoggerPowerCut, Attributes) { cut_disks("logger-attributes", attributes(40, 1), 2800, options()); }
TEST(LoggerPowerCut, Links) { cut_disks("logger-links", links(24, 1, false), 17300, options()); }
TEST(LoggerPowerCut, Remaking) { cut_disks("logger-remaking", remaking(16, 1), 2700, options()); }
TEST(LoggerPowerCut, Sessions) { cut_disks("logger-sessions", sessions(5, 32, false, 4), 4200, options()); }
TEST(LoggerPowerCut, SectorsOf128) { cut_disks("logger-sectors-128", objects(60, 2, false), 24900, options(128)); }
// A call of the driver fails and the call of the library is repeated, before the power fails.
TEST(LoggerPowerCut, AfterFaults) {
    Appending rows{5, false, 90};
    rows.chunk = 16;
    cut_disks_after_faults("logger-faults-append", appending(rows), 1300, after_faults());
    cut_disks_after_faults("logger-faults-rates", rates(48, 16, false), 14500, after_faults());
}
TEST(LoggerPowerCut, Full) {
    DiskOptions full = options();
    full.limit = 12000;
    cut_disks("logger-full", filling(false, false), 7800, full);
}
