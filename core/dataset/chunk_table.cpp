#include "chunk_table.hpp"

#include "disposal.hpp"
#include "header.hpp"

namespace h5mote {

Status ChunkTable::create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept {
    file_ = &file;
    kind_ = layout.index;
    shape_ = shape;
    const std::uint8_t width = size_width(file, layout, shape);
    if (!is(ChunkIndex::fixed_array)) {
        return make<ExtensibleArray>().create(file, layout.array, width, layout.address);
    }
    // A dataset that can never have a chunk has no index: libhdf5 cannot delete a fixed array of no elements.
    if (shape.chunks == 0) {
        layout.address = kUndefinedAddress;
        return Status::ok;
    }
    return make<FixedArray>().create(file, shape.chunks, layout.array.page_bits, width, layout.address);
}

Status ChunkTable::open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape,
                        const std::uint64_t* chunk_dims) noexcept {
    file_ = &file;
    kind_ = layout.index;
    shape_ = shape;
    if (is(ChunkIndex::single) || is(ChunkIndex::implicit)) {
        make<ChunkLocation>() = {layout.address, layout.single_size, layout.single_mask};
        return Status::ok;
    }
    // Without an address there is no index yet: libhdf5 creates it together with the first chunk.
    missing_ = layout.address == kUndefinedAddress;
    if (missing_) {
        return Status::ok;
    }
    const std::uint8_t width = size_width(file, layout, shape);
    if (is(ChunkIndex::fixed_array)) {
        return make<FixedArray>().open(file, layout.address, width);
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (is(ChunkIndex::btree1)) {
            make<ChunkBTree1>().open(file, layout.address, shape.rank, chunk_dims);
            return Status::ok;
        }
        if (is(ChunkIndex::btree2)) {
            return open_btree2(layout);
        }
    }
    // LayoutMessage::decode() accepts no other index.
    return make<ExtensibleArray>().open(file, layout.address, width);
}

void ChunkTable::discard_fresh(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept {
    ChunkTable table;
    if (layout.index == ChunkIndex::extensible_array && table.open(file, layout, shape) == Status::ok) {
        discard_fresh_block(file, table.extensible().index_block_address());
    }
    discard_fresh_block(file, layout.address);
}

Status ChunkTable::find(Address index, ChunkLocation& location) noexcept {
    if (missing_) {
        location = ChunkLocation{};
        return Status::ok;
    }
    if (is(ChunkIndex::extensible_array)) {
        return extensible().find(index, location);
    }
    if (is(ChunkIndex::fixed_array)) {
        return fixed().find(index, location);
    }
    location = single();
    if (is(ChunkIndex::implicit) && location.address != kUndefinedAddress) {
        location.address += index * shape_.chunk_bytes;
    }
    return Status::ok;
}

Status ChunkTable::next(Address& index, ChunkLocation& location) noexcept {
    if (missing_) {
        return Status::not_found;
    }
    if (is(ChunkIndex::extensible_array)) {
        return extensible().next(index, location);
    }
    const std::uint64_t chunks = is(ChunkIndex::fixed_array) ? fixed().size() : shape_.chunks;
    for (; index < chunks; ++index) {
        H5MOTE_TRY(find(index, location));
        if (location.address != kUndefinedAddress) {
            return Status::ok;
        }
        // Each array element and each chunk takes file space. If there are more of them than the file has bytes, they
        // cannot have been stored: do not search on.
        if (chunks > file_->space.end()) {
            return Status::not_found;
        }
    }
    return Status::not_found;
}

Status ChunkTable::set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
                       Phase phase) noexcept {
    note_change();
    if (missing_) {
        H5MOTE_TRY(create_missing());
    }
    if (is(ChunkIndex::extensible_array)) {
        return extensible().set(index, location, stride, count, phase);
    }
    if (is(ChunkIndex::fixed_array)) {
        return fixed().set(index, location);
    }
    // place_all() enters all chunks of an implicit index at once: a single one can be neither entered nor removed.
    return is(ChunkIndex::single) ? set_single(location)
                                  : file_->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, index);
}

