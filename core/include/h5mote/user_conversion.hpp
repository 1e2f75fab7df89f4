// H5T (H5Tregister) - conversions between datatypes that a program adds to those of the library.
#pragma once

#include <h5mote/datatype.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

/// One conversion that a program adds, passed to Context::set_conversions(). The library considers it wherever values
/// of the two types meet: as a whole, as members of compounds, elements of arrays and sequences.
class UserConversion {
public:
    enum class Kind : unsigned char {
        hard,  ///< for one pair of types; goes before the library's own conversions, but equal types are still copied
        soft,  ///< for all types of two classes; goes after the conversions among a processor's own numbers, before the
               ///< others; of several that apply the last one counts
    };

    /// The types are borrowed. Only the classes of the types of a soft conversion count.
    UserConversion(Kind kind, DatatypeView from, DatatypeView to) noexcept : kind_(kind), from_(from), to_(to) {}

    /// Whether this conversion is one of `kind` that turns values of `from` into values of `to`.
    bool matches(Kind kind, DatatypeView from, DatatypeView to) const noexcept {
        if (kind != kind_) {
            return false;
        }
        return kind == Kind::hard ? equal(from, from_) && equal(to, to_)
                                  : from.type_class() == from_.type_class() && to.type_class() == to_.type_class() &&
                                        applies(from, to);
    }

    /// Converts `count` values. They lie `source_stride` and `target_stride` bytes apart, at any alignment. Values of a
    /// variable-length type are what stands in the file. An error ends the operation that converts.
    virtual Status convert(DatatypeView from, DatatypeView to, std::size_t count, const std::byte* source,
                           std::size_t source_stride, std::byte* target, std::size_t target_stride) const noexcept = 0;

protected:
    /// Whether a soft conversion applies to these two types, which are of its classes.
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
