#include "chunk_extensible_array.hpp"

#include "array_search.hpp"
#include "checked.hpp"
#include "numbered_chunks.hpp"

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

// The last block is the largest. Beside it, header, index block and super block have to be in the cache, of which only
// the super block of an array of a million elements is large.
Status ExtensibleArrayChunks::check_room(OpenChunkIndex& index) noexcept {
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    ElementBlock block;
    H5MOTE_TRY(array(index).facts(elements, bytes));
    H5MOTE_TRY(elements == 0 ? Status::ok : block_of(index, narrow(elements - 1), block));
    const std::uint64_t super = elements == 0 ? 0 : array(index).super_block_size(narrow(elements - 1));
    return check_block_room(index, block, super < 512 ? 1024 : 512 + super);
}

const ChunkIndexFormat formats::extensible_array = kExtensibleArrayChunks;

}  // namespace h5mote
