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
ChunkNumber DatasetState::first_beyond() noexcept {
    unsigned slowest = 0;
    for (unsigned i = 0; i < rank(); ++i) {
        slowest = max_dims()[i] == kUnlimited ? i : slowest;
    }
    std::uint64_t below = 1;
    for (unsigned i = 0; i < rank(); ++i) {
        if (i != slowest) {
            below = dims()[i] == max_dims()[i] ? below * chunks_along(max_dims()[i], chunk_dims()[i]) : 0;
        }
    }
    return narrow(quotient_of(dims()[slowest], chunk_dims()[slowest]) * below);
}

Status DatasetState::clear_beyond() noexcept {
    // The coordinates of the chunk, and those of its first element.
    const std::size_t size = rank() * 2 * sizeof(std::uint64_t);
    auto* scaled = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (scaled == nullptr) {
        return Status::out_of_memory;
    }
    Status status = Status::ok;
    if (H5MOTE_ALL_FORMATS != 0 && table_.by_coordinates()) {
        status = clear_by_coordinates(scaled);
    } else {
        for (ChunkNumber number = first_beyond(); status == Status::ok; ++number) {
            ChunkLocation location;
            status = table_.next(number, location);
            if (status == Status::ok) {
                bool removed = false;
                scaled_of(number, scaled);
                status = clear_chunk(number, location, scaled, removed);
            }
        }
    }
    file_->context.release(MemoryKind::other, scaled, size);
    return status == Status::not_found ? Status::ok : status;
}

// A record that is removed leaves its position to the next one. In a damaged index it may be found at its position, but
// not by its coordinates, and then it stays.
Status DatasetState::clear_by_coordinates(std::uint64_t* scaled) noexcept {
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
            status = clear_chunk(key_of(scaled), location, scaled, removed);
            cursor.next -= removed ? 1 : 0;
            gone = removed ? location.address : kUndefinedAddress;
        }
    }
    file_->context.destroy(MemoryKind::other, lookup);
    return status;
}

// `scaled`: the chunk's coordinates. Behind them is room for those of its first element.
Status DatasetState::clear_chunk(const ChunkKey& key, const ChunkLocation& location, std::uint64_t* scaled,
                                 bool& removed) noexcept {
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
    ChunkSlot* slot = nullptr;
    if (fits_cache()) {
        H5MOTE_TRY(chunk(key, false, slot));
    }
    // Fill each row of the chunk from its first element beyond the extent on.
    const std::uint64_t row = chunk_dims()[rank() - 1];
    const Address row_bytes = narrow(row * element_size_);
    const Address rows = chunk_bytes_ / row_bytes;
    for (Address r = 0; r < rows; ++r) {
        const std::uint64_t last = dims()[rank() - 1];
        std::uint64_t from = last < first[rank() - 1] ? 0 : last - first[rank() - 1];
        std::uint64_t rest = r;
        for (unsigned i = rank() - 1; i-- > 0;) {
            std::uint64_t within = 0;
            rest = divide(rest, chunk_dims()[i], within);
            from = first[i] + within >= dims()[i] ? 0 : from;
        }
        if (from >= row) {
            continue;
        }
        const Address offset = r * row_bytes + narrow(from * element_size_);
        const Address bytes = row_bytes - narrow(from * element_size_);
        if (slot == nullptr) {
            H5MOTE_TRY(fill_file(location.address + offset, bytes));
            continue;
        }
        const auto begin = static_cast<std::uint32_t>(offset);
        H5MOTE_TRY(fill(slot->data() + begin, static_cast<std::size_t>(row - from)));
        slot->touch(begin, begin + static_cast<std::uint32_t>(bytes));
    }
    return Status::ok;
}

// Rows that count have to be on the storage before the sizes that count them, and what lies beyond the new sizes is
// cleared after them: the index and the chunks hold all rows of the old extent until the new one is durable.
Status DatasetState::shrink(const std::uint64_t* wanted) noexcept {
    const std::size_t size = rank() * sizeof(std::uint64_t);
    auto* const old = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (old == nullptr) {
        return Status::out_of_memory;
    }
    std::memcpy(old, dims(), size);
    Status status = store_chunks();
    if (status == Status::ok) {
        set_dims(wanted);
        status = store_dims();
        if (status == Status::ok) {
            status = file_->order();
        }
        if (status != Status::ok) {
            set_dims(old);
        }
    }
    file_->context.release(MemoryKind::other, old, size);
    H5MOTE_TRY(status);
    // From here on the dataset is smaller. What cannot be cleared now is cleared later.
    cleared_ = false;
    uncleared_ = true;
    (void)clear_cut();
    return Status::ok;
}

Status DatasetState::store_chunks() noexcept {
    count_appended();
    return file_->chunks.write_back(*this);
}

Status DatasetState::clear_cut() noexcept {
    H5MOTE_TRY(store_chunks());
    file_->chunks.drop_all(*this);
    tail_ = nullptr;
    at = end = nullptr;
    prepared_ = unfilled_end_ = 0;
    begun_ = rank() == 1 ? narrow(divide_up(dims()[0], chunk_dims()[0])) : 0;
    H5MOTE_TRY(clear_beyond());
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
