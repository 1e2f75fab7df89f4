// H5S - encoded selections in the version that the bounds of a file ask for. The layouts of all versions are described
// in selection_codec.hpp.
#pragma once

#include "selection_codec.hpp"

namespace h5mote {

/// encode_selection_in(). libhdf5 makes hyperslabs of version 3 and points of version 2 with the lower bound v112 or a
/// later one, and with v110 regular hyperslabs of four blocks and more in version 2; else the oldest version that holds
/// the selection.
Status encode_bounded_selection(FileState& file, Writer& writer, const Selection& selection,
                                const Dataspace& space) noexcept;

}  // namespace h5mote
