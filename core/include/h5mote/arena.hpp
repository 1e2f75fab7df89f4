// H5MM - the arena: the allocator of machines without a heap, over one buffer that the caller lends.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/config.hpp>
#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Alignment of every block of an Arena, and the step in which block sizes grow.
inline constexpr std::size_t kArenaGranule = 8;

/// Bytes of its buffer that an Arena keeps for itself: none. A buffer that is not aligned to kArenaGranule, or no
/// multiple of it long, loses what sticks out, at most 7 bytes at either end.
inline constexpr std::size_t kArenaOverhead = 0;

/// Blocks of that many bytes and more are large.
inline constexpr std::size_t kArenaLarge = 1024;

/// Bytes that one allocation of `size` bytes takes in an Arena, on every machine.
constexpr std::size_t arena_block_size(std::size_t size) noexcept {
    return size == 0 ? kArenaGranule : (size + (kArenaGranule - 1)) & ~(kArenaGranule - 1);
}

/// Allocator over a fixed buffer, with free blocks that merge with their neighbours.
///
/// A block in use has no header: release() and resize() are told the size. Free blocks hold their own size and the
/// offset of the next one, in the order of their addresses. Small blocks are taken from the first free block that is
/// large enough, large ones (kArenaLarge) from the end of the last: what is small and stays, as the state of open
/// objects, does not end up between the chunks and work buffers that come and go. Within each end this is
/// address-ordered first fit, which among simple policies has the best bound on fragmentation (J. M. Robson, 1974 and
/// 1977).
///
/// Every operation takes time in proportion to the number of free blocks, which is at most one more than the blocks in
/// use. Contents are not touched except when resize() moves. Buffers of up to 4 GiB; more is not used.
///
/// With H5MOTE_POISON (always under AddressSanitizer) whoever touches what is free, or the bytes that round a block up,
/// is reported; the buffer can be used for something else once the arena is gone.
class Arena final : public Allocator {
public:
    /// The buffer is borrowed for as long as the arena lives. `Arena arena{array_of_bytes};` works too.
    explicit Arena(Bytes buffer) noexcept;
#if H5MOTE_POISON
    ~Arena();
#endif

    /// Bytes that the arena manages, in use or not.
    std::size_t capacity() const noexcept { return capacity_; }
    /// Bytes of the largest block that allocate() can give now.
    std::size_t largest_free() const noexcept;
    /// Whether free blocks are in order, apart from each other, inside the buffer and add up. For tests.
    bool check() const noexcept;

private:
    struct FreeBlock {
        std::uint32_t size;
        std::uint32_t next;  // offset of the next free block, kEnd if none
    };
    static constexpr std::uint32_t kEnd = 0xffffffffU;

    FreeBlock& at(std::uint32_t offset) const noexcept;
    void take(std::uint32_t* link, std::uint32_t offset, std::uint32_t size) noexcept;
    void join(std::uint32_t offset) noexcept;

    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override;
    void do_release(void* memory, std::size_t size) noexcept override;
    void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept override;
    MemoryUsage do_usage() const noexcept override { return {now_, peak_}; }

    std::byte* base_;
    std::uint32_t capacity_;
    std::uint32_t first_;
    std::uint32_t now_ = 0;
    std::uint32_t peak_ = 0;
};

}  // namespace h5mote
