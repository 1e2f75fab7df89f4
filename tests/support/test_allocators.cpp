#include "test_allocators.hpp"

#include <cstring>

namespace h5mote_test {

void FailingAllocator::arm(std::uint64_t at, bool persistent) noexcept {
    at_ = at;
    persistent_ = persistent;
    calls_ = 0;
    failures_ = 0;
}

bool FailingAllocator::fails() noexcept {
    ++calls_;
    const bool hit = at_ != 0 && (calls_ == at_ || (persistent_ && calls_ > at_));
    failures_ += hit ? 1 : 0;
    return hit;
}

void* FailingAllocator::do_allocate(std::size_t size, std::size_t alignment) noexcept {
    return fails() ? nullptr : inner_.allocate(size, alignment);
}

void* FailingAllocator::do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
    return new_size > old_size && fails() ? nullptr : inner_.resize(memory, old_size, new_size);
}

namespace {

// Header in front of each block; kBehind guard bytes follow the block. The header is 16 bytes long so that the block
// keeps the alignment of the memory from the inner allocator.
struct alignas(16) Guard {
    static constexpr std::uint32_t kLive = 0x7ea5ed11U;
    static constexpr std::uint32_t kDead = 0xdeadb10cU;

    std::uint32_t state;
    std::uint32_t canary;
    std::uint64_t size;
};
constexpr std::size_t kBehind = 16;
constexpr unsigned char kCanary = 0xc9;
constexpr std::uint32_t kCanaryWord = 0xc9c9c9c9U;

}  // namespace

void* TrackingAllocator::do_allocate(std::size_t size, std::size_t /*alignment*/) noexcept {
    if (size > ~std::size_t{0} - sizeof(Guard) - kBehind) {
        return nullptr;
    }
    auto* const block = static_cast<unsigned char*>(inner_.allocate(size + sizeof(Guard) + kBehind));
    if (block == nullptr) {
        return nullptr;
    }
    const Guard guard{Guard::kLive, kCanaryWord, size};
    std::memcpy(block, &guard, sizeof guard);
    std::memset(block + sizeof guard, 0xa5, size);
    std::memset(block + sizeof guard + size, kCanary, kBehind);
    ++blocks_;
    usage_.now += size;
    usage_.peak = usage_.now > usage_.peak ? usage_.now : usage_.peak;
    return block + sizeof guard;
}

void TrackingAllocator::do_release(void* memory, std::size_t size) noexcept {
    auto* const block = static_cast<unsigned char*>(memory) - sizeof(Guard);
    Guard guard;
    std::memcpy(&guard, block, sizeof guard);
    bool good = guard.state == Guard::kLive && guard.canary == kCanaryWord && guard.size == size;
    for (std::size_t i = 0; good && i < kBehind; ++i) {
        good = block[sizeof guard + size + i] == kCanary;
    }
    if (!good) {
        ++errors_;
        return;
    }
    guard.state = Guard::kDead;
    std::memcpy(block, &guard, sizeof guard);
    std::memset(memory, 0x5a, size);
    --blocks_;
    usage_.now -= size;
    inner_.release(block, size + sizeof guard + kBehind);
}

// Always moves the block and overwrites the old one, so that a caller that goes on using the old pointer is found out.
void* TrackingAllocator::do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
    void* const moved = do_allocate(new_size, alignof(std::max_align_t));
    if (moved != nullptr && memory != nullptr) {
        std::memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        do_release(memory, old_size);
    }
    return moved;
}

}  // namespace h5mote_test
