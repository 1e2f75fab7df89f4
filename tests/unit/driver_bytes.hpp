// Fills and inspects the bytes of any driver. Small enough for a microcontroller.
#pragma once

#include <h5mote/driver.hpp>

#include <cstring>

namespace h5mote_test {

inline h5mote::Status fill(h5mote::Driver& driver, std::uint64_t address, unsigned char value,
                           std::size_t count) noexcept {
    static std::byte bytes[1024];
    std::memset(bytes, value, count);
    return driver.write(h5mote::Usage::raw_data, address, {bytes, count});
}

// Whether each byte of [from, to) in the file equals `value`.
inline bool holds(h5mote::Driver& driver, std::uint64_t from, std::uint64_t to, unsigned char value) noexcept {
    static std::byte bytes[1024];
    const auto count = static_cast<std::size_t>(to - from);
    if (driver.read(h5mote::Usage::raw_data, from, {bytes, count}) != h5mote::Status::ok) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != std::byte{value}) {
            return false;
        }
    }
    return true;
}

inline std::uint64_t length(h5mote::Driver& driver) noexcept {
    std::uint64_t size = 0;
    return driver.end_of_file(size) == h5mote::Status::ok ? size : ~std::uint64_t{0};
}

}  // namespace h5mote_test
