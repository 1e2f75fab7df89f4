// H5Oget_info - what a header tells of its object.
#pragma once

#include "stored_message.hpp"

#include <h5mote/object.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// Everything in `info` but the type, the attributes and what stands outside the header.
H5MOTE_STEP Status header_facts(FileState& file, Address header, ObjectInfo& info) noexcept;

#endif

}  // namespace h5mote
