// H5F - metadata blocks are moved so that each change of one reaches the storage wholly or not at all.
//
// A change is one write, from the first changed byte of a block to its end, its checksum included. Where that write
// does not lie in one atomic unit of the storage a power cut could tear it. Then the block gets another place, to which
// nothing on the storage leads, and one write of the pointer to it switches from the old block to the new one. The old
// place is not used again before a commit has made it unreachable. After a failure everything is as it was.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// The pages behind a block, which move with it. Each page that was written has its bit in a map, the highest bit of a
/// byte first.
struct BlockPages {
    std::size_t block_size;  ///< bytes of the block itself
    Address space;           ///< bytes of the block with all its pages
    std::size_t page_size;   ///< bytes of each page; the last one may have fewer
    std::uint32_t count;     ///< number of pages
    std::uint32_t last;      ///< the page that is copied last
    std::size_t map;         ///< the first page's bit, counted from the start of what has the map:
    bool map_in_holder;      ///< the holder of the pointer to the block, or else the block itself
};

/// Makes changes of the blocks of one structure safe. The structure is found by its root block, which cannot be moved
/// because too much points to it: the header of an index, the first block of an object header.
class BlockMover {
public:
    BlockMover() noexcept = default;
    /// `phase`: in which changed blocks are written.
    BlockMover(FileState& file, Address root, Phase phase = Phase::index) noexcept
        : file_(&file), root_(root), phase_(phase) {}

    FileState& file() const noexcept { return *file_; }
    Address root() const noexcept { return root_; }
    void set_phase(Phase phase) noexcept { phase_ = phase; }
    Phase phase() const noexcept { return phase_; }
    /// The phase in which a change of `block` is written. The root of a chunk index comes before the elements that it
    /// has to count first.
    Phase phase_of(const CacheEntry& block) const noexcept { return phase_of(block, phase_); }

    /// Call before a block is changed from byte `from` on. busy: the change could be torn, so that the block has to be
    /// moved first, or once more, if the cache has written it since it was moved. unsupported
    /// (Feature::ordered_writing): it is the root, and FileAccess::torn_headers does not allow such a change.
    Status allow_change(const CacheEntry& block, std::size_t from) const noexcept;
    /// Stores the address of a block at offset `pointer` of `holder`, which may be changed there.
    void set_pointer(CacheEntry& holder, std::size_t pointer, Address to) const noexcept {
        set_pointer(holder, pointer, to, phase_);
    }
    /// The same in another phase, if that is later than the mover's.
    void set_pointer(CacheEntry& holder, std::size_t pointer, Address to, Phase phase) const noexcept;

    /// Makes sure that `block` can be changed from byte `from` on, by moving it if it has to be. Errors of move().
    Status secure(CacheEntry& holder, std::size_t pointer, Pinned& block, std::size_t from) const noexcept {
        return file_->one_write(*block, from) ? Status::ok : move(holder, pointer, block);
    }
    /// Moves a block, whose address is at offset `pointer` of `holder`. The changed pointer is written when the block
    /// would have been, if that is later than the phase. no_space, io_error; busy and unsupported: the pointer cannot
    /// be changed, see allow_change().
    ///
    /// A block with `pages` is copied, and neither it nor a page may be pinned. That takes no more room in the cache
    /// than one page and what has the map need. Afterwards `block` is the moved block if it has the map, else the page
    /// that was copied last, which is fresh even if the cache had to commit for room, so that the other copies count as
    /// live. Also out_of_memory, over_budget; `block` is empty after an error.
    Status move(CacheEntry& holder, std::size_t pointer, Pinned& block,
                const BlockPages* pages = nullptr) const noexcept;
    /// Moves a block and leaves its first `size` bytes where they were, as the block `first`, all of which counts as
    /// changed. Nobody else may hold `block`: busy. out_of_memory, over_budget, no_space, io_error.
    Status split(Pinned& block, std::size_t size, Pinned& first) const noexcept;

private:
    Phase phase_of(const CacheEntry& block, Phase phase) const noexcept {
        return phase == Phase::element && block.address() == root_ ? Phase::index : phase;
    }
    Status copy(CacheEntry& holder, Address from, Address to, const BlockPages& pages, Pinned& block) const noexcept;

    FileState* file_ = nullptr;
    Address root_ = kUndefinedAddress;
    Phase phase_ = Phase::index;
};

}  // namespace h5mote
