#include <h5mote/arena.hpp>

#include "poison.hpp"

#include <cstring>
#include <new>

namespace h5mote {
namespace {

constexpr bool kMachineWantsMore = alignof(std::max_align_t) > kArenaGranule;

}  // namespace

H5MOTE_READS_POISONED Arena::Arena(Bytes buffer) noexcept {
    static_assert(sizeof(FreeBlock) == kArenaGranule && alignof(FreeBlock) <= kArenaGranule);
    base_ = buffer.data();
    const std::size_t skip = (0U - reinterpret_cast<std::uintptr_t>(base_)) % kArenaGranule;
    if (buffer.size() < skip + kArenaGranule) {
        return;
    }
    base_ += skip;
    std::size_t size = buffer.size() - skip;
    if constexpr (sizeof(std::size_t) > sizeof(std::uint32_t)) {
        size = size < kEnd ? size : kEnd;
    }
    capacity_ = static_cast<std::uint32_t>(size & ~(kArenaGranule - 1));
    poison::allow(base_, capacity_);  // an earlier arena in this buffer may have forbidden parts of it
    ::new (static_cast<void*>(base_)) FreeBlock{capacity_, kEnd};
    first_ = 0;
    poison::forbid(base_, capacity_);
}

PoisonedArenaBuffer::~PoisonedArenaBuffer() { poison::allow(base_, capacity_); }

H5MOTE_READS_POISONED Arena::FreeBlock& Arena::at(std::uint32_t offset) const noexcept {
    return *reinterpret_cast<FreeBlock*>(base_ + offset);
}

// Takes [offset, offset + size) out of the free block at `*link`; the rest of the block, before and behind, stays free.
H5MOTE_READS_POISONED void Arena::take(std::uint32_t* link, std::uint32_t offset, std::uint32_t size) noexcept {
    const FreeBlock block = at(*link);
    const std::uint32_t end = offset + size;
    const std::uint32_t rest = *link + block.size - end;
    std::uint32_t next = block.next;
    if (rest != 0) {
        ::new (static_cast<void*>(base_ + end)) FreeBlock{rest, next};
        next = end;
    }
    if (offset != *link) {
        at(*link) = {offset - *link, next};
    } else {
        *link = next;
    }
    now_ += size;
    if (now_ > peak_) {
        peak_ = now_;
    }
}

// Merges the free block with the one behind it if they touch.
H5MOTE_READS_POISONED void Arena::join(std::uint32_t offset) noexcept {
    FreeBlock& block = at(offset);
    if (block.next == offset + block.size) {
        block = {block.size + at(block.next).size, at(block.next).next};
    }
}

H5MOTE_READS_POISONED void* Arena::do_allocate(std::size_t size, std::size_t alignment) noexcept {
    if (size > capacity_) {
        return nullptr;
    }
    const poison::Walk walk;
    const auto need = static_cast<std::uint32_t>(arena_block_size(size));
    std::uint32_t* found = nullptr;
    std::uint32_t place = 0;
    for (std::uint32_t* link = &first_; *link != kEnd; link = &at(*link).next) {
        const std::uint32_t room = at(*link).size;
        if (room < need) {
            continue;
        }
        std::uint32_t offset = need < kArenaLarge ? *link : *link + room - need;
        if (kMachineWantsMore && alignment > kArenaGranule) {
            const auto beyond = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(base_ + offset)) &
                                static_cast<std::uint32_t>(alignment - 1);
            if (beyond != 0) {
                offset = need < kArenaLarge ? offset + static_cast<std::uint32_t>(alignment) - beyond : offset - beyond;
            }
            if (offset < *link || offset + need > *link + room) {
                continue;
            }
        }
        found = link;
        place = offset;
        if (need < kArenaLarge) {
            break;
        }
    }
    if (found != nullptr) {
        take(found, place, need);
        poison::allow(base_ + place, size);
        return base_ + place;
    }
    return nullptr;
}

H5MOTE_READS_POISONED void Arena::do_release(void* memory, std::size_t size) noexcept {
    const poison::Walk walk;
    const auto offset = static_cast<std::uint32_t>(static_cast<std::byte*>(memory) - base_);
    const auto bytes = static_cast<std::uint32_t>(arena_block_size(size));
    std::uint32_t* link = &first_;
    std::uint32_t before = kEnd;
    while (*link < offset) {
        before = *link;
        link = &at(before).next;
    }
    ::new (memory) FreeBlock{bytes, *link};
    *link = offset;
    now_ -= bytes;
    join(offset);
    if (before != kEnd) {
        join(before);
    }
    poison::forbid(memory, bytes);
}

H5MOTE_READS_POISONED void* Arena::do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
    if (memory == nullptr) {
        return do_allocate(new_size, alignof(std::max_align_t));
    }
    if (new_size > capacity_) {
        return nullptr;
    }
    const std::size_t have = arena_block_size(old_size);
    const std::size_t need = arena_block_size(new_size);
    std::byte* const end = static_cast<std::byte*>(memory) + have;
    if (need < have) {
        do_release(end - (have - need), have - need);
    }
    if (need <= have) {
        if (new_size < old_size) {
            poison::forbid(static_cast<std::byte*>(memory) + new_size, need - new_size);
        } else {
            poison::allow(static_cast<std::byte*>(memory) + old_size, new_size - old_size);
        }
        return memory;
    }
    const poison::Walk walk;
    const auto offset = static_cast<std::uint32_t>(end - base_);
    std::uint32_t* link = &first_;
    while (*link < offset) {
        link = &at(*link).next;
    }
    if (*link == offset && at(offset).size >= need - have) {
        take(link, offset, static_cast<std::uint32_t>(need - have));
        poison::allow(static_cast<std::byte*>(memory) + old_size, new_size - old_size);
        return memory;
    }
    void* const moved = do_allocate(new_size, alignof(std::max_align_t));
    if (moved != nullptr) {
        std::memcpy(moved, memory, old_size);
        do_release(memory, old_size);
    }
    return moved;
}

H5MOTE_READS_POISONED std::size_t Arena::largest_free() const noexcept {
    const poison::Walk walk;
    std::uint32_t largest = 0;
    for (std::uint32_t offset = first_; offset != kEnd; offset = at(offset).next) {
        if (at(offset).size > largest) {
            largest = at(offset).size;
        }
    }
    return largest;
}

H5MOTE_READS_POISONED bool Arena::check() const noexcept {
    const poison::Walk walk;
    std::uint32_t free_bytes = 0;
    std::uint32_t floor = 0;  // lowest offset of the next free block: adjacent free blocks would have been joined
    for (std::uint32_t offset = first_; offset != kEnd; offset = at(offset).next) {
        if (offset % kArenaGranule != 0 || offset >= capacity_ || offset < floor) {
            return false;
        }
        const std::uint32_t size = at(offset).size;
        if (size == 0 || size % kArenaGranule != 0 || size > capacity_ - offset) {
            return false;
        }
        floor = offset + size + 1;
        free_bytes += size;
    }
    return free_bytes + now_ == capacity_ && now_ <= peak_;
}

}  // namespace h5mote
