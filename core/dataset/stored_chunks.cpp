// H5D (H5Dread_chunk, H5Dwrite_chunk, H5Dget_chunk_info) - chunks as they are stored.

#include "checked.hpp"
#include "dataset_state.hpp"

#include <cstring>

namespace h5mote {
namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

// The chunk that a caller names by an element. In memory because a rank of 32 is too much for a small stack.
struct NamedChunk {
    std::uint64_t scaled[H5MOTE_MAX_RANK] = {};
    std::uint64_t offset[H5MOTE_MAX_RANK] = {};
    ChunkLookup lookup;
    ChunkLocation location;
    bool first = true;  // the element is the chunk's first one

    // false: there is no such element.
    bool set(DatasetState& state, Span<const std::uint64_t> element) noexcept {
        bool sound = state.is_chunked() && element.size() == state.rank();
        for (unsigned i = 0; sound && i < state.rank(); ++i) {
            std::uint64_t rest = 0;
            scaled[i] = divide(element[i], state.chunk_dims()[i], rest);
            offset[i] = element[i] - rest;
            first = first && rest == 0;
            sound = element[i] < state.dims()[i];
        }
        return sound;
    }
    Status find(DatasetState& state) noexcept {
        bool filtered = false;
        return state.locate_chunk(lookup, state.key_of(scaled), location, filtered);
    }
    void tell(ChunkInfo& chunk) const noexcept {
        const bool exists = location.address != kUndefinedAddress;
        chunk.address = location.address;
        chunk.size = exists ? location.size : 0;
        chunk.filter_mask = exists ? location.mask : 0;
    }
};

class OwnedChunk {
public:
    explicit OwnedChunk(Context& context) noexcept
        : context_(context), chunk_(context.create<NamedChunk>(MemoryKind::other)) {}
    OwnedChunk(const OwnedChunk&) = delete;
    OwnedChunk& operator=(const OwnedChunk&) = delete;
    ~OwnedChunk() { context_.destroy(MemoryKind::other, chunk_); }

    // Names the chunk with that element. invalid_argument: there is no such element, or with `first` it is not the
    // first one of a chunk; out_of_memory.
    Status set(DatasetState& state, Span<const std::uint64_t> element, bool only_first) noexcept {
        if (chunk_ == nullptr) {
            return Status::out_of_memory;
        }
        return chunk_->set(state, element) && (chunk_->first || !only_first)
                   ? Status::ok
                   : context_.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, state.rank());
    }
    NamedChunk* operator->() const noexcept { return chunk_; }

private:
    Context& context_;
    NamedChunk* chunk_;
};

// What is in memory goes to the file, so that the index tells what is stored.
Status bring_up_to_date(DatasetState& state) noexcept {
    return state.file().writable() ? state.store_chunks() : Status::ok;
}

}  // namespace

Status Dataset::chunk_info(Span<const std::uint64_t> element, ChunkInfo& chunk) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    H5MOTE_TRY(bring_up_to_date(state));
    OwnedChunk named(file_->context);
    H5MOTE_TRY(named.set(state, element, false));
    H5MOTE_TRY(named->find(state));
    named->tell(chunk);
    chunk.offset = {};
    return Status::ok;
}

Status Dataset::chunk_info(std::uint64_t position, Span<std::uint64_t> offset, ChunkInfo& chunk) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    H5MOTE_TRY(bring_up_to_date(state));
    if (offset.size() < state.rank()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, state.rank());
    }
    ChunkIterator chunks(*this);
    do {
        H5MOTE_TRY(chunks.next(chunk));
    } while (position-- > 0);
    std::memcpy(offset.data(), chunk.offset.data(), chunk.offset.size() * sizeof(std::uint64_t));
    chunk.offset = {offset.data(), chunk.offset.size()};
    return Status::ok;
}

