// H5O (H5Odtype) - datatype messages in another version of the encoding. The layouts of all versions are described in
// datatype_message.hpp.
#pragma once

#include "cursor.hpp"

#include <h5mote/datatype.hpp>

namespace h5mote {

/// Writes a datatype message in the oldest version that can say what `type` says, but for compounds, arrays and
/// enumerations none older than `least`: an array needs version 2, revised references and complex numbers the version
/// that they have. This is what libhdf5 makes of a type that a program builds (H5T_set_version); `least` is what its
/// lower version bound asks for.
void encode_datatype(Writer& writer, DatatypeView type, unsigned least) noexcept;

/// The newest version among those of `type` and all types within it: as they are stored, or else in what
/// encode_datatype() writes without a `least` version.
unsigned newest_version(DatatypeView type, bool as_stored) noexcept;

}  // namespace h5mote
