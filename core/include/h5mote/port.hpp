// The platform - what a board or host offers to the library: clock, log and lock.
#pragma once

#include <cstdint>

namespace h5mote {

/// The functions of a platform that the library calls. All of them have a default, which suits machines without clock,
/// log and threads: NullPort.
class Port {
public:
    /// Seconds since 1970-01-01 UTC for the times of objects that are created with track_times, 0 when there is no
    /// clock.
    virtual std::uint32_t time() noexcept { return 0; }
    /// Called for what no status can tell: a destructor could not close a file; a file that was opened is marked as
    /// open for writing, or is shorter than it says. `message` lives as long as the call.
    virtual void log(const char* /*message*/) noexcept {}

    /// The lock of the Library that has this port. With H5MOTE_THREADS every public call of the library, its objects
    /// and handles takes it on entry and gives it back when it returns. It must be recursive: public calls call each
    /// other, and callbacks may call the library where their header says so, so that the thread which holds the lock
    /// takes it again. What the program gives the library to call (drivers, allocator, filters, visitors) is called
    /// under the lock. By default nothing is done, and only one thread at a time may use the Library. port/README.md
    /// shows a port for an RTOS.
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
