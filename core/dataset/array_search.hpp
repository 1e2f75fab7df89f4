// H5D - finding chunks for reading in both kinds of arrays, whose blocks have any size.
#pragma once

#include "chunk_index.hpp"

namespace h5mote {

/// The function of ExtensibleArray and FixedArray that has this name.
using BlockOf = Status (*)(OpenChunkIndex& index, ChunkNumber number, ElementBlock& block);

/// The element of a chunk. `lookup` keeps the block that `block_of` has found. not_found: beyond what the array can
/// hold.
Status find_element(OpenChunkIndex& index, BlockOf block_of, ChunkLookup& lookup, ChunkNumber number,
                    ChunkLocation& location) noexcept;

}  // namespace h5mote
