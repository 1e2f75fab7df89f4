// H5FL - free lists: memory that the library gives back waits in them until memory of the same size is asked for again.
//
// The HDF5 library has four kinds of free lists: for objects of one type (regular), arrays (array), bytes (block), and
// blocks whose size is chosen at run time, such as chunks and cached metadata (factory). Here all memory is blocks of
// bytes, and whatever a Context allocates, it asks its lists first. There is one list for each MemoryKind, and a block
// is used again only for a request of its own size.
//
// Idle memory is given back to the allocator before an allocation fails, before a new block is placed that is likely to
// stay (of any kind but MemoryKind::other), by garbage_collect(), and when the last file is closed. So idle blocks do
// not end up between blocks that stay.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/config.hpp>

#include <cstddef>

namespace h5mote {

/// How much memory may lie idle (H5set_free_list_limits). A list that would exceed its limit is emptied first; all
/// lists are, if they would exceed the total. A block that alone is larger than a limit goes back to the allocator at
/// once.
///
/// In a program that is built with H5MOTE_POISON nothing lies idle unless limits are set. A memory checker that watches
/// malloc() delays the use of released memory for something else, and so sees who still uses it; free lists would
/// prevent that.
struct FreeListLimits {
    std::size_t list = H5MOTE_POISON != 0 ? 0 : 4096;   ///< bytes in the list of one MemoryKind; 0: nothing lies idle
    std::size_t total = H5MOTE_POISON != 0 ? 0 : 8192;  ///< bytes in all lists; 0: nothing lies idle
};

/// The free lists of one Context, which uses them while its lock is held. (Internal.)
class FreeLists {
public:
    /// Takes an idle block of exactly `size` bytes, uninitialised, out of its list; nullptr if there is none.
    void* take(MemoryKind kind, std::size_t size) noexcept;
    /// Keeps a block that came from `allocator`. False: the block is not kept and still belongs to the caller.
    bool give(Allocator& allocator, MemoryKind kind, void* memory, std::size_t size) noexcept;
    /// Gives everything back to `allocator`. False when nothing lay idle.
    bool drain(Allocator& allocator) noexcept;

    /// Sets the limits for blocks that come later. To apply them to what lies idle already, call drain() before.
    void set_limits(const FreeListLimits& limits) noexcept { limits_ = limits; }
    std::size_t idle_bytes(MemoryKind kind) const noexcept { return lists_[static_cast<std::size_t>(kind)].bytes; }

private:
    // The first bytes of every idle block.
    struct Idle {
        Idle* next;
        std::size_t size;
    };
    struct List {
        Idle* first = nullptr;  // the block that was given last
        std::size_t bytes = 0;
    };

    void empty(Allocator& allocator, List& list) noexcept;

    List lists_[kMemoryKinds];
    std::size_t total_ = 0;
    FreeListLimits limits_;
};

/// What a Context has in place of FreeLists without H5MOTE_FREE_LISTS: it keeps nothing and leaves no code. (Internal.)
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
