// Chunks that go through filters, and where they are placed.
//
// A chunk that is not full has a place for its rows as they are. When it is full,
//   - its filtered bytes are on the storage, at a new place, before the chunk index leads to them;
//   - that is on the storage before the next chunk's rows overwrite the old place;
//   - rows that the dimension counts are at a new place before the chunk index leads there;
//   - each change of the index is there before the next one, for storages may write them the other way round.
// A power cut between leaves a chunk that the index finds, filtered, though the dimension counts only some of its rows.
// So open() can undo the filters; and then it goes on with what other programs stored, too.
#include "filtering.hpp"

#include "checked.hpp"
#include "recorder_rule.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The file grows by the room for so many chunks, as they are before the filters, at a time.
constexpr std::uint32_t kAhead = 8;

// Bytes of the place for a chunk's rows as they are. Where libhdf5 stores a chunk anew, in as many bytes as before, it
// leaves the old filter mask; so the place is larger than what filters make of a chunk.
std::uint32_t place_size(std::uint32_t chunk_bytes) noexcept {
    return static_cast<std::uint32_t>(blueprint::filtered_limit(chunk_bytes));
}

}  // namespace

Status FilteringRecorderBase::open(Driver& driver, const blueprint::Table& table, Slot* slots, std::byte* chunks,
                                   Linker linker, const blueprint::RecordedFilters* filters, Bytes work) noexcept {
    H5MOTE_TRY(RecorderBase::open(driver, table, slots, chunks, linker));
    filters_ = filters;
    work_ = work;
    spare_ = spare_end_ = 0;
    index_changed_ = true;  // by a session that was cut short, perhaps
    for (Slot* slot = slots; slot != slots + table.dataset_count; ++slot) {
        const Status status = filters_of(*slot).count == 0 ? Status::ok : load(*slot);
        if (status != Status::ok) {
            abandon();
            return status;
        }
    }
    return Status::ok;
}

// Takes the rows of the last chunk into memory: they go through the filters when it is full.
Status FilteringRecorderBase::load(Slot& slot) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const Pipeline pipeline(filters_of(slot));
    if (pipeline.view.scratch_need(chunk_size(dataset), true) > work_.size()) {
        return Status::over_budget;
    }
    std::byte* const first = begin(slot, dataset);
    const auto rows = static_cast<std::size_t>(slot.next - first);
    Chunk chunk{slot.chunk, 0, 0, 0};
    H5MOTE_TRY(find(slot, chunk));
    slot.address = 0;
    slot.saved = first;
    if (chunk.address == kUndefinedAddress) {
        // Another program made the dataset longer and wrote nothing.
        std::memset(first, 0, rows);
        return Status::ok;
    }
    if (!within(chunk.address, Address{chunk.size}, end_)) {
        return Status::corrupt_file;
    }
    const bool as_it_is =
        chunk.size == place_size(chunk_size(dataset)) && chunk.filter_mask == pipeline.view.skip_all();
    if (!as_it_is) {
        return rows == 0 ? Status::ok : load_chunk(slot, chunk, pipeline);
    }
    // If the dimension counts no row of it, the place is free, but its bytes are not zero.
    slot.address = chunk.address;
    slot.run = rows == 0 ? 0 : 1;
    slot.saved = slot.next;
    return read(chunk.address, first, rows);
}

// Reads a chunk and undoes its filters.
Status FilteringRecorderBase::load_chunk(const Slot& slot, const Chunk& chunk, const Pipeline& pipeline) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const Bytes memory{begin(slot, dataset), chunk_size(dataset)};
    Bytes place;
    FilterId failed = FilterId::none;
    H5MOTE_TRY(pipeline.view.stored_place(chunk.size, chunk.filter_mask, memory, work_, place));
    H5MOTE_TRY(read(chunk.address, place.data(), place.size()));
    return pipeline.view.decode(place, chunk.filter_mask, memory, work_, failed);
}

Status FilteringRecorderBase::advance(Slot& slot) noexcept {
    if (driver_ == nullptr) {
        return Status::invalid_handle;
    }
    return filters_of(slot).count == 0 ? RecorderBase::advance(slot) : filter_chunk(slot);
}

Status FilteringRecorderBase::flush() noexcept {
    if (driver_ == nullptr) {
        return Status::invalid_handle;
    }
    for (Slot* slot = slots_; slot != slots_ + table_->dataset_count; ++slot) {
        if (filters_of(*slot).count == 0) {
            continue;
        }
        if (slot->next == slot->end) {
            H5MOTE_TRY(filter_chunk(*slot));
        } else if (slot->saved != slot->next && slot->run == 0) {
            H5MOTE_TRY(place_rows(*slot));
        }
    }
    H5MOTE_TRY(RecorderBase::flush());
    index_changed_ = false;
    return Status::ok;
}

