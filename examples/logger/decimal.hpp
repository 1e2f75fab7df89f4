// Text to numbers, the same bits on every machine.
#pragma once

#include <cstdint>

namespace logger {

/// A number of digits only, up to 2^64 - 1. False, `value` unchanged: it is none.
bool parse_unsigned(const char* text, std::uint64_t& value) noexcept;

/// A decimal number such as -9.81, .5 or 1e-05 to the nearest float, ties to even. False, `value` unchanged: no number,
/// more than 19 significant digits, or larger than any float.
bool parse_float(const char* text, float& value) noexcept;

}  // namespace logger
