// H5Z - what the parts of a recorder with filters share.
#pragma once

#include "cursor.hpp"
#include "pipeline.hpp"

#include <h5mote/filtering_recorder.hpp>

namespace h5mote {

constexpr Address kSector = 512;

/// A chunk of a dataset with filters, as the chunk index has it.
struct FilteringRecorderBase::Chunk {
    Address number;
    Address address;  ///< undefined: the index has no such chunk
    std::uint32_t size;
    std::uint32_t filter_mask;
};

/// The filters of a dataset, as the pipeline wants them. Deflate is not skipped where it makes a chunk larger, as
/// little as in libhdf5: that keeps the old filter mask of a chunk which it stores again in as many bytes as before. A
/// chunk that some filter did not process can therefore only stand in more bytes than filters make of one.
struct FilteringRecorderBase::Pipeline {
    explicit Pipeline(const blueprint::RecordedFilters& filters) noexcept : view({entries, filters.count}) {
        for (std::size_t i = 0; i < filters.count; ++i) {
            entries[i] = {filters.specs[i], filters.filters[i]};
            entries[i].spec.optional = entries[i].spec.optional && entries[i].spec.id != FilterId::deflate;
        }
    }

    FilterEntry entries[blueprint::RecordedFilters::kMost];
    FilterPipeline view;
};

}  // namespace h5mote
