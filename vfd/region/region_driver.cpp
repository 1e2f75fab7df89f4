#include "checked.hpp"

#include <h5mote/vfd/region.hpp>

namespace h5mote {

Capabilities RegionDriver::capabilities() const noexcept {
    Capabilities capabilities = storage_.capabilities();
    // A region of fixed size keeps the bytes that were there before, also after truncate().
    capabilities.extends_with_zeros = capabilities.extends_with_zeros && size_ == kToTheEnd;
    // The aligned units of the region must lie within those of the storage: take the greatest common divisor of the
    // storage's unit and start_.
    std::uint64_t unit = capabilities.atomic_unit;
    for (std::uint64_t rest = start_; rest != 0;) {
        const std::uint64_t next = unit % rest;
        unit = rest;
        rest = next;
    }
    capabilities.atomic_unit = static_cast<std::uint32_t>(unit);
    return capabilities;
}

Status RegionDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(end_of_file(size));
    return within(address, to.size(), size) ? storage_.read(usage, start_ + address, to) : Status::io_error;
}

Status RegionDriver::write(Usage usage, std::uint64_t address, ConstBytes from) noexcept {
    if (!within(address, from.size(), size_ < ~start_ ? size_ : ~start_)) {
        return Status::no_space;
    }
    const std::uint64_t end = address + from.size();
    H5MOTE_TRY(storage_.write(usage, start_ + address, from));
    length_ = !from.empty() && end > length_ ? end : length_;
    return Status::ok;
}

Status RegionDriver::end_of_file(std::uint64_t& size) noexcept {
    H5MOTE_TRY(storage_.end_of_file(size));
    size = size > start_ ? size - start_ : 0;
    size = size < length_ ? size : length_;
    return Status::ok;
}

Status RegionDriver::truncate(std::uint64_t size) noexcept {
    if (size > size_ || size > ~start_) {
        return Status::no_space;
    }
    std::uint64_t end = 0;
    H5MOTE_TRY(storage_.end_of_file(end));
    if (size_ == kToTheEnd || start_ + size > end) {
        H5MOTE_TRY(storage_.truncate(start_ + size));
    }
    length_ = size_ == kToTheEnd ? kToTheEnd : size;
    return Status::ok;
}

Status RegionDriver::release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept {
    std::uint64_t end = 0;
    H5MOTE_TRY(end_of_file(end));
    if (address >= end) {
        return Status::ok;
    }
    // The range may reach beyond the end of the file, but the region that follows this one must not be released.
    return storage_.release(usage, start_ + address, size < end - address ? size : end - address);
}

StorageId RegionDriver::storage_id() const noexcept {
    StorageId id = storage_.storage_id();
    // The golden ratio spreads the starts over all bits, so that no region is taken for the neighbour of another file.
    id.volume += (start_ + 1) * 0x9e3779b97f4a7c15U;
    return id;
}

}  // namespace h5mote
