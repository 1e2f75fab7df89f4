// The commands of a NOR chip behind SPI, which a board has in hardware: here an array takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nor_chip {

inline constexpr std::uint32_t kSize = 256 * 1024;

inline unsigned char* array() {
    static unsigned char bytes[kSize];
    static const bool erased = std::memset(bytes, 0xff, sizeof bytes) != nullptr;
    (void)erased;
    return bytes;
}

/// Each waits until the chip is no longer busy. false: it reports a failure.
inline bool read(std::uint32_t address, void* to, std::size_t size) {
    std::memcpy(to, array() + address, size);
    return true;
}
inline bool program(std::uint32_t address, const void* from, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        array()[address + i] &= static_cast<const unsigned char*>(from)[i];
    }
    return address / 256 == (address + size - 1) / 256;
}
inline bool erase(std::uint32_t address) {
    std::memset(array() + address, 0xff, 4096);
    return address % 4096 == 0;
}

}  // namespace nor_chip
