// H5T (H5T_set_loc) - the type as which a file stores values that have sequences or strings of any length.
//
// In a file such a value has another size than in memory. What lies behind it in a compound moves by the difference, as
// libhdf5 does it: gaps that the compiler left between the members stay as large as they are.
#pragma once

#include "file_state.hpp"

#include <h5mote/datatype.hpp>

namespace h5mote {

/// VariableLengthFormat::file_type().
Status encode_file_type(FileState& file, DatatypeView memory, Bytes& type) noexcept;
/// VariableLengthFormat::memory_type().
Status encode_memory_type(Context& context, DatatypeView stored, Bytes& type) noexcept;

}  // namespace h5mote
