// Chunks of an open dataset: in memory, in the file, and on the way between the two.

#include "dataset_state.hpp"
#include "checked.hpp"
#include "chunk_grid.hpp"
#include "shared_changes.hpp"
#include "work_buffer.hpp"

#include <cstring>

namespace h5mote {

// ---- between memory and file ------------------------------------------------------------------------------------

Status DatasetState::fill(std::byte* to, std::size_t count) noexcept {
    const std::size_t bytes = count * element_size_;
    if (zero_fill_) {
        std::memset(to, 0, bytes);
        return Status::ok;
    }
    HeaderMessage message(*file_, address_);
    FillValueMessage fill_value;
    H5MOTE_TRY(find_fill(message, fill_value));
    if (fill_value.value.size() != element_size_) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    for (std::size_t at_byte = 0; at_byte < bytes; at_byte += element_size_) {
        std::memcpy(to + at_byte, fill_value.value.data(), element_size_);
    }
    return Status::ok;
}

Status DatasetState::check_place(const ChunkLocation& location) noexcept {
    return file_->contains(location.address, location.size)
               ? Status::ok
               : file_->context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, location.address);
}

void DatasetState::release_chunk(const ChunkLocation& location) noexcept {
    const Address size = filtered() ? location.size : chunk_bytes_;
    if (file_->contains(location.address, size)) {
        file_->space.release(location.address, size, false, SpaceKind::raw_data);
    }
}

Status DatasetState::read_chunk(ChunkSlot& slot, const ChunkLocation& location, bool chunk_filtered) noexcept {
    FileState& file = *file_;
    const Bytes chunk{slot.data(), slot.size};
    if (filtered() && chunk_filtered) {
        return read_filtered(location, chunk);
    }
    return told(file.context, file.driver, H5MOTE_HERE, file.driver.read(Usage::raw_data, location.address, chunk),
                location.address);
}

Status tell_filter(Context& context, SourcePlace place, Status status, FilterId failed,
                   std::uint64_t address) noexcept {
    const auto id = static_cast<std::uint32_t>(failed);
    if (status == Status::unsupported) {
        return context.unsupported(Module::filter, place, Feature::filter, id);
    }
    return status == Status::ok ? Status::ok : context.fail(Module::filter, place, status, id, address);
}

Status DatasetState::read_filtered(const ChunkLocation& location, Bytes chunk) noexcept {
    FileState& file = *file_;
    const Address bytes = location.size;
    if (bytes > 0xffffffffU) {
        return file.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, location.address);
    }
    const FilterPipeline filters = pipeline();
    const std::size_t stored_size = static_cast<std::size_t>(bytes);
    const std::size_t need = filters.decode_need(chunk.size(), stored_size, location.mask);
    const Bytes work{file.filter_scratch(need), need};
    if (work.data() == nullptr && need != 0) {
        return Status::out_of_memory;
    }
    Bytes place;
    FilterId failed = FilterId::none;
    Status status = filters.stored_place(stored_size, location.mask, chunk, work, place);
    if (status == Status::ok) {
        H5MOTE_TRY(file.driver.read(Usage::raw_data, location.address, place));
        status = filters.decode(place, location.mask, chunk, work, failed);
    }
    return tell_filter(file.context, H5MOTE_HERE, status, failed, location.address);
}

