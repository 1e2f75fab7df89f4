// H5D (H5D_COPS_FARRAY) - chunks in a fixed array.

#include "array_search.hpp"
#include "fixed_array.hpp"
#include "numbered_chunks.hpp"

#if H5MOTE_FIXED_CHUNKS

namespace h5mote {
namespace {

FixedArray& array(OpenChunkIndex& index) noexcept { return index.as<FixedArray>(); }

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* /*chunk_dims*/) noexcept {
    return index.make<FixedArray>().open(*index.file, layout.address, index.size_width());
}

Status block_of(OpenChunkIndex& index, ChunkNumber number, ElementBlock& block) noexcept {
    return array(index).block_of(number, block);
}

Status find(OpenChunkIndex& index, ChunkLookup& lookup, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return find_element(index, &block_of, lookup, chunk.number, location);
}

Address end(OpenChunkIndex& index) noexcept { return array(index).size(); }

Status space(OpenChunkIndex& index, std::uint64_t& bytes) noexcept { return array(index).space(bytes); }

Status create(OpenChunkIndex& index, LayoutMessage& layout) noexcept {
    // A dataset that can never have a chunk has no index: libhdf5 cannot delete a fixed array of no elements.
    if (index.shape.chunks == 0) {
        layout.address = kUndefinedAddress;
        return Status::ok;
    }
    return index.make<FixedArray>().create(*index.file, index.shape.chunks, layout.array.page_bits, index.size_width(),
                                           layout.address);
}

Status find_number(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return array(index).find(chunk.number, location);
}

Status next_number(OpenChunkIndex& index, ChunkNumber& number, ChunkLocation& location) noexcept {
    return next_chunk(index, &find_number, array(index).size(), number, location);
}

Status set(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address /*stride*/,
           std::uint32_t /*count*/, Phase /*phase*/) noexcept {
    return array(index).set(chunk.number, location);
}

bool switches_at_once(OpenChunkIndex& index) noexcept {
    return index.shape.chunks == 0 || array(index).switches_at_once();
}

Status dispose(OpenChunkIndex& index, Disposal& disposal) noexcept {
    return array(index).dispose(disposal, index.shape.chunk_bytes);
}

// All pages have the same size. Beside one, the block with the bits of all pages has to be in the cache. A large array
// is copied when it changes.
Status check_room(OpenChunkIndex& index) noexcept {
    ElementBlock block;
    if (index.shape.chunks == 0) {
        return check_block_room(index, block, 512);
    }
    H5MOTE_TRY(block_of(index, 0, block));
    const Address map = array(index).map_size();
    H5MOTE_TRY(check_block_room(index, block, map < 256 ? 512 : std::uint64_t{512} + map));
    return array(index).check_space();
}

constexpr ChunkIndexChanges kChanges = {
    &create,           nullptr,  &find_number, &next_number, nullptr, &set,    nullptr,     nullptr,
    &switches_at_once, &dispose, nullptr,      nullptr,      nullptr, nullptr, &check_room,
};

}  // namespace

const ChunkIndexFormat formats::fixed_array = {
    &open, nullptr, &find, nullptr, &end, &space, false, changes_if_written(kChanges),
};

}  // namespace h5mote

#endif
