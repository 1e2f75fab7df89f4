// H5Z - what the parts of a recorder with filters share.
#pragma once

#include "cursor.hpp"
#include "pipeline.hpp"

#include <h5mote/filtering_recorder.hpp>

namespace h5mote {

/// A chunk of a dataset with filters, as the chunk index has it.
struct FilteringRecorderBase::Chunk {
    Address number;
    Address address;  ///< undefined: the index has no such chunk
    std::uint32_t size;
    std::uint32_t filter_mask;
};

/// The filters of a dataset, as the pipeline wants them.
struct FilteringRecorderBase::Pipeline {
    explicit Pipeline(const blueprint::RecordedFilters& filters) noexcept : view({entries, filters.count}) {
        for (std::size_t i = 0; i < filters.count; ++i) {
            entries[i] = {filters.specs[i], filters.filters[i]};
        }
    }

    FilterEntry entries[blueprint::RecordedFilters::kMost];
    FilterPipeline view;
};

}  // namespace h5mote
