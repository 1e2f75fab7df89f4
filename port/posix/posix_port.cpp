#include <h5mote/port/posix.hpp>

#include <unistd.h>

#include <cstring>
#include <ctime>

namespace h5mote {
namespace {

void write_error(const char* text, std::size_t size) noexcept {
    while (size > 0) {
        const auto count = ::write(STDERR_FILENO, text, size);
        if (count <= 0) {
            return;  // nobody to tell
        }
        text += count;
        size -= static_cast<std::size_t>(count);
    }
}

}  // namespace

std::uint32_t PosixPort::time() noexcept {
    const std::time_t now = std::time(nullptr);
    return now < 0 ? 0 : static_cast<std::uint32_t>(now);
}

// Not stdio: its buffers would pull a heap into firmware.
void PosixPort::log(const char* message) noexcept {
    write_error("h5mote: ", 8);
    write_error(message, std::strlen(message));
    write_error("\n", 1);
}

}  // namespace h5mote
