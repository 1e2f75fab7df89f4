// H5D (H5D_COPS_EARRAY) - chunks in an extensible array.
//
// The functions stand in this header so that calls of them are direct where the extensible array is the only index.
#pragma once

#include "chunk_index.hpp"

namespace h5mote {

struct ExtensibleArrayChunks {
    static ExtensibleArray& array(OpenChunkIndex& index) noexcept { return index.as<ExtensibleArray>(); }

    static Status open(OpenChunkIndex& index, const LayoutMessage& layout,
                       const std::uint64_t* /*chunk_dims*/) noexcept {
        return index.make<ExtensibleArray>().open(*index.file, layout.address, index.size_width());
    }
    static Status find(OpenChunkIndex& index, ChunkLookup& lookup, const ChunkKey& chunk,
                       ChunkLocation& location) noexcept;
    static Address end(OpenChunkIndex& /*index*/) noexcept { return kUndefinedAddress; }
    static Status space(OpenChunkIndex& index, std::uint64_t& bytes) noexcept {
        std::uint64_t elements = 0;
        return array(index).facts(elements, bytes);
    }

    static Status create(OpenChunkIndex& index, LayoutMessage& layout) noexcept {
        return index.make<ExtensibleArray>().create(*index.file, layout.array, index.size_width(), layout.address);
    }
    static void discard(OpenChunkIndex& index) noexcept {
        discard_fresh_block(*index.file, array(index).index_block_address());
    }
    static Status find_number(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location) noexcept {
        return array(index).find(chunk.number, location);
    }
    static Status next_number(OpenChunkIndex& index, ChunkNumber& number, ChunkLocation& location) noexcept {
        return array(index).next(number, location);
    }
    static Status make_place(OpenChunkIndex& index, const ChunkKey& chunk, Phase phase) noexcept {
        return array(index).make_place(chunk.number, phase);
    }
    static Status set(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address stride,
                      std::uint32_t count, Phase phase) noexcept {
        return array(index).set(chunk.number, location, stride, count, phase);
    }
    static Status free_run(OpenChunkIndex& index, const ChunkKey& chunk, std::uint32_t& count) noexcept {
        return array(index).free_run(chunk.number, count);
    }
    static Status cover(OpenChunkIndex& index, const ChunkKey& chunk) noexcept {
        return array(index).cover(chunk.number);
    }
    static bool switches_at_once(OpenChunkIndex& index) noexcept { return array(index).switches_at_once(); }
    static Status dispose(OpenChunkIndex& index, Disposal& disposal) noexcept {
        return array(index).dispose(disposal, index.shape.chunk_bytes);
    }
    static Status check_room(OpenChunkIndex& index) noexcept;
};

inline constexpr ChunkIndexChanges kExtensibleArrayChanges = {
    &ExtensibleArrayChunks::create,
    &ExtensibleArrayChunks::discard,
    &ExtensibleArrayChunks::find_number,
    &ExtensibleArrayChunks::next_number,
    &ExtensibleArrayChunks::make_place,
    &ExtensibleArrayChunks::set,
    &ExtensibleArrayChunks::free_run,
    &ExtensibleArrayChunks::cover,
    &ExtensibleArrayChunks::switches_at_once,
    &ExtensibleArrayChunks::dispose,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    H5MOTE_ALL_FORMATS != 0 ? &ExtensibleArrayChunks::check_room : nullptr,
};

/// What formats::extensible_array is.
inline constexpr ChunkIndexFormat kExtensibleArrayChunks = {
    &ExtensibleArrayChunks::open,
    nullptr,
    &ExtensibleArrayChunks::find,
    nullptr,
    &ExtensibleArrayChunks::end,
    &ExtensibleArrayChunks::space,
    false,
    changes_if_written(kExtensibleArrayChanges),
};

inline const ChunkIndexFormat& OnlyExtensibleArrays::format() noexcept { return kExtensibleArrayChunks; }

}  // namespace h5mote
