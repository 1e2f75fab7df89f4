// Addresses in files: the type in which the library holds them in memory.
#pragma once

#include <h5mote/config.hpp>

#include <cstdint>
#include <type_traits>

namespace h5mote {

/// An address or length in a file, as the library holds it in memory. Addresses read from a file are first taken as 64
/// bits and checked before they become an Address.
using Address = std::conditional_t<H5MOTE_LARGE_FILES != 0, std::uint64_t, std::uint32_t>;

/// The address that points nowhere: all bits set, whatever width addresses have in the file.
inline constexpr Address kUndefinedAddress = ~Address{0};

/// Converts `value` to an Address; a value that does not fit becomes an address beyond any file.
constexpr Address narrow(std::uint64_t value) noexcept {
    return value >= kUndefinedAddress ? kUndefinedAddress - 1 : static_cast<Address>(value);
}

}  // namespace h5mote