// Allocates file space for a chunk and, ahead of use, for chunks behind it: together at most as many as lie
// before it, as reserve_ bytes hold, and as one set() can enter. `zeros`: the space reads as fill values without being
// written. A chunk that does not fit into the cache has its fill values before its index leads to it: to make them may
// take memory from other chunks, and then their indexes change, and the metadata cache may write all that it has.
Status DatasetState::allocate_chunks(const ChunkKey& key, ChunkLocation& location, bool& zeros, Phase phase) noexcept {
    if (H5MOTE_WRITE == 0) {
        return Status::read_only;
    }
    std::uint32_t count = 1;
    // Rows that are appended come one behind the other. Chunks within the extent may be written in any order, or never.
    const bool appends = rank() == 1 && (H5MOTE_PARTIAL_IO == 0 || !within(key.number));
    if (zero_fill_ && table_.can_reserve() && appends) {
        H5MOTE_TRY(table_.make_place(key, phase));
        count = reserve_ / static_cast<std::uint32_t>(chunk_bytes_);
        count = key.number < count ? static_cast<std::uint32_t>(key.number) : count;
        const std::uint32_t most = file_->space.most_together(chunk_bytes_);
        count = count < most ? count : most;
        count = count == 0 ? 1 : count;
        // Stop at a chunk that has its space already, because it was written out of order.
        H5MOTE_TRY(table_.free_run(key, count));
    }
    // Free space is used chunk by chunk, because it holds old bytes: chunks in it that are not written now would read
    // as these. Several chunks are taken only at the end of the file. If there is no space for them, try again with
    // one, which also leaves more for new index blocks.
    for (;; count = 1) {
        bool fresh = false;
        Status status = Status::ok;
        if (file_->space.allocate_free(chunk_bytes_, location.address)) {
            count = 1;
        } else {
            status =
                file_->space.allocate(Usage::raw_data, std::uint64_t{count} * chunk_bytes_, location.address, &fresh);
        }
        if (status == Status::ok) {
            if (!fresh && count > 1) {
                file_->space.release(location.address + chunk_bytes_, std::uint64_t{count - 1} * chunk_bytes_, true,
                                     SpaceKind::raw_data);
                count = 1;
            }
            zeros = fresh && zero_fill_;
            if (H5MOTE_PARTIAL_IO != 0 && !zeros && !fits_cache()) {
                status = fill_chunk(key, location.address);
            }
            if (status == Status::ok) {
                status = table_.set(key, location, chunk_bytes_, count, phase);
            }
            if (status == Status::ok) {
                prepared_ = key.number + count;
            } else {
                file_->space.release(location.address, std::uint64_t{count} * chunk_bytes_, true, SpaceKind::raw_data);
            }
        }
        if (status != Status::no_space || count == 1) {
            return status;
        }
    }
}

Status DatasetState::chunk(const ChunkKey& key, bool overwrite, ChunkSlot*& slot) noexcept {
    ChunkCache& chunks = file_->chunks;
    Status status = Status::ok;
    // Comes before there is a slot: to fill the space may take memory from the cache, and with it any chunk.
    H5MOTE_TRY(allocate_implicit());
    slot = chunks.find(*this, key);
    bool has_values = slot != nullptr;
    if (slot == nullptr) {
        H5MOTE_TRY(chunks.add(*this, key, static_cast<std::uint32_t>(chunk_bytes_), slot));
        ChunkLocation location;
        status = table_.find(key, location);
        const bool exists = status == Status::ok && location.address != kUndefinedAddress;
        const bool decoded = filtered() && !(edges_unfiltered() && is_edge(key));
        if (exists) {
            // A chunk that is not read may be one that a smaller extent has cut off: it was stored when it was whole.
            location.size = decoded || (overwrite && filtered()) ? location.size : chunk_bytes_;
            slot->address = location.address;
            slot->stored_size = static_cast<std::uint32_t>(location.size);
            // Check the address even if the chunk is not read: it will be written there, or its space released.
            status = check_place(location);
        }
        if (status == Status::ok) {
            status = exists && !overwrite ? read_chunk(*slot, location, decoded) : fill_slot(*slot, key, overwrite);
            has_values = status == Status::ok;
        }
    }
    if (status == Status::ok) {
        status = before_change(*slot);
    }
    if (status != Status::ok) {
        evicted(*slot);
        if (!slot->dirty()) {
            if (has_values && own_fill() && slot->address == kUndefinedAddress) {
                discard_own(slot->data(), slot->size / element_size_);
            }
            chunks.drop(*slot);
        }
        slot = nullptr;
    }
    return status;
}

