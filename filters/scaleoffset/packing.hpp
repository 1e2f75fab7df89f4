// H5Zscaleoffset - what the client data of a dataset say about packing, for encoder and decoder.
//
// Layout: bits of a number (4 bytes) | bytes of the minimum (1 byte) | minimum (8 bytes) | zeros up to byte 21 | the
// numbers less the minimum, that many bits each, from the highest bit of each byte. All ones stand for the fill value
// if there is one. Numbers that need all their bits are stored as they are, in the byte order of the writing machine;
// encoder and decoder take that for little-endian.
//
// Client data: kind of scale (0 decimal, 1 binary, 2 integer) | scale: decimal digits, or bits of an integer, 0 to
// find out | elements of the chunk | class (0 integer, 1 floating-point) | size | signed | order (1 big-endian) |
// 1 if there is a fill value | fill value, little-endian
#pragma once

#include <h5mote/filter.hpp>

#include "real.hpp"

#include <cstddef>
#include <cstdint>

namespace h5mote::scaleoffset {

constexpr std::size_t kHeader = 21;
constexpr std::size_t kValues = 20;
enum Value : std::size_t {
    kKind = 0,
    kScale = 1,
    kElements = 2,
    kClass = 3,
    kSize = 4,
    kSigned = 5,
    kOrder = 6,
    kHasFill = 7,
    kFill = 8
};
enum Kind : std::uint32_t { kDecimal = 0, kBinary = 1, kInteger = 2 };

/// 10 to the power of `exponent`; infinity or zero if that is beyond the range of a double.
Real power_of_ten(std::int32_t exponent) noexcept;

struct Packing {
    /// Reads the client data. corrupt_file: they make no sense; unsupported: the binary scale.
    Status open(const FilterSpec& spec) noexcept;
    /// Whether chunks are not packed at all, because as many bits were asked for as a number has.
    bool as_is() const noexcept { return !floating && scale == static_cast<std::int32_t>(element * 8); }

    std::uint32_t element = 0;  ///< bytes of a number
    bool floating = false;
    bool big_endian = false;
    bool has_fill = false;
    std::int32_t scale = 0;
    std::uint64_t fill = 0;
};

}  // namespace h5mote::scaleoffset
