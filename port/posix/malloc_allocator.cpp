#include <h5mote/port/malloc.hpp>

#include <cstdlib>

namespace h5mote {
namespace {

// malloc(0) may or may not return a block; ours always does, so that nullptr means failure.
std::size_t at_least_one(std::size_t size) noexcept { return size == 0 ? 1 : size; }

}  // namespace

void MallocAllocator::count(std::size_t released, std::size_t allocated) noexcept {
    usage_.now = usage_.now - released + allocated;
    if (usage_.now > usage_.peak) {
        usage_.peak = usage_.now;
    }
}

void* MallocAllocator::do_allocate(std::size_t size, std::size_t alignment) noexcept {
    // malloc's own alignment is all that the interface allows to ask for.
    if (alignment > alignof(std::max_align_t) || size > limit_ - usage_.now) {
        return nullptr;
    }
    void* const memory = std::malloc(at_least_one(size));
    if (memory != nullptr) {
        ++blocks_;
        count(0, size);
    }
    return memory;
}

void MallocAllocator::do_release(void* memory, std::size_t size) noexcept {
    std::free(memory);
    --blocks_;
    count(size, 0);
}

void* MallocAllocator::do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
    if (memory == nullptr) {
        return do_allocate(new_size, alignof(std::max_align_t));
    }
    if (new_size > old_size && new_size - old_size > limit_ - usage_.now) {
        return nullptr;
    }
    void* const moved = std::realloc(memory, at_least_one(new_size));
    if (moved != nullptr) {
        count(old_size, new_size);
    }
    return moved;
}

}  // namespace h5mote
