// Floating-point numbers of IEEE 754 in integer arithmetic: small machines have no instructions for doubles, and the
// compiler's functions for them take 2.4 KB.
#pragma once

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Whether the processor has instructions for doubles. Their results are those of the functions here, and come sooner.
#if defined(__arm__) && !defined(__ARM_FP)
inline constexpr bool kHasDoubles = false;
#elif defined(__arm__)
inline constexpr bool kHasDoubles = (__ARM_FP & 8) != 0;
#else
inline constexpr bool kHasDoubles = true;
#endif

/// (-1)^negative * mantissa / 2^63 * 2^exponent; the mantissa has its top bit unless the number is zero. Infinity and
/// NaN have the exponent kNotFinite, and a NaN the rest of its mantissa below the top.
struct Real {
    static constexpr int kNotFinite = 1 << 20;
    static constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

    std::uint64_t mantissa = 0;
    int exponent = 0;
    bool negative = false;

    bool is_finite() const noexcept { return exponent != kNotFinite; }
    bool is_nan() const noexcept { return exponent == kNotFinite && mantissa << 1 != 0; }
    /// Moves the mantissa up until it has its top bit.
    void normalize() noexcept;
};

/// What becomes of a number between the largest finite one and the first that rounds to infinity.
enum class MostReal : std::uint8_t {
    nearest,  ///< the largest finite number, as IEEE 754 says
    passed    ///< infinity, as in libhdf5's conversions, which compare with the largest finite number
};

/// The number in `size` bytes: 4 or 8, or 16 (little-endian only) for the 80 bits of x86's `long double`.
Real load_real(const std::byte* at, unsigned size, bool big) noexcept;
/// Stores the nearest number that `size` bytes hold; of two that are equally near the even one.
void store_real(std::byte* to, const Real& number, unsigned size, bool big, MostReal most) noexcept;

// The results of the following are rounded to the nearest double; so must the operands be.

Real real_of(std::int64_t value) noexcept;
Real ten_times(Real number) noexcept;
/// a / b; `a` is finite.
Real quotient(Real a, const Real& b) noexcept;
Real sum(const Real& a, const Real& b) noexcept;
Real product(Real a, const Real& b) noexcept;
/// Whether a < b; false if one of them is a NaN.
bool less(const Real& a, const Real& b) noexcept;
/// The integer nearest to a number of 0 to 2^63; of two that are equally near the larger one.
std::uint64_t nearest_integer(const Real& number) noexcept;

}  // namespace h5mote
