#include "byte_order.hpp"
#include "conversion_plan.hpp"
#include "machine_number.hpp"

#include <cstring>

namespace h5mote {
namespace {

// Returns the nearest value that the target type has, as bits. Magnitudes are compared, so that one comparison does for
// all sizes and signs.
std::uint64_t clamp(std::uint64_t value, const ConversionStep& step) {
    const unsigned from_shift = 64 - 8 * step.from_size;
    const bool to_signed = (step.flags & ConversionStep::to_signed) != 0;
    // Largest value of the target; the smallest is its complement if it has a sign.
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - 8 * step.to_size + (to_signed ? 1 : 0));
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): integers that are clamped have 1 to 8 bytes.
    const bool negative = (step.flags & ConversionStep::from_signed) != 0 && (value << from_shift >> 63) != 0;
    if (!negative) {
        return value < most ? value : most;
    }
    if (!to_signed) {
        return 0;
    }
    // ~value is the distance below -1.
    const std::uint64_t below = ~value << from_shift >> from_shift;
    return ~(below < most ? below : most);
}

void convert_simple(const ConversionStep& step, const std::byte* from, std::byte* to) {
    std::uint64_t value = load_ordered(from, step.from_size, (step.flags & ConversionStep::from_big) != 0);
    if (kFastFloats && step.kind == ConversionKind::widen) {
        value = widen_float(static_cast<std::uint32_t>(value));
    } else if (kFastFloats && step.kind == ConversionKind::narrow) {
        value = narrow_float(value);
    } else {
        value = clamp(value, step);
    }
    store_ordered(to, value, step.to_size, (step.flags & ConversionStep::to_big) != 0);
}

void convert_any_number(const std::byte* table, const std::byte* from, std::byte* to) {
    NumberFormat formats[2];
    std::memcpy(formats, table, sizeof(formats));
    convert_number(formats[0], formats[1], from, to);
}

// Copies the table before using it: tables are not aligned.
[[gnu::noinline]] Status convert_by_user(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                                         std::byte* to) {
    UserTable table;
    const std::byte* at = plan.table(step);
    std::memcpy(&table, at, sizeof(table));
    at += sizeof(table);
    return table.conversion->convert(DatatypeView({at, table.from_length}),
                                     DatatypeView({at + table.from_length, table.to_length}), step.count, from,
                                     step.from_size, to, step.to_size);
}

void convert_string(const ConversionStep& step, const std::byte* from, std::byte* to) {
    std::size_t length = step.from_size;
    if (step.from_padding == StringPadding::space_padded) {
        while (length > 0 && from[length - 1] == std::byte{' '}) {
            --length;
        }
    } else if (const void* nul = std::memchr(from, 0, length)) {
        length = static_cast<std::size_t>(static_cast<const std::byte*>(nul) - from);
    }
    length = length < step.to_size ? length : step.to_size;
    std::memcpy(to, from, length);
    std::memset(to + length, step.to_padding == StringPadding::space_padded ? ' ' : 0, step.to_size - length);
    if (step.to_padding == StringPadding::null_terminated) {
        to[step.to_size - 1] = std::byte{0};
    }
}

void convert_enumeration(const ConversionStep& step, const std::byte* table, const std::byte* from, std::byte* to) {
    for (std::uint32_t i = 0; i < step.extra; ++i, table += step.from_size + step.to_size) {
        if (std::memcmp(table, from, step.from_size) == 0) {
            std::memcpy(to, table + step.from_size, step.to_size);
            return;
        }
    }
    std::memset(to, 0xff, step.to_size);
}

Status run_item(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from, std::byte* to) {
    switch (step.kind) {
        case ConversionKind::reverse:
            for (std::uint32_t i = 0; i < step.to_size; ++i) {
                to[i] = from[step.to_size - 1 - i];
            }
            break;
        case ConversionKind::machine:
            convert_machine_number(step, from, to);
            break;
        case ConversionKind::number:
            convert_any_number(plan.table(step), from, to);
            break;
        case ConversionKind::string:
            convert_string(step, from, to);
            break;
        case ConversionKind::enumeration:
            convert_enumeration(step, plan.table(step), from, to);
            break;
        case ConversionKind::loop:
            return run_steps(plan, &step + 1, step.extra, from, to);
        case ConversionKind::sequence:
            return read_sequence(plan, step, from, to);
        case ConversionKind::to_heap:
            // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a plan with such steps has a sink.
            return plan.file.sink->write(plan, step, from, to);
        default:
            convert_simple(step, from, to);
            break;
    }
    return Status::ok;
}

}  // namespace

