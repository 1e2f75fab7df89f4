// H5D - finding chunks for reading in both kinds of arrays, whose blocks have any size.
#pragma once

#include "chunk_index.hpp"

namespace h5mote {

/// An extensible or fixed array.
struct ChunkArray {
    OpenChunkIndex& index;
    /// The function of the array that has this name.
    Status (*block_of)(OpenChunkIndex& index, Address number, ElementBlock& block);
    ChunkElementFormat element;
    Address end;  ///< the number of elements, if the array has a fixed one
};

/// The element of a chunk. not_found: beyond what the array can hold.
Status find_element(const ChunkArray& array, ChunkLookup& lookup, Address number, ChunkLocation& location) noexcept;

/// What ChunkIndexFormat::next does.
Status next_element(const ChunkArray& array, ChunkLookup& lookup, ChunkCursor& cursor, Address& number,
                    ChunkLocation& location) noexcept;

}  // namespace h5mote
