// The encoder, and the client data; packing.hpp has the layout.
//
// It walks through the chunk twice: to find out how many bits the numbers need above their minimum, and to write them.
#include <h5mote/filters/scaleoffset.hpp>

#include "bit_writer.hpp"
#include "byte_order.hpp"
#include "packing.hpp"
#include "scaled_numbers.hpp"

namespace h5mote {
namespace {

using namespace scaleoffset;

constexpr std::size_t kMinimum = 5;

// Bits that `count` different values need.
unsigned bits_for(std::uint64_t count) noexcept { return count < 2 ? 0 : floor_log2(count - 1) + 1; }

/// Integers of either sign. They are compared with the sign bit flipped, which puts them in order.
class Integers {
public:
    Integers(const Packing& packing, bool is_signed) noexcept
        : packing_(packing),
          all_(~std::uint64_t{0} >> (64 - 8 * packing.element)),
          flip_(is_signed ? all_ ^ all_ >> 1 : 0) {}

    void see(std::uint64_t bits) noexcept {
        if (is_fill(bits)) {
            return;
        }
        const std::uint64_t number = bits ^ flip_;
        least_ = number < least_ || !any_ ? number : least_;
        most_ = number > most_ || !any_ ? number : most_;
        any_ = true;
    }
    /// Bits of a packed number, as many as an unpacked one has if it cannot be packed.
    unsigned width() noexcept;
    /// The minimum as the chunk's header has it.
    std::uint64_t minimum() const noexcept {
        const std::uint64_t bits = least_ ^ flip_;
        return (bits & flip_) != 0 ? bits | ~all_ : bits;
    }
    std::uint64_t pack(std::uint64_t bits) const noexcept { return (bits ^ flip_) - least_; }
    bool is_fill(std::uint64_t bits) const noexcept { return packing_.has_fill && bits == packing_.fill; }

private:
    const Packing& packing_;
    const std::uint64_t all_;
    const std::uint64_t flip_;
    std::uint64_t least_ = 0;
    std::uint64_t most_ = 0;
    bool any_ = false;
};

unsigned Integers::width() noexcept {
    const unsigned whole = 8 * packing_.element;
    if (!any_) {
        least_ = most_ = flip_;  // libhdf5 gives the minimum 0 to a chunk that has only the fill value
    }
    const std::uint64_t range = most_ - least_;
    const unsigned codes = packing_.has_fill ? 2 : 1;  // how many codes there are beside those for 1 to `range`
    if (packing_.scale > 0) {
        const auto asked = static_cast<unsigned>(packing_.scale);
        return range > all_ - codes || bits_for(range + codes) > asked ? whole : asked;
    }
    if (range > all_ - 2) {
        // libhdf5 returns before it has stored the minimum, except for signed bytes without a fill value.
        least_ = packing_.element == 1 && flip_ != 0 && !packing_.has_fill ? least_ : flip_;
        return whole;
    }
    return bits_for(range + codes);
}

/// Writes the chunk: its header, then the numbers, packed or as they are.
template <typename Numbers>
Status write(const Packing& packing, Numbers& numbers, ConstBytes in, Bytes out, std::size_t& size) noexcept {
    const unsigned element = packing.element;
    for (std::size_t at = 0; at < in.size(); at += element) {
        numbers.see(load_ordered(in.data() + at, element, packing.big_endian));
    }
    const unsigned width = numbers.width();
    const bool whole = width == 8 * element;
    const std::uint64_t packed = std::uint64_t{in.size() / element} * width / 8;
    if (out.size() < kHeader || packed + (whole ? 0 : 1) > out.size() - kHeader) {
        return Status::no_space;
    }
    // libhdf5 adds one byte to packed numbers even if they fill the last one.
    size = kHeader + static_cast<std::size_t>(packed) + (whole ? 0 : 1);
    std::memset(out.data(), 0, kHeader);
    store_le<std::uint32_t>(out.data(), width);
    out[kMinimum - 1] = std::byte{8};
    store_le(out.data() + kMinimum, numbers.minimum());
    BitWriter bits(out.subspan(kHeader, size - kHeader));
    const std::uint64_t fill = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
    for (std::size_t at = 0; at < in.size(); at += element) {
        const std::uint64_t number = load_ordered(in.data() + at, element, packing.big_endian);
        if (whole) {
            store_uint(out.data() + kHeader + at, element, number);
        } else {
            bits.wide(numbers.is_fill(number) ? fill : numbers.pack(number), width);
        }
    }
    if (!whole) {
        const std::size_t written = bits.finish();
        std::memset(out.data() + kHeader + written, 0, size - kHeader - written);
    }
    return Status::ok;
}

// Whether a floating-point type has the form of IEEE 754, with which the filter calculates.
bool is_ieee(DatatypeView type) noexcept {
    const FloatFields fields = type.float_fields();
    const unsigned bits = 8 * type.size();
    const unsigned exponent = bits == 32 ? 8 : 11;
    return (bits == 32 || bits == 64) && fields.sign == bits - 1 && fields.exponent_size == exponent &&
           fields.exponent == bits - 1 - exponent && fields.mantissa == 0 && fields.mantissa_size == fields.exponent &&
           fields.normalization == 2 && fields.bias == (1U << (exponent - 1)) - 1;
}

}  // namespace

Status ScaleoffsetFilter::can_apply(const FilterSpec& /*spec*/, const FilterTarget& target) const noexcept {
    return target.resized ? Status::invalid_argument : Status::ok;
}

Status ScaleoffsetFilter::set_local(FilterSpec& spec, const FilterTarget& target) const noexcept {
    const DatatypeView type = target.type;
    const ByteOrder order = type.order();
    const std::uint32_t size = target.element_size;
    const bool floating = type.type_class() == TypeClass::floating;
    std::uint32_t values[kValues] = {spec.value(kKind), spec.value(kScale)};
    const bool number =
        floating ? is_ieee(type)
                 : type.type_class() == TypeClass::integer && (size == 1 || size == 2 || size == 4 || size == 8);
    if (!number || (order != ByteOrder::little && order != ByteOrder::big) ||
        values[kKind] != (floating ? kDecimal : kInteger) ||
        (!floating && static_cast<std::int32_t>(values[kScale]) > static_cast<std::int32_t>(size * 8))) {
        return Status::invalid_argument;
    }
    values[kElements] = target.chunk_bytes / size;
    values[kClass] = floating ? 1 : 0;
    values[kSize] = size;
    values[kSigned] = !floating && type.is_signed() ? 1 : 0;
    values[kOrder] = order == ByteOrder::big ? 1 : 0;
    values[kHasFill] = target.fill_undefined ? 0 : 1;
    if (!target.fill_undefined && target.fill.size() == size) {
        const std::uint64_t fill = load_ordered(target.fill.data(), size, order == ByteOrder::big);
        values[kFill] = static_cast<std::uint32_t>(fill);
        values[kFill + 1] = static_cast<std::uint32_t>(fill >> 32);
    }
    spec.value_count = kValues;
    spec.encoded = nullptr;
    spec.values[kKind] = values[kKind];
    spec.values[kScale] = values[kScale];
    if (target.client_data.size() < 4 * kValues) {
        return Status::over_budget;
    }
    for (std::size_t i = 0; i < kValues; ++i) {
        store_le(target.client_data.data() + 4 * i, values[i]);
    }
    spec.encoded = target.client_data.data();
    return Status::ok;
}

Status ScaleoffsetFilter::encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                                 Bytes /*scratch*/) const noexcept {
    Packing packing;
    if (packing.open(spec) != Status::ok || std::uint64_t{spec.value(kElements)} * packing.element != in.size()) {
        return Status::invalid_argument;
    }
    if (packing.as_is()) {
        size = in.size();
        if (out.size() < size) {
            return Status::no_space;
        }
        if (size != 0) {
            std::memcpy(out.data(), in.data(), size);
        }
        return Status::ok;
    }
    if (!packing.floating) {
        Integers numbers(packing, spec.value(kSigned) == 1);
        return write(packing, numbers, in, out, size);
    }
    if (packing.element == 4) {
        ScaledNumbers<Native<float, std::uint32_t>> numbers(packing);
        return write(packing, numbers, in, out, size);
    }
    ScaledNumbers<Doubles> numbers(packing);
    return write(packing, numbers, in, out, size);
}

}  // namespace h5mote
