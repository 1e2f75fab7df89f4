// The power fails on disks: files and cards with sectors of 512 bytes, which arrive wholly or not at all, in any order
// between two syncs.
#pragma once

#include "cuts.hpp"
#include "recording_driver.hpp"
#include "scenarios.hpp"

#include <h5mote/port/malloc.hpp>

#include <memory>

namespace h5mote_test {

using Image = RecordingDriver::Image;
using Disks = std::vector<Image>;

/// One change of one of several disks.
struct DiskOperation {
    unsigned disk;
    DriverOperation operation;
};

/// Records what reaches a disk, in one order with the other disks.
class DiskRecorder final : public ForwardingDriver {
public:
    DiskRecorder(h5mote::Driver& inner, unsigned disk, std::vector<DiskOperation>& operations)
        : ForwardingDriver(inner), disk_(disk), operations_(operations) {}

    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

private:
    unsigned disk_;
    std::vector<DiskOperation>& operations_;
};

/// Every state that a cut within these operations may leave behind.
class DiskStates {
public:
    /// `operations`: how many were done, at least. `what` was lost.
    using Visit = std::function<void(const Disks& disks, std::size_t operations, const char* what, std::size_t number)>;

    DiskStates(const Disks& begin, const std::vector<DiskOperation>& operations, Visit visit)
        : image_(begin), synced_(begin), operations_(operations), visit_(std::move(visit)) {}

    /// Up to that many operations between two syncs every subset is tried, else so many drawn by lot at each.
    std::size_t all_subsets = 6;
    std::size_t random_subsets = 200;
    /// No more when it says so.
    std::function<bool()> enough = [] { return false; };

    void run();

private:
    void tears(std::size_t i);
    void subsets(std::size_t done);
    void random_subset(std::size_t done, Random& random);
    void settle(unsigned disk);

    Disks image_;                       // with all operations
    Disks synced_;                      // with those that must have arrived
    std::vector<std::size_t> pending_;  // the difference
    const std::vector<DiskOperation>& operations_;
    Visit visit_;
};

/// The drivers that stand on the disks.
struct Mounted {
    h5mote::Driver* driver = nullptr;
    std::shared_ptr<void> keep;
    std::string failure;
};
using Mount = std::function<Mounted(const std::vector<h5mote::Driver*>& disks)>;

struct DiskOptions {
    unsigned count = 1;  ///< of disks
    Mount mount = [](const std::vector<h5mote::Driver*>& disks) { return Mounted{disks[0], nullptr, ""}; };
    std::size_t limit = ~std::size_t{0};  ///< bytes of a disk
    bool libhdf5 = true;                  ///< opens disk 0 as it lies, too
    std::size_t recovery_of = 1;          ///< one in so many cuts has its recovery cut, too, at every point; 0: none
    std::size_t recoveries = 24;          ///< about that many of them until the end, and are gone on from
    std::size_t samples = 0;              ///< images that are kept as files for check_samples.py
    std::size_t random_subsets = 200;
};

/// Runs a scenario, cuts it everywhere and reports.
void cut_disks(const std::string& name, const Scenario& scenario, std::size_t floor, const DiskOptions& options = {});

}  // namespace h5mote_test
