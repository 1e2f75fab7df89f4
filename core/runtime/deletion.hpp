// H5O (H5O_delete) - giving up an object to which no link leads.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Gives up the header of an object, and what belongs to it: its space is used again after the next commit. Errors, and
/// nothing is given up, as for Group::unlink().
Status delete_unlinked(FileState& file, Address object) noexcept;

}  // namespace h5mote
