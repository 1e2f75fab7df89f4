// H5T - which datatypes this library can hold as plain bytes, and datatype messages taken from a file.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/datatype.hpp>

namespace h5mote {

/// Element type and dimensions of a compound member. An array is a type of its own or, in version 1 of compounds, a
/// property of the member.
struct MemberShape {
    explicit MemberShape(const CompoundMember& member) noexcept;
    explicit MemberShape(DatatypeView type) noexcept;

    DatatypeView element;
    ConstBytes dimensions;  ///< 4 bytes each, little-endian; none for a single element
};

/// Whether values have no variable-length data, so that they are the same bytes in a file and in memory. References
/// are: programs keep them in the form that they have in the file.
bool is_plain(DatatypeView type) noexcept;

/// Whether all variable-length data in the type have the form of memory: VariableLength, `char*`.
bool is_memory_type(DatatypeView type) noexcept;

/// Whether new datasets and attributes can have the type, which comes from a caller of the library. invalid_argument:
/// it is not exactly one sound message, or its variable-length data have not the form of memory. unsupported
/// (Feature::datatype_class): it has such data, and the program lacks formats::variable_length_changes; and what
/// validate_datatype() says.
Status check_storable(Context& context, DatatypeView type) noexcept;

/// The datatype message at the start of `message` as a view of exactly its bytes, which it borrows. The errors of
/// validate_datatype(), with a record in the trail; `view` is then unchanged.
Status parse_datatype(Context& context, ConstBytes message, DatatypeView& view) noexcept;

}  // namespace h5mote
