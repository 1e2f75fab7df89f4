// The commands of a NOR chip behind SPI, which a board has in hardware. Here a file takes the place of the chip, so
// that it holds when the program has ended what it would hold without power.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nor_chip {

inline constexpr char kFile[] = "chip.bin";
inline constexpr std::uint32_t kSize = 256 * 1024;
inline constexpr std::uint32_t kPage = 256;

inline bool store(int file, std::uint32_t address, const unsigned char* from, std::size_t size) {
    return ::lseek(file, static_cast<off_t>(address), SEEK_SET) >= 0 &&
           ::write(file, from, size) == static_cast<ssize_t>(size);
}
inline bool fill(int file, std::uint32_t address, std::size_t size) {
    unsigned char erased[kPage];
    std::memset(erased, 0xff, sizeof erased);
    bool good = true;
    for (std::size_t at = 0; good && at < size; at += kPage) {
        good = store(file, address + static_cast<std::uint32_t>(at), erased, kPage);
    }
    return good;
}
/// A new chip is erased.
inline int open_file() {
    const int file = ::open(kFile, O_RDWR);
    if (file >= 0) {
        return file;
    }
    const int created = ::open(kFile, O_RDWR | O_CREAT, 0666);
    return fill(created, 0, kSize) ? created : -1;
}
inline int file() {
    static const int opened = open_file();
    return opened;
}

/// Each waits until the chip is no longer busy. false: it reports a failure.
inline bool read(std::uint32_t address, void* to, std::size_t size) {
    return ::lseek(file(), static_cast<off_t>(address), SEEK_SET) >= 0 &&
           ::read(file(), to, size) == static_cast<ssize_t>(size);
}
/// Turns ones into zeros, within one page.
inline bool program(std::uint32_t address, const void* from, std::size_t size) {
    unsigned char bytes[kPage];
    if (address % kPage + size > kPage || !read(address, bytes, size)) {
        return false;
    }
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] &= static_cast<const unsigned char*>(from)[i];
    }
    return store(file(), address, bytes, size);
}
inline bool erase(std::uint32_t address) { return address % 4096 == 0 && fill(file(), address, 4096); }

}  // namespace nor_chip
