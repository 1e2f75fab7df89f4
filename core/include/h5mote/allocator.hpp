// H5MM - memory that the caller owns: the allocator interface, the arena over a buffer, and its accounting.
#pragma once

#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// What memory is used for, as Library::memory_report() tells it apart.
enum class MemoryKind : std::uint8_t {
    file,      ///< open files and free-space extents
    handle,    ///< shared state of open objects
    metadata,  ///< metadata cache entries and their images
    chunk,     ///< chunk buffers
    filter,    ///< scratch of filters
    type,      ///< datatypes and conversion plans
    other,
    value,  ///< variable-length data handed to the program, which gives it back with reclaim()
};
inline constexpr std::size_t kMemoryKinds = 8;

struct MemoryUsage {
    std::size_t now = 0;   ///< bytes held at this moment, without the allocator's own headers
    std::size_t peak = 0;  ///< most bytes ever held at once
};

/// What a Library uses for one purpose. `now` and `peak` leave out memory that lies idle in a free list.
struct KindUsage : MemoryUsage {
    std::size_t idle = 0;  ///< bytes in the free list of this kind
};

struct MemoryReport {
    MemoryUsage total;                ///< as counted by the allocator: with its own headers and with idle memory
    KindUsage kinds[kMemoryKinds];    ///< by MemoryKind
    std::size_t free_list_bytes = 0;  ///< idle bytes of all kinds together, which garbage_collect() gives back
};

/// Source of all memory that a Library uses. The public functions are not virtual; an implementation overrides the do_
/// functions. Not thread-safe by itself: a Library calls it while it holds its own lock (Port::lock). So an allocator
/// serves one Library only, unless it locks for itself.
class Allocator {
public:
    /// Returns `size` bytes aligned to `alignment` (a power of two, at most alignof(std::max_align_t)), or nullptr.
    void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
        return do_allocate(size, alignment);
    }
    /// Gives back what allocate() returned; `size` is the size asked for. nullptr is ignored.
    void release(void* memory, std::size_t size) noexcept {
        if (memory != nullptr) {
            do_release(memory, size);
        }
    }
    /// Grows or shrinks a block in place where possible, otherwise moves it. nullptr when there is no room; the old
    /// block then stays as it was.
    void* resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept {
        return do_resize(memory, old_size, new_size);
    }
    /// Bytes in use, the allocator's own headers included, and their peak.
    MemoryUsage usage() const noexcept { return do_usage(); }

protected:
    Allocator() = default;
    Allocator(const Allocator&) = delete;
    Allocator& operator=(const Allocator&) = delete;
    ~Allocator() = default;

    virtual void* do_allocate(std::size_t size, std::size_t alignment) noexcept = 0;
    virtual void do_release(void* memory, std::size_t size) noexcept = 0;
    virtual void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept = 0;
    virtual MemoryUsage do_usage() const noexcept = 0;
};

}  // namespace h5mote
