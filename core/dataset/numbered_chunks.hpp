// H5D - going through the chunks of a dataset that cannot grow, by their numbers.
#pragma once

#include "chunk_index.hpp"

namespace h5mote {

/// The first of `chunks` chunks that exists, from `number` on. not_found: there is none.
template <typename Find>
Status next_chunk(OpenChunkIndex& index, Find find, std::uint64_t chunks, ChunkNumber& number,
                  ChunkLocation& location) noexcept {
    for (; number < chunks; ++number) {
        H5MOTE_TRY(find(index, number, location));
        if (location.address != kUndefinedAddress) {
            return Status::ok;
        }
        // Each array element and each chunk takes file space. If there are more of them than the file has bytes, they
        // cannot have been stored: do not search on.
        if (chunks > index.file->space.end()) {
            return Status::not_found;
        }
    }
    return Status::not_found;
}

/// Whether the metadata cache has room for a change of that block of an array and `beside` bytes: for the array's other
/// blocks, and for a message that points to its header. A block that is large for the cache is changed on the storage.
/// over_budget.
inline Status check_block_room(OpenChunkIndex& index, const ElementBlock& block, std::uint64_t beside) noexcept {
    FileState& file = *index.file;
    const std::uint64_t need = beside + (file.cache.is_large(block.size) ? 0 : block.size);
    return block.address == kUndefinedAddress || need <= file.cache.budget()
               ? Status::ok
               : file.context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, need);
}

}  // namespace h5mote
