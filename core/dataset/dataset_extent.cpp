// Making a dataset smaller, and clearing what lies beyond its extent: also sessions that a power cut ended may have
// written there.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "dataset_state.hpp"

#include <cstring>

namespace h5mote {

// The number of the first chunk that may reach beyond the extent. If all dimensions have their maximum size except the
// one that counts slowest in the index, the chunks before that number lie within the extent; otherwise any chunk may
// reach beyond it, and the number is 0.
ChunkNumber DatasetState::first_beyond(const std::uint64_t* sizes) noexcept {
    unsigned slowest = 0;
    for (unsigned i = 0; i < rank(); ++i) {
        slowest = max_dims()[i] == kUnlimited ? i : slowest;
    }
    std::uint64_t below = 1;
    for (unsigned i = 0; i < rank(); ++i) {
        if (i != slowest) {
            below = sizes[i] == max_dims()[i] ? below * chunks_along(max_dims()[i], chunk_dims()[i]) : 0;
        }
    }
    return narrow(quotient_of(sizes[slowest], chunk_dims()[slowest]) * below);
}

Status DatasetState::clear_beyond(const std::uint64_t* sizes, bool parts, bool grown) noexcept {
    const std::uint64_t* const filled = grown ? sizes : nullptr;
    // The coordinates of the chunk, and those of its first element.
    const std::size_t size = rank() * 2 * sizeof(std::uint64_t);
    auto* scaled = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (scaled == nullptr) {
        return Status::out_of_memory;
    }
    Status status = Status::ok;
    if (H5MOTE_ALL_FORMATS != 0 && table_.by_coordinates()) {
        status = clear_by_coordinates(scaled, parts, filled);
    } else if (H5MOTE_FIXED_CHUNKS != 0 && !table_.can_remove()) {
        status = clear_implicit(sizes == nullptr ? max_dims() : sizes, scaled, filled);
    } else {
        for (ChunkNumber number = first_beyond(dims()); status == Status::ok; ++number) {
            ChunkLocation location;
            status = table_.next(number, location);
            if (status == Status::ok) {
                bool removed = false;
                scaled_of(number, scaled);
                status = clear_chunk({number, scaled}, location, scaled, parts, filled, removed);
            }
        }
    }
    file_->context.release(MemoryKind::other, scaled, size);
    return status == Status::not_found ? Status::ok : status;
}

// Clears the chunks that have elements within `sizes`, and do not lie wholly within the extent. All of an implicit
// index may be very long, and what lies beyond both is cleared when the dataset grows so far. Chunks that only the
// maximum size cuts show nothing beyond it, and count as whole.
//
// These chunks are as many boxes as there are dimensions. In box k, the coordinates before k are those of whole chunks,
// coordinate k is beyond these, and those behind k are any.
Status DatasetState::clear_implicit(const std::uint64_t* sizes, std::uint64_t* scaled,
                                    const std::uint64_t* filled) noexcept {
    if (!table_.has_storage()) {
        return Status::ok;
    }
    H5MOTE_TRY(table_.check_space());
    const auto whole = [this](unsigned i) {
        return dims()[i] == max_dims()[i] ? chunks_along(max_dims()[i], chunk_dims()[i])
                                          : quotient_of(dims()[i], chunk_dims()[i]);
    };
    const auto behind = [&](unsigned i, unsigned k) {
        const std::uint64_t size = sizes[i] < max_dims()[i] ? sizes[i] : max_dims()[i];
        return i < k ? whole(i) : chunks_along(size, chunk_dims()[i]);
    };
    for (unsigned k = 0; k < rank(); ++k) {
        bool more = true;
        for (unsigned i = 0; i < rank(); ++i) {
            scaled[i] = i == k ? whole(i) : 0;
            more = more && scaled[i] < behind(i, k);
        }
        while (more) {
            const ChunkKey key = key_of(scaled);
            ChunkLocation location;
            bool removed = false;
            H5MOTE_TRY(table_.find(key, location));
            H5MOTE_TRY(clear_chunk(key, location, scaled, true, filled, removed));
            more = false;
            for (unsigned i = rank(); i-- > 0 && !more;) {
                more = ++scaled[i] < behind(i, k);
                scaled[i] = more ? scaled[i] : i == k ? whole(i) : 0;
            }
        }
    }
    return Status::ok;
}

// A record that is removed leaves its position to the next one. In a damaged index it may be found at its position, but
// not by its coordinates, and then it stays.
Status DatasetState::clear_by_coordinates(std::uint64_t* scaled, bool parts, const std::uint64_t* filled) noexcept {
    auto* lookup = file_->context.create<ChunkLookup>(MemoryKind::other);
    if (lookup == nullptr) {
        return Status::out_of_memory;
    }
    ChunkCursor cursor;
    Address gone = kUndefinedAddress;
    Status status = Status::ok;
    while (status == Status::ok) {
        ChunkNumber number = 0;
        ChunkLocation location;
        status = table_.next(*lookup, cursor, number, scaled, location);
        if (status == Status::ok && location.address == gone) {
            status = file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
        }
        if (status == Status::ok) {
            bool removed = false;
            status = clear_chunk(key_of(scaled), location, scaled, parts, filled, removed);
            if (removed) {
                cursor.step_back();
            }
            gone = removed ? location.address : kUndefinedAddress;
        }
    }
    file_->context.destroy(MemoryKind::other, lookup);
    return status;
}

// `scaled`: the chunk's coordinates. Behind them is room for those of its first element.
Status DatasetState::clear_chunk(const ChunkKey& key, const ChunkLocation& location, std::uint64_t* scaled, bool parts,
                                 const std::uint64_t* filled, bool& removed) noexcept {
    std::uint64_t* const first = scaled + rank();
    bool whole = false;
    bool part = false;
    for (unsigned i = 0; i < rank(); ++i) {
        first[i] = scaled[i] * chunk_dims()[i];
        whole = whole || first[i] >= dims()[i];
        part = part || dims()[i] - first[i] < chunk_dims()[i];
    }
    if (!whole && !part) {
        return Status::ok;
    }
    if (whole && table_.can_remove()) {
        // In memory it would be written once more, into space that is no longer its own.
        if (ChunkSlot* const slot = cached_chunk(key)) {
            evicted(*slot);
            file_->chunks.drop(*slot);
        }
        H5MOTE_TRY(table_.set(key, ChunkLocation{}, 0, 1));
        release_chunk(location);
        removed = true;
        return Status::ok;
    }
    if (!parts) {
        return Status::ok;
    }
    ChunkSlot* slot = nullptr;
    if (fits_cache()) {
        H5MOTE_TRY(chunk(key, false, slot));
    }
    // Fill each row of the chunk from its first element beyond the extent on. Rows whose parts follow each other are
    // filled together: with short rows, and on flash, which writes pages, one by one would take very long.
    const std::uint64_t row = chunk_dims()[rank() - 1];
    const Address row_bytes = narrow(row * element_size_);
    Address run = 0;      // where the part of the chunk that waits to be filled begins ...
    Address run_end = 0;  // ... and ends
    for (Address row_at = 0; row_at < chunk_bytes_; row_at += row_bytes) {
        const std::uint64_t last = dims()[rank() - 1];
        std::uint64_t from = last < first[rank() - 1] ? 0 : last - first[rank() - 1];
        std::uint64_t rest = row_at / row_bytes;
        for (unsigned i = rank() - 1; i-- > 0;) {
            std::uint64_t within = 0;
            rest = divide(rest, chunk_dims()[i], within);
            from = first[i] + within >= dims()[i] ? 0 : from;
        }
        if (from >= row) {
            continue;
        }
        const Address part_at = row_at + narrow(from * element_size_);
        if (part_at != run_end) {
            H5MOTE_TRY(fill_part(location, slot, run, run_end, scaled, filled));
            run = part_at;
        }
        run_end = row_at + row_bytes;
    }
    return fill_part(location, slot, run, run_end, scaled, filled);
}

// Fills a part of a chunk, in memory if it has a slot there.
Status DatasetState::fill_part(const ChunkLocation& location, ChunkSlot* slot, Address from, Address to,
                               const std::uint64_t* scaled, const std::uint64_t* filled) noexcept {
    if (from == to) {
        return Status::ok;
    }
    const FillPlace place{scaled, filled, from / element_size_};
    if (slot == nullptr) {
        return fill_space(location.address + from, to - from, place);
    }
    H5MOTE_TRY(fill_stored(slot->data() + from, static_cast<std::size_t>((to - from) / element_size_), place));
    slot->touch(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
    return Status::ok;
}

// Rows that count have to be on the storage before the sizes that count them, and what lies beyond the new sizes is
// cleared after them: the index and the chunks hold all rows of the old extent until the new one is durable.
Status DatasetState::shrink(const std::uint64_t* wanted) noexcept {
    H5MOTE_TRY(is_chunked() ? table_.check_room() : Status::ok);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // Chunks that go change blocks of the index, which the next commit has to write.
        H5MOTE_TRY(file_->space.keep_cache(narrow(file_->cache.budget())));
        // Chunks in memory are written, those of other datasets as well: what their indexes need was secured for blocks
        // that can change where they are, and order() makes these blocks durable, so that a change takes a copy.
        H5MOTE_TRY(file_->is_atomic() ? Status::ok : file_->chunks.evict_all());
    }
    const std::size_t size = rank() * sizeof(std::uint64_t);
    auto* const old = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (old == nullptr) {
        return Status::out_of_memory;
    }
    std::memcpy(old, dims(), size);
    const auto store_extent = [this] { return edges_unfiltered() ? edges().store(*this) : store_dims(); };
    Status status = edges_unfiltered() ? edges().adapt(*this, wanted) : store_chunks();
    if (status == Status::ok) {
        set_dims(wanted);
        status = store_extent();
        if (status == Status::ok) {
            status = file_->order();
        }
        if (status != Status::ok) {
            // In the header, too, which the next commit writes for whatever reason.
            set_dims(old);
            (void)store_extent();
        }
    }
    if (status == Status::ok) {
        // From here on the dataset is smaller. What cannot be cleared now is cleared later, and then all that lies
        // beyond the extent if an earlier change left something.
        const bool left = uncleared_;
        cleared_ = false;
        uncleared_ = true;
        (void)clear_cut(H5MOTE_FIXED_CHUNKS == 0 || left ? nullptr : old);
    }
    file_->context.release(MemoryKind::other, old, size);
    H5MOTE_TRY(status);
    // What this leaves unfiltered, for want of memory for instance, can be read, and the next flush filters it.
    (void)(edges_unfiltered() ? edges().filter(*this) : Status::ok);
    return Status::ok;
}

Status DatasetState::store_chunks() noexcept {
    count_appended();
    return file_->chunks.write_back(*this);
}

// Frees chunks in memory that lie wholly beyond the extent, as rows that could not be added leave them. To write them
// might take space that there is not.
Status DatasetState::drop_beyond() noexcept {
    const std::size_t size = rank() * sizeof(std::uint64_t);
    auto* const numbers = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (numbers == nullptr) {
        return Status::out_of_memory;
    }
    count_appended();
    file_->chunks.drop_if(*this, [&](ChunkSlot& slot) {
        const std::uint64_t* scaled = numbers;
        if (slot.coordinates != 0) {
            scaled = slot.key().scaled();
        } else {
            scaled_of(slot.number, numbers);
        }
        bool beyond = false;
        for (unsigned i = 0; i < rank(); ++i) {
            beyond = beyond || scaled[i] * chunk_dims()[i] >= dims()[i];
        }
        return beyond;
    });
    file_->context.release(MemoryKind::other, numbers, size);
    return Status::ok;
}

Status DatasetState::clear_cut(const std::uint64_t* sizes) noexcept {
    H5MOTE_TRY(drop_beyond());
    H5MOTE_TRY(store_chunks());
    file_->chunks.drop_all(*this);
    tail_ = nullptr;
    at = end = nullptr;
    prepared_ = unfilled_end_ = 0;
    begun_ = rank() == 1 ? narrow(divide_up(dims()[0], chunk_dims()[0])) : 0;
    H5MOTE_TRY(clear_beyond(H5MOTE_FIXED_CHUNKS == 0 ? nullptr : sizes));
    cleared_ = true;
    uncleared_ = false;
    return Status::ok;
}

void DatasetState::withdraw_rows(std::uint64_t rows) noexcept {
    dims()[0] = rows;
    dims_changed_ = true;
    cleared_ = false;
    uncleared_ = true;
}

}  // namespace h5mote
