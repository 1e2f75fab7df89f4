// H5FL - free lists: what the library gives back waits in them until memory of that size is asked for again.
//
// The HDF5 library has four kinds of lists: for objects of one type (regular), arrays (array), bytes (block), and
// blocks whose size is chosen while running, as chunks and cached metadata (factory). Here all of them are blocks of so
// many bytes, and a Context asks its lists first, whatever it allocates: there is one list for each MemoryKind, and a
// block is used again for its own size only.
//
// What lies idle is nobody's: it is given back to the allocator before an allocation fails, before anything new is
// placed that stays (all but MemoryKind::other), by garbage_collect(), and when the last file is closed. So it does
// not come to lie between what stays.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/config.hpp>

#include <cstddef>

namespace h5mote {

/// How much may lie idle (H5set_free_list_limits). A list that would pass its limit is emptied first; all are, when
/// they would pass theirs together. What is larger than a limit by itself goes back to the allocator at once.
///
/// In a program that is built with H5MOTE_POISON nothing lies idle unless limits are set: a memory checker that watches
/// malloc() keeps what was released from being handed out again, and so sees who still uses it.
struct FreeListLimits {
    std::size_t list = H5MOTE_POISON != 0 ? 0 : 4096;   ///< bytes in the list of one MemoryKind; 0: nothing lies idle
    std::size_t total = H5MOTE_POISON != 0 ? 0 : 8192;  ///< bytes in all lists; 0: nothing lies idle
};

/// The lists of one Context, which uses them under its lock. (Internal.)
class FreeLists {
public:
    /// An idle block of exactly `size` bytes, uninitialised, or nullptr.
    void* take(MemoryKind kind, std::size_t size) noexcept;
    /// Keeps a block that came from `allocator`. False: it is not kept, and still the caller's.
    bool give(Allocator& allocator, MemoryKind kind, void* memory, std::size_t size) noexcept;
    /// Gives everything back to `allocator`. False when nothing lay idle.
    bool drain(Allocator& allocator) noexcept;

    /// What lies idle already is not looked at: drain() it before.
    void set_limits(const FreeListLimits& limits) noexcept { limits_ = limits; }
    std::size_t idle_bytes(MemoryKind kind) const noexcept { return lists_[static_cast<std::size_t>(kind)].bytes; }

private:
    // Stands at the beginning of every idle block.
    struct Idle {
        Idle* next;
        std::size_t size;
    };
    struct List {
        Idle* first = nullptr;  // the newest
        std::size_t bytes = 0;
    };

    void empty(Allocator& allocator, List& list) noexcept;

    List lists_[kMemoryKinds];
    std::size_t total_ = 0;
    FreeListLimits limits_;
};

/// What a Context has in their place without H5MOTE_FREE_LISTS: nothing is kept, and no code remains. (Internal.)
class NoFreeLists {
public:
    static constexpr void* take(MemoryKind /*kind*/, std::size_t /*size*/) noexcept { return nullptr; }
    static constexpr bool give(Allocator& /*allocator*/, MemoryKind /*kind*/, void* /*memory*/,
                               std::size_t /*size*/) noexcept {
        return false;
    }
    static constexpr bool drain(Allocator& /*allocator*/) noexcept { return false; }
    static constexpr void set_limits(const FreeListLimits& /*limits*/) noexcept {}
    static constexpr std::size_t idle_bytes(MemoryKind /*kind*/) noexcept { return 0; }
};

}  // namespace h5mote
