// H5T (H5Tconv) - numbers of any form: integers and bit fields of up to 64 bytes, floating-point numbers of any fields.
//
// All is done on bits, so that the machine's own byte order, alignment and arithmetic have no part in it, and the
// results are those of libhdf5's general conversions, rounding included:
//   integer to integer    the nearest value that the target has
//   floating to floating  to nearest, halves away from zero; beyond the largest number infinity; a NaN has all bits set
//   integer to floating   to nearest, halves to even
//   floating to integer   towards zero, the nearest value that the target has; a NaN is 0
//   bit field             its lowest bits
// Between the numbers that processors have, libhdf5 lets the compiler convert, which rounds halves to even:
// machine_number.hpp.
#pragma once

#include <h5mote/datatype.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Most bytes of a number that is converted.
inline constexpr unsigned kMaxNumberBytes = 64;

/// What a conversion needs to know of a numeric type.
struct NumberFormat {
    enum : std::uint8_t { is_signed = 1, low_ones = 2, high_ones = 4 };

    TypeClass type = TypeClass::none;  ///< integer, floating or bitfield
    ByteOrder order = ByteOrder::little;
    std::uint8_t flags = 0;  ///< low_ones, high_ones: what fills the bits below and above the significant ones
    std::uint8_t size = 0;   ///< bytes
    std::uint16_t offset = 0;
    std::uint16_t precision = 0;
    FloatFields fields;

    /// Reads an integer, bit field or floating-point type. False if it is none, or of a form that is not converted:
    /// more than kMaxNumberBytes, fields that reach beyond the size, a mantissa whose first bit is said to be always
    /// set (libhdf5 has no conversion either).
    bool assign(DatatypeView type) noexcept;
};

/// Converts one number; bit fields only to bit fields. Source and target are distinct.
void convert_number(const NumberFormat& from, const NumberFormat& to, const std::byte* source,
                    std::byte* target) noexcept;

}  // namespace h5mote
