// H5O - what a deleted object leaves behind in the global heap.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Whether something of an object may lie in the global heap, where it stays when the object is deleted: the elements
/// of a dataset and the values of attributes, if their datatype has sequences, strings of any length or references.
/// What cannot be read may be such a datatype.
bool leaves_values(FileState& file, Address header) noexcept;

}  // namespace h5mote
