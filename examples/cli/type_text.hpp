// Datatypes as h5dump describes them (H5T_STD_I32LE, H5T_COMPOUND { ... }), and dataspaces.
#pragma once

#include "layout.hpp"

#include <h5mote/address.hpp>
#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>

#include <string_view>

namespace h5mote::cli {

/// Knows the names of a file's committed datatypes.
class TypeNames {
public:
    /// Writes the name of the datatype whose object header is at `address`, without quotes. Returns false if the name
    /// is unknown.
    virtual bool put_type_name(TextSink& sink, Address address) = 0;

protected:
    ~TypeNames() = default;
};

/// The name of the predefined HDF5 type that an integer, floating-point or bit field type equals; nullptr if there is
/// none.
const char* predefined_name(DatatypeView type);

/// Writes datatypes as the HDF5 tools do.
class TypeText {
public:
    TypeText(Printer& printer, const TextFormat& format) : printer_(printer), format_(format) {}

    /// Appends the type to `text`. If the type takes several lines, all but the last are printed, and the last one
    /// remains in `text`.
    void put(ElementText& text, Lines& lines, DatatypeView type);

private:
    void put_string(ElementText& text, Lines& lines, DatatypeView type);
    void put_opaque(ElementText& text, Lines& lines, DatatypeView type);
    void put_compound(ElementText& text, Lines& lines, DatatypeView type);
    void put_enumeration(ElementText& text, Lines& lines, DatatypeView type);
    void put_array(ElementText& text, Lines& lines, DatatypeView element, ConstBytes dimensions);
    void put_complex(ElementText& text, Lines& lines, DatatypeView type);
    void show(ElementText& text, Lines& lines);

    Printer& printer_;
    const TextFormat& format_;
};

/// Writes a dataspace, e.g. "SIMPLE { ( 3, 4 ) / ( 3, H5S_UNLIMITED ) }".
void put_dataspace(TextSink& sink, const Dataspace& space);

}  // namespace h5mote::cli
