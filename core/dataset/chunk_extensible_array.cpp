#include "chunk_extensible_array.hpp"

#include "array_search.hpp"

namespace h5mote {
namespace {

Status block_of(OpenChunkIndex& index, Address number, ElementBlock& block) noexcept {
    return index.as<ExtensibleArray>().block_of(number, block);
}

ChunkArray array_of(OpenChunkIndex& index) noexcept {
    return {index, &block_of, index.as<ExtensibleArray>().element(), kUndefinedAddress};
}

}  // namespace

Status ExtensibleArrayChunks::find(OpenChunkIndex& index, ChunkLookup& lookup, ChunkKey chunk,
                                   ChunkLocation& location) noexcept {
    const Status status = find_element(array_of(index), lookup, chunk.number, location);
    // An array of limited size may not be able to hold this element: then the chunk does not exist.
    return status == Status::not_found ? Status::ok : status;
}

Status ExtensibleArrayChunks::next(OpenChunkIndex& index, ChunkLookup& lookup, ChunkCursor& cursor, Address& number,
                                   std::uint64_t* /*scaled*/, ChunkLocation& location) noexcept {
    return next_element(array_of(index), lookup, cursor, number, location);
}

const ChunkIndexFormat formats::extensible_array = kExtensibleArrayChunks;

}  // namespace h5mote
