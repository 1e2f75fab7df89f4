#include "free_list.hpp"

namespace h5mote {

FactoryFreeList::FactoryFreeList(Context& context, MemoryKind kind, std::size_t size) noexcept
    : context_(context), size_(size < sizeof(Idle) ? sizeof(Idle) : size), kind_(kind) {
    context.add_reclaimer(*this);
}

FactoryFreeList::~FactoryFreeList() {
    FactoryFreeList::reclaim();
    context_.remove_reclaimer(*this);
}

void* FactoryFreeList::take() noexcept {
    Idle* const idle = first_;
    if (idle == nullptr) {
        return context_.allocate(kind_, size_);
    }
    first_ = idle->next;
    --idle_;
    return idle;
}

void FactoryFreeList::give(void* element) noexcept {
    if (element != nullptr) {
        first_ = ::new (element) Idle{first_};
        ++idle_;
    }
}

void FactoryFreeList::reclaim() noexcept {
    while (first_ != nullptr) {
        context_.release(kind_, take(), size_);
    }
}

BlockFreeList::BlockFreeList(Context& context, MemoryKind kind, std::size_t idle_limit) noexcept
    : context_(context), idle_limit_(idle_limit), kind_(kind) {
    context.add_reclaimer(*this);
}

BlockFreeList::~BlockFreeList() {
    BlockFreeList::reclaim();
    context_.remove_reclaimer(*this);
}

// The link to the group of that size; to nullptr at the end when there is none.
BlockFreeList::Idle** BlockFreeList::find(std::size_t size) noexcept {
    Idle** link = &groups_;
    while (*link != nullptr && (*link)->size != size) {
        link = &(*link)->next_group;
    }
    return link;
}

void* BlockFreeList::take(std::size_t size) noexcept {
    size = block_size(size);
    Idle** const link = find(size);
    Idle* const idle = *link;
    if (idle == nullptr) {
        return context_.allocate(kind_, size);
    }
    if (idle->same_size != nullptr) {
        idle->same_size->next_group = idle->next_group;
        *link = idle->same_size;
    } else {
        *link = idle->next_group;
    }
    idle_bytes_ -= size;
    return idle;
}

void BlockFreeList::give(void* block, std::size_t size) noexcept {
    if (block == nullptr) {
        return;
    }
    size = block_size(size);
    if (size > idle_limit_ - idle_bytes_) {
        context_.release(kind_, block, size);
        return;
    }
    Idle** const link = find(size);
    Idle* const group = *link;
    *link = ::new (block) Idle{group, group == nullptr ? nullptr : group->next_group, size};
    idle_bytes_ += size;
}

void BlockFreeList::reclaim() noexcept {
    while (groups_ != nullptr) {
        const std::size_t size = groups_->size;
        context_.release(kind_, take(size), size);
    }
}

}  // namespace h5mote
