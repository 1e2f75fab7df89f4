// Appending to a one-dimensional dataset, and growing any; dataset_extent.cpp makes them smaller.

#include "checked.hpp"
#include "conversion.hpp"
#include "dataset_state.hpp"
#include "supported.hpp"
#include "virtual_changes.hpp"

#include <cstring>

namespace h5mote {

void DatasetState::count_appended() noexcept {
    if (H5MOTE_WRITE == 0 || tail_ == nullptr) {
        return;
    }
    const std::uint32_t offset = static_cast<std::uint32_t>(at - tail_->data());
    if (offset > tail_from_) {
        tail_->touch(tail_from_, offset);
        file_->chunks.set_complete(*tail_, offset == tail_->size);
        tail_from_ = offset;
        dims()[0] = tail_->number * chunk_dims()[0] + offset / element_size_;
        dims_changed_ = true;
    }
}

// Makes the cursor point to where the next record goes: into the last chunk, or a new one when that is full.
Status DatasetState::open_tail() noexcept {
    count_appended();
    std::uint64_t rest = 0;
    const ChunkNumber number = narrow(divide(dims()[0], chunk_rows(), rest));
    const auto row = static_cast<std::uint32_t>(rest);
    const std::uint32_t offset = row * element_size_;
    // TypedDataset::append() compares only the cursor's two pointers, so `end` must not lie beyond the maximum extent
    // either.
    std::uint32_t room = chunk_rows() - row;
    if (const std::uint64_t left = rows_left(); left < room) {
        room = static_cast<std::uint32_t>(left);
    }
    ChunkSlot* slot = nullptr;
    // If the new record is the first one of its chunk, the old contents of the chunk need not be read.
    H5MOTE_TRY(chunk(number, offset == 0, slot));
    tail_ = nullptr;
    at = end = nullptr;
    if (offset == 0 && number >= unfilled_ && number < unfilled_end_) {
        slot->touch(0, slot->size);
    }
    if (!appended_) {
        appended_ = true;
        begun_ = number;
    }
    tail_ = slot;
    tail_from_ = offset;
    at = slot->data() + offset;
    end = at + std::size_t{room} * element_size_;
    return Status::ok;
}

Status DatasetState::check_plain() noexcept {
    if (plain_) {
        return Status::ok;
    }
    HeaderMessage message(*file_, address_);
    ConstBytes body;
    DatatypeView stored;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(parse_datatype(file_->context, body, stored));
    plain_ = is_plain(stored);
    return plain_ ? Status::ok
                  : file_->context.unsupported(Module::dataset, H5MOTE_HERE, Feature::datatype_class,
                                               static_cast<std::uint32_t>(stored.type_class()));
}

// `to` may hold bytes that an earlier session left, so members that the records lack are set to the fill value first.
Status DatasetState::convert(const Conversion& conversion, const std::byte* records, std::size_t record_size,
                             std::size_t count, std::byte* to) noexcept {
    if (conversion.is_partial()) {
        H5MOTE_TRY(fill_stored(to, count, {nullptr, conversion.lacks_members() ? dims() : nullptr, 0}));
    }
    const Status status = conversion.run(count, records, record_size, to, element_size_);
    return status == Status::ok ? Status::ok : file_->context.fail(Module::dataset, H5MOTE_HERE, status);
}

Status DatasetState::append(const std::byte* records, std::size_t record_size, std::size_t count,
                            const Conversion* conversion) noexcept {
    if (rank() != 1 || !is_chunked()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, rank());
    }
    count_appended();
    if (count > rows_left()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, max_dims()[0]);
    }
    if (!growable_) {
        const std::uint64_t longer = dims()[0] + count;
        H5MOTE_TRY(secure_dims(&longer));
        H5MOTE_TRY(count == 0 ? Status::ok : allocate_late());
        growable_ = count != 0;
    }
    if (H5MOTE_PARTIAL_IO != 0 && !fits_cache()) {
        return append_in_place(records, record_size, count, conversion);
    }
    while (count > 0) {
        if (at == end) {
            H5MOTE_TRY(open_tail());
        }
        const std::size_t room = static_cast<std::size_t>(end - at) / element_size_;
        const std::size_t now = count < room ? count : room;
        if (H5MOTE_CONVERSION == 0 || conversion == nullptr) {
            std::memcpy(at, records, now * element_size_);
        } else {
            const Status status = convert(*conversion, records, record_size, now, at);
            if (status != Status::ok) {
                // Some of the records may lie behind the last row, in a chunk that has none that count.
                count_appended();
                withdraw_rows(dims()[0]);
                return status;
            }
        }
        at += now * element_size_;
        records += now * record_size;
        count -= now;
    }
    return Status::ok;
}

