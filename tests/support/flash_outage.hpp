// A flash chip that fails for a while and then works again.
#pragma once

#include "flash_simulator.hpp"

namespace h5mote_test {

/// Passes calls on to a simulated chip. During an outage, calls of the chosen kinds fail. Blocks that fail then are not
/// bad, and are not marked as bad.
class FlashOutage final : public h5mote::FlashDevice {
public:
    enum Calls : unsigned { kReads = 1, kPrograms = 2, kErases = 4 };

    explicit FlashOutage(FlashSimulator& chip) noexcept : chip_(chip) {}

    /// Of the calls of these kinds from now on, `after` work, the next `count` fail, and all others work. `halves`: the
    /// first half of what is to be programmed is programmed all the same.
    void fail(unsigned calls, std::uint64_t count, std::uint64_t after = 0, bool halves = false) noexcept {
        calls_ = calls;
        count_ = count;
        after_ = after;
        halves_ = halves;
    }
    void end() noexcept { count_ = 0; }
    bool is_over() const noexcept { return count_ == 0; }
    /// Calls that failed so far.
    std::uint64_t failures() const noexcept { return failures_; }

    h5mote::FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        return fails(kReads) ? h5mote::Status::io_error : chip_.read(block, offset, to);
    }
    bool corrected() noexcept override { return chip_.corrected(); }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        if (!fails(kPrograms)) {
            return chip_.program(block, offset, from);
        }
        const std::size_t unit = geometry().program_unit;
        const std::size_t half = from.size() / 2 / unit * unit;
        if (halves_ && half != 0) {
            (void)chip_.program(block, offset, from.first(half));
        }
        return h5mote::Status::io_error;
    }
    h5mote::Status erase(std::uint32_t block) noexcept override {
        return fails(kErases) ? h5mote::Status::io_error : chip_.erase(block);
    }
    h5mote::Status is_bad(std::uint32_t block, bool& bad) noexcept override { return chip_.is_bad(block, bad); }
    h5mote::Status mark_bad(std::uint32_t) noexcept override { return h5mote::Status::io_error; }

private:
    bool fails(unsigned call) noexcept {
        if ((calls_ & call) == 0 || count_ == 0) {
            return false;
        }
        if (after_ > 0) {
            --after_;
            return false;
        }
        --count_;
        ++failures_;
        return true;
    }

    FlashSimulator& chip_;
    unsigned calls_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t after_ = 0;
    bool halves_ = false;
    std::uint64_t failures_ = 0;
};

}  // namespace h5mote_test
