// Bit vectors in little-endian bytes: bit n is bit n % 8 of byte n / 8. No bounds are checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// `count` bits (at most 64) from bit `at` on.
std::uint64_t get_bits(const std::byte* from, unsigned at, unsigned count) noexcept;
void put_bits(std::byte* to, unsigned at, unsigned count, std::uint64_t value) noexcept;
/// Any number of bits. The two do not overlap.
void copy_bits(std::byte* to, unsigned to_at, const std::byte* from, unsigned from_at, unsigned count) noexcept;
void fill_bits(std::byte* to, unsigned at, unsigned count, bool one) noexcept;
/// The highest of `count` bits from `at` on that is 1 (`one`) or 0, counted from `at`; -1 if there is none.
int top_bit(const std::byte* from, unsigned at, unsigned count, bool one) noexcept;
/// Adds 1 to the number of `count` bits at `at`. Returns whether it overflowed: it was all ones (or has no bits), and
/// is 0 now.
bool increment_bits(std::byte* to, unsigned at, unsigned count) noexcept;
/// Negates the number of `count` bits at `at` (two's complement).
void negate_bits(std::byte* to, unsigned at, unsigned count) noexcept;

}  // namespace h5mote
