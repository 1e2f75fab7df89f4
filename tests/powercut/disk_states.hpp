// Enumerates or draws the states in which a power cut can leave disks, that is files and cards: each sector arrives
// wholly or not at all, and between two syncs sectors arrive in any order.
#pragma once

#include "random.hpp"
#include "recording_driver.hpp"

#include <functional>

namespace h5mote_test {

using Image = RecordingDriver::Image;
using Disks = std::vector<Image>;

/// One change or sync of one of several disks.
struct DiskOperation {
    unsigned disk;
    DriverOperation operation;
};

/// Records what reaches a disk, in a list that it shares with the other disks, so that their common order is kept.
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

/// A disk that reports the size of its sectors as Capabilities::atomic_unit.
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

/// The states in which a cut within a list of operations may leave the disks.
class DiskStates {
public:
    /// Called with each state. `operations`: how many of the operations were complete when the power failed, at least;
    /// `what` and `number` describe the state in messages.
    using Visit = std::function<void(const Disks& disks, std::size_t operations, const char* what, std::size_t number)>;

    DiskStates(const Disks& begin, const std::vector<DiskOperation>& operations, Visit visit)
        : image_(begin), synced_(begin), operations_(operations), visit_(std::move(visit)) {}

    /// Aligned units of this many bytes arrive wholly or not at all.
    std::size_t sector = 512;
    /// Writes arrive in the order in which they were made: only the last one may be torn, at the end.
    bool ordered = false;
    /// Bytes between the old end of a disk and a later write or truncation read as anything, not as zero.
    bool junk = false;
    /// run() tries every subset of the operations since the last sync if they are at most `all_subsets`; if they are
    /// more, it tries chosen subsets, and `random_subsets` random ones after each operation.
    std::size_t all_subsets = 6;
    std::size_t random_subsets = 200;
    /// run() tries only the states that cuts after so many operations leave.
    std::size_t from = 0;
    /// No more states are tried once this returns true.
    std::function<bool()> enough = [] { return false; };

    /// Tries all states (of long sequences without a sync, those named above).
    void run();
    /// Tries random states: `count`, and on average one more for every two operations.
    void draw(std::size_t count, Random& random);

private:
    struct Piece;
    void apply(Image& image, std::size_t i) const;
    void apply_piece(Image& image, const Piece& piece) const;
    void tears(std::size_t i);
    void subsets(std::size_t done);
    void random_subset(std::size_t done, Random& random);
    void draw_one(std::size_t done, Random& random);
    void settle(unsigned disk);

    Disks image_;                       // the disks after all operations so far
    Disks synced_;                      // the disks after those operations that a sync has made durable
    std::vector<std::size_t> pending_;  // the operations in image_ that are not in synced_
    const std::vector<DiskOperation>& operations_;
    Visit visit_;
};

}  // namespace h5mote_test
