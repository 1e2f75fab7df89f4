// Power cuts on disks, that is files and cards: each sector (512 bytes unless a test says otherwise) arrives wholly or
// not at all, and between two syncs sectors arrive in any order.
#pragma once

#include "cuts.hpp"
#include "disk_states.hpp"
#include "scenarios.hpp"

#include <h5mote/port/malloc.hpp>

#include <memory>

namespace h5mote_test {

/// The drivers mounted on the disks: `driver` is for the file, `keep` owns what it needs, `failure` says why not.
struct Mounted {
    h5mote::Driver* driver = nullptr;
    std::shared_ptr<void> keep;
    std::string failure;
};
using Mount = std::function<Mounted(const std::vector<h5mote::Driver*>& disks)>;

struct DiskOptions {
    unsigned count = 1;  ///< number of disks
    Mount mount = [](const std::vector<h5mote::Driver*>& disks) { return Mounted{disks[0], nullptr, ""}; };
    std::size_t limit = ~std::size_t{0};  ///< bytes of a disk
    bool libhdf5 = true;                  ///< libhdf5 also opens disk 0 after each cut, as the cut left it
    std::size_t recovery_of = 1;          ///< one in so many cuts has its recovery cut, too, at every point; 0: none
    std::size_t recoveries = 24;          ///< about so many recoveries are cut up to their end, and logged on from
    std::size_t samples = 0;              ///< images that are kept as files for check_samples.py
    std::size_t random_subsets = 200;
    /// After each cut lost space is found, too, on a copy: reclaim_all(). One in two recoveries begins with finding it.
    bool reclaim = false;
    std::uint32_t sector = 512;  ///< bytes of a disk that arrive wholly or not at all
};

/// Runs a scenario again and again. Each time another write, sync or truncation of the driver fails, once, and the call
/// of the library that returns the error is repeated. The power is cut at every point from there on up to the second
/// flush that is acknowledged afterwards. Every second failing write reaches the disk nevertheless, because the driver
/// contract leaves the range of a failed write undefined.
void cut_disks_after_faults(const std::string& name, const Scenario& scenario, std::size_t floor,
                            const DiskOptions& options = {});

/// Runs a scenario, cuts it at every point and reports; fewer cuts than `floor` fail.
void cut_disks(const std::string& name, const Scenario& scenario, std::size_t floor, const DiskOptions& options = {});

}  // namespace h5mote_test
