#include "real.hpp"

#include "byte_order.hpp"

namespace h5mote {
namespace {

// The form of a floating-point type: bits of the exponent, bits of the mantissa without its first one, and the bias.
struct Form {
    explicit Form(unsigned size)
        : exponent_bits(size == 4   ? 8
                        : size == 8 ? 11
                                    : 15),
          mantissa_bits(size == 4   ? 23
                        : size == 8 ? 52
                                    : 63),
          most((1 << exponent_bits) - 1),
          bias(most / 2) {}

    unsigned exponent_bits;
    unsigned mantissa_bits;
    int most;
    int bias;
    bool is_extended() const { return mantissa_bits == 63; }
};

}  // namespace

Real load_real(const std::byte* at, unsigned size, bool big) noexcept {
    const Form form(size);
    const std::uint64_t bits = load_ordered(at, form.is_extended() ? 8 : size, big);
    const unsigned head = form.is_extended() ? static_cast<unsigned>(load_uint(at + 8, 2))
                                             : static_cast<unsigned>(bits >> form.mantissa_bits);
    Real number;
    number.negative = (head >> form.exponent_bits & 1U) != 0;
    const int exponent = static_cast<int>(head) & form.most;
    number.mantissa = form.is_extended() ? bits : bits << (63 - form.mantissa_bits) & ~Real::kTop;
    number.exponent = exponent - form.bias;
    if (exponent == form.most) {
        number.exponent = Real::kNotFinite;
        number.mantissa |= Real::kTop;
        return number;
    }
    if (exponent == 0) {
        ++number.exponent;
    } else if (!form.is_extended()) {
        number.mantissa |= Real::kTop;
    }
    number.normalize();
    return number;
}

void store_real(std::byte* to, const Real& number, unsigned size, bool big, MostReal most) noexcept {
    const Form form(size);
    const unsigned drop = 63 - form.mantissa_bits;
    std::uint64_t mantissa = number.mantissa;
    int exponent = number.exponent + form.bias;
    if (number.exponent == Real::kNotFinite) {
        mantissa = (number.is_nan() ? mantissa | Real::kTop >> 1 : Real::kTop) >> drop;
        exponent = form.most;
    } else if (mantissa == 0) {
        exponent = 0;
    } else {
        // A denormal: the mantissa of a number below the smallest exponent moves further to the right.
        unsigned shift = drop;
        if (exponent <= 0) {
            shift += exponent < -64 ? 65U : static_cast<unsigned>(1 - exponent);
            exponent = 0;
        }
        const std::uint64_t rest = shift == 0 ? 0 : shift > 64 ? 1 : mantissa << (64 - shift);
        mantissa = shift >= 64 ? 0 : mantissa >> shift;
        const bool up = rest > Real::kTop || (rest == Real::kTop && (mantissa & 1U) != 0);
        const bool inexact = rest != 0;
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): no Form has more than 63 bits of mantissa.
        const bool full = mantissa == ~std::uint64_t{0} >> drop;
        mantissa += up ? 1 : 0;
        if (full && up) {
            mantissa = Real::kTop >> drop;
            ++exponent;
        } else if (exponent == 0 && (mantissa & Real::kTop >> drop) != 0) {
            exponent = 1;  // rounded up to the smallest normal number
        }
        if (exponent >= form.most || (most == MostReal::passed && full && inexact && exponent == form.most - 1)) {
            exponent = form.most;
            mantissa = Real::kTop >> drop;
        }
    }
    const auto sign = static_cast<unsigned>(number.negative ? 1 : 0);
    const unsigned head = sign << form.exponent_bits | static_cast<unsigned>(exponent);
    if (form.is_extended()) {
        store_uint(to, 8, mantissa);
        store_uint(to + 8, 8, head);
        return;
    }
    mantissa &= ~(Real::kTop >> drop);
    store_ordered(to, mantissa | std::uint64_t{head} << form.mantissa_bits, size, big);
}

void Real::normalize() noexcept {
    if (mantissa != 0) {
        const int shift = __builtin_clzll(mantissa);
        mantissa <<= shift;
        exponent -= shift;
    }
}

namespace {

// The nearest double.
Real rounded(Real& number) noexcept {
    number.normalize();
    std::byte bytes[8];
    store_real(bytes, number, sizeof bytes, false, MostReal::nearest);
    return load_real(bytes, sizeof bytes, false);
}

// The double nearest to value / 2^63 * 2^exponent.
Real real_of(std::int64_t value, int exponent) noexcept {
    Real number;
    number.negative = value < 0;
    number.mantissa = static_cast<std::uint64_t>(value);
    number.mantissa = number.negative ? std::uint64_t{0} - number.mantissa : number.mantissa;
    number.exponent = exponent;
    return rounded(number);
}

std::int64_t with_sign(std::uint64_t mantissa, bool negative) noexcept {
    return static_cast<std::int64_t>(negative ? std::uint64_t{0} - mantissa : mantissa);
}

Real not_a_number() noexcept {
    Real number;
    number.negative = true;
    number.mantissa = Real::kTop | Real::kTop >> 1;
    number.exponent = Real::kNotFinite;
    return number;
}

}  // namespace

