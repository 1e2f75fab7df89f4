// The class Arena once more, for test programs only: every block comes from malloc().
//
// In a program that is linked with this file in place of core/memory/arena.cpp, an arena grants and refuses what the
// real one would if it never fragmented. But AddressSanitizer sees every block by itself, with a guarded zone around
// it, and a released block stays forbidden for long. There are no free lists either: they would hand out a released
// block again at once, so that a use after its release would not be seen.
#include <h5mote/arena.hpp>
#include <h5mote/free_lists.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

#if !H5MOTE_POISON
#error "only builds with AddressSanitizer have an Arena with a destructor, which this one needs"
#endif
#include <sanitizer/asan_interface.h>

namespace h5mote {
namespace {

// Stands before every block and chains the blocks of an arena. It is poisoned, so that no other code may touch it. The
// first Link of an arena, which base_ points to, has no block.
struct alignas(16) Link {
    Link* previous;
    Link* next;
};

// Makes two Links neighbours; they are unpoisoned while they are changed.
void couple(Link* before, Link* after) noexcept {
    __asan_unpoison_memory_region(before, sizeof(Link));
    before->next = after;
    __asan_poison_memory_region(before, sizeof(Link));
    if (after != nullptr) {
        __asan_unpoison_memory_region(after, sizeof(Link));
        after->previous = before;
        __asan_poison_memory_region(after, sizeof(Link));
    }
}

// Unpoisons a Link and returns a copy of it.
Link take_out(Link* link) noexcept {
    __asan_unpoison_memory_region(link, sizeof(Link));
    return *link;
}

}  // namespace

Arena::Arena(Bytes buffer) noexcept {
    base_ = buffer.data();
    const std::size_t skip = (0U - reinterpret_cast<std::uintptr_t>(base_)) % kArenaGranule;
    if (buffer.size() < skip + kArenaGranule) {
        return;
    }
    const std::size_t size = buffer.size() - skip;
    capacity_ = static_cast<std::uint32_t>((size < kEnd ? size : kEnd) & ~(kArenaGranule - 1));
    base_ = static_cast<std::byte*>(std::malloc(sizeof(Link)));
    ::new (static_cast<void*>(base_)) Link{nullptr, nullptr};
    __asan_poison_memory_region(base_, sizeof(Link));
}

// Frees the blocks that a test left on purpose, as after a power cut.
PoisonedArenaBuffer::~PoisonedArenaBuffer() {
    if (capacity_ == 0) {
        return;
    }
    for (auto* link = reinterpret_cast<Link*>(base_); link != nullptr;) {
        Link* const next = take_out(link).next;
        std::free(link);
        link = next;
    }
}

void* Arena::do_allocate(std::size_t size, std::size_t alignment) noexcept {
    const std::size_t need = arena_block_size(size);
    if (size > capacity_ || need > capacity_ - now_ || alignment > alignof(std::max_align_t)) {
        return nullptr;
    }
    auto* const head = reinterpret_cast<Link*>(base_);
    const Link first = take_out(head);
    void* const memory = std::malloc(sizeof(Link) + size);
    auto* const link = ::new (memory) Link{nullptr, nullptr};
    couple(link, first.next);
    couple(head, link);
    __asan_unpoison_memory_region(link, sizeof(Link));
    link->previous = head;
    __asan_poison_memory_region(link, sizeof(Link));
    now_ += static_cast<std::uint32_t>(need);
    peak_ = now_ > peak_ ? now_ : peak_;
    return link + 1;
}

void Arena::do_release(void* memory, std::size_t size) noexcept {
    Link* const link = static_cast<Link*>(memory) - 1;
    const Link neighbours = take_out(link);
    couple(neighbours.previous, neighbours.next);
    now_ -= static_cast<std::uint32_t>(arena_block_size(size));
    std::free(link);
}

// Always moves the block, so that AddressSanitizer finds a pointer to the old one that is still used.
void* Arena::do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
    if (memory == nullptr) {
        return do_allocate(new_size, alignof(std::max_align_t));
    }
    void* const moved = do_allocate(new_size, alignof(std::max_align_t));
    if (moved != nullptr) {
        std::memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        do_release(memory, old_size);
    }
    return moved;
}

std::size_t Arena::largest_free() const noexcept { return capacity_ - now_; }

bool Arena::check() const noexcept { return now_ <= peak_ && peak_ <= capacity_; }

void* FreeLists::take(MemoryKind /*kind*/, std::size_t /*size*/) noexcept { return nullptr; }

bool FreeLists::give(Allocator& /*allocator*/, MemoryKind /*kind*/, void* /*memory*/, std::size_t /*size*/) noexcept {
    return false;
}

bool FreeLists::drain(Allocator& /*allocator*/) noexcept { return false; }

}  // namespace h5mote
