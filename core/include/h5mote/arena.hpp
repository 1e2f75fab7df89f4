// H5MM - the arena: the allocator of machines without a heap, over one buffer that the caller lends.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/config.hpp>
#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace h5mote {

/// Alignment of every block of an Arena, and the step in which block sizes grow.
inline constexpr std::size_t kArenaGranule = 8;

/// Bytes of its buffer that an Arena keeps for itself: none. Of a buffer that does not begin and end at a multiple of
/// kArenaGranule, the bytes that stick out are not used, at most 7 at either end.
inline constexpr std::size_t kArenaOverhead = 0;

/// Size in bytes from which on a block counts as large.
inline constexpr std::size_t kArenaLarge = 1024;

/// Bytes that one allocation of `size` bytes takes in an Arena, on every machine.
constexpr std::size_t arena_block_size(std::size_t size) noexcept {
    return size == 0 ? kArenaGranule : (size + (kArenaGranule - 1)) & ~(kArenaGranule - 1);
}

/// The buffer that an Arena manages. (Internal.)
class ArenaBuffer {
protected:
    std::byte* base_ = nullptr;
    std::uint32_t capacity_ = 0;
};

/// What an Arena has in place of ArenaBuffer with H5MOTE_POISON: when the arena ends, every access to the buffer is
/// allowed again. Without, an arena needs no destructor, and one with static storage duration no code that calls it.
/// (Internal.)
class PoisonedArenaBuffer : public ArenaBuffer {
protected:
    ~PoisonedArenaBuffer();
};

/// Allocator over a fixed buffer. Free blocks merge with their free neighbours.
///
/// A block in use has no header: release() and resize() are told its size. A free block holds its own size and the
/// offset of the next free block; the blocks are listed in the order of their addresses. Small blocks are taken from
/// the first free block that is large enough, large ones (kArenaLarge) from the end of the last. So small blocks that
/// stay, such as the state of open objects, do not end up between the chunks and work buffers that come and go. Within
/// each end this is address-ordered first fit, which among simple policies has the best bound on fragmentation (J. M.
/// Robson, 1974 and 1977).
///
/// Every operation takes time in proportion to the number of free blocks, which is at most one more than the number of
/// blocks in use. Contents are not touched, except when resize() moves them. At most 4 GiB of a buffer are used.
///
/// With H5MOTE_POISON (always on under AddressSanitizer) every access to a free block, or to the bytes that round a
/// block up, is reported. The buffer can be used for something else once the arena is destroyed.
class Arena final : public Allocator, private std::conditional_t<H5MOTE_POISON != 0, PoisonedArenaBuffer, ArenaBuffer> {
public:
    /// The buffer is borrowed for as long as the arena lives. `Arena arena{array_of_bytes};` works too.
    explicit Arena(Bytes buffer) noexcept;

    /// Bytes that the arena manages, in use or not.
    std::size_t capacity() const noexcept { return capacity_; }
    /// Bytes of the largest block that allocate() can give now.
    std::size_t largest_free() const noexcept;
    /// Whether the free blocks are in order, apart from each other, inside the buffer, and add up to what is not in
    /// use. For tests.
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

    std::uint32_t first_ = kEnd;
    std::uint32_t now_ = 0;
    std::uint32_t peak_ = 0;
};

}  // namespace h5mote