// Secures everything that writing the chunk needs, so that the call that changes the chunk reports a lack of space, and
// not the flush.
Status DatasetState::before_change(ChunkSlot& slot) noexcept {
    H5MOTE_TRY(file_->chunks.keep(slot));
    if (slot.known) {
        return Status::ok;
    }
    slot.in_place = !filtered();
    slot.within = within(slot.number);
    if (H5MOTE_FILTERS != 0 && !slot.in_place) {
        // A filtered chunk gets its place when it is written, because its size is not known before. What its index
        // entry needs can be secured now: index blocks and room in the cache.
        H5MOTE_TRY(table_.make_place(slot.key(), index_phase(slot.within)));
    } else if (slot.address != kUndefinedAddress) {
        H5MOTE_TRY(table_.cover(slot.key()));
    } else {
        ChunkLocation location;
        bool zeros = false;
        H5MOTE_TRY(allocate_chunks(slot.key(), location, zeros, index_phase(slot.within)));
        slot.address = location.address;
        if (!zeros) {
            slot.touch(0, slot.size);
        }
    }
    slot.known = true;
    return Status::ok;
}

Status DatasetState::write_back(ChunkSlot& slot) noexcept {
    if (H5MOTE_WRITE == 0) {
        return Status::ok;
    }
    // End fast appending to this chunk: the next row has to pass before_change() again.
    evicted(slot);
    file_->chunks.unkeep(slot);
    if (filtered()) {
        return write_filtered(slot);
    }
    H5MOTE_TRY(file_->order_heap());
    file_->unsynced = true;
    H5MOTE_TRY(told(file_->context, file_->driver, H5MOTE_HERE,
                    file_->driver.write(Usage::raw_data, slot.address + slot.dirty_from, slot.changed()),
                    slot.address));
    slot.clean();
    return Status::ok;
}

// Checks that the filters can encode, so that the first change reports it if they cannot, and not the flush.
Status DatasetState::reserve_scratch() noexcept {
    if constexpr (H5MOTE_FILTERS != 0) {
        if (!changed_ && filtered()) {
            const FilterPipeline filters = pipeline();
            FilterId failed = FilterId::none;
            const Status status = filters.can_encode({element_size_, static_cast<std::uint32_t>(chunk_bytes_)}, failed);
            H5MOTE_TRY(tell_filter(file_->context, H5MOTE_HERE, status, failed));
            return file_->reserve_scratch(filters.scratch_need(static_cast<std::size_t>(chunk_bytes_), true));
        }
    }
    return Status::ok;
}

// `result`: the bytes of the chunk as they are stored, in the filters' scratch memory or in the slot itself.
inline Status DatasetState::encode(ChunkSlot& slot, ConstBytes& result, std::uint32_t& mask) noexcept {
    if (edges_unfiltered() && edges().skips(*this, slot.key(), mask)) {
        result = {slot.data(), slot.size};
        return Status::ok;
    }
    mask = 0;
    const FilterPipeline filters = pipeline();
    const std::size_t need = filters.scratch_need(slot.size, true);
    const Bytes work{file_->filter_scratch(need), need};
    if (work.data() == nullptr && need != 0) {
        return Status::out_of_memory;
    }
    FilterId failed = FilterId::none;
    const Status encoded = filters.encode({slot.data(), slot.size}, work, result, mask, failed);
    return tell_filter(file_->context, H5MOTE_HERE, encoded, failed);
}

// The encoded chunk is written to new space. The old one stays valid until the index entry is switched.
Status DatasetState::write_filtered(ChunkSlot& slot) noexcept {
    FileState& file = *file_;
    ConstBytes result;
    ChunkLocation location;
    H5MOTE_TRY(encode(slot, result, location.mask));
    location.size = result.size();
    H5MOTE_TRY(file.space.allocate(Usage::raw_data, location.size, location.address));
    file.unsynced = true;
    Status status = file.driver.write(Usage::raw_data, location.address, result);
    if (status == Status::ok) {
        status = table_.set(slot.key(), location, 0, 1, index_phase(slot.within));
    }
    if (status != Status::ok) {
        file.space.release(location.address, location.size, true, SpaceKind::raw_data);
        return status;
    }
    if (slot.address != kUndefinedAddress) {
        file.space.release(slot.address, slot.stored_size, false, SpaceKind::raw_data);
    }
    slot.address = location.address;
    slot.stored_size = static_cast<std::uint32_t>(location.size);
    slot.clean();
    return Status::ok;
}

void DatasetState::evicted(ChunkSlot& slot) noexcept {
    if (&slot == tail_) {
        count_appended();
        tail_ = nullptr;
        at = end = nullptr;
    }
}

