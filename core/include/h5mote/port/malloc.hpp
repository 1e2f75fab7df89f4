// H5MM - memory from malloc, for hosts. The only place of the library that calls it.
#pragma once

#include <h5mote/allocator.hpp>

namespace h5mote {

/// Memory from malloc(), counted and optionally limited. The count is of the bytes asked for, as the size of malloc's
/// own headers is unknown.
class MallocAllocator final : public Allocator {
public:
    static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

    /// An allocation that would make the bytes in use exceed `limit` fails.
    explicit MallocAllocator(std::size_t limit = kNoLimit) noexcept : limit_(limit) {}

    /// Number of blocks that have not been released.
    std::size_t blocks() const noexcept { return blocks_; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override;
    void do_release(void* memory, std::size_t size) noexcept override;
    void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept override;
    MemoryUsage do_usage() const noexcept override { return usage_; }

    void count(std::size_t released, std::size_t allocated) noexcept;

    std::size_t limit_;
    std::size_t blocks_ = 0;
    MemoryUsage usage_;
};

}  // namespace h5mote
