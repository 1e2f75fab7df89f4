#include "numbers.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace h5mote::cli {

namespace {

/// The bytes of a number from the least significant on, whatever their order in the file.
class NumberBytes {
public:
    NumberBytes(DatatypeView type, ConstBytes stored)
        : stored_(stored.first(stored.size() < type.size() ? stored.size() : type.size())), order_(type.order()) {}

    unsigned byte(std::size_t i) const {
        const std::size_t size = stored_.size();
        if (i >= size) {
            return 0;
        }
        std::size_t at = i;
        if (order_ == ByteOrder::big) {
            at = size - 1 - i;
        } else if (order_ == ByteOrder::vax && size % 2 == 0) {
            at = (size - 2 - (i & ~std::size_t{1})) + (i & 1U);  // big-endian order of little-endian 16-bit words
        }
        return static_cast<unsigned>(stored_[at]);
    }
    unsigned bit(std::size_t i) const { return byte(i / 8) >> (i % 8) & 1U; }
    /// `count` bits, at most 64, from bit `first` on.
    std::uint64_t bits(std::size_t first, unsigned count) const {
        std::uint64_t value = 0;
        unsigned done = 0;
        while (done < count) {
            const std::size_t at = first + done;
            const unsigned in_byte = 8 - static_cast<unsigned>(at % 8);
            const unsigned part = in_byte < count - done ? in_byte : count - done;
            const std::uint64_t chunk = byte(at / 8) >> (at % 8) & ((1U << part) - 1U);
            value |= chunk << done;
            done += part;
        }
        return value;
    }

private:
    ConstBytes stored_;
    ByteOrder order_;
};

struct Fields {
    bool negative;
    bool special;  // infinity or NaN
    std::uint64_t exponent;
    std::uint64_t mantissa;  // the uppermost bits of the mantissa, at most 64
    unsigned dropped;        // number of lower bits of the mantissa that are left out
};

Fields read_fields(const FloatFields& form, const NumberBytes& bytes) {
    Fields fields{};
    fields.negative = bytes.bit(form.sign) != 0;
    const unsigned exponent_size = form.exponent_size < 63 ? form.exponent_size : 63U;
    fields.exponent = bytes.bits(form.exponent, exponent_size);
    fields.special = exponent_size != 0 && fields.exponent == (std::uint64_t{1} << exponent_size) - 1;
    const unsigned kept = form.mantissa_size < 63 ? form.mantissa_size : form.mantissa_size == 64 ? 64U : 63U;
    fields.dropped = form.mantissa_size - kept;
    fields.mantissa = bytes.bits(std::size_t{form.mantissa} + fields.dropped, kept);
    return fields;
}

std::uint64_t align_up(std::uint64_t size, std::uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

void add_member(NativeSize& whole, const NativeSize& member, std::uint64_t count) {
    whole.size = align_up(whole.size, member.alignment) + member.size * count;
    whole.alignment = member.alignment > whole.alignment ? member.alignment : whole.alignment;
}

std::uint64_t array_count(DatatypeView type) {
    std::uint64_t count = 1;
    for (unsigned i = 0; i < type.rank(); ++i) {
        count *= type.dimension(i);
    }
    return count;
}

}  // namespace

unsigned native_integer_size(unsigned precision) {
    return precision <= 8 ? 1 : precision <= 16 ? 2 : precision <= 32 ? 4 : 8;
}

StoredInteger read_integer(DatatypeView type, ConstBytes stored) {
    const DatatypeView number = type.type_class() == TypeClass::enumeration ? type.base() : type;
    const NumberBytes bytes(number, stored);
    StoredInteger result;
    result.is_signed = number.type_class() == TypeClass::integer && number.is_signed();
    unsigned precision = number.precision();
    const unsigned offset = number.bit_offset();
    // If a big-endian number has the same size in memory, libhdf5 only swaps its bytes; padding bits then become part
    // of the value.
    if (number.order() == ByteOrder::big && offset == 0 && number.size() == native_integer_size(precision)) {
        precision = 8 * number.size();
    }
    if (precision == 0) {
        return result;
    }
    const unsigned kept = precision < 64 ? precision : 64;
    result.bits = bytes.bits(offset, kept);
    const bool negative = result.is_signed && bytes.bit(std::size_t{offset} + precision - 1) != 0;
    if (precision < 64) {
        if (negative) {
            result.bits |= ~std::uint64_t{0} << precision;
        }
        return result;
    }
    // The value fits into 64 bits if all further bits repeat the sign.
    bool fits = !result.is_signed || (result.bits >> 63 != 0) == negative;
    for (unsigned i = 64; i < precision && fits; ++i) {
        fits = (bytes.bit(std::size_t{offset} + i) != 0) == negative;
    }
    if (!fits) {
        const std::uint64_t most = result.is_signed ? ~std::uint64_t{0} >> 1 : ~std::uint64_t{0};
        result.bits = negative ? most + 1 : most;
    }
    return result;
}

long double read_float(DatatypeView type, ConstBytes stored) {
    const FloatFields form = type.float_fields();
    const Fields fields = read_fields(form, NumberBytes(type, stored));
    const bool implied = form.normalization == 2;
    const int kept = form.mantissa_size - static_cast<int>(fields.dropped);
    if (fields.special) {
        // If the leading mantissa bit is stored, it does not tell infinity from NaN: leave it out.
        const std::uint64_t mask = implied || kept == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (kept - 1)) - 1;
        const long double value = (fields.mantissa & mask) != 0 ? std::numeric_limits<long double>::quiet_NaN()
                                                                : std::numeric_limits<long double>::infinity();
        return std::copysign(value, fields.negative ? -1.0L : 1.0L);
    }
    auto mantissa = static_cast<long double>(fields.mantissa);
    long exponent = static_cast<long>(fields.exponent) - static_cast<long>(form.bias);
    if (implied) {
        if (fields.exponent == 0) {
            ++exponent;
        } else {
            mantissa += std::ldexp(1.0L, kept);
        }
        exponent -= kept;
    } else {
        exponent -= kept - 1;
        if (fields.exponent == 0) {
            ++exponent;
        }
    }
    if (mantissa == 0.0L) {
        exponent = 0;
    }
    const int power = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : static_cast<int>(exponent);
    return std::copysign(std::ldexp(mantissa, power), fields.negative ? -1.0L : 1.0L);
}