// For chunks too large for the cache: each piece goes straight to the file.
Status DatasetState::append_in_place(const std::byte* records, std::size_t record_size, std::size_t count,
                                     const Conversion* conversion) noexcept {
    // So that the next commit can write the dimension.
    H5MOTE_TRY(file_->space.keep_cache(narrow(file_->cache.budget())));
    while (count > 0) {
        std::uint64_t rest = 0;
        const ChunkNumber number = narrow(divide(dims()[0], chunk_rows(), rest));
        const auto row = static_cast<std::uint32_t>(rest);
        Address address = 0;
        H5MOTE_TRY(chunk_in_place(number, true, address));
        const std::size_t room = chunk_rows() - row;
        std::size_t now = count < room ? count : room;
        ConstBytes bytes{records, now * element_size_};
        if (conversion != nullptr) {
            now = 1;
            std::byte* converted = file_->filter_scratch(element_size_);
            if (converted == nullptr) {
                return Status::out_of_memory;
            }
            std::memset(converted, 0, element_size_);
            H5MOTE_TRY(convert(*conversion, records, record_size, 1, converted));
            bytes = {converted, element_size_};
        }
        file_->unsynced = true;
        const Status status = file_->driver.write(Usage::raw_data, address + std::uint64_t{row} * element_size_, bytes);
        if (status != Status::ok) {
            cleared_ = false;  // a part of the records may lie behind the last row
            return status;
        }
        dims()[0] += now;
        dims_changed_ = true;
        records += now * record_size;
        count -= now;
    }
    return Status::ok;
}

Status DatasetState::set_extent(Span<const std::uint64_t> wanted) noexcept {
    count_appended();
    bool sound = wanted.size() == rank() && (is_chunked() || external() || is_virtual());
    bool smaller = false;
    bool larger = false;
    for (unsigned i = 0; sound && i < rank(); ++i) {
        // A dimension that another program made longer than this library does may become shorter.
        const std::uint64_t most = H5MOTE_ALL_FORMATS != 0 ? file_->shape().max_size() : kUnlimited - 1;
        sound = wanted[i] <= max_dims()[i] && (wanted[i] <= most || wanted[i] <= dims()[i]);
        smaller = smaller || wanted[i] < dims()[i];
        larger = larger || wanted[i] > dims()[i];
    }
    if (!sound) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, rank());
    }
    if (uncleared_) {
        H5MOTE_TRY(clear_cut());
    }
    H5MOTE_TRY(secure_dims(wanted.data()));
    if (is_virtual()) {
        H5MOTE_TRY(file_->context.formats().virtual_changes->check_extent(*this, wanted.data()));
        set_dims(wanted.data());
        return Status::ok;
    }
    if (external()) {
        return resize_external(wanted.data());
    }
    if (smaller && !larger) {
        return shrink(wanted.data());
    }
    // A session that a power cut ended may have left elements beyond the extent: whole chunks, which are removed here,
    // and parts of chunks at the edge of the extent, which are set to the fill value.
    std::uint64_t row = 0;
    ChunkNumber number = 0;
    [[maybe_unused]] bool clears = false;
    if (rank() == 1 && table_.can_reserve()) {
        if (wanted[0] != dims()[0]) {
            // Chunks that this session holds in advance may stay as long as the extent does not reach them. Fill values
            // that are copies are made as far as the dataset grows, every time.
            const bool cleared = H5MOTE_PARTIAL_IO != 0 && cleared_ && !own_fill();
            if (!cleared || divide_up(wanted[0], chunk_rows()) > divide_up(dims()[0], chunk_rows())) {
                // This must succeed: a chunk that stayed would become part of the new extent.
                H5MOTE_TRY(remove_ahead());
            }
            if (!cleared) {
                number = narrow(divide(dims()[0], chunk_rows(), row));
                clears = true;
            }
        }
    } else if constexpr (H5MOTE_PARTIAL_IO != 0) {
        // An implicit index is cleared only as far as the dataset grows, every time, and so are fill values made that
        // are copies.
        if (!cleared_ || !table_.can_remove() || own_fill()) {
            // The index leads to chunks that are in memory only once they are stored: before that no walk finds them.
            H5MOTE_TRY(own_fill() && filtered() ? store_chunks() : Status::ok);
            H5MOTE_TRY(clear_beyond(wanted.data(), true, true));
            cleared_ = true;
            prepared_ = unfilled_end_ = 0;
        }
    }
    // Builds without partial I/O open no datasets with chunks larger than the cache.
    if (H5MOTE_PARTIAL_IO != 0 && row != 0 && !fits_cache()) {
        Address address = 0;
        H5MOTE_TRY(chunk_in_place(number, false, address));
        if (address != kUndefinedAddress) {
            const std::uint32_t offset = static_cast<std::uint32_t>(row) * element_size_;
            const std::uint64_t scaled = number;
            H5MOTE_TRY(fill_space(address + offset, chunk_bytes_ - offset, {&scaled, wanted.data(), row}));
        }
    } else if (row != 0) {
        // Where nothing was written to the chunk there is nothing to clear.
        ChunkLocation location;
        H5MOTE_TRY(H5MOTE_ALL_FORMATS != 0 ? table_.find(number, location) : Status::ok);
        if (H5MOTE_ALL_FORMATS == 0 || location.address != kUndefinedAddress || cached_chunk(number) != nullptr) {
            H5MOTE_TRY(open_tail());
            const std::uint32_t offset = static_cast<std::uint32_t>(at - tail_->data());
            const std::uint64_t scaled = number;
            H5MOTE_TRY(
                fill_stored(at, static_cast<std::size_t>(end - at) / element_size_, {&scaled, wanted.data(), row}));
            tail_->touch(offset, tail_->size);
            evicted(*tail_);
        }
    }
    if constexpr (H5MOTE_PARTIAL_IO != 0) {
        cleared_ = cleared_ || clears;
    }
    // An implicit index has the space of all its chunks once it has any.
    if (H5MOTE_ALL_FORMATS != 0 && larger && allocation_ == AllocationTime::early &&
        (table_.can_remove() || !table_.has_storage())) {
        return grow_allocated(wanted.data(), smaller);
    }
    if (smaller) {
        return shrink(wanted.data());
    }
    if (edges_unfiltered()) {
        H5MOTE_TRY(edges().adapt(*this, wanted.data()));
    }
    set_dims(wanted.data());
    return Status::ok;
}

