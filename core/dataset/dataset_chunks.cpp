// Chunks of an open dataset, as reading finds them.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "dataset_state.hpp"

namespace h5mote {

Status DatasetState::locate_chunk(ChunkLookup& lookup, const ChunkKey& key, ChunkLocation& location,
                                  bool& chunk_filtered) noexcept {
    H5MOTE_TRY(table_.find(lookup, key, location));
    chunk_filtered = filtered();
    if (edges_unfiltered()) {
        chunk_filtered = !is_edge(key);
        location.size = chunk_filtered ? location.size : chunk_bytes_;
    }
    return location.address == kUndefinedAddress ? Status::ok : check_place(location);
}

bool DatasetState::is_edge(const ChunkKey& key) noexcept {
    const std::uint64_t number = key.number;
    return reaches_beyond(key.scaled() != nullptr ? key.scaled() : &number, dims());
}

bool DatasetState::reaches_beyond(const std::uint64_t* scaled, const std::uint64_t* sizes) noexcept {
    bool beyond = false;
    for (unsigned i = 0; i < rank(); ++i) {
        beyond = beyond || sizes[i] - scaled[i] * chunk_dims()[i] < chunk_dims()[i];
    }
    return beyond;
}

Status DatasetState::load_chunk(const ChunkLocation& location, bool chunk_filtered, Bytes chunk) noexcept {
    if (H5MOTE_FILTERS != 0 && chunk_filtered) {
        return read_filtered(location, chunk);
    }
    return file_->driver.read(Usage::raw_data, location.address, chunk);
}

Status DatasetState::cache_chunk(const ChunkKey& key, const ChunkLocation& location, bool chunk_filtered,
                                 ChunkSlot*& slot) noexcept {
    if (!fits_cache()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, chunk_bytes_);
    }
    H5MOTE_TRY(file_->chunks.add(*this, key, static_cast<std::uint32_t>(chunk_bytes_), slot));
    slot->address = location.address;
    slot->stored_size = static_cast<std::uint32_t>(location.size);
    const Status status = load_chunk(location, chunk_filtered, {slot->data(), slot->size});
    if (status != Status::ok) {
        file_->chunks.drop(*slot);
        slot = nullptr;
    }
    return status;
}

void DatasetState::scaled_of(ChunkNumber number, std::uint64_t* scaled) noexcept {
    chunk_place(rank(), max_dims(), chunk_dims(), number, scaled);
}

}  // namespace h5mote
