// H5FD_family - a file that is cut into members of equal size: finding them, reading, and what the superblock says. The
// superblock's driver information "NCSAfami" is the size of the members, in 8 bytes.
#include "checked.hpp"
#include "cursor.hpp"

#include <h5mote/vfd/family.hpp>

#include <cstring>

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

// The family promises only what all of its members promise.
void FamilyDriver::promise_as(const Driver& member) noexcept {
    const Capabilities one = member.capabilities();
    const std::uint32_t both = promised_.atomic_unit | one.atomic_unit;
    promised_.atomic_unit = both & (~both + 1);  // the largest power of two that divides both
    promised_.writable = promised_.writable && one.writable && !one.sync_is_commit;
    promised_.overwrite = promised_.overwrite && one.overwrite;
    promised_.extends_with_zeros = promised_.extends_with_zeros && one.extends_with_zeros;
    promised_.sync_is_barrier = promised_.sync_is_barrier && one.sync_is_barrier;
    promised_.erased_value = one.erased_value;
}

void FamilyDriver::set_member_size(std::uint64_t size) noexcept {
    member_size_ = size;
    store_le<std::uint64_t>(encoded_, size);
    stored_info_.info = encoded_;
}

Status FamilyDriver::scan() noexcept {
    count_ = last_ = written_count_ = 0;
    unsynced_ = found_ = 0;
    member_size_ = last_size_ = 0;
    size_known_ = size_told_ = full_ = false;
    stored_info_.info = {};
    promised_ = {};
    promised_.atomic_unit = kSector;
    for (;;) {
        Driver* member = nullptr;
        const Status status = take(count_, member);
        if (status == Status::not_found && count_ > 0) {
            error_ = 0;
            found_ = count_;
            return Status::ok;
        }
        H5MOTE_TRY(status);
        std::uint64_t size = 0;
        H5MOTE_TRY(note(*member, member->end_of_file(size)));
        promise_as(*member);
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

Status FamilyDriver::open() noexcept {
    new_size_ = 0;
    H5MOTE_TRY(scan());
    if (last_ != 0 && member_size_ != 0) {
        set_member_size(member_size_);
        size_known_ = true;
    }
    return Status::ok;
}

Status FamilyDriver::open_or_create(std::uint64_t member_size) noexcept {
    if (member_size == 0 || member_size % kSector != 0) {
        return Status::invalid_argument;
    }
    new_size_ = member_size;
    Status status = scan();
    if (status == Status::not_found) {
        Driver* first = nullptr;
        status = members_.make(0, first);
        error_ = status == Status::ok ? 0 : members_.last_error();
        status = status == Status::ok ? scan() : status;
    }
    H5MOTE_TRY(status);
    // A first member that is shorter although others follow was left so by a power cut.
    set_member_size(member_size_ > member_size ? member_size_ : member_size);
    size_known_ = size_told_ = true;
    return Status::ok;
}

Capabilities FamilyDriver::capabilities() const noexcept {
    Capabilities capabilities = promised_;
    capabilities.writable = count_ != 0 && promised_.writable;
    // The length of the first member may be what a power cut has left of it.
    if (size_told_ && member_size_ % kSector != 0) {
        capabilities.atomic_unit = 1;  // sectors of the file lie in two members
    }
    return capabilities;
}

// Reads from one member. A member that a power cut has left short although later ones have bytes will be made full of
// zeros before anything is written; until then it is read as if it were.
Status FamilyDriver::read_part(Usage usage, std::uint32_t index, std::uint64_t offset, Bytes to) noexcept {
    Driver* member = nullptr;
    H5MOTE_TRY(take(index, member));
    if (promised_.writable && size_known_ && !full_ && index < last_) {
        std::uint64_t end = 0;
        H5MOTE_TRY(note(*member, member->end_of_file(end)));
        const std::uint64_t there = offset < end ? end - offset : 0;
        if (there < to.size()) {
            const Bytes missing = to.subspan(static_cast<std::size_t>(there));
            std::memset(missing.data(), 0, missing.size());
            to = to.first(static_cast<std::size_t>(there));
        }
    }
    return to.empty() ? Status::ok : note(*member, member->read(usage, offset, to));
}

Status FamilyDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    while (!to.empty()) {
        if (member_size_ == 0 || address / member_size_ >= count_) {
            return Status::io_error;
        }
        const std::uint64_t offset = address % member_size_;
        const std::uint64_t left = member_size_ - offset;
        const std::size_t size = left < to.size() ? static_cast<std::size_t>(left) : to.size();
        H5MOTE_TRY(read_part(usage, static_cast<std::uint32_t>(address / member_size_), offset, to.first(size)));
        to = to.subspan(size);
        address += size;
    }
    return Status::ok;
}

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

// A member that cannot be had is asked for once more: without it nobody else would ever get the lock.
Status FamilyDriver::do_unlock() noexcept {
    Driver* first = nullptr;
    const Status taken = take(0, first);
    if (taken != Status::ok) {
        H5MOTE_TRY(take(0, first));
    }
    const Status status = note(*first, first->unlock());
    return taken == Status::ok ? status : taken;
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
    set_member_size(size);
    size_known_ = size_told_ = true;
    full_ = false;
    return Status::ok;
}

}  // namespace h5mote
