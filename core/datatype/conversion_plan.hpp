// The plan of a conversion: what prepare() writes and run_plan() reads.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/user_conversion.hpp>

#include <cstddef>
#include <cstdint>

#include "number.hpp"
#include "variable_data.hpp"

namespace h5mote {

enum class ConversionKind : std::uint8_t {
    copy,         ///< `count` bytes
    reverse,      ///< `count` items whose bytes change their order
    integer,      ///< `count` integers of whole bytes, at most 8
    widen,        ///< `count` 32-bit floating-point numbers to 64 bits
    narrow,       ///< `count` 64-bit floating-point numbers to 32 bits
    machine,      ///< `count` numbers of the forms that processors have (machine_number.hpp)
    number,       ///< `count` numbers of any form, described by two NumberFormat in the tables
    string,       ///< `count` fixed strings
    enumeration,  ///< `count` values, looked up in a table of pairs
    loop,         ///< `count` times the next `extra` operations, whose offsets count from each item
    sequence,     ///< `count` sequences or strings of any length, each of whose elements the next `extra` operations
                  ///< convert; described by a SequenceTable
    to_heap,      ///< the same in the other direction: from the form of memory to that of a file
    user,         ///< `count` items by a UserConversion; described by a UserTable and the two types behind it
};

struct ConversionStep {
    enum : std::uint8_t {
        from_big = 1,
        to_big = 2,
        from_signed = 4,
        to_signed = 8,
        from_float = 16,
        to_float = 32,
        to_string = 64,  ///< sequence: into a `char*`
    };

    ConversionKind kind = ConversionKind::copy;
    std::uint8_t flags = 0;
    StringPadding from_padding = StringPadding::null_terminated;
    StringPadding to_padding = StringPadding::null_terminated;
    std::uint32_t from_offset = 0;  ///< of the first item, in bytes from the start of the value
    std::uint32_t to_offset = 0;
    std::uint32_t from_size = 0;  ///< of one item, and the distance to the next
    std::uint32_t to_size = 0;
    std::uint32_t count = 0;
    std::uint32_t extra = 0;  ///< loop, sequence: number of steps; enumeration: number of pairs
    std::uint32_t table = 0;  ///< where the table of the step begins, in bytes after the steps
};

/// Whether the next `extra` steps belong to this one.
constexpr bool holds_steps(const ConversionStep& step) noexcept {
    return step.kind == ConversionKind::loop || step.kind == ConversionKind::sequence ||
           step.kind == ConversionKind::to_heap;
}

struct SequenceTable {
    std::uint32_t from_size;  ///< of one element
    std::uint32_t to_size;
    std::uint32_t window;  ///< bytes of the buffer behind this, through which elements pass that are to be converted
    std::uint32_t type_length;  ///< to_heap: bytes of the file's type behind that, encoded; else 0
};

struct UserTable {
    const UserConversion* conversion;
    std::uint32_t from_length;  ///< bytes of the type
    std::uint32_t to_length;
};

/// In memory this is followed by the steps, then by their tables. The table of an enumeration holds for each name the
/// value in the source and the value in the target.
struct ConversionPlan {
    Context* context;
    FileValues file;
    std::uint32_t steps;

    ConversionStep* first() noexcept { return reinterpret_cast<ConversionStep*>(this + 1); }
    const ConversionStep* first() const noexcept { return reinterpret_cast<const ConversionStep*>(this + 1); }
    /// The bytes are not const: the window of a SequenceTable is written to while values are read.
    std::byte* table(const ConversionStep& step) const noexcept {
        return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(first() + steps)) + step.table;
    }
};
static_assert(alignof(ConversionStep) <= alignof(ConversionPlan));

/// Conversion::Run.
Status run_plan(const ConversionPlan& plan, std::size_t count, const std::byte* from, std::size_t from_stride,
                std::byte* to, std::size_t to_stride) noexcept;

/// Carries out `count` steps on one value.
Status run_steps(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count, const std::byte* from,
                 std::byte* to) noexcept;
/// Converts one sequence; on failure nothing of it is left and `to` is untouched.
Status read_sequence(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                     std::byte* to) noexcept;
/// Makes the sequences of a value empty; `release`: the memory of those that are not empty is released first.
void empty_sequences(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count, std::byte* to,
                     bool release) noexcept;
/// Conversion::Empty: the same for all steps.
inline void empty_value(const ConversionPlan& plan, std::byte* value, bool release) noexcept {
    empty_sequences(plan, plan.first(), plan.steps, value, release);
}

/// Whether there are faster conversions between 32-bit and 64-bit floating-point numbers (widen, narrow): small
/// machines have no room for them.
inline constexpr bool kFastFloats = sizeof(void*) >= 8;

/// Converts one number; public for tests. Rounds to nearest, halves to even; a NaN keeps its sign and the payload bits
/// that fit, and is quiet. Everything beyond the largest number becomes infinity, as in libhdf5, however near it is.
std::uint64_t widen_float(std::uint32_t bits) noexcept;
std::uint32_t narrow_float(std::uint64_t bits) noexcept;

}  // namespace h5mote
