#include "packing.hpp"

namespace h5mote::scaleoffset {

Real power_of_ten(std::int32_t exponent) noexcept {
    // Exact up to 10^22, and so is the rounding of 1 / 10^22.
    Real result = real_of(1);
    for (std::int32_t i = 0; i != exponent && i < 400 && i > -400; i += exponent < 0 ? -1 : 1) {
        result = ten_times(result);
    }
    return exponent < 0 ? quotient(real_of(1), result) : result;
}

Status Packing::open(const FilterSpec& spec) noexcept {
    const std::uint32_t kind = spec.value(kKind);
    element = spec.value(kSize);
    floating = spec.value(kClass) == 1;
    big_endian = spec.value(kOrder) == 1;
    has_fill = spec.value(kHasFill) == 1;
    scale = static_cast<std::int32_t>(spec.value(kScale));
    fill = std::uint64_t{spec.value(kFill + 1)} << 32 | spec.value(kFill);
    if (spec.value_count != kValues || spec.value(kClass) > 1 || element == 0 || element > 8 ||
        (element & (element - 1)) != 0 || (floating && element < 4)) {
        return Status::corrupt_file;
    }
    if (kind == kBinary) {
        return Status::unsupported;
    }
    const bool fits = floating || scale <= static_cast<std::int32_t>(element * 8);
    return kind == (floating ? kDecimal : kInteger) && fits ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote::scaleoffset
