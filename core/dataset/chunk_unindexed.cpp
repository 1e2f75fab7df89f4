// H5D (H5D_COPS_SINGLE, H5D_COPS_NONE) - chunks that need no index: a single one, which the layout message locates
// itself, and the implicit index, all chunks up to the maximum extent one behind the other.

#include "checked.hpp"
#include "numbered_chunks.hpp"

#if H5MOTE_FIXED_CHUNKS

namespace h5mote {
namespace {

bool is_implicit(const OpenChunkIndex& index) noexcept { return index.kind == ChunkIndex::implicit; }

// Of a single chunk: that chunk. Of an implicit index: the first chunk.
ChunkLocation& first(OpenChunkIndex& index) noexcept { return index.as<ChunkLocation>(); }

// The bytes of all chunks of an implicit index; false: 64 bits do not hold them.
bool all_bytes(const OpenChunkIndex& index, std::uint64_t& bytes) noexcept {
    return checked_multiply<std::uint64_t>(index.shape.chunks, index.shape.chunk_bytes, bytes);
}

Status open(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* /*chunk_dims*/) noexcept {
    index.make<ChunkLocation>() = {layout.address, layout.single_size, layout.single_mask};
    return Status::ok;
}

Status find_number(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    location = first(index);
    if (is_implicit(index)) {
        location.address += chunk.number * index.shape.chunk_bytes;
    }
    return Status::ok;
}

Status find(OpenChunkIndex& index, ChunkLookup& /*lookup*/, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    return find_number(index, chunk, location);
}

Status next(OpenChunkIndex& index, ChunkLookup& /*lookup*/, ChunkCursor& cursor, ChunkNumber& number,
            std::uint64_t* /*scaled*/, ChunkLocation& location) noexcept {
    const Address address = first(index).address;
    if (cursor.next >= (is_implicit(index) ? index.shape.chunks : 1)) {
        return Status::not_found;
    }
    // The chunks of an implicit index lie one behind the other: check all of them at once.
    std::uint64_t bytes = 0;
    if (is_implicit(index) && (!all_bytes(index, bytes) || !index.file->contains(address, narrow(bytes)))) {
        return index.file->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    number = cursor.next++;
    const Status status = find_number(index, number, location);
    index.add_size(location);
    return status;
}

Status space(OpenChunkIndex& /*index*/, std::uint64_t& /*bytes*/) noexcept { return Status::ok; }

Status next_number(OpenChunkIndex& index, ChunkNumber& number, ChunkLocation& location) noexcept {
    return next_chunk(index, &find_number, index.shape.chunks, number, location);
}

// The layout message itself locates a single chunk, at its end: [size | filter mask] | address. ChunkTable::place_all()
// enters all chunks of an implicit index at once: a single one can be neither entered nor removed.
Status set(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address /*stride*/,
           std::uint32_t /*count*/, Phase /*phase*/) noexcept {
    FileState& file = *index.file;
    if (is_implicit(index)) {
        return file.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, chunk.number);
    }
    MessageIterator message(file, index.shape.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file.context, file.shape(), message.body()));
    const FileShape shape = file.shape();
    std::size_t at = 6U + std::size_t{layout.dimensionality} * layout.dim_width;
    if ((layout.flags & LayoutMessage::kSingleFiltered) != 0) {
        H5MOTE_TRY(message.store(at, location.size, shape.sizeof_size));
        at += shape.sizeof_size;
        H5MOTE_TRY(message.store(at, location.mask, 4));
        at += 4;
    }
    H5MOTE_TRY(message.store(at, location.address, shape.sizeof_addr));
    index.make<ChunkLocation>() = location;
    index.missing = location.address == kUndefinedAddress;
    return Status::ok;
}

Status dispose(OpenChunkIndex& index, Disposal& disposal) noexcept {
    const ChunkLocation& chunk = first(index);
    if (!is_implicit(index)) {
        return disposal.give(chunk.address, index.shape.filtered ? chunk.size : index.shape.chunk_bytes,
                             SpaceKind::raw_data);
    }
    std::uint64_t bytes = 0;
    return all_bytes(index, bytes) ? disposal.give(chunk.address, narrow(bytes), SpaceKind::raw_data)
                                   : index.file->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file);
}

constexpr ChunkIndexChanges kChanges = {
    nullptr, nullptr, &find_number, &next_number, nullptr, &set, nullptr, nullptr, nullptr, &dispose,
};

}  // namespace

const ChunkIndexFormat formats::unindexed_chunks = {
    &open, nullptr, &find, &next, nullptr, &space, false, changes_if_written(kChanges),
};

}  // namespace h5mote

#endif
