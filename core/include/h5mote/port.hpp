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

    /// The lock of the Library that has this port: with H5MOTE_THREADS every public call of the library, its objects
    /// and handles takes it on entry and gives it back when it returns. The thread that holds the lock takes it again
    /// within (a recursive mutex): public calls call each other, and callbacks may call back where their header says
    /// so. What the program gives the library to call (drivers, allocator, filters, visitors) is called under the lock.
    /// By default nothing is done: one thread at a time uses the Library then. port/README.md shows a port for an RTOS.
    virtual void lock() noexcept {}
    virtual void unlock() noexcept {}

    Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

protected:
    ~Port() = default;
};

/// A port that offers nothing, for machines without clock, threads or console.
class NullPort final : public Port {};

}  // namespace h5mote
