// H5T (H5Tregister) - conversions between datatypes that a program adds to those of the library.
#pragma once

#include <h5mote/datatype.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

/// One conversion of a program, passed to Context::set_conversions(). It is consulted wherever values of the two types
/// meet: as a whole, as members of compounds, elements of arrays and sequences.
class UserConversion {
public:
    enum class Kind : unsigned char {
        hard,  ///< for one pair of types, before anything that the library has; equal types excepted, they are copied
        soft,  ///< for all types of two classes, after what processors convert among their own numbers, before the
               ///< rest; of several the last one that applies
    };

    /// The types are borrowed; of a soft conversion only their classes count.
    UserConversion(Kind kind, DatatypeView from, DatatypeView to) noexcept : kind_(kind), from_(from), to_(to) {}

    /// Whether values of `from` become values of `to` in this way.
    bool matches(Kind kind, DatatypeView from, DatatypeView to) const noexcept {
        if (kind != kind_) {
            return false;
        }
        return kind == Kind::hard ? equal(from, from_) && equal(to, to_)
                                  : from.type_class() == from_.type_class() && to.type_class() == to_.type_class() &&
                                        applies(from, to);
    }

    /// Converts `count` values that lie `source_stride` and `target_stride` bytes apart at any alignment. Of a
    /// variable-length type the values are what stands in the file. An error ends the operation that converts.
    virtual Status convert(DatatypeView from, DatatypeView to, std::size_t count, const std::byte* source,
                           std::size_t source_stride, std::byte* target, std::size_t target_stride) const noexcept = 0;

protected:
    /// Whether a soft conversion is for these two types of its classes.
    virtual bool applies(DatatypeView from, DatatypeView to) const noexcept {
        (void)from;
        (void)to;
        return true;
    }
    ~UserConversion() = default;

private:
    Kind kind_;
    DatatypeView from_;
    DatatypeView to_;
};

}  // namespace h5mote
