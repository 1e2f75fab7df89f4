// H5Zscaleoffset - floating-point numbers, scaled and rounded to integers, in the arithmetic of their own precision as
// libhdf5 does it.
#pragma once

#include "byte_order.hpp"
#include "packing.hpp"

#include <cstring>
#include <type_traits>

namespace h5mote::scaleoffset {

/// Arithmetic of the compiler. `Bits` has as many bits as a T.
template <typename T, typename Bits>
struct Native {
    using Number = T;
    static constexpr unsigned kBits = 8 * sizeof(T);

    static T load(std::uint64_t bits) noexcept {
        const auto narrow = static_cast<Bits>(bits);
        T number;
        static_assert(sizeof number == sizeof narrow);
        std::memcpy(&number, &narrow, sizeof number);
        return number;
    }
    static std::uint64_t store(T number) noexcept {
        Bits bits;
        std::memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    static T of(const Real& number) noexcept {
        std::byte bytes[sizeof(T)];
        store_real(bytes, number, sizeof bytes, false, MostReal::nearest);
        return load(load_uint(bytes, sizeof bytes));
    }
    static bool is_finite(T number) noexcept { return __builtin_isfinite(number) != 0; }
    static bool is_nan(T number) noexcept { return __builtin_isnan(number) != 0; }
    static bool is_less(T a, T b) noexcept { return a < b; }
    static T difference(T a, T b) noexcept { return a - b; }
    static T product(T a, T b) noexcept {
        T result = a * b;
        // Keeps the compiler from an instruction that subtracts from the product before it is rounded.
        __asm__("" : "+m"(result));
        return result;
    }
    static T absolute(T a) noexcept { return a < T{0} ? -a : a; }
    /// The integer nearest to a number of 0 to 2^kBits / 2.
    static std::uint64_t nearest(T number) noexcept {
        const auto whole = static_cast<Bits>(number);
        const T rest = number - static_cast<T>(whole);
        return std::uint64_t{whole} + (rest >= T{0.5} ? 1 : 0);
    }
};

/// The same for doubles in integers.
struct InIntegers {
    using Number = Real;
    static constexpr unsigned kBits = 64;

    static Real load(std::uint64_t bits) noexcept {
        std::byte bytes[8];
        store_uint(bytes, sizeof bytes, bits);
        return load_real(bytes, sizeof bytes, false);
    }
    static std::uint64_t store(const Real& number) noexcept {
        std::byte bytes[8];
        store_real(bytes, number, sizeof bytes, false, MostReal::nearest);
        return load_uint(bytes, sizeof bytes);
    }
    static Real of(const Real& number) noexcept { return number; }
    static bool is_finite(const Real& number) noexcept { return number.is_finite(); }
    static bool is_nan(const Real& number) noexcept { return number.is_nan(); }
    static bool is_less(const Real& a, const Real& b) noexcept { return less(a, b); }
    static Real difference(const Real& a, Real b) noexcept {
        b.negative = !b.negative;
        return sum(a, b);
    }
    static Real product(const Real& a, const Real& b) noexcept { return h5mote::product(a, b); }
    static Real absolute(Real a) noexcept {
        a.negative = false;
        return a;
    }
    static std::uint64_t nearest(const Real& number) noexcept { return nearest_integer(number); }
};

using Doubles = std::conditional_t<kHasDoubles, Native<double, std::uint64_t>, InIntegers>;

/// The numbers of one chunk: see() each of them, then ask for width() and pack().
template <typename Arithmetic>
class ScaledNumbers {
public:
    explicit ScaledNumbers(const Packing& packing) noexcept
        : has_fill_(packing.has_fill),
          fill_bits_(packing.fill),
          fill_(Arithmetic::load(packing.fill)),
          power_(Arithmetic::of(power_of_ten(packing.scale))),
          last_digit_(Arithmetic::of(power_of_ten(packing.scale < -kMostDigits ? kMostDigits : -packing.scale))) {}

    void see(std::uint64_t bits) noexcept {
        if (is_fill(bits)) {
            return;
        }
        const Number number = Arithmetic::load(bits);
        finite_ = finite_ && Arithmetic::is_finite(number);
        least_ = !any_ || Arithmetic::is_less(number, least_) ? number : least_;
        most_ = !any_ || Arithmetic::is_less(most_, number) ? number : most_;
        any_ = true;
    }

    /// Bits of a packed number, as many as an unpacked one has if it cannot be packed: a chunk with a NaN or infinity,
    /// or with numbers too far apart for the scale.
    unsigned width() noexcept;
    std::uint64_t minimum() const noexcept { return has_minimum_ ? Arithmetic::store(least_) : 0; }
    std::uint64_t pack(std::uint64_t bits) const noexcept {
        return Arithmetic::nearest(scaled(Arithmetic::load(bits)));
    }
    /// Whether the number is the fill value, or so near to it that it becomes the fill value. A fill value that is a
    /// NaN is found by its bits; libhdf5 does not find it when it writes, but reads it as it should be.
    bool is_fill(std::uint64_t bits) const noexcept {
        if (!has_fill_ || Arithmetic::is_nan(fill_)) {
            return has_fill_ && bits == fill_bits_;
        }
        return Arithmetic::is_less(Arithmetic::absolute(Arithmetic::difference(Arithmetic::load(bits), fill_)),
                                   last_digit_);
    }

private:
    using Number = typename Arithmetic::Number;
    static constexpr std::int32_t kMostDigits = 400;  // more than any number has

    // Both products are rounded before they are subtracted, as in libhdf5.
    Number scaled(Number number) const noexcept {
        return Arithmetic::difference(Arithmetic::product(number, power_), Arithmetic::product(least_, power_));
    }

    const bool has_fill_;
    const std::uint64_t fill_bits_;
    const Number fill_;
    const Number power_;
    const Number last_digit_;
    Number least_ = {};
    Number most_ = {};
    bool any_ = false;
    bool finite_ = true;
    bool has_minimum_ = false;
};

template <typename Arithmetic>
unsigned ScaledNumbers<Arithmetic>::width() noexcept {
    constexpr unsigned kBits = Arithmetic::kBits;
    const Number range = scaled(most_);
    Real limit;
    limit.mantissa = Real::kTop;
    limit.exponent = kBits - 1;
    if (Arithmetic::is_less(Arithmetic::of(limit), range)) {
        return kBits;
    }
    // libhdf5 has stored the minimum by now.
    has_minimum_ = true;
    if (!finite_ || !Arithmetic::is_finite(range) || !Arithmetic::is_less(Number{}, power_)) {
        return kBits;
    }
    const std::uint64_t most = Arithmetic::nearest(range);
    const std::uint64_t count = most + (has_fill_ ? 2 : 1);
    return count < 2 ? 0 : floor_log2(count - 1) + 1;
}

}  // namespace h5mote::scaleoffset
