// Addresses in files, as the library holds them.
#pragma once

#include <h5mote/config.hpp>

#include <cstdint>

namespace h5mote {

/// An address or length in a file, in memory. What a file says is read as 64 bits and checked on the way here.
#if H5MOTE_LARGE_FILES
using Address = std::uint64_t;
#else
using Address = std::uint32_t;
#endif

/// Address that points nowhere: all bits set, whatever the width in the file.
inline constexpr Address kUndefinedAddress = ~Address{0};

/// `value` as an Address; one that does not fit becomes an address beyond any file.
constexpr Address narrow(std::uint64_t value) noexcept {
    return value >= kUndefinedAddress ? kUndefinedAddress - 1 : static_cast<Address>(value);
}

}  // namespace h5mote
