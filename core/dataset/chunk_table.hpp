// H5D (chunk index) - where the chunks of a dataset stand, whichever structure says so.
#pragma once

#include "extensible_array.hpp"
#include "fixed_array.hpp"

namespace h5mote {

/// What a chunk index needs to know of its dataset.
struct ChunkTableShape {
    Address dataset = 0;            ///< address of the object header
    std::uint64_t chunks = 0;       ///< number of chunks of a dataset that cannot grow
    std::uint32_t chunk_bytes = 0;  ///< before any filter
    bool filtered = false;
};

class ChunkTable {
public:
    /// Makes the index that `layout` names (extensible or fixed array) and enters its address there.
    Status create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept;
    Status open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;

    /// Undoes create() before anything points to the index.
    static void discard_fresh(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;

    /// Where chunk `index` stands; undefined when it does not exist.
    Status find(Address index, ChunkLocation& location) noexcept;
    /// Enters `count` chunks, at most reach(index), whose addresses are `stride` bytes apart.
    Status set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count) noexcept;
    /// How many chunks from `index` on one set() can enter.
    std::uint32_t reach(Address index) const noexcept;
    /// Whether chunks can be given space before they are used.
    bool can_reserve() const noexcept { return kind_ == ChunkIndex::extensible_array; }

private:
    static std::uint8_t size_width(const ChunkTableShape& shape) noexcept {
        return shape.filtered ? ChunkElementFormat::width_for(shape.chunk_bytes) : std::uint8_t{0};
    }
    Status create_missing() noexcept;
    Status set_single(const ChunkLocation& location) noexcept;

    FileState* file_ = nullptr;
    ChunkIndex kind_ = ChunkIndex::none;
    ExtensibleArray extensible_;
#if H5MOTE_FIXED_CHUNKS
    FixedArray fixed_;
    ChunkLocation single_;  // of an implicit index: the first chunk
#endif
    ChunkTableShape shape_;
    bool missing_ = false;  // nothing was stored yet, there is no index
};

}  // namespace h5mote
