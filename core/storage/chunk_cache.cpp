#include "chunk_cache.hpp"

namespace h5mote {

ChunkSlot* ChunkCache::find(const ChunkOwner& owner, const ChunkKey& key) noexcept {
    ChunkSlot* slot = bucket(owner, key.number);
    while (slot != nullptr && (slot->owner != &owner || slot->number != key.number || !key.match(slot->memory()))) {
        slot = slot->hash_next;
    }
    if (slot != nullptr) {
        lru_.remove(*slot);
        lru_.push_front(*slot);
    }
    return slot;
}

ChunkSlot* ChunkCache::victim() noexcept {
    ChunkSlot* oldest = lru_.back();
    if (!may_be_complete()) {
        return oldest;
    }
    for (ChunkSlot* slot = oldest; slot != nullptr; slot = lru_.previous(*slot)) {
        if (slot->complete) {
            return slot;
        }
    }
    return oldest;
}

Status ChunkCache::evict(ChunkSlot& slot) noexcept {
    slot.owner->evicted(slot);
    if (slot.dirty()) {
        H5MOTE_TRY(slot.owner->write_back(slot));
    }
    drop(slot);
    return Status::ok;
}

Status ChunkCache::evict_all() noexcept {
    while (!lru_.empty()) {
        H5MOTE_TRY(evict(*lru_.back()));
    }
    return Status::ok;
}

Status ChunkCache::allocate(std::size_t size, std::size_t extra, void*& memory) noexcept {
    while (!lru_.empty() && size <= budget_ && used_ + cost(size) > budget_) {
        H5MOTE_TRY(evict(*victim()));
    }
    // Once no chunk is left to evict, used_ counts only memory that lend() has handed out.
    if (size > budget_ || (used_ != 0 && used_ + cost(size) > budget_)) {
        return context_.fail(Module::storage, H5MOTE_HERE, Status::over_budget, 2, size);
    }
    while ((memory = context_.allocate(MemoryKind::chunk, size + extra)) == nullptr) {
        if (lru_.empty()) {
            return Status::out_of_memory;
        }
        H5MOTE_TRY(evict(*victim()));
    }
    used_ += cost(size);
    return Status::ok;
}

Status ChunkCache::add(ChunkOwner& owner, const ChunkKey& key, std::uint32_t size, ChunkSlot*& slot) noexcept {
    void* memory = nullptr;
    H5MOTE_TRY(allocate(size, sizeof(ChunkSlot) + key.bytes(), memory));
    key.copy(memory);
    slot = ::new (static_cast<std::byte*>(memory) + key.bytes()) ChunkSlot;
    slot->coordinates = static_cast<std::uint16_t>(key.bytes());
    slot->owner = &owner;
    slot->number = key.number;
    slot->size = size;
    slot->hash_next = bucket(owner, key.number);
    bucket(owner, key.number) = slot;
    lru_.push_front(*slot);
    return Status::ok;
}

Status ChunkCache::lend(std::size_t size, std::byte*& memory) noexcept {
    void* lent = nullptr;
    H5MOTE_TRY(allocate(size, 0, lent));
    memory = static_cast<std::byte*>(lent);
    return Status::ok;
}

void ChunkCache::take_back(std::byte* memory, std::size_t size) noexcept {
    used_ -= cost(size);
    context_.release(MemoryKind::chunk, memory, size);
}

Status ChunkCache::keep(ChunkSlot& slot) noexcept {
    if (H5MOTE_KEEP_ROOM != 0 && !slot.kept) {
        H5MOTE_TRY(space_.keep(slot.size));
        slot.kept = true;
    }
    return Status::ok;
}

void ChunkCache::unkeep(ChunkSlot& slot) noexcept {
    if (H5MOTE_KEEP_ROOM != 0 && slot.kept) {
        slot.kept = false;
        space_.unkeep(slot.size);
    }
}

void ChunkCache::drop(ChunkSlot& slot) noexcept {
    unkeep(slot);
    ChunkSlot** link = &bucket(*slot.owner, slot.number);
    while (*link != &slot) {
        link = &(*link)->hash_next;
    }
    *link = slot.hash_next;
    lru_.remove(slot);
    used_ -= cost(slot.size);
    context_.release(MemoryKind::chunk, slot.memory(), slot.coordinates + sizeof(ChunkSlot) + slot.size);
}

void ChunkCache::drop_all(const ChunkOwner& owner) noexcept {
    drop_if(owner, [](ChunkSlot& /*slot*/) { return true; });
}

Status ChunkCache::write_in_place(Driver& driver, bool& written) noexcept {
    for (ChunkSlot* slot = lru_.back(); slot != nullptr; slot = lru_.previous(*slot)) {
        if (slot->dirty() && slot->in_place && slot->address != kUndefinedAddress) {
            written = true;
            H5MOTE_TRY(driver.write(Usage::raw_data, slot->address + slot->dirty_from, slot->changed()));
            slot->clean();
        }
    }
    return Status::ok;
}

Status ChunkCache::write_back(ChunkOwner& owner) noexcept {
    for (ChunkSlot* slot = lru_.back(); slot != nullptr; slot = lru_.previous(*slot)) {
        if (slot->owner == &owner && slot->dirty()) {
            H5MOTE_TRY(owner.write_back(*slot));
        }
    }
    return Status::ok;
}

}  // namespace h5mote
