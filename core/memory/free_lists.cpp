#include <h5mote/free_lists.hpp>

#include "poison.hpp"

#include <new>

namespace h5mote {

H5MOTE_READS_POISONED void* FreeLists::take(MemoryKind kind, std::size_t size) noexcept {
    const poison::Walk walk;
    List& list = lists_[static_cast<std::size_t>(kind)];
    for (Idle** link = &list.first; *link != nullptr; link = &(*link)->next) {
        Idle* const found = *link;
        if (found->size == size) {
            *link = found->next;
            list.bytes -= size;
            total_ -= size;
            poison::allow(found, size);
            return found;
        }
    }
    return nullptr;
}

bool FreeLists::give(Allocator& allocator, MemoryKind kind, void* memory, std::size_t size) noexcept {
    if (size < sizeof(Idle) || size > limits_.list || size > limits_.total) {
        return false;
    }
    List& list = lists_[static_cast<std::size_t>(kind)];
    if (total_ + size > limits_.total) {
        drain(allocator);
    } else if (list.bytes + size > limits_.list) {
        empty(allocator, list);
    }
    list.first = ::new (memory) Idle{list.first, size};
    list.bytes += size;
    total_ += size;
    poison::forbid(memory, size);
    return true;
}

bool FreeLists::drain(Allocator& allocator) noexcept {
    if (total_ == 0) {
        return false;
    }
    for (List& list : lists_) {
        empty(allocator, list);
    }
    return true;
}

H5MOTE_READS_POISONED void FreeLists::empty(Allocator& allocator, List& list) noexcept {
    total_ -= list.bytes;
    list.bytes = 0;
    while (list.first != nullptr) {
        Idle* const idle = list.first;
        std::size_t size = 0;
        {
            const poison::Walk walk;
            list.first = idle->next;
            size = idle->size;
        }
        poison::allow(idle, size);
        allocator.release(idle, size);
    }
}

}  // namespace h5mote