Status DatasetState::fill_file(Address address, Address bytes) noexcept {
    const WorkBuffer buffer(*file_, bytes, element_size_);
    std::size_t piece = buffer.bytes().size();
    if (piece == 0) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(fill(buffer.bytes().data(), piece / element_size_));
    file_->unsynced = true;
    for (Address done = 0; done < bytes; done += piece) {
        piece = bytes - done < piece ? static_cast<std::size_t>(bytes - done) : piece;
        H5MOTE_TRY(file_->driver.write(Usage::raw_data, address + done, buffer.bytes().first(piece)));
    }
    return Status::ok;
}

Status DatasetState::chunk_in_place(const ChunkKey& key, bool create, Address& address) noexcept {
    ChunkLocation location;
    H5MOTE_TRY(create ? allocate_implicit() : Status::ok);
    H5MOTE_TRY(table_.find(key, location));
    if (location.address == kUndefinedAddress && create) {
        // What the next commit writes is secured, as it is for chunks in memory: dimensions, and blocks of the index.
        H5MOTE_TRY(file_->space.keep_cache(narrow(file_->cache.budget())));
        bool zeros = false;
        H5MOTE_TRY(allocate_chunks(key, location, zeros, index_phase(within(key.number))));
    }
    address = location.address;
    if (address == kUndefinedAddress) {
        return Status::ok;
    }
    H5MOTE_TRY(check_place({address, chunk_bytes_, 0}));
    return create ? table_.cover(key) : Status::ok;
}

template <typename Store>
Status DatasetState::allocate_whole(Address size, Address& address, Store store) noexcept {
    bool zeros = false;
    H5MOTE_TRY(file_->space.allocate(Usage::raw_data, size, address, &zeros));
    Status status = zeros && zero_fill_ ? Status::ok
                    : is_chunked()      ? fill_chunks(address, size)
                                        : fill_space(address, size, {nullptr, dims(), 0});
    if (status == Status::ok) {
        status = store();
    }
    if (status != Status::ok) {
        file_->space.release(address, size, true, SpaceKind::raw_data);
    }
    return status;
}

Status DatasetState::allocate_contiguous() noexcept {
    if (data_address_ != kUndefinedAddress || data_size_ == 0) {
        return Status::ok;
    }
    Address address = 0;
    const Status status = allocate_whole(data_size_, address, [&] {
        MessageIterator message(*file_, address_);
        H5MOTE_TRY(message.next(MessageType::layout));
        return message.store(LayoutMessage::data_offset(message.body()), address, file_->shape().sizeof_addr);
    });
    data_address_ = status == Status::ok ? address : data_address_;
    return status;
}

Status DatasetState::allocate_implicit() noexcept {
    std::uint64_t bytes = 0;
    if (H5MOTE_FIXED_CHUNKS == 0 || !table_.wants_all(bytes)) {
        return Status::ok;
    }
    Address address = 0;
    const Address size = narrow(bytes);
    return size == bytes ? allocate_whole(size, address, [&] { return table_.place_all(address); })
                         : file_->context.fail(Module::dataset, H5MOTE_HERE, Status::no_space, 0, bytes);
}

ChunkNumber DatasetState::number_of(const std::uint64_t* scaled) noexcept {
    return narrow(chunk_number(rank(), max_dims(), chunk_dims(), scaled));
}

Status DatasetState::allocate_all(const std::uint64_t* before) noexcept {
    H5MOTE_TRY(begin_change());
    if (!is_chunked()) {
        return layout_class_ == Layout::contiguous ? allocate_contiguous() : Status::ok;
    }
    // Chunk coordinates that count through the chunks of the extent.
    const std::size_t size = rank() * sizeof(std::uint64_t);
    auto* scaled = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (scaled == nullptr) {
        return Status::out_of_memory;
    }
    std::memset(scaled, 0, size);
    Status status = Status::ok;
    unsigned empty = 0;
    for (unsigned i = 0; i < rank(); ++i) {
        empty += dims()[i] == 0 ? 1 : 0;
    }
    for (unsigned i = 0; empty == 0 && i < rank() && status == Status::ok;) {
        bool known = H5MOTE_ALL_FORMATS != 0 && before != nullptr;
        for (unsigned k = 0; k < rank() && known; ++k) {
            known = scaled[k] * chunk_dims()[k] < before[k];
        }
        if (known) {
            scaled[0] = chunks_along(before[0], chunk_dims()[0]) - 1;
        } else {
            status = allocate_chunk(key_of(scaled));
        }
        for (i = 0; i < rank() && ++scaled[i] * chunk_dims()[i] >= dims()[i]; ++i) {
            scaled[i] = 0;
        }
    }
    file_->context.release(MemoryKind::other, scaled, size);
    return status;
}