Real real_of(std::int64_t value) noexcept { return real_of(value, 63); }

Real ten_times(Real number) noexcept {
    if (number.is_finite()) {
        number.mantissa = (number.mantissa >> 4) * 10;
        number.exponent += 4;
    }
    return rounded(number);
}

Real quotient(Real a, const Real& b) noexcept {
    a.negative = a.negative != b.negative;
    if (b.mantissa == 0) {
        if (a.mantissa == 0) {
            return not_a_number();
        }
        a.mantissa = Real::kTop;
        a.exponent = Real::kNotFinite;
        return a;
    }
    std::uint64_t rest = b.is_finite() ? a.mantissa >> 1 : 0;
    const std::uint64_t divisor = b.mantissa >> 1;
    a.mantissa = 0;
    for (unsigned bit = 0; bit < 63; ++bit) {
        a.mantissa <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            a.mantissa |= 1;
        }
        rest <<= 1;
    }
    // Of the bits that are left, rounding asks only whether there are any.
    a.mantissa = a.mantissa << 1 | (rest != 0 ? 1 : 0);
    a.exponent -= b.exponent;
    return rounded(a);
}

Real sum(const Real& a, const Real& b) noexcept {
    // The exponent of a zero says nothing.
    const bool second = a.mantissa == 0 || (b.mantissa != 0 && a.exponent < b.exponent);
    const Real& large = second ? b : a;
    const Real& small = second ? a : b;
    if (!large.is_finite()) {
        if (small.is_finite() || large.is_nan()) {
            return large;
        }
        return small.is_nan() || small.negative == large.negative ? small : not_a_number();
    }
    const auto apart = static_cast<unsigned>(large.exponent - small.exponent);
    std::uint64_t low = small.mantissa >> 2;
    // The lowest bit says whether there were bits below it: rounding asks for no more.
    if (apart > 62) {
        low = low != 0 ? 1 : 0;
    } else {
        const std::uint64_t kept = low >> apart;
        low = kept | (kept << apart != low ? 1 : 0);
    }
    const std::int64_t total = with_sign(large.mantissa >> 2, large.negative) + with_sign(low, small.negative);
    Real result = real_of(total, large.exponent + 2);
    result.negative = total == 0 ? a.negative && b.negative : result.negative;
    return result;
}

Real product(Real a, const Real& b) noexcept {
    a.negative = a.negative != b.negative;
    if (!a.is_finite() || !b.is_finite()) {
        if (a.is_nan() || b.is_nan() || a.mantissa == 0 || b.mantissa == 0) {
            return not_a_number();
        }
        a.mantissa = Real::kTop;
        a.exponent = Real::kNotFinite;
        return a;
    }
    // The upper 64 bits of the product, of which the lowest says whether there are bits below them.
    constexpr std::uint64_t kLow = 0xffffffffU;
    const std::uint64_t low = (a.mantissa & kLow) * (b.mantissa & kLow);
    const std::uint64_t middle = (a.mantissa >> 32) * (b.mantissa & kLow) + (low >> 32);
    const std::uint64_t other = (a.mantissa & kLow) * (b.mantissa >> 32) + (middle & kLow);
    const bool inexact = ((low | other) & kLow) != 0;
    a.mantissa = (a.mantissa >> 32) * (b.mantissa >> 32) + (middle >> 32) + (other >> 32);
    a.mantissa |= inexact ? 1 : 0;
    a.exponent += b.exponent + 1;
    return rounded(a);
}

bool less(const Real& a, const Real& b) noexcept {
    if (a.is_nan() || b.is_nan() || (a.mantissa == 0 && b.mantissa == 0)) {
        return false;
    }
    if (a.mantissa == 0 || b.mantissa == 0 || a.negative != b.negative) {
        return a.mantissa == 0 ? !b.negative : a.negative;
    }
    const bool smaller = a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
    const bool same = a.exponent == b.exponent && a.mantissa == b.mantissa;
    return !same && smaller != a.negative;
}

std::uint64_t nearest_integer(const Real& number) noexcept {
    if (number.mantissa == 0 || number.exponent < -1) {
        return 0;
    }
    if (number.exponent == -1) {
        return 1;  // half and more
    }
    const auto drop = static_cast<unsigned>(63 - number.exponent);
    const std::uint64_t whole = number.mantissa >> drop;
    return drop == 0 ? whole : whole + (number.mantissa >> (drop - 1) & 1U);
}

}  // namespace h5mote
