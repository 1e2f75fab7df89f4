// A driver that counts the calls and bytes that reach a storage, by class of usage. A call that failed is counted, its
// bytes are not.
#pragma once

#include "forwarding_driver.hpp"

namespace h5mote_test {

/// Calls and bytes of one class of usage.
struct DriverCounts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
};

class CountingDriver final : public ForwardingDriver {
public:
    static constexpr unsigned kUsages = 6;

    using ForwardingDriver::ForwardingDriver;

    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override;
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

    const DriverCounts& of(h5mote::Usage usage) const noexcept { return counts_[static_cast<unsigned>(usage)]; }
    /// Sums over all classes.
    DriverCounts total() const noexcept;
    std::uint64_t syncs() const noexcept { return syncs_; }
    std::uint64_t truncates() const noexcept { return truncates_; }
    /// Sets all counters to zero.
    void reset() noexcept;

private:
    DriverCounts counts_[kUsages];
    std::uint64_t syncs_ = 0;
    std::uint64_t truncates_ = 0;
};

}  // namespace h5mote_test
