#include "machine_number.hpp"

#include <h5mote/encoded_type.hpp>

#include "byte_order.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

// (-1)^negative * mantissa / 2^63 * 2^exponent; the mantissa has its top bit unless the number is zero. Infinity and
// NaN have the exponent kNotFinite, and a NaN the rest of its mantissa below the top.
struct Number {
    static constexpr int kNotFinite = 1 << 20;

    std::uint64_t mantissa = 0;
    int exponent = 0;
    bool negative = false;

    bool is_nan() const { return exponent == kNotFinite && mantissa << 1 != 0; }
    void normalize() {
        if (mantissa != 0) {
            const int shift = __builtin_clzll(mantissa);
            mantissa <<= shift;
            exponent -= shift;
        }
    }
};

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

Number load_float(const std::byte* at, unsigned size, bool big) {
    const Form form(size);
    const std::uint64_t bits = load_ordered(at, form.is_extended() ? 8 : size, big);
    const unsigned head = form.is_extended() ? static_cast<unsigned>(load_uint(at + 8, 2))
                                             : static_cast<unsigned>(bits >> form.mantissa_bits);
    Number number;
    number.negative = (head >> form.exponent_bits & 1U) != 0;
    const int exponent = static_cast<int>(head) & form.most;
    number.mantissa = form.is_extended() ? bits : bits << (63 - form.mantissa_bits) & ~kTop;
    number.exponent = exponent - form.bias;
    if (exponent == form.most) {
        number.exponent = Number::kNotFinite;
        number.mantissa |= kTop;
        return number;
    }
    if (exponent == 0) {
        ++number.exponent;
    } else if (!form.is_extended()) {
        number.mantissa |= kTop;
    }
    number.normalize();
    return number;
}

void store_float(std::byte* to, const Number& number, unsigned size, bool big) {
    const Form form(size);
    const unsigned drop = 63 - form.mantissa_bits;
    std::uint64_t mantissa = number.mantissa;
    int exponent = number.exponent + form.bias;
    if (number.exponent == Number::kNotFinite) {
        mantissa = (number.is_nan() ? mantissa | kTop >> 1 : kTop) >> drop;
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
        const bool up = rest > kTop || (rest == kTop && (mantissa & 1U) != 0);
        const bool inexact = rest != 0;
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): no Form has more than 63 bits of mantissa.
        const bool full = mantissa == ~std::uint64_t{0} >> drop;
        mantissa += up ? 1 : 0;
        if (full && up) {
            mantissa = kTop >> drop;
            ++exponent;
        } else if (exponent == 0 && (mantissa & kTop >> drop) != 0) {
            exponent = 1;  // rounded up to the smallest normal number
        }
        if (exponent >= form.most || (full && inexact && exponent == form.most - 1)) {
            exponent = form.most;
            mantissa = kTop >> drop;
        }
    }
    const auto sign = static_cast<unsigned>(number.negative ? 1 : 0);
    const unsigned head = sign << form.exponent_bits | static_cast<unsigned>(exponent);
    if (form.is_extended()) {
        store_uint(to, 8, mantissa);
        store_uint(to + 8, 8, head);
        return;
    }
    mantissa &= ~(kTop >> drop);
    store_ordered(to, mantissa | std::uint64_t{head} << form.mantissa_bits, size, big);
}

Number load_integer(const ConversionStep& step, const std::byte* from) {
    Number number;
    const unsigned unused = 64 - 8 * step.from_size;
    number.mantissa = load_ordered(from, step.from_size, (step.flags & ConversionStep::from_big) != 0);
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): integers that are read here have 1 to 8 bytes.
    number.negative = (step.flags & ConversionStep::from_signed) != 0 && (number.mantissa << unused & kTop) != 0;
    if (number.negative) {
        number.mantissa = (std::uint64_t{0} - number.mantissa) << unused >> unused;
    }
    number.exponent = 63;
    number.normalize();
    return number;
}

void store_integer(const ConversionStep& step, const Number& number, std::byte* to) {
    const bool to_signed = (step.flags & ConversionStep::to_signed) != 0;
    std::uint64_t most = ~std::uint64_t{0} >> (64 - 8 * step.to_size + (to_signed ? 1 : 0));
    if (number.negative) {
        most = to_signed ? most + 1 : 0;
    }
    std::uint64_t value = most;
    if (number.exponent < 0 || number.is_nan()) {
        value = 0;
    } else if (number.exponent < 64 && number.mantissa >> (63 - number.exponent) < most) {
        value = number.mantissa >> (63 - number.exponent);
    }
    store_ordered(to, number.negative ? std::uint64_t{0} - value : value, step.to_size,
                  (step.flags & ConversionStep::to_big) != 0);
}

constexpr auto kFloat32 = make_float(4);
constexpr auto kFloat64 = make_float(8);
// The encoded type `long double` of x86 from its third byte on: bits 0 to 79 of 16 bytes, the mantissa's first bit not
// implied.
constexpr unsigned char kExtended[] = {0x4f, 0, 16, 0, 0, 0, 0, 0, 80, 0, 64, 15, 0, 64, 0xff, 0x3f, 0, 0};

bool is_form(DatatypeView type, const void* rest, bool any_order) {
    const std::byte* bytes = type.bytes().data();
    const auto order = static_cast<unsigned>(any_order ? ByteOrder::big : ByteOrder::little);
    return static_cast<unsigned>(type.order()) <= order && std::memcmp(bytes + 2, rest, 18) == 0;
}

}  // namespace

bool is_machine_float(DatatypeView type, bool any_order) noexcept {
    if (type.type_class() != TypeClass::floating) {
        return false;
    }
    // Bits 4 and 5: whether the mantissa's first bit is implied (0x20) or stored (0); bits 1 to 3: padding with ones.
    const unsigned flags = static_cast<unsigned>(type.bytes()[1]) & 0x3eU;
    return (flags == 0x20 &&
            (is_form(type, kFloat32.bytes + 2, any_order) || is_form(type, kFloat64.bytes + 2, any_order))) ||
           (flags == 0 && is_form(type, kExtended, false));
}

void convert_machine_number(const ConversionStep& step, const std::byte* from, std::byte* to) noexcept {
    const Number number = (step.flags & ConversionStep::from_float) != 0
                              ? load_float(from, step.from_size, (step.flags & ConversionStep::from_big) != 0)
                              : load_integer(step, from);
    if ((step.flags & ConversionStep::to_float) != 0) {
        store_float(to, number, step.to_size, (step.flags & ConversionStep::to_big) != 0);
    } else {
        store_integer(step, number, to);
    }
}

}  // namespace h5mote
