// H5D (H5D_COPS_BTREE) - chunks in a version 1 B-tree: datasets as libhdf5 writes them by default. Only read.

#include "chunk_index.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

ChunkBTree1& tree(OpenChunkIndex& index) noexcept { return index.as<ChunkBTree1>(); }

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* chunk_dims) noexcept {
    index.make<ChunkBTree1>().open(*index.file, layout.address, index.shape.rank, chunk_dims);
    return Status::ok;
}

Status find(OpenChunkIndex& index, ChunkLookup& /*lookup*/, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return tree(index).find(chunk.scaled(), location);
}

Status next(OpenChunkIndex& index, ChunkLookup& /*lookup*/, ChunkCursor& cursor, ChunkNumber& /*number*/,
            std::uint64_t* scaled, ChunkLocation& location) noexcept {
    return tree(index).next(cursor.btree1, scaled, location);
}

Status space(OpenChunkIndex& index, std::uint64_t& bytes) noexcept {
    BlockSum sum;
    const Status status = tree(index).walk(sum);
    bytes = sum.bytes;
    return status;
}

}  // namespace

const ChunkIndexFormat formats::chunk_btree1 = {&open, nullptr, &find, &next, nullptr, &space, true, nullptr};

}  // namespace h5mote

#endif
