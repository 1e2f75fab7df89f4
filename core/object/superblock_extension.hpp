// H5F (superblock extension) - settings of a file beyond those of the superblock.
#pragma once

#include "file_state.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// What programs have that name formats::superblock_extension.
struct SuperblockExtensionFormat {
    /// Reads the extension: B-tree widths, table of shared messages, driver information, cache image. Call between
    /// FileState::open() and finish_open(). unsupported: the file is opened to be changed, and the extension has
    /// anything else than B-tree widths and a way to use free space of which the file keeps no record, or, in programs
    /// with formats::free_space, any way to use free space.
    Status (*load)(FileState& file);
    /// Reads the driver information block of a superblock of version 0 or 1.
    Status (*read_driver_info)(FileState& file);
};

}  // namespace h5mote
