#include "checked.hpp"

#include <h5mote/vfd/memory.hpp>

#include <cstring>

namespace h5mote {

Capabilities MemoryFile::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.atomic_unit = 512;
    capabilities.writable = access_ == MemoryAccess::read_write;
    return capabilities;
}

Status MemoryFile::read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept {
    if (!within(address, to.size(), size_)) {
        return Status::io_error;
    }
    if (!to.empty()) {
        std::memcpy(to.data(), data_ + static_cast<std::size_t>(address), to.size());
    }
    return Status::ok;
}

Status MemoryFile::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    if (from.empty()) {
        return access_ == MemoryAccess::read_write ? Status::ok : Status::read_only;
    }
    std::uint64_t end = 0;
    if (!checked_add<std::uint64_t>(address, from.size(), end)) {
        return Status::no_space;
    }
    H5MOTE_TRY(extend(end));
    std::memcpy(data_ + static_cast<std::size_t>(address), from.data(), from.size());
    return Status::ok;
}

Status MemoryFile::end_of_file(std::uint64_t& size) noexcept {
    size = size_;
    return Status::ok;
}

Status MemoryFile::truncate(std::uint64_t size) noexcept {
    H5MOTE_TRY(extend(size));
    size_ = static_cast<std::size_t>(size);
    return Status::ok;
}

// Makes the file at least `end` bytes long, the new ones zero.
Status MemoryFile::extend(std::uint64_t end) noexcept {
    if (access_ != MemoryAccess::read_write) {
        return Status::read_only;
    }
    if (end <= size_) {
        return Status::ok;
    }
    std::size_t size = 0;
    if (!to_size(end, size)) {
        return Status::no_space;
    }
    if (size > capacity_) {
        H5MOTE_TRY(grow(size));
    }
    std::memset(data_ + size_, 0, size - size_);
    size_ = size;
    return Status::ok;
}

Status MemoryDriver::grow(std::size_t /*size*/) noexcept { return Status::no_space; }

}  // namespace h5mote