Status Dataset::read_chunk(Span<const std::uint64_t> offset, Bytes to, ChunkInfo& chunk) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    H5MOTE_TRY(bring_up_to_date(state));
    OwnedChunk named(file_->context);
    H5MOTE_TRY(named.set(state, offset, true));
    H5MOTE_TRY(named->find(state));
    named->tell(chunk);
    chunk.offset = offset;
    if (chunk.address == kUndefinedAddress) {
        return Status::not_found;
    }
    if (chunk.size > to.size()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, chunk.size);
    }
    const Bytes stored = to.first(static_cast<std::size_t>(chunk.size));
    return told(file_->context, file_->driver, H5MOTE_HERE, file_->driver.read(Usage::raw_data, chunk.address, stored),
                chunk.address);
}

Status Dataset::write_chunk(Span<const std::uint64_t> offset, ConstBytes stored, std::uint32_t filter_mask) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    H5MOTE_TRY(state.begin_change(true));
    state.count_appended();
    OwnedChunk named(file_->context);
    H5MOTE_TRY(named.set(state, offset, true));
    H5MOTE_TRY(state.allocate_late());
    state.note_stored(named->scaled);
    const ChunkKey key = state.key_of(named->scaled);
    if (state.filtered()) {
        return state.enter_stored(key, stored, filter_mask);
    }
    if (stored.size() != state.chunk_bytes()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, stored.size());
    }
    if (!state.fits_cache()) {
        Address address = kUndefinedAddress;
        H5MOTE_TRY(state.chunk_in_place(key, true, address));
        H5MOTE_TRY(file_->order_heap(address_));
        file_->unsynced = true;
        return told(file_->context, file_->driver, H5MOTE_HERE, file_->driver.write(Usage::raw_data, address, stored),
                    address);
    }
    ChunkSlot* slot = nullptr;
    H5MOTE_TRY(state.chunk(key, true, slot));
    file_->note_heap(address_);
    std::memcpy(slot->data(), stored.data(), stored.size());
    slot->touch(0, slot->size);
    return Status::ok;
}

// The same steps as for a chunk from memory: the new bytes are complete before the index leads to them.
Status DatasetState::enter_stored(const ChunkKey& key, ConstBytes stored, std::uint32_t mask) noexcept {
    FileState& file = *file_;
    if (edges_unfiltered()) {
        H5MOTE_TRY(flush_raw());
        std::uint32_t edge_mask = 0;
        const bool edge = edges().skips(*this, key, edge_mask);
        mask = edge ? edge_mask : mask;
        if (edge && stored.size() != chunk_bytes_) {
            return file.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, stored.size());
        }
    }
    const unsigned width = table_.size_width();
    if (stored.empty() || (width < sizeof(std::size_t) && stored.size() >> (8 * width) != 0)) {
        return file.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, stored.size());
    }
    const Phase phase = index_phase(within(key.number));
    H5MOTE_TRY(table_.make_place(key, phase));
    // What is in memory of the chunk is out of date, but counts until the new bytes are in the index.
    ChunkLocation old;
    H5MOTE_TRY(table_.find(key, old));
    ChunkLocation location;
    location.size = narrow(stored.size());
    location.mask = mask;
    H5MOTE_TRY(file.space.allocate(Usage::raw_data, location.size, location.address));
    file.unsynced = true;
    Status status = told(file.context, file.driver, H5MOTE_HERE,
                         file.driver.write(Usage::raw_data, location.address, stored), location.address);
    if (status == Status::ok) {
        status = table_.set(key, location, 0, 1, phase);
    }
    if (status != Status::ok) {
        file.space.release(location.address, location.size, true, SpaceKind::raw_data);
        return status;
    }
    if (ChunkSlot* const slot = cached_chunk(key)) {
        evicted(*slot);
        file.chunks.drop(*slot);
    }
    if (old.address != kUndefinedAddress) {
        release_chunk(old);
    }
    return Status::ok;
}

}  // namespace h5mote
