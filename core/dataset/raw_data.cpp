#include "raw_data.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {

Status RawData::open() noexcept {
    open(dataset_.data_address(), dataset_.data_size());
    external_data_ = dataset_.external();
    if (dataset_.layout_class() != Layout::compact) {
        return Status::ok;
    }
    ConstBytes head;
    LayoutMessage layout;
    H5MOTE_TRY(header_.find(MessageType::layout));
    H5MOTE_TRY(header_.head(LayoutMessage::kMaxHead, head));
    H5MOTE_TRY(layout.decode(file_.context, file_.shape(), head, header_.size()));
    header_data_ = true;
    header_offset_ = layout.compact_offset;
    size_ = layout.size;
    return Status::ok;
}

void RawData::open(Address address, Address size) noexcept {
    address_ = address;
    size_ = size;
    held_ = 0;
    grown_ = kLeastAhead;
    if (!lent_) {
        capacity_ = 0;  // others may have used the filters' scratch since the last open()
    }
}

void RawData::release() noexcept {
    if (lent_) {
        file_.chunks.take_back(ahead_, capacity_);
    }
    lent_ = false;
    ahead_ = nullptr;
    capacity_ = held_ = 0;
}

Status RawData::read(std::uint64_t offset, Bytes to) noexcept {
    if (!within(offset, to.size(), size_)) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    if (header_data_) {
        return header_.read(header_offset_ + narrow(offset), to);
    }
    if (H5MOTE_ALL_FORMATS != 0 && external_data_) {
        return file_.context.formats().external_data->read(external_, offset, to);
    }
    std::uint64_t at = 0;
    if (!checked_add<std::uint64_t>(address_, offset, at) || !file_.contains(narrow(at), narrow(to.size()))) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, address_);
    }
    return told(file_.context, file_.driver, H5MOTE_HERE, file_.driver.read(Usage::raw_data, at, to), at);
}

// Gets memory to read ahead into: lent by the chunk cache, or else the filters' scratch, only as much as is needed.
Status RawData::reserve(std::size_t least) noexcept {
    if (least <= capacity_) {
        return Status::ok;
    }
    release();
    std::size_t size = file_.chunks.budget() < kMostAhead ? file_.chunks.budget() : kMostAhead;
    size = size_ < size ? static_cast<std::size_t>(size_) : size;
    if (size >= least && size > kLeastAhead && file_.chunks.lend(size, ahead_) == Status::ok) {
        lent_ = true;
        capacity_ = size;
        return Status::ok;
    }
    capacity_ = least < kLeastAhead ? kLeastAhead : least;
    ahead_ = file_.filter_scratch(capacity_);
    if (ahead_ == nullptr) {
        capacity_ = 0;
        return Status::out_of_memory;
    }
    return Status::ok;
}

Status RawData::view(std::uint64_t offset, std::size_t least, std::uint64_t wanted, ConstBytes& bytes) noexcept {
    if (offset < from_ || offset - from_ >= held_ || held_ - (offset - from_) < least) {
        H5MOTE_TRY(reserve(least));
        // Small steps forward read twice as much ahead each time; a jump starts again with little.
        const bool near = held_ != 0 && offset >= from_ && offset - from_ <= 2 * std::uint64_t{held_};
        grown_ = near ? 2 * grown_ : kLeastAhead;
        std::uint64_t size = wanted > grown_ ? wanted : grown_;
        size = size > capacity_ ? capacity_ : size;
        grown_ = grown_ > capacity_ ? capacity_ : grown_;
        size = size > size_ - offset ? size_ - offset : size;
        size = size < least ? least : size;
        held_ = 0;
        Status status = read(offset, {ahead_, static_cast<std::size_t>(size)});
        if (status == Status::not_found && external_data_) {
            // Reading ahead reached an external file that is missing and that the caller does not need: read no more
            // than is needed.
            size = least;
            status = read(offset, {ahead_, least});
        }
        H5MOTE_TRY(status);
        from_ = offset;
        held_ = static_cast<std::size_t>(size);
    }
    bytes = {ahead_ + (offset - from_), held_ - static_cast<std::size_t>(offset - from_)};
    return Status::ok;
}

}  // namespace h5mote
