#include "number.hpp"

#include "bits.hpp"

#include <cstring>

namespace h5mote {
namespace {

// Converts little-endian bytes to another order, or back: the same permutation does both.
void reorder(std::byte* to, const std::byte* from, unsigned size, ByteOrder order) {
    // VAX numbers are little-endian words of two bytes, the most significant first.
    const unsigned flip = order == ByteOrder::little ? 0 : size - (order == ByteOrder::vax ? 2 : 1);
    for (unsigned i = 0; i < size; ++i) {
        to[i] = from[order == ByteOrder::vax ? (flip - (i & ~1U)) | (i & 1U) : flip == 0 ? i : flip - i];
    }
}

// Copies an integer or a bit field. Bits of the target above those of the source become ones if `negative`, else zeros.
void copy_integer(const NumberFormat& from, const NumberFormat& to, const std::byte* s, std::byte* d, bool negative) {
    const unsigned common = from.precision < to.precision ? from.precision : to.precision;
    copy_bits(d, to.offset, s, from.offset, common);
    fill_bits(d, to.offset + common, to.precision - common, negative);
}

// The largest (`negative`: the smallest) value of an integer type.
void put_limit(const NumberFormat& to, std::byte* d, bool negative) {
    const unsigned with_sign = (to.flags & NumberFormat::is_signed) != 0 ? 1 : 0;
    fill_bits(d, to.offset, to.precision, negative && with_sign != 0);
    fill_bits(d, to.offset, to.precision - with_sign, !negative);
}

void integer_to_integer(const NumberFormat& from, const NumberFormat& to, const std::byte* s, std::byte* d) {
    const bool to_signed = (to.flags & NumberFormat::is_signed) != 0;
    const bool negative =
        (from.flags & NumberFormat::is_signed) != 0 && get_bits(s, from.offset + from.precision - 1U, 1) != 0;
    // The value fits if its highest bit that is not a copy of the sign has a place below the target's sign.
    const int top = top_bit(s, from.offset, from.precision - (negative ? 1U : 0U), !negative);
    const int room = to.precision - (to_signed ? 1 : 0);
    if (top >= room || (negative && !to_signed)) {
        put_limit(to, d, negative);
    } else {
        copy_integer(from, to, s, d, negative);
    }
}

// Writes sign, exponent and a mantissa that is all zeros or all ones.
void put_float(const NumberFormat& to, std::byte* d, bool negative, std::uint64_t exponent, bool mantissa) {
    put_bits(d, to.fields.sign, 1, negative ? 1 : 0);
    put_bits(d, to.fields.exponent, to.fields.exponent_size, exponent);
    fill_bits(d, to.fields.mantissa, to.fields.mantissa_size, mantissa);
}

std::uint64_t largest_exponent(const NumberFormat& number) {
    return (std::uint64_t{1} << number.fields.exponent_size) - 1;
}

// `s` is changed.
void integer_to_float(const NumberFormat& from, const NumberFormat& to, std::byte* s, std::byte* d) {
    const FloatFields& f = to.fields;
    const unsigned low = from.offset;
    const bool negative = (from.flags & NumberFormat::is_signed) != 0 && get_bits(s, low + from.precision - 1U, 1) != 0;
    if (negative) {
        negate_bits(s, low, from.precision);
    }
    const int top = top_bit(s, low, from.precision, true);
    if (top < 0) {
        return;
    }
    std::uint64_t exponent = static_cast<unsigned>(top) + std::uint64_t{f.bias};
    // Bits of the integer that belong in the mantissa; if they are too many, the lowest are rounded away.
    const unsigned bits = static_cast<unsigned>(top) + (f.normalization == 0 ? 1U : 0U);
    put_float(to, d, negative, 0, false);
    if (bits <= f.mantissa_size) {
        copy_bits(d, f.mantissa + f.mantissa_size - bits, s, low, bits);
    } else {
        const unsigned dropped = bits - f.mantissa_size;
        copy_bits(d, f.mantissa, s, low + dropped, f.mantissa_size);
        const bool more = get_bits(s, low + dropped - 1, 1) != 0;
        const bool odd = get_bits(s, low + dropped, 1) != 0;
        if (more && (odd || top_bit(s, low, dropped - 1, true) >= 0) &&
            increment_bits(d, f.mantissa, f.mantissa_size)) {
            ++exponent;
            if (f.normalization == 0) {
                put_bits(d, f.mantissa + f.mantissa_size - 1U, 1, 1);
            }
        }
    }
    if (exponent > largest_exponent(to)) {
        put_float(to, d, negative, largest_exponent(to), false);
    } else {
        put_bits(d, f.exponent, f.exponent_size, exponent);
    }
}

enum class Special { none, zero, infinite, nan };

Special special(const NumberFormat& number, const std::byte* s) {
    const FloatFields& f = number.fields;
    const bool low = top_bit(s, f.exponent, f.exponent_size, true) < 0;
    const bool high = top_bit(s, f.exponent, f.exponent_size, false) < 0;
    if (top_bit(s, f.mantissa, f.mantissa_size, true) < 0) {
        return low ? Special::zero : high ? Special::infinite : Special::none;
    }
    if (!high) {
        return Special::none;
    }
    // With a first bit that is not implied, infinity has that bit.
    return f.normalization == 0 && top_bit(s, f.mantissa, f.mantissa_size - 1U, true) < 0 ? Special::infinite
                                                                                          : Special::nan;
}

// Writes the mantissa of a finite number: `bits` bits of `s` from `at` on, below a first digit `first` (1, or 2 after a
// carry), moved to the right by `shift`.
void put_mantissa(const FloatFields& f, std::byte* d, const std::byte* s, unsigned at, unsigned bits,
                  std::int64_t shift, unsigned first) {
    const unsigned size = f.mantissa_size;
    fill_bits(d, f.mantissa, size, false);
    if (shift > size) {
        put_bits(d, f.mantissa, 1, shift == std::int64_t{size} + 1 ? 1 : 0);
        return;
    }
    const unsigned right = static_cast<unsigned>(shift);
    if (right > 0) {
        put_bits(d, f.mantissa + size - right, right < 2 ? right : 2, first);
    }
    const unsigned room = size - right;
    if (bits >= room) {
        copy_bits(d, f.mantissa, s, at + bits - room, room);
    } else {
        copy_bits(d, f.mantissa + room - bits, s, at, bits);
    }
}

// Follows libhdf5's H5T_conv_f_f in every case, those included where it does not round as one would expect: a number
// becomes infinite only by its size, not by rounding, and a denormal's carry is lost. `s` is changed.
void float_to_float(const NumberFormat& from, const NumberFormat& to, std::byte* s, std::byte* d) {
    const FloatFields& f = from.fields;
    const FloatFields& t = to.fields;
    const bool negative = get_bits(s, f.sign, 1) != 0;
    const auto most = static_cast<std::int64_t>(largest_exponent(to));
    const Special kind = special(from, s);
    if (kind != Special::none) {
        put_float(to, d, negative, kind == Special::zero ? 0 : largest_exponent(to), kind == Special::nan);
        if (kind == Special::infinite && t.normalization == 0) {
            put_bits(d, t.mantissa + t.mantissa_size - 1U, 1, 1);
        }
        return;
    }
    auto exponent = static_cast<std::int64_t>(get_bits(s, f.exponent, f.exponent_size));
    bool denormal = exponent == 0;
    unsigned bits = f.mantissa_size;  // mantissa bits below the first digit
    if (denormal || f.normalization == 0) {
        const int top = top_bit(s, f.mantissa, f.mantissa_size, true);
        bits = top > 0 ? static_cast<unsigned>(top) : 0;
        if (top == 0) {
            bits = 1;
            put_bits(s, f.mantissa, 1, 0);
        }
        exponent += 1 + top - f.mantissa_size;
    }
    exponent += std::int64_t{t.bias} - std::int64_t{f.bias};
    std::int64_t shift = t.normalization == 0 ? 1 : 0;
    if (exponent < -std::int64_t{t.mantissa_size}) {
        exponent = 0;
        bits = 0;
    } else if (exponent <= 0) {
        shift += 1 - exponent;
        exponent = 0;
        denormal = true;
    } else if (exponent >= most) {
        exponent = most;
        bits = 0;
    }
    bool carry = false;
    if (bits > 0 && shift <= t.mantissa_size && shift + bits > t.mantissa_size) {
        const unsigned dropped = static_cast<unsigned>(shift) + bits - t.mantissa_size;
        const bool fits = exponent < most - 1 || top_bit(s, f.mantissa + dropped, bits - dropped, false) >= 0;
        if (get_bits(s, f.mantissa + dropped - 1, 1) != 0 && (denormal || fits)) {
            carry = increment_bits(s, f.mantissa + dropped, bits - dropped) && !denormal;
        }
    }
    put_bits(d, t.sign, 1, negative ? 1 : 0);
    put_mantissa(t, d, s, f.mantissa, bits, shift, carry ? 2 : 1);
    exponent += carry ? 1 : 0;  // never to infinity: `fits` prevents the carry
    put_bits(d, t.exponent, t.exponent_size, static_cast<std::uint64_t>(exponent));
}

void float_to_integer(const NumberFormat& from, const NumberFormat& to, const std::byte* s, std::byte* d) {
    const FloatFields& f = from.fields;
    const bool to_signed = (to.flags & NumberFormat::is_signed) != 0;
    const bool negative = get_bits(s, f.sign, 1) != 0;
    const Special kind = special(from, s);
    fill_bits(d, to.offset, to.precision, false);
    if (kind == Special::zero || kind == Special::nan || (negative && !to_signed)) {
        return;
    }
    const auto stored = static_cast<std::int64_t>(get_bits(s, f.exponent, f.exponent_size));
    const bool implied =
        f.normalization != 0;  // taken to be so for denormals too: with any sane bias they are below 1 and become 0
    const int top = implied ? f.mantissa_size : top_bit(s, f.mantissa, f.mantissa_size, true);
    // The integer is the mantissa moved to the left by this many bits.
    const std::int64_t shift = stored + (stored == 0 || !implied ? 1 : 0) - std::int64_t{f.bias} - f.mantissa_size;
    const std::int64_t end = shift + top;  // its highest bit
    if (kind == Special::infinite || end >= std::int64_t{to.precision} - (to_signed ? 1 : 0)) {
        put_limit(to, d, negative);
        return;
    }
    if (top < 0 || end < 0) {
        return;
    }
    const unsigned dropped = shift < 0 ? static_cast<unsigned>(-shift) : 0;
    const unsigned below = shift < 0 ? 0 : static_cast<unsigned>(shift);
    const unsigned stand = static_cast<unsigned>(top) + (implied ? 0U : 1U);  // mantissa bits that the source stores
    copy_bits(d, to.offset + below, s, f.mantissa + dropped, stand - (dropped < stand ? dropped : stand));
    if (implied) {
        put_bits(d, to.offset + static_cast<unsigned>(end), 1, 1);
    }
    if (negative) {
        negate_bits(d, to.offset, to.precision);
    }
}

bool is_within(const FloatFields& f, unsigned bits) {
    return f.sign < bits && f.exponent + f.exponent_size <= static_cast<int>(bits) &&
           f.mantissa + f.mantissa_size <= static_cast<int>(bits) && f.mantissa_size > 0 && f.exponent_size > 0 &&
           f.exponent_size < 63;
}

}  // namespace

bool NumberFormat::assign(DatatypeView view) noexcept {
    type = view.type_class();
    order = view.order();
    const bool floating = type == TypeClass::floating;
    if ((!floating && type != TypeClass::integer && type != TypeClass::bitfield) || view.size() > kMaxNumberBytes) {
        return false;
    }
    const unsigned bits = static_cast<unsigned>(view.bytes()[1]);
    flags = static_cast<std::uint8_t>((view.is_signed() ? is_signed : 0) | (bits & (low_ones | high_ones)));
    size = static_cast<std::uint8_t>(view.size());
    offset = static_cast<std::uint16_t>(view.bit_offset());
    precision = static_cast<std::uint16_t>(view.precision());
    fields = view.float_fields();
    return precision > 0 && static_cast<unsigned>(offset) + precision <= 8U * size &&
           (order != ByteOrder::vax || size % 4 == 0) &&
           (!floating || (fields.normalization != 1 && is_within(fields, 8U * size)));
}

void convert_number(const NumberFormat& from, const NumberFormat& to, const std::byte* source,
                    std::byte* target) noexcept {
    std::byte s[kMaxNumberBytes];
    std::byte d[kMaxNumberBytes];
    reorder(s, source, from.size, from.order);
    std::memset(d, 0, to.size);
    if (from.type == TypeClass::bitfield) {
        copy_integer(from, to, s, d, false);
    } else if (from.type == TypeClass::integer) {
        to.type == TypeClass::integer ? integer_to_integer(from, to, s, d) : integer_to_float(from, to, s, d);
    } else {
        to.type == TypeClass::integer ? float_to_integer(from, to, s, d) : float_to_float(from, to, s, d);
    }
    const unsigned end = static_cast<unsigned>(to.offset) + to.precision;
    fill_bits(d, 0, to.offset, (to.flags & NumberFormat::low_ones) != 0);
    fill_bits(d, end, 8U * to.size - end, (to.flags & NumberFormat::high_ones) != 0);
    reorder(target, d, to.size, to.order);
}

}  // namespace h5mote
