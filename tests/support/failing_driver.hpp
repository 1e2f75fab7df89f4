// A driver whose k-th call fails, once or from then on. Tests repeat a workload with k = 1, 2, 3, ... until a run ends
// before its k-th call.
#pragma once

#include "forwarding_driver.hpp"

namespace h5mote_test {

/// Kinds of calls: bits that DriverFault::calls combines.
enum DriverCall : unsigned {
    kReadCall = 1,
    kWriteCall = 2,
    kSyncCall = 4,
    kEndOfFileCall = 8,
    kTruncateCall = 16,
    kLockCall = 32,
    kUnlockCall = 64,
    kKeepRoomCall = 128,  ///< those that ask for room
    kAllCalls = 255,
};

/// What fails, and how.
struct DriverFault {
    std::uint64_t at = 0;     ///< the call that fails, counted from 1; 0: none
    bool persistent = false;  ///< every later call of these kinds fails too
    h5mote::Status status = h5mote::Status::io_error;
    unsigned calls = kAllCalls;  ///< the kinds of calls that are counted and can fail; all others pass
    /// A failing write still stores this many of its first bytes, because the driver contract leaves the contents of
    /// the range undefined. Ignored if `status` is no_space, which promises that nothing was written.
    std::size_t torn_bytes = 0;
    /// Failing writes of raw data store nothing. References to values of variable length stand there, and half of one
    /// leads nowhere.
    bool whole_raw_data = false;
};

class FailingDriver final : public ForwardingDriver {
public:
    /// The inner driver is borrowed, and constructed already.
    explicit FailingDriver(h5mote::Driver& inner) noexcept : ForwardingDriver(inner) { forward_superblock_info(inner); }

    /// Sets the fault and resets both counters.
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
    h5mote::Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override;
    h5mote::Status do_lock(bool exclusive) noexcept override;
    h5mote::Status do_unlock() noexcept override;

private:
    bool fails(unsigned call) noexcept;

    DriverFault fault_;
    std::uint64_t calls_ = 0;
    std::uint64_t failures_ = 0;
    std::uint64_t kept_ = 0;  // what the last keep_room() has asked for
};

}  // namespace h5mote_test
