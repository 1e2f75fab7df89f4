#include "own_fill.hpp"

#include "checked.hpp"
#include "dataset_state.hpp"
#include "prepare.hpp"
#include "work_buffer.hpp"

#include <cstring>

namespace h5mote {

Status OwnFill::load(DatasetState& dataset) noexcept {
    if (file_.context.formats().variable_length_changes == nullptr) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::datatype_class,
                                         static_cast<std::uint32_t>(TypeClass::variable_length));
    }
    HeaderMessage message(file_, dataset.address());
    ConstBytes body;
    DatatypeView stored;
    FillValueMessage fill;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(view_datatype(file_.context, body, stored));
    const std::size_t length = stored.encoded_length();
    H5MOTE_TRY(type_.reserve(length));
    std::memcpy(type_.data(), stored.bytes().data(), length);
    view_ = DatatypeView(type_.first(length));
    H5MOTE_TRY(dataset.find_fill(message, fill));
    if (fill.value.size() != view_.size()) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, dataset.address());
    }
    H5MOTE_TRY(value_.reserve(view_.size()));
    std::memcpy(value_.data(), fill.value.data(), view_.size());
    return Status::ok;
}

Status OwnFill::copy(std::byte* to, std::size_t count) noexcept {
    return count == 0 ? Status::ok
                      : file_.context.formats().variable_length_changes->copy(file_, view_, value_.data(), to, count);
}

void OwnFill::discard(const std::byte* elements, std::size_t count) noexcept {
    (void)file_.context.formats().variable_length_changes->discard(file_, view_, elements, count);
}

Status OwnFill::separate(std::byte* elements, std::size_t count) noexcept {
    const std::size_t size = view_.size();
    for (; count > 0; --count, elements += size) {
        if (std::memcmp(elements, value_.data(), size) != 0) {
            continue;
        }
        const Status status = copy(elements, 1);
        if (status != Status::ok) {
            std::memcpy(elements, value_.data(), size);
            return status;
        }
    }
    return Status::ok;
}

Status DatasetState::fill_own(std::byte* to, std::size_t count, const FillPlace& place) noexcept {
    const std::size_t all = count * element_size_;
    std::memset(to, 0, all);
    if (place.sizes == nullptr || writes_all_) {
        return Status::ok;
    }
    OwnFill value(*file_);
    H5MOTE_TRY(value.load(*this));
    if (place.scaled == nullptr) {
        return value.copy(to, count);
    }
    // From here to the end of the row, and on with the next one.
    const unsigned last = rank() - 1;
    std::uint64_t element = place.element;
    for (std::byte* at_element = to; count > 0;) {
        std::uint64_t column = 0;
        std::uint64_t rest = divide(element, chunk_dims()[last], column);
        bool within_others = true;
        for (unsigned i = last; i-- > 0;) {
            std::uint64_t within_chunk = 0;
            rest = divide(rest, chunk_dims()[i], within_chunk);
            within_others = within_others && place.scaled[i] * chunk_dims()[i] + within_chunk < place.sizes[i];
        }
        const std::uint64_t left = chunk_dims()[last] - column;
        const std::size_t run = left < count ? static_cast<std::size_t>(left) : count;
        const std::uint64_t from = place.scaled[last] * chunk_dims()[last] + column;
        const std::uint64_t inside = within_others && from < place.sizes[last] ? place.sizes[last] - from : 0;
        const Status status = value.copy(at_element, inside < run ? static_cast<std::size_t>(inside) : run);
        if (status != Status::ok) {
            value.discard(to, all / element_size_);
            std::memset(to, 0, all);
            return status;
        }
        at_element += run * element_size_;
        element += run;
        count -= run;
    }
    return Status::ok;
}

void DatasetState::discard_own(const std::byte* elements, std::size_t count) noexcept {
    OwnFill value(*file_);
    if (value.load(*this) == Status::ok) {
        value.discard(elements, count);
    }
}

Status DatasetState::fill_slot_own(ChunkSlot& slot, const ChunkKey& key, bool overwrite) noexcept {
    const std::uint64_t number = key.number;
    const std::uint64_t* const scaled = key.scaled() != nullptr ? key.scaled() : &number;
    return fill_own(slot.data(), slot.size / element_size_, {scaled, overwrite ? nullptr : dims(), 0});
}

Status DatasetState::fill_chunk_own(const ChunkKey& key, Address address) noexcept {
    const std::uint64_t number = key.number;
    return fill_file_own(address, chunk_bytes_, {key.scaled() != nullptr ? key.scaled() : &number, dims(), 0});
}

Status DatasetState::fill_chunks_own(Address address, Address bytes) noexcept {
    const std::size_t size = rank() * sizeof(std::uint64_t);
    auto* const scaled = static_cast<std::uint64_t*>(file_->context.allocate(MemoryKind::other, size));
    if (scaled == nullptr) {
        return Status::out_of_memory;
    }
    Status status = Status::ok;
    ChunkNumber number = 0;
    for (Address done = 0; status == Status::ok && done < bytes; done += chunk_bytes_) {
        scaled_of(number++, scaled);
        status = fill_file_own(address + done, chunk_bytes_, {scaled, dims(), 0});
    }
    file_->context.release(MemoryKind::other, scaled, size);
    return status;
}

// After an error nothing leads to the space, and the copies that it has are given up.
Status DatasetState::fill_file_own(Address address, Address bytes, FillPlace place) noexcept {
    const WorkBuffer buffer(*file_, bytes, element_size_);
    std::byte* const elements = buffer.bytes().data();
    const std::size_t room = buffer.bytes().size();
    if (room == 0) {
        return Status::out_of_memory;
    }
    file_->unsynced = true;
    for (Address done = 0; done < bytes; done += room) {
        const std::size_t piece = bytes - done < room ? static_cast<std::size_t>(bytes - done) : room;
        Status status = fill_own(elements, piece / element_size_, place);
        if (status == Status::ok) {
            status = file_->driver.write(Usage::raw_data, address + done, {elements, piece});
            if (status != Status::ok) {
                discard_own(elements, piece / element_size_);
            }
        }
        if (status != Status::ok) {
            for (Address undone = 0; undone < done && place.sizes != nullptr; undone += room) {
                H5MOTE_TRY(file_->driver.read(Usage::raw_data, address + undone, {elements, room}));
                discard_own(elements, room / element_size_);
            }
            return status;
        }
        place.element += piece / element_size_;
    }
    return Status::ok;
}

}  // namespace h5mote
