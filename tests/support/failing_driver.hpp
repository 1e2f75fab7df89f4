// A driver whose k-th call fails, once or from then on: every k is tried until nothing fails any more.
#pragma once

#include "forwarding_driver.hpp"

namespace h5mote_test {

/// Kinds of calls, to be or-ed.
enum DriverCall : unsigned {
    kReadCall = 1,
    kWriteCall = 2,
    kSyncCall = 4,
    kEndOfFileCall = 8,
    kTruncateCall = 16,
    kLockCall = 32,
    kUnlockCall = 64,
    kAllCalls = 127,
};

/// What fails, and how.
struct DriverFault {
    std::uint64_t at = 0;     ///< the call that fails, counted from 1; 0: none
    bool persistent = false;  ///< every later call of these kinds fails too
    h5mote::Status status = h5mote::Status::io_error;
    unsigned calls = kAllCalls;  ///< kinds that are counted and fail
    /// A failing write still stores that many of its bytes: the driver's contract leaves the range undefined. Not for
    /// no_space, which promises that nothing was written.
    std::size_t torn_bytes = 0;
};

class FailingDriver final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;

    /// Sets the fault and counts from zero.
    void arm(const DriverFault& fault) noexcept;
    /// Nothing fails any more; the counters stay.
    void disarm() noexcept { fault_.at = 0; }

    /// Calls of the fault's kinds since arm().
    std::uint64_t calls() const noexcept { return calls_; }
    /// How many of them were made to fail.
    std::uint64_t failures() const noexcept { return failures_; }

    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override;
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;
    h5mote::Status do_lock(bool exclusive) noexcept override;
    h5mote::Status do_unlock() noexcept override;

private:
    bool fails(unsigned call) noexcept;

    DriverFault fault_;
    std::uint64_t calls_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace h5mote_test
