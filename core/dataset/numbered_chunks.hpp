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

}  // namespace h5mote
