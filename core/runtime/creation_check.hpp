// H5F - whether a file can be made in the formats that builds with H5MOTE_ALL_FORMATS know.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Whether the program has what the new file's structures take, and the storage room for the first block that begins at
/// a multiple of the alignment. The storage is as long as before when this returns. unsupported, no_space, io_error.
Status check_other_formats(FileState& file, const FileAccess& access, const FileCreate& create) noexcept;

}  // namespace h5mote
