// The port of a hosted system: the C library's clock, messages on standard error.
#pragma once

#include <h5mote/port.hpp>

namespace h5mote {

/// Seconds from time(), messages to standard error. No lock: one thread at a time uses a Library; a program with
/// several derives its own Port around its mutex. Also works over newlib's system calls on a board.
class PosixPort final : public Port {
public:
    std::uint32_t time() noexcept override;
    void log(const char* message) noexcept override;
};

}  // namespace h5mote
