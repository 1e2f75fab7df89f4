// The states that a power cut leaves behind on disks: files and cards with sectors that arrive wholly or not at all, in
// any order between two syncs.
#pragma once

#include "random.hpp"
#include "recording_driver.hpp"

#include <functional>

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

/// A disk that tells how many of its bytes arrive wholly or not at all.
class Sectored final : public ForwardingDriver {
public:
    Sectored(h5mote::Driver& inner, std::size_t sector) : ForwardingDriver(inner), sector_(sector) {}
    h5mote::Capabilities capabilities() const noexcept override {
        h5mote::Capabilities capabilities = ForwardingDriver::capabilities();
        capabilities.atomic_unit = static_cast<std::uint32_t>(sector_);
        return capabilities;
    }

private:
    std::size_t sector_;
};

/// Every state that a cut within these operations may leave behind.
class DiskStates {
public:
    /// `operations`: how many were done, at least. `what` was lost.
    using Visit = std::function<void(const Disks& disks, std::size_t operations, const char* what, std::size_t number)>;

    DiskStates(const Disks& begin, const std::vector<DiskOperation>& operations, Visit visit)
        : image_(begin), synced_(begin), operations_(operations), visit_(std::move(visit)) {}

    /// Bytes that arrive wholly or not at all.
    std::size_t sector = 512;
    /// Up to that many operations between two syncs every subset is tried, else so many drawn by lot at each.
    std::size_t all_subsets = 6;
    std::size_t random_subsets = 200;
    /// No more when it says so.
    std::function<bool()> enough = [] { return false; };

    /// Every one of them.
    void run();
    /// About `count` of them, drawn by lot.
    void draw(std::size_t count, Random& random);

private:
    void tears(std::size_t i);
    void subsets(std::size_t done);
    void random_subset(std::size_t done, Random& random);
    void draw_one(std::size_t done, Random& random);
    void settle(unsigned disk);

    Disks image_;                       // with all operations
    Disks synced_;                      // with those that must have arrived
    std::vector<std::size_t> pending_;  // the difference
    const std::vector<DiskOperation>& operations_;
    Visit visit_;
};

}  // namespace h5mote_test
