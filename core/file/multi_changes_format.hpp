// H5MF H5FD_multi - what a program has that names formats::multi_changes.
#pragma once

#include "file_state.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

struct MultiChangesFormat {
    /// Makes a file allocate in the ranges of its driver from now on. The file is open for writing, and either has
    /// nothing yet or was read as far as its driver information. unsupported: addresses of the file are too short for
    /// the ranges (Feature::sizeof_offsets), or pages or aggregation of space were asked for (Feature::free_space).
    /// corrupt_file: a range is shorter on the storage than is recorded, or ends in the next one. invalid_argument:
    /// ranges of a new file make no sense. out_of_memory.
    Status (*begin)(FileState& file, UsageRanges& ranges);
    /// Finds the driver information, so that the ends of the ranges can be written there, and holds it in the metadata
    /// cache until the file is closed. Call when the file has it. unsupported: the ends of all ranges cannot be changed
    /// by one atomic write, where that is needed (Feature::ordered_writing); the file keeps a record of its free space
    /// (Feature::free_space). corrupt_file, over_budget, io_error.
    Status (*find_information)(FileState& file);
};

}  // namespace h5mote
