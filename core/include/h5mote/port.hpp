// What a platform lends to the library: time and log.
#pragma once

#include <cstdint>

namespace h5mote {

/// Everything has a default; a NullPort does for machines that have neither.
class Port {
public:
    /// Seconds since 1970-01-01 UTC for the times of objects that are created with track_times, 0 when there is no
    /// clock.
    virtual std::uint32_t time() noexcept { return 0; }
    /// A destructor that failed to close can only say so. `message` lives as long as the call.
    virtual void log(const char* /*message*/) noexcept {}

    Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

protected:
    ~Port() = default;
};

/// A port that offers nothing, for machines without clock, threads or console.
class NullPort final : public Port {};

}  // namespace h5mote
