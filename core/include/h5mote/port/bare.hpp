// The port of a machine without an operating system: clock and log are functions of the firmware's.
#pragma once

#include <h5mote/port.hpp>

namespace h5mote {

/// A port whose clock and log are plain functions; either may be nullptr. It has no lock: either one task at a time
/// uses the Library, or the firmware derives a Port that takes the mutex of its RTOS.
class BarePort final : public Port {
public:
    using Clock = std::uint32_t (*)();  ///< seconds since 1970-01-01 UTC, 0 while not set
    using Log = void (*)(const char*);  ///< prints one message, without a line end of its own

    constexpr explicit BarePort(Clock clock = nullptr, Log log = nullptr) noexcept : clock_(clock), log_(log) {}

    std::uint32_t time() noexcept override { return clock_ == nullptr ? 0 : clock_(); }
    void log(const char* message) noexcept override {
        if (log_ != nullptr) {
            log_(message);
        }
    }

private:
    Clock clock_;
    Log log_;
};

}  // namespace h5mote