Status DatasetState::allocate_chunk(const ChunkKey& key) noexcept {
    if (!fits_cache()) {
        Address address = 0;
        return chunk_in_place(key, true, address);
    }
    ChunkSlot* slot = nullptr;
    H5MOTE_TRY(chunk(key, !own_fill(), slot));
    slot->touch(0, slot->size);
    return Status::ok;
}

// ---- the file's demands ------------------------------------------------------------------------------------------

Status DatasetState::change_dims(const std::uint64_t* wanted, bool store) noexcept {
    // The first time, a dataspace that is shared with other objects becomes this one's own.
    H5MOTE_TRY(store ? Status::ok : own_shared(*file_, address_, MessageType::dataspace));
    MessageIterator message(*file_, address_);
    H5MOTE_TRY(message.next(MessageType::dataspace));
    DataspaceMessage space;
    H5MOTE_TRY(space.decode(file_->context, file_->shape(), message.body()));
    const std::size_t offset = static_cast<std::size_t>(space.dims - message.body().data());
    const unsigned width = file_->shape().sizeof_size;
    for (unsigned i = 0; i < rank(); ++i) {
        if (space.dim(i) != wanted[i]) {
            const std::size_t at_dim = offset + std::size_t{i} * width;
            if (space.max_dims == nullptr && is_chunked() && !table_.by_coordinates()) {
                // Without a stored maximum the size is the maximum, and chunks are numbered by it.
                return file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::chunk_index);
            }
            if (!store) {
                // secure() covers all bytes from this dimension on, and so the dimensions behind it.
                return message.secure(message.offset() + at_dim);
            }
            H5MOTE_TRY(message.store(at_dim, wanted[i], width));
            // store() may have moved the message.
            H5MOTE_TRY(space.decode(file_->context, file_->shape(), message.body()));
        }
    }
    return Status::ok;
}

Status DatasetState::store_dims() noexcept {
    if (dims_changed_) {
        H5MOTE_TRY(change_dims(dims(), true));
        dims_changed_ = false;
    }
    return Status::ok;
}

Status DatasetState::flush_raw() noexcept {
    if (H5MOTE_WRITE == 0) {
        return Status::ok;
    }
    count_appended();
    if constexpr (H5MOTE_PARTIAL_IO != 0) {
        const Status cleared = uncleared_ ? clear_cut() : Status::ok;
        if (H5MOTE_ALL_FORMATS != 0 && cleared == Status::no_space && file_->is_atomic()) {
            file_->flush_again();
        } else {
            H5MOTE_TRY(cleared);
        }
    }
    H5MOTE_TRY(file_->chunks.write_back(*this));
    if (edges_unfiltered() && changed_) {
        H5MOTE_TRY(edges().store(*this));
        return edges().filter(*this);
    }
    return store_dims();
}

// Allocates chunks behind the last row ahead of use: one more than were begun since the last flush, but besides that
// one no more than reserve_ bytes hold.
Status DatasetState::prepare(Phase phase) noexcept {
    if (H5MOTE_WRITE == 0 || H5MOTE_PREPARE_APPENDS == 0 || !appended_ || filtered() || !table_.exists() ||
        !fits_cache() || !table_.can_give_back()) {
        return Status::ok;
    }
    const ChunkNumber begun = narrow(divide_up(dims()[0], chunk_rows()));
    const ChunkNumber most = reserve_ / static_cast<std::uint32_t>(chunk_bytes_);
    const ChunkNumber last = begun - begun_;
    ChunkNumber wanted = begun + (last < most ? last : most) + 1;
    if constexpr (H5MOTE_FIXED_CHUNKS != 0) {
        // A fixed array ends with the last chunk that the dataset can ever have.
        const ChunkNumber limit = narrow(divide_up(max_dims()[0], chunk_rows()));
        wanted = wanted < limit ? wanted : limit;
    }
    begun_ = begun;
    return prepared_ >= wanted ? Status::ok : prepare_chunks(begun, wanted, phase);
}

