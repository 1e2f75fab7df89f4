// The power fails at every point of a logger's work on a file in several parts, each of which is a disk: between two
// syncs sectors of all parts arrive in any order, so that the part with the metadata may come to refer to raw data
// whose part is not longer yet, or whose end is not recorded yet. After each cut h5mote must find everything that a
// flush acknowledged, and logging must be able to go on.
#include "disk_cuts.hpp"

#include <h5mote/vfd/multi.hpp>

#include <gtest/gtest.h>

#if H5MOTE_OTHER_FILES && H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

/// Parts that are disks, in the order of their numbers. All of them are there from the beginning, and empty.
class Disks final : public MultiParts {
public:
    Disks(const std::vector<Driver*>& disks, const MultiLayout& layout) {
        for (unsigned part = 0; part < kMostParts; ++part) {
            drivers_[part] = layout.map[part] == part ? disks[count_++] : nullptr;
        }
    }
    Status open(unsigned index, std::string_view /*name*/, Driver*& driver) noexcept override {
        driver = drivers_[index];
        return driver == nullptr ? Status::not_found : Status::ok;
    }
    void close(unsigned /*index*/) noexcept override {}

private:
    Driver* drivers_[kMostParts] = {};
    std::size_t count_ = 0;
};

struct File {
    File(const std::vector<Driver*>& disks, const MultiLayout& layout) : parts(disks, layout) {}
    Disks parts;
    MultiDriver driver{parts};
};

DiskOptions in_parts(const MultiLayout& layout, unsigned count) {
    DiskOptions result;
    result.count = count;
    result.libhdf5 = false;  // no disk is the whole file
    result.random_subsets = 60;
    result.mount = [layout](const std::vector<Driver*>& disks) {
        auto made = std::make_shared<File>(disks, layout);
        const Status status = made->driver.open_or_create(layout);
        return Mounted{&made->driver, made,
                       status == Status::ok ? "" : std::string("parts: ") + to_string(status) + "; "};
    };
    return result;
}

DiskOptions split() { return in_parts(split_layout(), 2); }
DiskOptions multi() { return in_parts(multi_layout(), kMostParts); }

}  // namespace

TEST(PowerCut, Split) { cut_disks("split-append", appending({4, false, 120}), 10700, split()); }
TEST(PowerCut, SplitCompressed) { cut_disks("split-compressed", appending({4, true, 60}), 7100, split()); }
TEST(PowerCut, SplitObjects) { cut_disks("split-objects", objects(30, 4, false), 35000, split()); }
TEST(PowerCut, SplitSessions) { cut_disks("split-sessions", sessions(4, 16, false, 8), 27400, split()); }
TEST(PowerCut, SplitAfterFaults) {
    DiskOptions options = split();
    options.random_subsets = 4;
    cut_disks_after_faults("split-faults", appending({5, false, 30}), 1600, options);
}
TEST(PowerCut, Multi) { cut_disks("multi-append", appending({4, false, 60}), 9300, multi()); }
TEST(PowerCut, MultiObjects) { cut_disks("multi-objects", objects(20, 4, false), 31800, multi()); }

#endif
