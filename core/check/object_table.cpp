#include "object_table.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS

namespace h5mote {

ObjectTable::~ObjectTable() { context_.release(MemoryKind::other, objects_, capacity_ * kFootprint); }

Status ObjectTable::reserve(std::size_t bytes) noexcept {
    const std::size_t wanted = bytes / kFootprint;
    const std::size_t capacity = wanted < 8 ? 8 : wanted > 0x3fffffff ? 0x3fffffff : wanted;
    objects_ = static_cast<CheckedObject*>(context_.allocate(MemoryKind::other, capacity * kFootprint));
    if (objects_ == nullptr) {
        return Status::out_of_memory;
    }
    capacity_ = static_cast<std::uint32_t>(capacity);
    std::memset(slots(), 0, capacity * kSlotsPerObject * sizeof(std::uint32_t));
    return Status::ok;
}

// The slot of the object, or the free one where it belongs.
std::uint32_t ObjectTable::slot_of(Address address) noexcept {
    const std::uint32_t count = kSlotsPerObject * capacity_;
    auto slot = static_cast<std::uint32_t>(((address * 0x9e3779b97f4a7c15U) >> 32) * count >> 32);
    while (slots()[slot] != 0 && objects_[slots()[slot] - 1].address != address) {
        slot = slot + 1 == count ? 0 : slot + 1;
    }
    return slot;
}

bool ObjectTable::add(Address address) noexcept {
    const std::uint32_t slot = slot_of(address);
    if (slots()[slot] != 0) {
        ++objects_[slots()[slot] - 1].links;
        return true;
    }
    if (count_ == capacity_) {
        return false;
    }
    objects_[count_] = {address, 1, kUnknown};
    slots()[slot] = ++count_;
    return true;
}

Status ObjectTable::grow() noexcept {
    CheckedObject* const old = objects_;
    const std::uint32_t capacity = capacity_;
    const Status status = reserve(2 * std::size_t{capacity} * kFootprint);
    if (status != Status::ok) {
        objects_ = old;
        return status;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
        objects_[i] = old[i];
        slots()[slot_of(old[i].address)] = i + 1;
    }
    context_.release(MemoryKind::other, old, capacity * kFootprint);
    return Status::ok;
}

}  // namespace h5mote

#endif
