// Integers of 1 to 8 bytes in either byte order.
#pragma once

#include "cursor.hpp"

namespace h5mote {

inline std::uint64_t load_ordered(const std::byte* from, unsigned size, bool big) noexcept {
    if (!big) {
        return load_uint(from, size);
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
        value = value << 8 | static_cast<std::uint64_t>(from[i]);
    }
    return value;
}

inline void store_ordered(std::byte* to, std::uint64_t value, unsigned size, bool big) noexcept {
    if (!big) {
        store_uint(to, size, value);
        return;
    }
    for (unsigned i = size; i-- > 0; value >>= 8) {
        to[i] = static_cast<std::byte>(value);
    }
}

}  // namespace h5mote
