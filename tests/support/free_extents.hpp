// The memory that a list of free extents takes from an allocator.
#pragma once

#include "space_map.hpp"

namespace h5mote_test {

/// Whether an allocation of this size may be for a longer list of free extents, which the library can do without. Such
/// a list is 2, 4, 8, ... times as long as the one that each file has anyway.
inline bool may_be_free_extents(std::size_t size) noexcept {
    for (std::size_t room = 2 * std::size_t{H5MOTE_TEST_FREE_EXTENTS}; h5mote::SpaceMap::bytes_of(room) <= size;
         room *= 2) {
        if (h5mote::SpaceMap::bytes_of(room) == size) {
            return true;
        }
    }
    return false;
}

}  // namespace h5mote_test
