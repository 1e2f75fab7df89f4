// H5MF - how a file places its blocks beyond the rules that keep it safe: strategy, pages, alignment, aggregation.
#pragma once

#include <h5mote/address.hpp>

namespace h5mote {

/// The defaults change nothing.
struct SpaceRule {
    bool reuse = true;  ///< false: space that was released is used again only at the end of the file
    Address page = 0;   ///< bytes of a page; 0: the file has none
    Address alignment = 1;
    Address alignment_threshold = 1;  ///< smaller blocks are not aligned
    Address metadata_block = 0;       ///< bytes by which the file grows at least for metadata ...
    Address small_data_block = 0;     ///< ... and for raw data of less than that
};

}  // namespace h5mote
