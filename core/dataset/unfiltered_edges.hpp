// H5D chunk (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) - datasets whose chunks at the edge of the extent are stored without
// filters are changed: what programs have that name formats::unfiltered_edges.
//
// The extent in the object header says what the bytes of a chunk are: those of a chunk that reaches beyond it went
// through no filter, whatever its filter mask says. So a chunk that the growing dataset comes to fill, and one that it
// no longer fills when it became smaller, would have to be stored anew at the very moment at which the extent changes.
// No storage does that. Meanwhile such a chunk is therefore stored without filters and with a mask that skips all of
// them: its bytes mean the same with either extent.
//
//   1. Chunks that are at the edge of the old extent or the new one, but not of both, are stored in that way.
//   2. The new extent is stored, and everything up to it is on the storage.
//   3. Chunks that are whole now go through the filters. Those at the edge get the mask 0, which libhdf5 gives them: it
//      does not change a mask when it stores a chunk anew in as many bytes (H5D__chunk_file_alloc).
//
// A power cut or an error between 2 and 3 leaves a chunk without filters, as if each filter had found that it could do
// nothing: every reader reads it, and the next change of the chunk filters it.
#pragma once

#include "chunk_key.hpp"

#include <h5mote/formats.hpp>
#include <h5mote/status.hpp>

#include <cstdint>

namespace h5mote {

class DatasetState;

/// What the state of a dataset keeps for this: `numbers` are the sizes that the header on the storage has, those that
/// it had before, and room for the coordinates of a chunk, as many of each as there are dimensions. nullptr: the
/// dataset was not changed yet.
class EdgeNumbers {
protected:
    std::uint64_t* edge_numbers_ = nullptr;
    bool edges_unsure_ = false;  // it is not known which of two extents is on the storage
    bool edges_mixed_ = false;   // chunks were stored while that was not known

    bool has_edge_numbers() const noexcept { return edge_numbers_ != nullptr; }
};

/// Takes its place in builds that do not open such datasets.
class NoEdgeNumbers {
protected:
    static constexpr bool has_edge_numbers() noexcept { return false; }
};

struct UnfilteredEdgesFormat {
    /// Call before the first change. out_of_memory.
    Status (*begin)(DatasetState& dataset);
    /// Releases what begin() has allocated.
    void (*end)(DatasetState& dataset);
    /// Whether a chunk has to be stored without filters now, and with which mask.
    bool (*skips)(DatasetState& dataset, const ChunkKey& key, std::uint32_t& mask);
    /// Step 1, before the extent becomes `wanted`. An error leaves every chunk readable.
    Status (*adapt)(DatasetState& dataset, const std::uint64_t* wanted);
    /// Step 2. After an error either extent may be on the storage, and chunks are stored without filters until store()
    /// succeeds.
    Status (*store)(DatasetState& dataset);
    /// Step 3. A chunk for which there is no room stays as it is, which is no error.
    Status (*filter)(DatasetState& dataset);
};

}  // namespace h5mote
