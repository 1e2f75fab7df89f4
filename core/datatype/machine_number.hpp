// H5T (H5Tconv) - numbers that processors have: integers of 1 to 8 bytes, IEEE 754 of 32 and 64 bits, and the 80 bits
// in 16 bytes that are `long double` on x86. libhdf5 has the compiler convert between them: to nearest even, where
// number.hpp rounds in other ways. What the compilers leave open is decided here: a NaN becomes the integer 0, and what
// is out of range the nearest value, also at the very ends of 64 bits.
#pragma once

#include <h5mote/datatype.hpp>

#include <cstddef>

#include "conversion_plan.hpp"

namespace h5mote {

/// Whether a type is one of these floating-point numbers, little-endian or (`any_order`, but not of 80 bits) in either
/// order of bytes.
bool is_machine_float(DatatypeView type, bool any_order) noexcept;

/// Converts one number between two floating-point types, or one and an integer type, as the step says.
void convert_machine_number(const ConversionStep& step, const std::byte* from, std::byte* to) noexcept;

}  // namespace h5mote