Status ChunkTable::dispose(Disposal& disposal) noexcept {
    if (missing_) {
        return Status::ok;
    }
    if (is(ChunkIndex::extensible_array)) {
        return extensible().dispose(disposal, shape_.chunk_bytes);
    }
    if (is(ChunkIndex::fixed_array)) {
        return fixed().dispose(disposal, shape_.chunk_bytes);
    }
    if (is(ChunkIndex::single)) {
        return disposal.give(single().address, shape_.filtered ? single().size : shape_.chunk_bytes);
    }
    if (by_coordinates()) {
        return file_->context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index,
                                          static_cast<std::uint32_t>(kind_));
    }
    std::uint64_t bytes = 0;
    return checked_multiply<std::uint64_t>(shape_.chunks, shape_.chunk_bytes, bytes)
               ? disposal.give(single().address, narrow(bytes))
               : file_->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file);
}

Status ChunkTable::read_layout(LayoutMessage& layout) noexcept {
    MessageIterator message(*file_, shape_.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    return layout.decode(file_->context, file_->shape(), message.body());
}

// Stores the address of the index, the last field of the layout message. The index must be complete before.
Status ChunkTable::store_layout(const LayoutMessage& layout) noexcept {
    MessageIterator message(*file_, shape_.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    const unsigned width = file_->shape().sizeof_addr;
    return message.store(message.body().size() - width, layout.address, width);
}

Status ChunkTable::create_missing() noexcept {
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    H5MOTE_TRY(create(*file_, layout, shape_));
    const Status status = store_layout(layout);
    if (status != Status::ok) {
        discard_fresh(*file_, layout, shape_);
        return status;
    }
    missing_ = false;
    return Status::ok;
}

// Copies the whole array: each of its blocks holds the address of the array's header, so the header cannot move alone.
Status ChunkTable::renew() noexcept {
    const bool is_fixed = is(ChunkIndex::fixed_array);
    if (!is_array() || missing_ || (is_fixed && shape_.chunks == 0) ||
        (is_fixed ? fixed().switches_at_once() : extensible().switches_at_once())) {
        return Status::ok;
    }
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    ChunkTable copy;
    H5MOTE_TRY(copy.create(*file_, layout, shape_));
    Status status = copy.enter_all(*this);
    if (status == Status::ok) {
        status = store_layout(layout);
    }
    // If disposing fails, file space is lost and nothing else, so the error is ignored.
    Disposal index(*file_, false, false);
    if (status != Status::ok) {
        (void)copy.dispose(index);
        return status;
    }
    (void)dispose(index);
    note_change();
    return open(*file_, layout, shape_);
}

Status ChunkTable::enter_all(ChunkTable& from) noexcept {
    ChunkLocation location;
    Status status = Status::ok;
    for (Address index = 0; (status = from.next(index, location)) == Status::ok; ++index) {
        H5MOTE_TRY(set(index, location, 0, 1));
    }
    return status == Status::not_found ? Status::ok : status;
}

Status ChunkTable::make_place(Address index, Phase phase) noexcept {
    if (!is(ChunkIndex::extensible_array)) {
        // Entering the chunk's present location once more creates the index blocks that set() will need.
        ChunkLocation location;
        H5MOTE_TRY(find(index, location));
        return set(index, location, 0, 1, phase);
    }
    note_change();
    return missing_ ? create_missing() : extensible().make_place(index, phase);
}

Status ChunkTable::free_run(Address index, std::uint32_t& count) noexcept {
    return extensible().free_run(index, count);
}

bool ChunkTable::wants_all(std::uint64_t& bytes) const noexcept {
    return is(ChunkIndex::implicit) && single().address == kUndefinedAddress &&
           checked_multiply<std::uint64_t>(shape_.chunks, shape_.chunk_bytes, bytes);
}

Status ChunkTable::place_all(Address address) noexcept {
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    layout.address = address;
    note_change();
    H5MOTE_TRY(store_layout(layout));
    single().address = address;
    return Status::ok;
}

// The layout message itself locates a single chunk, at its end: [size | filter mask] | address.
Status ChunkTable::set_single(const ChunkLocation& location) noexcept {
    MessageIterator message(*file_, shape_.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    LayoutMessage layout;
    H5MOTE_TRY(layout.decode(file_->context, file_->shape(), message.body()));
    const FileShape shape = file_->shape();
    std::size_t at = 6U + std::size_t{layout.dimensionality} * layout.dim_width;
    if ((layout.flags & LayoutMessage::kSingleFiltered) != 0) {
        H5MOTE_TRY(message.store(at, location.size, shape.sizeof_size));
        at += shape.sizeof_size;
        H5MOTE_TRY(message.store(at, location.mask, 4));
        at += 4;
    }
    H5MOTE_TRY(message.store(at, location.address, shape.sizeof_addr));
    single() = location;
    return Status::ok;
}

}  // namespace h5mote
