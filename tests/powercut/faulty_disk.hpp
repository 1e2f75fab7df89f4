// A storage that fails once, before the power does.
#pragma once

#include "disk_states.hpp"

namespace h5mote_test {

/// A driver whose k-th write, sync or truncation fails. If k is even, a failing write reaches the disk nevertheless:
/// the driver contract leaves the range of a failed write undefined.
class FaultyDisk final : public ForwardingDriver {
public:
    /// `fault`: k; 0: nothing fails.
    FaultyDisk(h5mote::Driver& inner, std::uint64_t fault, const std::vector<DiskOperation>& operations)
        : ForwardingDriver(inner), fault_(fault), operations_(operations) {
        forward_superblock_info(inner);
    }

    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        if (!fails()) {
            return ForwardingDriver::write(usage, address, from);
        }
        if (fault_ % 2 == 0) {
            (void)ForwardingDriver::write(usage, address, from);
        }
        return h5mote::Status::io_error;
    }
    h5mote::Status sync() noexcept override { return fails() ? h5mote::Status::io_error : ForwardingDriver::sync(); }
    h5mote::Status truncate(std::uint64_t size) noexcept override {
        return fails() ? h5mote::Status::io_error : ForwardingDriver::truncate(size);
    }

    bool failed = false;
    std::size_t failed_at = 0;  ///< how many operations had reached the disk before

private:
    bool fails() noexcept {
        if (++calls_ != fault_) {
            return false;
        }
        failed_at = operations_.size();
        return failed = true;
    }

    std::uint64_t calls_ = 0;
    std::uint64_t fault_;
    const std::vector<DiskOperation>& operations_;
};

}  // namespace h5mote_test
