#include "chunk_table.hpp"

#include "checked.hpp"

namespace h5mote {

Status ChosenIndexFormat::choose(Context& context, ChunkIndex kind) noexcept {
    const Formats& formats = context.formats();
    switch (kind) {
        case ChunkIndex::single:
        case ChunkIndex::implicit:
            format_ = formats.unindexed_chunks;
            break;
        case ChunkIndex::fixed_array:
            format_ = formats.fixed_array;
            break;
        case ChunkIndex::btree1:
            format_ = formats.chunk_btree1;
            break;
        case ChunkIndex::btree2:
            format_ = formats.chunk_btree2;
            break;
        default:  // LayoutMessage::decode() accepts no other index
            format_ = formats.extensible_array;
            break;
    }
    return chosen() ? Status::ok
                    : context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index,
                                          static_cast<std::uint32_t>(kind));
}

Status ChunkTable::begin(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept {
    index_.file = &file;
    index_.kind = layout.index;
    index_.shape = shape;
    if (shape.filtered) {
        index_.width = H5MOTE_ALL_FORMATS != 0 && layout.version > 4 ? file.shape().sizeof_size
                                                                     : ChunkElementFormat::width_for(shape.chunk_bytes);
    }
    return index_.choose(file.context, layout.index);
}

Status ChunkTable::create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept {
    H5MOTE_TRY(begin(file, layout, shape));
    return changes().create(index_, layout);
}

Status ChunkTable::open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape,
                        const std::uint64_t* chunk_dims) noexcept {
    // Without an address there is no index yet: libhdf5 creates it together with the first chunk.
    index_.missing = layout.address == kUndefinedAddress;
    index_.set_chunk_dims(chunk_dims);
    H5MOTE_TRY(begin(file, layout, shape));
    return index_.missing ? Status::ok : format().open(index_, layout, chunk_dims);
}

void ChunkTable::discard_fresh(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept {
    ChunkTable table;
    table.index_.missing = true;  // unless open() finds it, there is nothing to close
    if (table.begin(file, layout, shape) == Status::ok && table.changes().discard != nullptr &&
        table.open(file, layout, shape) == Status::ok && !table.index_.missing) {
        table.changes().discard(table.index_);
    }
    discard_fresh_block(file, layout.address);
}

Status ChunkTable::find(const ChunkKey& chunk, ChunkLocation& location) noexcept {
    if (index_.missing) {
        location = ChunkLocation{};
        return Status::ok;
    }
    return changes().find(index_, chunk, location);
}

Status ChunkTable::next(ChunkNumber& number, ChunkLocation& location) noexcept {
    return index_.missing ? Status::not_found : changes().next(index_, number, location);
}

Status ChunkTable::set(const ChunkKey& chunk, const ChunkLocation& location, Address stride, std::uint32_t count,
                       Phase phase) noexcept {
    note_change();
    if (index_.missing && changes().create != nullptr) {
        H5MOTE_TRY(create_missing());
    }
    Status status = changes().set(index_, chunk, location, stride, count, phase);
    if (status == Status::ok && changes().moved_to != nullptr) {
        const Address address = changes().moved_to(index_);
        if (address != kUndefinedAddress) {
            // The index leads to the chunk before an extent counts it, as if the index had changed where it is.
            status = store_layout(address, phase);
            changes().settle(index_, status == Status::ok);
        }
    }
    return status;
}

Status ChunkTable::dispose(Disposal& disposal) noexcept {
    if (index_.missing) {
        return Status::ok;
    }
    return can_change() ? changes().dispose(index_, disposal)
                        : index_.file->context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index,
                                                           static_cast<std::uint32_t>(kind()));
}

