// The port of a hosted system: the C library's clock, messages on standard error, a lock of POSIX threads.
#pragma once

#include <h5mote/port.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace h5mote {

/// Takes seconds from time() and writes messages to standard error. On hosts the lock is a recursive mutex, so that the
/// threads of a program can share a Library. On a board the class works over newlib's system calls, and the lock does
/// nothing: one task at a time uses a Library there, unless a port of the firmware's own takes the mutex of the RTOS.
class PosixPort final : public Port {
public:
    std::uint32_t time() noexcept override;
    void log(const char* message) noexcept override;

#if defined(__unix__) || defined(__APPLE__)
    PosixPort() noexcept;
    ~PosixPort();
    void lock() noexcept override;
    void unlock() noexcept override;

private:
    pthread_mutex_t mutex_;
#endif
};

}  // namespace h5mote