namespace {

// Whether an error only keeps chunks from being allocated ahead or given back: no file space, no room in the cache, or
// an index that cannot be changed safely. Such errors are ignored; the append that needs a chunk reports them.
bool can_wait(Status status) noexcept {
    return status == Status::no_space || status == Status::over_budget || status == Status::unsupported;
}

}  // namespace

Status DatasetState::prepare_chunks(ChunkNumber from, ChunkNumber to, Phase phase) noexcept {
    for (ChunkNumber number = from < prepared_ ? prepared_ : from; number < to;) {
        ChunkLocation location;
        Status status = table_.find(number, location);
        bool zeros = true;
        if (status == Status::ok && location.address == kUndefinedAddress) {
            status = allocate_chunks(number, location, zeros, phase);
        }
        if (status != Status::ok) {
            return can_wait(status) ? Status::ok : status;
        }
        // What may grow without entering these chunks need not be cleared again.
        cleared_ = cleared_ && table_.can_reserve();
        if (!zeros) {
            unfilled_ = unfilled_end_ <= from ? number : unfilled_;
            unfilled_end_ = number + 1;
        }
        number = prepared_ > number ? prepared_ : number + 1;
    }
    prepared_ = prepared_ < to ? to : prepared_;
    return Status::ok;
}

// Releases the chunks beyond the last element: they were allocated ahead, or a power cut kept them and lost their rows.
Status DatasetState::give_back(bool again) noexcept {
    // A dataset that this session did not change stays as it is, even if a power cut left chunks beyond its extent.
    if (H5MOTE_WRITE == 0 || !changed_ || !is_chunked() || rank() != 1 || !table_.can_give_back()) {
        return Status::ok;
    }
    if (again) {
        // Second pass: writing an empty index entry once more moves its index block into the space given back.
        const ChunkNumber first = narrow(divide_up(dims()[0], chunk_rows()));
        return given_back_ ? table_.set(first, ChunkLocation{}, 0, 1) : Status::ok;
    }
    // A chunk that could not be removed keeps its space, and libhdf5 takes it for data when it makes the dataset
    // longer.
    const Status status = remove_ahead();
    return can_wait(status) ? Status::ok : status;
}

Status DatasetState::remove_ahead() noexcept {
    prepared_ = unfilled_end_ = 0;
    given_back_ = false;
    // Visit existing chunks only: they need not be consecutive, because rows that were never written have no chunks.
    for (ChunkNumber number = narrow(divide_up(dims()[0], chunk_rows()));; ++number) {
        ChunkLocation location;
        const Status status = table_.next(number, location);
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        // Remove the chunk from the index before its space is released: nothing may refer to free space.
        H5MOTE_TRY(table_.set(number, ChunkLocation{}, 0, 1));
        given_back_ = true;
        release_chunk(location);
    }
}

Status DatasetState::find_ahead(bool& found) noexcept {
    found = false;
    if (!is_chunked() || rank() != 1 || !table_.can_give_back()) {
        return Status::ok;
    }
    ChunkNumber number = narrow(divide_up(dims()[0], chunk_rows()));
    ChunkLocation location;
    const Status status = table_.next(number, location);
    found = status == Status::ok || table_.has_freed_chunk();
    return status == Status::not_found ? Status::ok : status;
}

Status DatasetState::trim(FileState& file, Address address) noexcept {
    return visit(file, address, [](DatasetState& state) {
        // No filter has to be there: chunks go as they are stored.
        Status status = state.begin_change(true);
        if (status == Status::ok && state.rank() == 1 && state.table_.can_give_back()) {
            state.changed_ = true;  // begin_change() leaves that out where a filter is missing
            return state.give_back(false);
        }
        if (status == Status::ok) {
            status = state.clear_beyond(nullptr, false);
        }
        return can_wait(status) ? Status::ok : status;
    });
}

}  // namespace h5mote
