// H5T (H5Tconv) - conversion of values between two datatypes of the same class.
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
///   integers       1 to 8 bytes, byte order, sign; out of range becomes the nearest value that the type has
///   floating       32 and 64 bits of IEEE 754; to nearest even; infinities, NaN payloads (made quiet), denormals kept
///   strings        any sizes and paddings of one character set
///   enumerations   by name; a value that has no name becomes all ones. Every name of the source is in the target
///   arrays         of the same dimensions, by element; complex numbers by part
///   compounds      by member name; target members that the source lacks keep the bytes they had
///   bit fields, any numbers of equal fields   byte order
///   anything else  equal types only
class Conversion {
public:
    Conversion() noexcept = default;
    Conversion(const Conversion&) = delete;
    Conversion& operator=(const Conversion&) = delete;
    ~Conversion() { reset(); }

    /// Ready to convert values of `from` to `to`; both are copied from as far as needed, not borrowed. Allocates the
    /// plan (MemoryKind::type) unless the types are equal. Replaces an earlier preparation only if it returns ok.
    /// type_mismatch: no conversion between the classes, dimensions, tags, character sets or names.
    /// unsupported (Feature::datatype_class): variable-length data or references; (Feature::type_conversion): numbers
    /// of unusual form, or bit fields of different sizes. out_of_memory.
    Status prepare(Context& context, DatatypeView from, DatatypeView to, const FileValues& file = {}) noexcept;
    /// The same for types that are byte for byte the same message, one of which is not from a file; else
    /// type_mismatch. Refers to no conversion code, so that a program that calls only this links none.
    Status prepare_identical(DatatypeView from, DatatypeView to) noexcept;
    /// Releases the plan.
    void reset() noexcept;

    /// Whether values are copied as they are (also when not prepared: then of size 0).
    bool is_copy() const noexcept { return run_ == nullptr; }

    /// Converts `count` values. They begin `from_stride` and `to_stride` bytes apart (at least the sizes of the
    /// types) at any alignment; source and target do not overlap. Needs no memory and cannot fail.
    Status run(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
               std::size_t to_stride) const noexcept {
        if (run_ == nullptr) {
            copy(count, from, from_stride, to, to_stride);
        } else {
            run_(*plan_, count, from, from_stride, to, to_stride);
        }
        return Status::ok;
    }

private:
    using Run = void (*)(const ConversionPlan& plan, std::size_t count, const std::byte* from, std::size_t from_stride,
                         std::byte* to, std::size_t to_stride);

    void copy(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
              std::size_t to_stride) const noexcept;

    // Only prepare() names the converters; everything else reaches them through this pointer.
    Run run_ = nullptr;
    Context* context_ = nullptr;
    ConversionPlan* plan_ = nullptr;
    std::uint32_t plan_bytes_ = 0;
    std::uint32_t size_ = 0;  // of a value, for copies
};

}  // namespace h5mote
