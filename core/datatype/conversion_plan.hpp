// The plan of a conversion: what prepare() writes and run_plan() reads.
#pragma once

#include <h5mote/datatype.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

enum class ConversionKind : std::uint8_t {
    copy,         ///< `count` bytes
    reverse,      ///< `count` items whose bytes change their order
    integer,      ///< `count` integers
    widen,        ///< `count` 32-bit floating-point numbers to 64 bits
    narrow,       ///< and back
    string,       ///< `count` fixed strings
    enumeration,  ///< `count` values, looked up in a table of pairs
    loop,         ///< `count` times the next `extra` operations, whose offsets count from each item
};

struct ConversionStep {
    enum : std::uint8_t { from_big = 1, to_big = 2, from_signed = 4, to_signed = 8 };

    ConversionKind kind = ConversionKind::copy;
    std::uint8_t flags = 0;
    StringPadding from_padding = StringPadding::null_terminated;
    StringPadding to_padding = StringPadding::null_terminated;
    std::uint32_t from_offset = 0;  ///< of the first item, in bytes from the start of the value
    std::uint32_t to_offset = 0;
    std::uint32_t from_size = 0;  ///< of one item, and the distance to the next
    std::uint32_t to_size = 0;
    std::uint32_t count = 0;
    std::uint32_t extra = 0;  ///< loop: number of steps; enumeration: number of pairs
    std::uint32_t table = 0;  ///< enumeration: where the pairs begin, in bytes after the steps
};

/// Followed by the steps, then by the tables of enumerations: for each name the value in the source, the value in the
/// target.
struct ConversionPlan {
    std::uint32_t steps;

    const ConversionStep* first() const noexcept { return reinterpret_cast<const ConversionStep*>(this + 1); }
    const std::byte* tables() const noexcept { return reinterpret_cast<const std::byte*>(first() + steps); }
};
static_assert(alignof(ConversionStep) <= alignof(ConversionPlan));

/// Conversion::Run.
void run_plan(const ConversionPlan& plan, std::size_t count, const std::byte* from, std::size_t from_stride,
              std::byte* to, std::size_t to_stride) noexcept;

/// One number; public for tests. To nearest even; a NaN keeps its sign and the payload bits that fit, and is quiet.
std::uint64_t widen_float(std::uint32_t bits) noexcept;
std::uint32_t narrow_float(std::uint64_t bits) noexcept;

}  // namespace h5mote