std::uint64_t widen_float(std::uint32_t bits) noexcept {
    const std::uint64_t sign = std::uint64_t{bits >> 31} << 63;
    std::uint32_t exponent = bits >> 23 & 0xffU;
    std::uint32_t mantissa = bits & 0x7fffffU;
    if (exponent == 0xff) {
        const std::uint64_t quiet = mantissa != 0 ? std::uint64_t{1} << 51 : 0;
        return sign | std::uint64_t{0x7ff} << 52 | quiet | std::uint64_t{mantissa} << 29;
    }
    if (exponent == 0) {
        if (mantissa == 0) {
            return sign;
        }
        // A denormal: its first bit becomes the implied one.
        const unsigned shift = static_cast<unsigned>(__builtin_clz(mantissa)) - 8;
        mantissa = mantissa << shift & 0x7fffffU;
        return sign | std::uint64_t{897 - shift} << 52 | std::uint64_t{mantissa} << 29;
    }
    return sign | std::uint64_t{exponent + 896} << 52 | std::uint64_t{mantissa} << 29;
}

std::uint32_t narrow_float(std::uint64_t bits) noexcept {
    const auto sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000U;
    const unsigned exponent = static_cast<unsigned>(bits >> 52) & 0x7ffU;
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    if (exponent == 0x7ff) {
        const std::uint32_t payload = static_cast<std::uint32_t>(mantissa >> 29);
        return sign | kInfinity | (mantissa != 0 ? 0x400000U | payload : 0);
    }
    if (exponent >= 897 + 254) {
        return sign | kInfinity;
    }
    unsigned dropped = 29;
    std::uint32_t result = 0;
    if (exponent > 896) {
        result = static_cast<std::uint32_t>(exponent - 896) << 23;
    } else {
        // Denormal in 32 bits: the implied bit is written out and moves right.
        dropped += 897 - exponent;
        if (dropped > 53) {
            return sign;  // less than half of the smallest denormal
        }
        mantissa |= std::uint64_t{1} << 52;
    }
    result += static_cast<std::uint32_t>(mantissa >> dropped);
    const std::uint64_t rest = mantissa & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    // A carry out of the mantissa is the next exponent, and out of the largest number infinity, as it should be.
    const bool up = rest > half || (rest == half && (result & 1U) != 0);
    constexpr std::uint32_t kLargest = kInfinity - 1;
    if (result == kLargest && rest != 0) {
        return sign | kInfinity;
    }
    return sign | (result + (up ? 1U : 0U));
}

// Calls itself through loops and sequences only, which are nested as the types are: at most H5MOTE_MAX_TYPE_DEPTH
// times.
Status run_steps(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count, const std::byte* from,
                 std::byte* to) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        const ConversionStep& step = steps[i];
        const std::byte* source = from + step.from_offset;
        std::byte* target = to + step.to_offset;
        if (step.kind == ConversionKind::copy) {
            std::memcpy(target, source, step.count);
            continue;
        }
        if (step.kind == ConversionKind::user) {
            H5MOTE_TRY(convert_by_user(plan, step, source, target));
            continue;
        }
        for (std::uint32_t n = 0; n < step.count; ++n, source += step.from_size, target += step.to_size) {
            H5MOTE_TRY(run_item(plan, step, source, target));
        }
        if (holds_steps(step)) {
            i += step.extra;
        }
    }
    return Status::ok;
}

Status run_plan(const ConversionPlan& plan, std::size_t count, const std::byte* from, std::size_t from_stride,
                std::byte* to, std::size_t to_stride) noexcept {
    const bool variable = plan.file.source != nullptr;
    const ConversionStep& first = *plan.first();
    if (plan.steps == 1 && first.count == 1 && first.kind != ConversionKind::copy &&
        first.kind != ConversionKind::user && !variable) {
        // A shortcut for values that consist of a single item, as most do.
        for (; count > 0; --count, from += from_stride, to += to_stride) {
            H5MOTE_TRY(run_item(plan, first, from + first.from_offset, to + first.to_offset));
        }
        return Status::ok;
    }
    for (std::size_t i = 0; i < count; ++i, from += from_stride) {
        std::byte* const target = to + i * to_stride;
        if (variable) {
            empty_value(plan, target, false);
        }
        const Status status = plan.file.sink != nullptr ? plan.file.sink->convert(plan, from, target)
                                                        : run_steps(plan, plan.first(), plan.steps, from, target);
        if (status != Status::ok) {
            // After an error nothing is delivered: release the sequences of all values so far.
            for (std::size_t done = 0; variable && done <= i; ++done) {
                empty_value(plan, to + done * to_stride, true);
            }
            return status;
        }
    }
    return Status::ok;
}

}  // namespace h5mote
