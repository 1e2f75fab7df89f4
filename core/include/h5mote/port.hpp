// What a platform lends to the library: time, lock, log.
#pragma once

#include <cstdint>

namespace h5mote {

/// Everything has a default, so that bare metal needs no port at all: `h5mote::Port port;` does.
class Port {
public:
    /// Seconds since 1970-01-01 UTC for object times, 0 when there is no clock.
    virtual std::uint32_t time() noexcept { return 0; }
    /// Held during every public call of one Library.
    virtual void lock() noexcept {}
    virtual void unlock() noexcept {}
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
