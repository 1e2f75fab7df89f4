// Converts text to numbers, with the same bits on every machine.
#pragma once

#include <cstdint>

namespace logger {

/// Parses a number that consists of digits only, up to 2^64 - 1. Returns false, with `value` unchanged, for other text.
bool parse_unsigned(const char* text, std::uint64_t& value) noexcept;

/// Parses a decimal number such as -9.81, .5 or 1e-05 and rounds it to the nearest float, ties to even. Returns false,
/// with `value` unchanged, if the text is no number, has more than 19 significant digits, or is larger than any float.
bool parse_float(const char* text, float& value) noexcept;

}  // namespace logger
