#include "machine_number.hpp"

#include <h5mote/encoded_type.hpp>

#include "byte_order.hpp"
#include "real.hpp"

#include <cstring>

namespace h5mote {
namespace {

Real load_integer(const ConversionStep& step, const std::byte* from) {
    Real number;
    const unsigned unused = 64 - 8 * step.from_size;
    number.mantissa = load_ordered(from, step.from_size, (step.flags & ConversionStep::from_big) != 0);
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): integers that are read here have 1 to 8 bytes.
    number.negative = (step.flags & ConversionStep::from_signed) != 0 && (number.mantissa << unused & Real::kTop) != 0;
    if (number.negative) {
        number.mantissa = (std::uint64_t{0} - number.mantissa) << unused >> unused;
    }
    number.exponent = 63;
    number.normalize();
    return number;
}

void store_integer(const ConversionStep& step, const Real& number, std::byte* to) {
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
    const Real number = (step.flags & ConversionStep::from_float) != 0
                            ? load_real(from, step.from_size, (step.flags & ConversionStep::from_big) != 0)
                            : load_integer(step, from);
    if ((step.flags & ConversionStep::to_float) != 0) {
        store_real(to, number, step.to_size, (step.flags & ConversionStep::to_big) != 0, MostReal::passed);
    } else {
        store_integer(step, number, to);
    }
}

}  // namespace h5mote
