// H5D (virtual) - virtual datasets are made, written through to their sources, and deleted: what programs have that
// name formats::virtual_changes.
#pragma once

#include "disposal.hpp"
#include "virtual_layout.hpp"

#include <h5mote/dataset.hpp>

namespace h5mote {

struct VirtualChangesFormat {
    /// Checks the mappings of a new dataset with the extent `space`. invalid_argument.
    Status (*check)(FileState& file, const Extent& space, Span<const NewMapping> mappings);
    /// Puts the mappings into the global heap and enters their place in `layout`. Nothing leads to them yet. no_space,
    /// out_of_memory, io_error.
    Status (*create)(FileState& file, const Extent& space, Span<const NewMapping> mappings, LayoutMessage& layout);
    /// Undoes create().
    void (*discard)(FileState& file, const LayoutMessage& layout);
    /// Whether a dataset that is open may have the extent `dims`: not smaller than limited mappings need
    /// (invalid_argument).
    Status (*check_extent)(DatasetState& dataset, const std::uint64_t* dims);
    /// Writes the elements of a request to the sources. not_found: some of them have no source; nothing is written.
    Status (*write)(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                    std::uint32_t memory_size);
    /// Gives the mappings up, or only checks that they are there.
    Status (*dispose)(DatasetState& dataset, Disposal& disposal);
};

}  // namespace h5mote
