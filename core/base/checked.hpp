// Arithmetic that says when it overflows, and the conversion of 64-bit lengths of a file to the machine's size_t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Marks a function that is one step of a longer operation and must not be inlined into it: its stack frame is gone
/// before the next step begins.
#define H5MOTE_STEP [[gnu::noinline]]

namespace h5mote {

#if __SIZEOF_SIZE_T__ <= 4
/// checked_multiply() of 64-bit numbers on 32-bit machines. It has many callers and takes four multiplications, so it
/// is not inlined.
[[nodiscard]] bool multiply_long(std::uint64_t a, std::uint64_t b, std::uint64_t& result) noexcept;
#endif

/// a + b into `result`; false when it does not fit.
template <typename T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& result) noexcept {
    return !__builtin_add_overflow(a, b, &result);
}

/// a * b into `result`; false when it does not fit.
template <typename T>
[[nodiscard]] inline bool checked_multiply(T a, T b, T& result) noexcept {
#if __SIZEOF_SIZE_T__ <= 4
    if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
        return multiply_long(a, b, result);
    }
#endif
    return !__builtin_mul_overflow(a, b, &result);
}

/// Converts a length that a file states to size_t; false when size_t cannot hold it.
[[nodiscard]] constexpr bool to_size(std::uint64_t value, std::size_t& result) noexcept {
    result = static_cast<std::size_t>(value);
    return value <= std::numeric_limits<std::size_t>::max();
}

/// n / divisor, and the remainder. Small machines divide 32 bits in hardware; larger numbers are rare and go bit by
/// bit, in a fifth of the code of the compiler's 64-bit division. Therefore no 64-bit numbers are divided by operators,
/// except by constants that are powers of two.
std::uint64_t divide(std::uint64_t n, std::uint64_t divisor, std::uint64_t& remainder) noexcept;

/// divide() of numbers that the machine cannot divide itself.
std::uint64_t divide_long(std::uint64_t n, std::uint64_t divisor, std::uint64_t& remainder) noexcept;

/// n / divisor.
std::uint64_t quotient_of(std::uint64_t n, std::uint64_t divisor) noexcept;

/// n % divisor.
std::uint64_t remainder_of(std::uint64_t n, std::uint64_t divisor) noexcept;

/// n / divisor, rounded up.
std::uint64_t divide_up(std::uint64_t n, std::uint64_t divisor) noexcept;

/// Whether [offset, offset + length) lies within [0, size), in the arithmetic of the widest of the three.
template <typename Offset, typename Length, typename Size>
[[nodiscard]] constexpr bool within(Offset offset, Length length, Size size) noexcept {
    using Widest = std::make_unsigned_t<std::common_type_t<Offset, Length, Size>>;
    const auto end = static_cast<Widest>(size);
    const auto begin = static_cast<Widest>(offset);
    return begin <= end && static_cast<Widest>(length) <= end - begin;
}

}  // namespace h5mote
