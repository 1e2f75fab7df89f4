// H5FD_family - reads a file that is cut into members of equal size. The superblock's driver information "NCSAfami" is
// that size, in 8 bytes.
#include "checked.hpp"
#include "cursor.hpp"

#include <h5mote/vfd/family.hpp>

namespace h5mote {

Status FamilyDriver::take(std::uint32_t index, Driver*& driver) noexcept {
    const Status status = members_.member(index, driver);
    error_ = status == Status::ok ? error_ : members_.last_error();
    return status;
}

// Keeps the error code of a member that failed: the member itself is valid only until the next one is asked for.
Status FamilyDriver::note(Driver& member, Status status) noexcept {
    error_ = status == Status::ok ? error_ : member.last_error();
    return status;
}

Status FamilyDriver::open() noexcept {
    count_ = last_ = 0;
    member_size_ = last_size_ = 0;
    for (;;) {
        Driver* member = nullptr;
        const Status status = take(count_, member);
        if (status == Status::not_found && count_ > 0) {
            error_ = 0;
            return Status::ok;
        }
        H5MOTE_TRY(status);
        std::uint64_t size = 0;
        H5MOTE_TRY(note(*member, member->end_of_file(size)));
        if (count_ == 0) {
            member_size_ = size;
            // The first member opened as a file of its own is not the same storage as the whole family.
            id_ = member->storage_id();
            id_.volume ^= std::uint64_t{1} << 63;
        }
        if (size != 0) {
            last_ = count_;
            last_size_ = size;
        }
        if (++count_ == 0) {
            return Status::overflow;
        }
    }
}

Capabilities FamilyDriver::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.writable = false;
    return capabilities;
}

Status FamilyDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    while (!to.empty()) {
        if (member_size_ == 0 || address / member_size_ >= count_) {
            return Status::io_error;
        }
        Driver* member = nullptr;
        H5MOTE_TRY(take(static_cast<std::uint32_t>(address / member_size_), member));
        const std::uint64_t offset = address % member_size_;
        const std::uint64_t left = member_size_ - offset;
        const std::size_t size = left < to.size() ? static_cast<std::size_t>(left) : to.size();
        H5MOTE_TRY(note(*member, member->read(usage, offset, to.first(size))));
        to = to.subspan(size);
        address += size;
    }
    return Status::ok;
}

Status FamilyDriver::write(Usage /*usage*/, std::uint64_t /*address*/, ConstBytes /*from*/) noexcept {
    return Status::read_only;
}

Status FamilyDriver::truncate(std::uint64_t /*size*/) noexcept { return Status::read_only; }

Status FamilyDriver::end_of_file(std::uint64_t& size) noexcept {
    std::uint64_t before = 0;
    if (!checked_multiply(member_size_, std::uint64_t{last_}, before) ||
        !checked_add(before, last_size_ < member_size_ ? last_size_ : member_size_, size)) {
        return Status::overflow;
    }
    return Status::ok;
}

Status FamilyDriver::do_lock(bool exclusive) noexcept {
    Driver* first = nullptr;
    H5MOTE_TRY(take(0, first));
    return note(*first, first->lock(exclusive));
}

Status FamilyDriver::do_unlock() noexcept {
    Driver* first = nullptr;
    H5MOTE_TRY(take(0, first));
    return note(*first, first->unlock());
}

Status FamilyDriver::use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept {
    if (name != "NCSAfami") {
        return Driver::use_superblock_info(name, info, end);
    }
    if (info.size() < 8) {
        return Status::corrupt_file;
    }
    const std::uint64_t size = load_le<std::uint64_t>(info.data());
    if (size == 0) {
        return Status::corrupt_file;
    }
    member_size_ = size;
    return Status::ok;
}

}  // namespace h5mote
