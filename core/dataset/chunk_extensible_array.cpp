#include "chunk_extensible_array.hpp"

#include "array_search.hpp"

namespace h5mote {
namespace {

Status block_of(OpenChunkIndex& index, ChunkNumber number, ElementBlock& block) noexcept {
    return index.as<ExtensibleArray>().block_of(number, block);
}

}  // namespace

Status ExtensibleArrayChunks::find(OpenChunkIndex& index, ChunkLookup& lookup, const ChunkKey& chunk,
                                   ChunkLocation& location) noexcept {
    const Status status = find_element(index, &block_of, lookup, chunk.number, location);
    // An array of limited size may not be able to hold this element: then the chunk does not exist.
    return status == Status::not_found ? Status::ok : status;
}

const ChunkIndexFormat formats::extensible_array = kExtensibleArrayChunks;

}  // namespace h5mote
