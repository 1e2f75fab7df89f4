// Shared by the measuring images: markers for toolchains/count-insns, output, and access to files of the host.
//
// Nothing here uses the C library or 64-bit division. Otherwise these would be in every image, and the difference of
// two images would not show that the library itself needs them.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

extern "C" {
__attribute__((naked, noinline)) inline void h5mote_count_begin() { __asm__ volatile("bx lr"); }
__attribute__((naked, noinline)) inline void h5mote_count_end() { __asm__ volatile("bx lr"); }
}

namespace measure {

inline std::intptr_t semihosting(std::intptr_t operation, const void* parameters) noexcept {
    register std::intptr_t r0 __asm__("r0") = operation;
    register const void* r1 __asm__("r1") = parameters;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

inline void print(const char* text) noexcept { semihosting(0x04, text); }

/// Prints `name`, a space, the number and a line end.
inline void print(const char* name, std::uint32_t number) noexcept {
    static constexpr std::uint32_t kPowers[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                                10000,      1000,      100,      10,      1};
    char text[13];
    char* at = text;
    *at++ = ' ';
    bool begun = false;
    for (const std::uint32_t power : kPowers) {
        char digit = '0';
        while (number >= power) {
            number -= power;
            ++digit;
        }
        begun = begun || digit != '0' || power == 1;
        if (begun) {
            *at++ = digit;
        }
    }
    *at++ = '\n';
    *at = '\0';
    print(name);
    print(text);
}

inline bool same(const char* a, const char* b) noexcept {
    while (*a != '\0' && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

inline std::intptr_t open_host_file(const char* path, std::uintptr_t mode) noexcept {
    std::uintptr_t length = 0;
    while (path[length] != '\0') {
        ++length;
    }
    const std::uintptr_t parameters[3] = {reinterpret_cast<std::uintptr_t>(path), mode, length};
    return semihosting(0x01, parameters);
}

/// Writes a file of the host; false when that fails.
inline bool save(const char* path, h5mote::ConstBytes bytes) noexcept {
    const auto handle = static_cast<std::uintptr_t>(open_host_file(path, 5));
    const std::uintptr_t parameters[3] = {handle, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()};
    return static_cast<std::intptr_t>(handle) >= 0 && semihosting(0x05, parameters) == 0 &&
           semihosting(0x02, parameters) == 0;
}

/// Reads a file of the host. Returns the number of bytes that were read; 0 when that fails.
inline std::size_t load(const char* path, h5mote::Bytes to) noexcept {
    const auto handle = static_cast<std::uintptr_t>(open_host_file(path, 1));
    const std::uintptr_t parameters[3] = {handle, reinterpret_cast<std::uintptr_t>(to.data()), to.size()};
    if (static_cast<std::intptr_t>(handle) < 0) {
        return 0;
    }
    const auto missing = static_cast<std::size_t>(semihosting(0x06, parameters));
    return semihosting(0x02, parameters) == 0 && missing <= to.size() ? to.size() - missing : 0;
}

}  // namespace measure
