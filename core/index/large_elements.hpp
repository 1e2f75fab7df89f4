// H5FA H5EA - changes of array blocks and pages that are too large for the metadata cache, as libhdf5 makes them.
//
// A block that the storage leads to is copied piece by piece to a new place, and the pointer to it switches, as
// BlockMover does with blocks in the cache. The copy is fresh until the next commit, and in a fresh block, or where all
// changes between two commits appear at once, an element is changed on the storage itself: see LargeBlocks.
#pragma once

#include "block_mover.hpp"
#include "chunk_element.hpp"
#include "element_block.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

class LargeElements {
public:
    LargeElements(FileState& file, const ChunkElementFormat& element) noexcept : file_(file), element_(element) {}

    /// Whether nothing on the storage leads to the block or page that begins at `address`.
    bool is_fresh(Address address) const noexcept {
        return file_.cache.is_fresh(address) || file_.is_unrecorded(address);
    }
    /// Whether that block or page may be changed where it is.
    bool in_place(Address address) const noexcept { return file_.is_atomic() || is_fresh(address); }
    /// Writes a new block or page, to which nothing leads yet: `prefix`, then `elements` elements that are not set, and
    /// the checksum. io_error, no_space.
    Status make(Address address, ConstBytes prefix, Address elements) noexcept;
    /// The same with space of its own: `size` bytes.
    Status make_block(ConstBytes prefix, Address elements, Address size, Address& address) noexcept;
    /// Copies a block with its pages, as BlockMover::move() does, but piece by piece; the copy is fresh. `block`: the
    /// block, pinned, if it has the map of the pages; empty afterwards, also after an error. A block without pages is
    /// as large as all of its space.
    Status move(const BlockMover& mover, CacheEntry& holder, std::size_t pointer, const BlockPages& pages,
                Pinned& block) noexcept;
    /// Sets elements of a block or page that may be changed where it is, as ExtensibleArray::set() does. None of them
    /// is set yet if there are several. After an error all elements are what they were.
    Status set(const ElementBlock& block, Address index, ChunkLocation location, Address stride,
               std::uint32_t count) noexcept;

private:
    Status copy(Address from, Address to, Address size) noexcept;
    Status copy_all(Address from, Address to, const BlockPages& pages, const std::byte* map) noexcept;
    Status store(Address at, ChunkLocation& location, Address stride, std::uint32_t count) noexcept;

    FileState& file_;
    ChunkElementFormat element_;
};

}  // namespace h5mote

#endif
