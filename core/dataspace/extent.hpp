// H5S - the extent of a dataspace in the form that the file format layer takes.
#pragma once

#include "messages.hpp"

#include <h5mote/dataspace.hpp>

namespace h5mote {

/// Views the sizes of a valid dataspace.
inline Extent extent_of(const Dataspace& space) noexcept {
    return {static_cast<DataspaceMessage::Type>(space.space_class()), static_cast<std::uint8_t>(space.rank()),
            space.dims().data(), space.max_dims().data()};
}

}  // namespace h5mote
