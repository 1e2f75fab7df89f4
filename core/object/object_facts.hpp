// H5O (H5Oget_info) - what an object header tells of its object.
#pragma once

#include "stored_message.hpp"

#include <h5mote/object.hpp>

namespace h5mote {

/// Fills in `info` from the header at `header`: everything except the object's type, its attributes, and facts that are
/// not stored in the header. Errors of MessageIterator::next().
H5MOTE_STEP Status header_facts(FileState& file, Address header, ObjectInfo& info) noexcept;

/// Gives the new object at `header`, to which nothing on the storage leads, the times of `info`, if its header has
/// times. Where `info` comes from a header that has only the time of the last change, that is all of them.
H5MOTE_STEP Status set_times(FileState& file, Address header, const ObjectInfo& info) noexcept;

}  // namespace h5mote
