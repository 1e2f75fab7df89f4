// H5D (H5D_COPS_BTREE) - chunks in a version 1 B-tree: datasets as libhdf5 writes them by default.

#include "checked.hpp"
#include "chunk_btree1_changes.hpp"
#include "chunk_index.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// The last change is kept until the layout message has the new root of the tree.
struct Index {
    ChunkBTree1 tree;
    ChunkBTree1Changes* moved = nullptr;
};

ChunkBTree1& tree(OpenChunkIndex& index) noexcept { return index.as<Index>().tree; }

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* chunk_dims) noexcept {
    index.make<Index>().tree.open(*index.file, layout.address, index.shape.rank, chunk_dims);
    return Status::ok;
}

Status find(OpenChunkIndex& index, ChunkLookup& /*lookup*/, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return tree(index).find(ChunkPlace(chunk).scaled(), location);
}

// After a change the leaf may be at another address.
Status next(OpenChunkIndex& index, ChunkLookup& /*lookup*/, ChunkCursor& cursor, ChunkNumber& /*number*/,
            std::uint64_t* scaled, ChunkLocation& location) noexcept {
    if (cursor.changes != index.changes) {
        cursor.btree1.leaf = kUndefinedAddress;
        cursor.changes = index.changes;
    }
    return tree(index).next(cursor.btree1, scaled, location);
}

Status space(OpenChunkIndex& index, std::uint64_t& bytes) noexcept {
    BlockSum sum;
    const Status status = tree(index).walk(sum);
    bytes = sum.bytes;
    return status;
}

// ---- changes -----------------------------------------------------------------------------------------------------

Status find_chunk(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return tree(index).find(ChunkPlace(chunk).scaled(), location);
}

Status create(OpenChunkIndex& index, LayoutMessage& layout) noexcept {
    H5MOTE_TRY(ChunkBTree1Changes::create(*index.file, index.shape.rank, layout.address));
    return open(index, layout, index.chunk_dims());
}

// The size of an element follows from that of a chunk. No chunk has a dimension of size 0.
Address element_size(OpenChunkIndex& index) noexcept {
    std::uint64_t size = index.shape.chunk_bytes;
    for (unsigned i = 0; i < index.shape.rank; ++i) {
        size = quotient_of(size, index.chunk_dims()[i]);
    }
    return narrow(size);
}

Status check_room(OpenChunkIndex& index) noexcept {
    H5MOTE_TRY(tree(index).check_height(BTree1Changes::kMostLevels));
    return ChunkBTree1Changes::check_room(*index.file, index.shape.rank);
}

// The entry of a chunk is made when the chunk is stored: libhdf5 would not take one without an address for missing.
Status make_place(OpenChunkIndex& index, const ChunkKey& chunk, Phase /*phase*/) noexcept {
    H5MOTE_TRY(check_room(index));
    FileState& file = *index.file;
    if (file.foreign()->btree_k.chunk > 1) {
        return Status::ok;
    }
    // Where nodes have two children, each new entry may make the tree one level deeper, and as many chunks may wait for
    // theirs as the chunk cache holds. None of them must find the tree too deep when it is stored.
    ChunkLocation location;
    H5MOTE_TRY(find_chunk(index, chunk, location));
    const std::uint64_t waiting = quotient_of(file.chunks.budget(), index.shape.chunk_bytes);
    constexpr unsigned kMost = BTree1Changes::kMostLevels;
    return location.address != kUndefinedAddress
               ? Status::ok
               : tree(index).check_height(waiting < kMost ? kMost - static_cast<unsigned>(waiting) : 0);
}

// Enters a chunk, or its new location. Without an address the chunk is removed. No header counts the tree's entries, so
// that an entry of a chunk within the extent has nothing to wait for that others do not wait for.
Status set(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address /*stride*/,
           std::uint32_t /*count*/, Phase phase) noexcept {
    Context& context = index.file->context;
    Index& opened = index.as<Index>();
    auto* const change = context.create<ChunkBTree1Changes>(MemoryKind::handle, opened.tree, element_size(index),
                                                            phase == Phase::element ? Phase::index : phase);
    if (change == nullptr) {
        return Status::out_of_memory;
    }
    const ChunkPlace place(chunk);
    ChunkLocation entered = location;
    index.add_size(entered);
    const bool removes = location.address == kUndefinedAddress;
    const Status status = removes ? change->remove(place.scaled()) : change->set(place.scaled(), entered);
    if (change->moved()) {
        opened.moved = change;
        return status;
    }
    context.destroy(MemoryKind::handle, change);
    return removes && status == Status::not_found ? Status::ok : status;
}

Address moved_to(OpenChunkIndex& index) noexcept {
    const ChunkBTree1Changes* const change = index.as<Index>().moved;
    return change == nullptr ? kUndefinedAddress : change->root();
}

void settle(OpenChunkIndex& index, bool stored) noexcept {
    ChunkBTree1Changes*& change = index.as<Index>().moved;
    if (stored) {
        change->apply();
    } else {
        change->undo();
    }
    index.file->context.destroy(MemoryKind::handle, change);
    change = nullptr;
}

Status give_chunks(OpenChunkIndex& index, std::uint64_t* scaled, Disposal& disposal) noexcept {
    ChunkBTree1::Cursor cursor;
    ChunkLocation location;
    Status status = Status::ok;
    while ((status = tree(index).next(cursor, scaled, location)) == Status::ok) {
        index.add_size(location);
        H5MOTE_TRY(disposal.give(location.address, location.size, SpaceKind::raw_data));
    }
    return status == Status::not_found ? Status::ok : status;
}

Status dispose(OpenChunkIndex& index, Disposal& disposal) noexcept {
    if (disposal.takes_chunks()) {
        Context& context = index.file->context;
        const std::size_t size = index.shape.rank * sizeof(std::uint64_t);
        auto* const scaled = static_cast<std::uint64_t*>(context.allocate(MemoryKind::other, size));
        if (scaled == nullptr) {
            return Status::out_of_memory;
        }
        const Status status = give_chunks(index, scaled, disposal);
        context.release(MemoryKind::other, scaled, size);
        H5MOTE_TRY(status);
    }
    return BTree1Changes::dispose(tree(index), disposal);
}

constexpr ChunkIndexChanges kChanges = {
    &create, nullptr,  &find_chunk, nullptr, &make_place, &set,    nullptr,     nullptr,
    nullptr, &dispose, nullptr,     nullptr, &moved_to,   &settle, &check_room,
};

}  // namespace

const ChunkIndexFormat formats::chunk_btree1 = {
    &open, nullptr, &find, &next, nullptr, &space, true, changes_if_written(kChanges),
};

}  // namespace h5mote

#endif
