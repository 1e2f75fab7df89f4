// H5T (H5Tconv) - conversion of values between two datatypes.
//
// prepare() compares the types once and leaves a plan: an array of operations on byte ranges of one value, which run()
// carries out for each. Nothing is looked up by name while running. Identical types have no plan: run() copies.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>

#include "variable_data.hpp"

namespace h5mote {

struct ConversionPlan;

/// How values of one type become values of another. Empty until prepared. What is converted, as libhdf5 does:
///   integers       of up to 64 bytes, any order, precision, offset, padding, sign; out of range becomes the nearest
///                  value that the type has. Between the two orders of one size only the bytes change their places
///   floating       of up to 64 bytes, any fields and order (VAX included), to each other and to and from integers;
///                  rounding, infinities and NaN: number.hpp, machine_number.hpp
///   bit fields     to each other, their lowest bits
///   strings        any sizes and paddings of one character set
///   enumerations   by name; a value that has no name becomes all ones. Every name of the source is in the target.
///                  To integers and floating-point numbers by value
///   arrays         of the same dimensions, by element; complex numbers by part
///   compounds      by member name; target members that the source lacks keep the bytes they had
///   sequences, strings of any length   from the form of a file to that of memory (VariableLength, `char*`), by element
///   references, time, opaque           equal types only
/// and between any two types what a UserConversion of the context does.
class Conversion {
public:
    Conversion() noexcept = default;
    Conversion(const Conversion&) = delete;
    Conversion& operator=(const Conversion&) = delete;
    ~Conversion() { reset(); }

    /// Ready to convert values of `from` to `to`; both are copied from as far as needed, not borrowed. Allocates the
    /// plan (MemoryKind::type) unless the types are equal. Replaces an earlier preparation only if it returns ok.
    /// type_mismatch: no conversion between the classes, dimensions, tags, character sets or names.
    /// unsupported (Feature::datatype_class): variable-length data unless `file` has its source; (Feature::
    /// type_conversion): numbers of more than 64 bytes or of a form that libhdf5 does not convert either.
    /// corrupt_file: variable-length data of another size than the file's. out_of_memory.
    Status prepare(Context& context, DatatypeView from, DatatypeView to, const FileValues& file = {}) noexcept;
    /// The same for types that are byte for byte the same message, else type_mismatch; it validates neither of them.
    /// Refers to no conversion code, so that a program that calls only this links none.
    Status prepare_identical(DatatypeView from, DatatypeView to) noexcept;
    /// Releases the plan.
    void reset() noexcept;

    /// Whether values are copied as they are (also when not prepared: then of size 0).
    bool is_copy() const noexcept { return run_ == nullptr; }
    /// Whether run() may leave parts of a target value as they were, so that the target has to be initialized: members
    /// that the source lacks; the whole value when a UserConversion fails.
    bool is_partial() const noexcept { return partial_; }
    /// Of a conversion that is_partial(): whether it is so for more than old values of variable length, which give up
    /// their space.
    bool lacks_members() const noexcept { return lacks_members_; }
    /// Whether run() leaves sequences and strings of any length in memory of their own.
    bool allocates() const noexcept { return empty_ != nullptr; }
    /// Makes the sequences and strings of any length in `count` values empty, those that run() would set; `release`:
    /// their memory is released first.
    void empty(std::size_t count, std::byte* values, std::size_t stride, bool release) const noexcept {
        for (; allocates() && count > 0; --count, values += stride) {
            empty_(*plan_, values, release);
        }
    }

    /// Converts `count` values. They begin `from_stride` and `to_stride` bytes apart (at least the sizes of the
    /// types) at any alignment; source and target do not overlap.
    /// Only with variable-length data or a UserConversion it needs memory (MemoryKind::value) and can fail: with what
    /// the source or the conversion returned, out_of_memory, or corrupt_file if a sequence is longer than its object.
    /// The sequences of all `count` values are then empty or, behind the one that failed, untouched.
    Status run(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
               std::size_t to_stride) const noexcept {
        if (run_ == nullptr) {
            copy(count, from, from_stride, to, to_stride);
            return Status::ok;
        }
        return run_(*plan_, count, from, from_stride, to, to_stride);
    }

private:
    using Empty = void (*)(const ConversionPlan& plan, std::byte* value, bool release);
    using Run = Status (*)(const ConversionPlan& plan, std::size_t count, const std::byte* from,
                           std::size_t from_stride, std::byte* to, std::size_t to_stride);

    void copy(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
              std::size_t to_stride) const noexcept;

    // Only prepare() names the converters; everything else reaches them through this pointer.
    Run run_ = nullptr;
    Empty empty_ = nullptr;
    Context* context_ = nullptr;
    ConversionPlan* plan_ = nullptr;
    std::uint32_t plan_bytes_ = 0;
    std::uint32_t size_ = 0;  // of a value, for copies
    bool partial_ = false;
    bool lacks_members_ = false;
};

}  // namespace h5mote
