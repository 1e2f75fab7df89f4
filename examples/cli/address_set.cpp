#include "address_set.hpp"

namespace h5mote::cli {

std::size_t AddressSet::slot(Address address) const {
    const std::uint64_t mixed = static_cast<std::uint64_t>(address) * 0x9e3779b97f4a7c15U;
    std::size_t at = static_cast<std::size_t>(mixed >> 32) & (capacity_ - 1);
    while (slots_[at] != kUndefinedAddress && slots_[at] != address) {
        at = (at + 1) & (capacity_ - 1);
    }
    return at;
}

bool AddressSet::contains(Address address) const {
    return capacity_ != 0 && address != kUndefinedAddress && slots_[slot(address)] == address;
}

Status AddressSet::grow() {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    auto* const slots = static_cast<Address*>(context_.allocate(MemoryKind::other, capacity * sizeof(Address)));
    if (slots == nullptr) {
        return Status::out_of_memory;
    }
    for (std::size_t i = 0; i < capacity; ++i) {
        slots[i] = kUndefinedAddress;
    }
    Address* const old = slots_;
    const std::size_t old_capacity = capacity_;
    slots_ = slots;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
        if (old[i] != kUndefinedAddress) {
            slots_[slot(old[i])] = old[i];
        }
    }
    context_.release(MemoryKind::other, old, old_capacity * sizeof(Address));
    return Status::ok;
}

Status AddressSet::add(Address address, bool& added) {
    added = false;
    if (address == kUndefinedAddress || contains(address)) {
        return Status::ok;
    }
    if (4 * (size_ + 1) > 3 * capacity_) {
        H5MOTE_TRY(grow());
    }
    slots_[slot(address)] = address;
    ++size_;
    added = true;
    return Status::ok;
}

void AddressSet::clear() {
    context_.release(MemoryKind::other, slots_, capacity_ * sizeof(Address));
    slots_ = nullptr;
    capacity_ = 0;
    size_ = 0;
}

}  // namespace h5mote::cli