void put_integer(TextSink& sink, const StoredInteger& number) {
    if (number.is_signed) {
        sink.put_signed(static_cast<std::int64_t>(number.bits));
    } else {
        sink.put_unsigned(number.bits);
    }
}

void put_float(TextSink& sink, DatatypeView type, ConstBytes stored, const char* format) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const long double value = read_float(type, stored);
    const char* const number_format = format == nullptr ? "%g" : format;
    if (type.size() <= 4) {
        sink.print(number_format, static_cast<double>(static_cast<float>(value)));
    } else if (type.size() <= 8) {
        sink.print(number_format, static_cast<double>(value));
    } else {
        sink.print("%Lg", value);
    }
#pragma GCC diagnostic pop
}

void put_hex(TextSink& sink, ConstBytes bytes) {
    static const char kDigits[] = "0123456789abcdef";
    if (bytes.size() == 1) {
        sink.put("0x");
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned>(bytes[i]);
        const char text[3] = {':', kDigits[byte >> 4], kDigits[byte & 15U]};
        sink.put(i == 0 ? std::string_view(text + 1, 2) : std::string_view(text, 3));
    }
}

NativeSize native_size(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::bitfield: {
            const unsigned size = native_integer_size(type.precision());
            return {size, size};
        }
        case TypeClass::floating:
            return type.size() <= 4 ? NativeSize{4, 4} : type.size() <= 8 ? NativeSize{8, 8} : NativeSize{16, 16};
        case TypeClass::string:
        case TypeClass::opaque:
            return {type.size(), 1};
        case TypeClass::reference:
            return type.size() == 12 ? NativeSize{12, 1} : NativeSize{type.size(), 8};
        case TypeClass::variable_length:
            if (type.is_variable_string()) {
                return {8, 8};
            }
            return native_size(type.base()).size == 0 ? NativeSize{} : NativeSize{16, 8};
        case TypeClass::enumeration:
            return type.member_count() == 0 ? NativeSize{} : native_size(type.base());
        case TypeClass::complex: {
            const NativeSize part = native_size(type.base());
            return {2 * part.size, part.alignment};
        }
        case TypeClass::array: {
            NativeSize element = native_size(type.base());
            element.size *= array_count(type);
            return element;
        }
        case TypeClass::compound: {
            NativeSize whole;
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                const NativeSize size = native_size(member.type);
                if (size.size == 0) {
                    return {};
                }
                add_member(whole, size, member.count());
            }
            whole.size = align_up(whole.size, whole.alignment);
            return whole;
        }
        default:
            return {};
    }
}

}  // namespace h5mote::cli
