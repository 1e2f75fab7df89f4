// Chunks of an open dataset, as reading finds them.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "dataset_state.hpp"

namespace h5mote {

ChunkSlot* DatasetState::cached_chunk(Address index) noexcept {
    ChunkSlot* const slot = file_->chunks.find(*this, index);
    if (slot != nullptr && !countable_) {
        // Chunk numbers do not fit in 64 bits, so that another chunk may have the same one: do not trust the slot.
        file_->chunks.drop(*slot);
        return nullptr;
    }
    return slot;
}

Status DatasetState::locate_chunk(ChunkLookup& lookup, const std::uint64_t* scaled, Address index,
                                  ChunkLocation& location, bool& chunk_filtered) noexcept {
    H5MOTE_TRY(table_.find(lookup, {index, scaled}, location));
    chunk_filtered = filtered();
    if (edges_unfiltered_) {
        for (unsigned i = 0; i < rank(); ++i) {
            chunk_filtered = chunk_filtered && dims()[i] - scaled[i] * chunk_dims()[i] >= chunk_dims()[i];
        }
        location.size = chunk_filtered ? location.size : chunk_bytes_;
    }
    return location.address == kUndefinedAddress ? Status::ok : check_place(location);
}

Status DatasetState::load_chunk(const ChunkLocation& location, bool chunk_filtered, Bytes chunk) noexcept {
    if (H5MOTE_FILTERS != 0 && chunk_filtered) {
        return read_filtered(location, chunk);
    }
    return file_->driver.read(Usage::raw_data, location.address, chunk);
}

Status DatasetState::cache_chunk(Address index, const ChunkLocation& location, bool chunk_filtered,
                                 ChunkSlot*& slot) noexcept {
    if (!fits_cache()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, chunk_bytes_);
    }
    H5MOTE_TRY(file_->chunks.add(*this, index, static_cast<std::uint32_t>(chunk_bytes_), slot));
    slot->address = location.address;
    slot->stored_size = static_cast<std::uint32_t>(location.size);
    const Status status = load_chunk(location, chunk_filtered, {slot->data(), slot->size});
    if (status != Status::ok) {
        file_->chunks.drop(*slot);
        slot = nullptr;
    }
    return status;
}

// The reverse of chunk_number().
void DatasetState::scaled_of(Address index, std::uint64_t* scaled) noexcept {
    std::uint64_t rest = index;
    unsigned slowest = rank();
    for (unsigned i = rank(); i-- > 0;) {
        if (max_dims()[i] == kUnlimited) {
            slowest = i;
            continue;
        }
        const std::uint64_t chunks = chunks_along(max_dims()[i], chunk_dims()[i]);
        scaled[i] = 0;
        rest = chunks == 0 ? 0 : divide(rest, chunks, scaled[i]);
    }
    if (slowest < rank()) {
        scaled[slowest] = rest;
    }
}

}  // namespace h5mote
