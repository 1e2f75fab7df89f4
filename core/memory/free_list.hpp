// H5FL - free lists: what was released waits here, so that the next of its size costs neither search nor splitting.
//
// Four kinds, as in the HDF5 library: FreeList (H5FL regular: objects of one type), FactoryFreeList (blocks of one size
// chosen when running), BlockFreeList (byte blocks of many sizes) and ArrayFreeList (arrays of one type, any length).
// All memory comes from the Context and is counted under the list's MemoryKind, whether in use or idle. Idle elements
// hold their own links. An idle element goes back to the allocator when an allocation fails elsewhere, on
// garbage_collect(), and when the list dies; elements in use must have been given back by then.
#pragma once

#include <h5mote/context.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace h5mote {

/// Elements of one size, chosen when the list is made.
class FactoryFreeList : public Reclaimer {
public:
    FactoryFreeList(Context& context, MemoryKind kind, std::size_t size) noexcept;
    ~FactoryFreeList();

    /// An uninitialised element aligned to 8, or nullptr: out_of_memory.
    void* take() noexcept;
    /// Takes back what take() gave. nullptr is ignored.
    void give(void* element) noexcept;

    void reclaim() noexcept override;
    std::size_t idle_bytes() const noexcept override { return idle_ * size_; }
    /// Bytes of one element: at least a pointer.
    std::size_t element_size() const noexcept { return size_; }
    Context& context() noexcept { return context_; }

private:
    struct Idle {
        Idle* next;
    };

    Context& context_;
    Idle* first_ = nullptr;
    std::size_t size_;
    std::size_t idle_ = 0;
    MemoryKind kind_;
};

/// Objects of one type.
template <typename T>
class FreeList final : public FactoryFreeList {
    static_assert(alignof(T) <= 8);

public:
    FreeList(Context& context, MemoryKind kind) noexcept : FactoryFreeList(context, kind, sizeof(T)) {}

    /// A new T made from `arguments`, or nullptr: out_of_memory.
    template <typename... Arguments>
    T* create(Arguments&&... arguments) noexcept {
        void* const memory = take();
        return memory == nullptr ? nullptr : ::new (memory) T(std::forward<Arguments>(arguments)...);
    }
    /// Ends the object's life and keeps its memory. nullptr is ignored.
    void destroy(T* object) noexcept {
        if (object != nullptr) {
            object->~T();
            give(object);
        }
    }
};

/// Blocks of bytes, idle ones grouped by size; a block is used again only for its own size.
class BlockFreeList : public Reclaimer {
public:
    /// At most `idle_limit` bytes lie idle; what exceeds it goes back at once.
    BlockFreeList(Context& context, MemoryKind kind,
                  std::size_t idle_limit = std::numeric_limits<std::size_t>::max()) noexcept;
    ~BlockFreeList();

    /// `size` uninitialised bytes aligned to 8, or nullptr: out_of_memory.
    void* take(std::size_t size) noexcept;
    /// Takes back what take(size) gave. nullptr is ignored.
    void give(void* block, std::size_t size) noexcept;

    void reclaim() noexcept override;
    std::size_t idle_bytes() const noexcept override { return idle_bytes_; }

private:
    // The newest idle block of each size stands for its group; the group's others hang on it.
    struct Idle {
        Idle* same_size;
        Idle* next_group;
        std::size_t size;
    };

    static std::size_t block_size(std::size_t size) noexcept { return size < sizeof(Idle) ? sizeof(Idle) : size; }
    Idle** find(std::size_t size) noexcept;

    Context& context_;
    Idle* groups_ = nullptr;
    std::size_t idle_bytes_ = 0;
    std::size_t idle_limit_;
    MemoryKind kind_;
};

/// Arrays of T, which needs neither constructor nor destructor, of any length.
template <typename T>
class ArrayFreeList {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= 8);

public:
    ArrayFreeList(Context& context, MemoryKind kind,
                  std::size_t idle_limit = std::numeric_limits<std::size_t>::max()) noexcept
        : blocks_(context, kind, idle_limit) {}

    /// An uninitialised array of `count`, or nullptr: out_of_memory, also when no machine word can express its bytes.
    T* take(std::size_t count) noexcept {
        constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(T);
        return count > kMost ? nullptr : static_cast<T*>(blocks_.take(count * sizeof(T)));
    }
    /// Takes back what take(count) gave. nullptr is ignored.
    void give(T* array, std::size_t count) noexcept { blocks_.give(array, count * sizeof(T)); }

    void reclaim() noexcept { blocks_.reclaim(); }
    std::size_t idle_bytes() const noexcept { return blocks_.idle_bytes(); }

private:
    BlockFreeList blocks_;
};

}  // namespace h5mote