Status DatasetState::grow_allocated(const std::uint64_t* wanted, bool smaller) noexcept {
    const std::size_t size = rank() * 2 * sizeof(std::uint64_t);
    auto* const old = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (old == nullptr) {
        return Status::out_of_memory;
    }
    std::uint64_t* const larger = old + rank();
    for (unsigned i = 0; i < rank(); ++i) {
        old[i] = dims()[i];
        larger[i] = wanted[i] < old[i] ? old[i] : wanted[i];
    }
    Status status = edges_unfiltered() ? edges().adapt(*this, larger) : Status::ok;
    if (status == Status::ok) {
        set_dims(larger);
        status = allocate_all(old);
        bool is_smaller = false;  // shrink() may fail after that
        if (status == Status::ok && smaller) {
            status = shrink(wanted);
            is_smaller = std::memcmp(dims(), wanted, size / 2) == 0;
        }
        if (status != Status::ok && !is_smaller) {
            set_dims(old);
            cleared_ = false;
            uncleared_ = true;
            (void)clear_cut();
        }
    }
    file_->context.release(MemoryKind::other, old, size);
    return status;
}

// What the files have stays there, also beyond the extent, as with libhdf5.
Status DatasetState::resize_external(const std::uint64_t* wanted) noexcept {
    std::uint64_t bytes = element_size_;
    bool sound = true;
    for (unsigned i = 0; i < rank(); ++i) {
        sound = sound && checked_multiply(bytes, wanted[i], bytes);
    }
    const Address size = narrow(bytes);
    if (!sound || size != bytes) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, rank());
    }
    data_size_ = size;
    set_dims(wanted);
    return Status::ok;
}

void DatasetState::set_dims(const std::uint64_t* wanted) noexcept {
    for (unsigned i = 0; i < rank(); ++i) {
        dims()[i] = wanted[i];
    }
    tail_ = nullptr;
    at = end = nullptr;
    dims_changed_ = true;
}

}  // namespace h5mote