Status ChunkTable::read_layout(LayoutMessage& layout) noexcept {
    FileState& file = *index_.file;
    MessageIterator message(file, index_.shape.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    return layout.decode(file.context, file.shape(), message.body());
}

// Stores the address of the index, which must be complete before.
Status ChunkTable::store_layout(Address address, Phase phase) noexcept {
    FileState& file = *index_.file;
    MessageIterator message(file, index_.shape.dataset);
    H5MOTE_TRY(message.next(MessageType::layout));
    return message.store(LayoutMessage::index_offset(message.body(), file.shape()), address, file.shape().sizeof_addr,
                         phase);
}

Status ChunkTable::create_missing() noexcept {
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    Status status = changes().create(index_, layout);
    if (status == Status::ok) {
        status = store_layout(layout.address, Phase::object);
        if (status != Status::ok) {
            discard_fresh(*index_.file, layout, index_.shape);
        }
    }
    index_.missing = status != Status::ok;
    if (index_.missing && format().close != nullptr) {
        format().close(index_);
    }
    return status;
}

// Copies the whole of an array: each of its blocks holds the address of the array's header, so the header cannot move
// alone.
Status ChunkTable::renew() noexcept {
    if (index_.freed()) {
        // Nothing may lead to that space when the extent has elements again.
        H5MOTE_TRY(changes().set(index_, 0, ChunkLocation{}, 0, 1, Phase::object));
        H5MOTE_TRY(index_.file->order());
        index_.set_freed(false);
    }
    if (index_.missing || changes().switches_at_once == nullptr || changes().switches_at_once(index_)) {
        return Status::ok;
    }
    FileState& file = *index_.file;
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    if (changes().copy_header != nullptr) {
        return move_header(layout);
    }
    ChunkTable copy;
    H5MOTE_TRY(copy.create(file, layout, index_.shape));
    Status status = copy.enter_all(*this);
    if (status == Status::ok) {
        status = store_layout(layout.address, Phase::object);
    }
    // If disposing fails, file space is lost and nothing else, so the error is ignored.
    Disposal blocks(file, false, false);
    if (status != Status::ok) {
        (void)copy.dispose(blocks);
        return status;
    }
    (void)dispose(blocks);
    note_change();
    return open(file, layout, index_.shape);
}

Status ChunkTable::move_header(LayoutMessage& layout) noexcept {
    const Address old = layout.address;
    H5MOTE_TRY(changes().copy_header(index_, layout));
    const Status status = store_layout(layout.address, Phase::object);
    const bool moved = status == Status::ok;
    changes().use_header(index_, moved ? layout.address : old, moved ? old : layout.address);
    note_change();
    return status;
}

Status ChunkTable::enter_all(ChunkTable& from) noexcept {
    ChunkLocation location;
    Status status = Status::ok;
    for (ChunkNumber number = 0; (status = from.next(number, location)) == Status::ok; ++number) {
        H5MOTE_TRY(set(number, location, 0, 1));
    }
    return status == Status::not_found ? Status::ok : status;
}

Status ChunkTable::make_place(const ChunkKey& chunk, Phase phase) noexcept {
    if (changes().make_place == nullptr) {
        ChunkLocation location;
        H5MOTE_TRY(find(chunk, location));
        return set(chunk, location, 0, 1, phase);
    }
    note_change();
    return index_.missing ? create_missing() : changes().make_place(index_, chunk, phase);
}

bool ChunkTable::wants_all(std::uint64_t& bytes) const noexcept {
    return kind() == ChunkIndex::implicit && index_.missing &&
           checked_multiply<std::uint64_t>(index_.shape.chunks, index_.shape.chunk_bytes, bytes);
}

Status ChunkTable::check_space() noexcept {
    std::uint64_t bytes = 0;
    return checked_multiply<std::uint64_t>(index_.shape.chunks, index_.shape.chunk_bytes, bytes) &&
                   bytes <= index_.file->space.end()
               ? Status::ok
               : index_.file->context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file);
}

Status ChunkTable::place_all(Address address) noexcept {
    LayoutMessage layout;
    H5MOTE_TRY(read_layout(layout));
    layout.address = address;
    note_change();
    H5MOTE_TRY(store_layout(layout.address, Phase::object));
    return open(*index_.file, layout, index_.shape);
}

// ---- reading -----------------------------------------------------------------------------------------------------

Status ChunkTable::find(ChunkLookup& lookup, const ChunkKey& chunk, ChunkLocation& location) noexcept {
    location = ChunkLocation{};
    if (index_.missing) {
        return Status::ok;
    }
    const Status status = format().find(index_, lookup, chunk, location);
    index_.add_size(location);
    return status;
}

Status ChunkTable::next(ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& number, std::uint64_t* scaled,
                        ChunkLocation& location) noexcept {
    location = ChunkLocation{};
    if (index_.missing) {
        return Status::not_found;
    }
    return format().next != nullptr ? format().next(index_, lookup, cursor, number, scaled, location)
                                    : next_element(lookup, cursor, number, location);
}

// Blocks of the array that were never made are passed as a whole. Beyond what an array of limited size can hold there
// is no block, not even an empty one: then `block` has no elements.
Status ChunkTable::next_element(ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& number,
                                ChunkLocation& location) noexcept {
    const Address end = format().end(index_);
    while (cursor.next < end) {
        H5MOTE_TRY(format().find(index_, lookup, cursor.next, location));
        const ElementBlock& block = lookup.block;
        if (block.address == kUndefinedAddress) {
            // The sum may be beyond what an Address can express.
            const std::uint64_t behind = std::uint64_t{block.first} + block.count;
            if (behind >= end || behind <= cursor.next) {
                break;
            }
            cursor.next = static_cast<ChunkNumber>(behind);
            continue;
        }
        number = cursor.next++;
        if (location.address != kUndefinedAddress) {
            index_.add_size(location);
            return Status::ok;
        }
    }
    return Status::not_found;
}

Status ChunkTable::space(std::uint64_t& bytes) noexcept {
    bytes = 0;
    return index_.missing ? Status::ok : format().space(index_, bytes);
}

}  // namespace h5mote