Status FilteringRecorderBase::close() noexcept {
    Status status = flush();
    if (status == Status::ok) {
        status = give_back_spare();
    }
    if (status != Status::ok) {
        abandon();
        return status;
    }
    for (Slot* slot = slots_; slot != slots_ + table_->dataset_count; ++slot) {
        // What is given back of a chunk index belongs to those without filters.
        slot->run = filters_of(*slot).count == 0 ? slot->run : 0;
    }
    return RecorderBase::close();
}

// Gives the chunk in memory a place for its rows as they are.
Status FilteringRecorderBase::place_rows(Slot& slot) noexcept {
    if (failed_) {
        return Status::io_error;
    }
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    std::byte* const first = begin(slot, dataset);
    const std::byte* end = slot.next;
    if (slot.address == 0) {
        H5MOTE_TRY(allocate(slot, place_size(chunk_size(dataset)), false, slot.address));
    } else {
        // Rows of the chunk before are there. Behind those that the dimension counts stand zeros, should another
        // program make the dataset longer.
        std::memset(slot.next, 0, static_cast<std::size_t>(slot.end - slot.next));
        end = slot.end;
    }
    H5MOTE_TRY(write(slot.address, first, static_cast<std::size_t>(end - first), Usage::raw_data));
    const std::uint32_t no_filter = Pipeline(filters_of(slot)).view.skip_all();
    H5MOTE_TRY(put(slot, {slot.chunk, slot.address, place_size(chunk_size(dataset)), no_filter}));
    // Not before: rows that are saved are counted by the next flush(), and nothing leads to them yet.
    slot.saved = slot.next;
    slot.run = 1;
    return Status::ok;
}

// The chunk in memory is full: stores it through the filters, and begins the next one.
Status FilteringRecorderBase::filter_chunk(Slot& slot) noexcept {
    if (failed_) {
        return Status::io_error;
    }
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    std::byte* const first = begin(slot, dataset);
    const Pipeline pipeline(filters_of(slot));
    ConstBytes bytes;
    std::uint32_t filter_mask = 0;
    FilterId failed = FilterId::none;
    H5MOTE_TRY(pipeline.view.encode({first, chunk_size(dataset)}, work_, bytes, filter_mask, failed));
    if (filter_mask != 0) {
        // A filter of the program's own cannot process them: the rows stay as they are, and the next chunk gets another
        // place.
        if (slot.run == 0) {
            H5MOTE_TRY(place_rows(slot));
        }
        H5MOTE_TRY(save(slot));
        slot.address = 0;
    } else {
        H5MOTE_TRY(store_filtered(slot, bytes, filter_mask));
    }
    slot.run = 0;
    ++slot.chunk;
    slot.next = slot.saved = first;
    return Status::ok;
}

Status FilteringRecorderBase::store_filtered(Slot& slot, ConstBytes bytes, std::uint32_t filter_mask) noexcept {
    Address address = 0;
    H5MOTE_TRY(allocate(slot, static_cast<Address>(bytes.size()), false, address));
    H5MOTE_TRY(write(address, bytes.data(), bytes.size(), Usage::raw_data));
    if (keep(RecorderRule::filtered_first)) {
        H5MOTE_TRY(barrier());
    }
    H5MOTE_TRY(put(slot, {slot.chunk, address, static_cast<std::uint32_t>(bytes.size()), filter_mask}));
    return slot.run != 0 && keep(RecorderRule::place_free) ? barrier() : Status::ok;
}

// The next unused address for `size` bytes.
Address FilteringRecorderBase::fitting(Address size, bool in_sector) const noexcept {
    const bool crosses = in_sector && spare_ / kSector != (spare_ + size - 1) / kSector;
    return crosses ? (spare_ / kSector + 1) * kSector : spare_;
}

// Takes `size` bytes of the file, at `address` if this returns ok; `in_sector`: they lie in one sector. The file grows
// ahead, because the superblock must say on the storage that it is longer before anything leads there.
Status FilteringRecorderBase::allocate(const Slot& slot, Address size, bool in_sector, Address& address) noexcept {
    if (!within(fitting(size, in_sector), size, spare_end_)) {
        if (spare_end_ != end_) {
            spare_ = end_;
        }
        std::uint32_t count = kAhead;
        Address end = 0;
        H5MOTE_TRY(reserve(chunk_size(dataset_of(slot)), size + (in_sector ? kSector : 0), count, end));
        H5MOTE_TRY(lengthen(end));
        spare_end_ = end;
    }
    address = fitting(size, in_sector);
    spare_ = address + size;
    return Status::ok;
}

// Makes the file shorter by what it grew ahead.
Status FilteringRecorderBase::give_back_spare() noexcept {
    if (spare_ == spare_end_ || spare_end_ != end_) {
        return Status::ok;
    }
    spare_end_ = spare_;
    return shorten(spare_);
}

}  // namespace h5mote
