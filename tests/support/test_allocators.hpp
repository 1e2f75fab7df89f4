// Allocators that wrap another one: FailingAllocator fails on demand, TrackingAllocator finds leaks and misuse.
#pragma once

#include <h5mote/allocator.hpp>

namespace h5mote_test {

/// The k-th allocation (or growing resize) fails, once or from then on.
class FailingAllocator final : public h5mote::Allocator {
public:
    explicit FailingAllocator(h5mote::Allocator& inner) noexcept : inner_(inner) {}

    /// Lets the `at`-th call from now fail, counted from 1 (0: none); if `persistent`, every later one, too. Resets
    /// both counters.
    void arm(std::uint64_t at, bool persistent) noexcept;
    /// Nothing fails any more; the counters stay.
    void disarm() noexcept { at_ = 0; }
    /// Allocations and growing resizes asked for since arm().
    std::uint64_t calls() const noexcept { return calls_; }
    std::uint64_t failures() const noexcept { return failures_; }

private:
    bool fails() noexcept;
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override;
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept override;
    h5mote::MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    h5mote::Allocator& inner_;
    std::uint64_t at_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t failures_ = 0;
    bool persistent_ = false;
};

/// Counts blocks that are not released yet, and checks at every release that the size is the one that was allocated,
/// that the block was not released before, and that nothing was written directly before or behind it. New memory is
/// filled with 0xA5, released memory with 0x5A. Each block takes 32 bytes more of the inner allocator's memory.
class TrackingAllocator final : public h5mote::Allocator {
public:
    explicit TrackingAllocator(h5mote::Allocator& inner) noexcept : inner_(inner) {}

    /// Blocks and bytes that were not released yet; bytes as the callers asked for, without the guards.
    std::size_t blocks() const noexcept { return blocks_; }
    std::size_t bytes() const noexcept { return usage_.now; }
    /// Wrong releases seen so far. Their blocks are not released, so that blocks() and bytes() still count them.
    std::size_t errors() const noexcept { return errors_; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override;
    void do_release(void* memory, std::size_t size) noexcept override;
    void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept override;
    h5mote::MemoryUsage do_usage() const noexcept override { return usage_; }

    h5mote::Allocator& inner_;
    h5mote::MemoryUsage usage_;
    std::size_t blocks_ = 0;
    std::size_t errors_ = 0;
};

}  // namespace h5mote_test
