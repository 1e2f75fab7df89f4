// H5D (chunk index) - finds and enters the chunks of a dataset, whichever index structure it uses.
#pragma once

#include "btree1.hpp"
#include "btree2.hpp"
#include "extensible_array.hpp"
#include "fixed_array.hpp"

namespace h5mote {

/// What a chunk index needs to know of its dataset.
struct ChunkTableShape {
    Address dataset = 0;       ///< address of the object header
    std::uint64_t chunks = 0;  ///< number of chunks of a dataset that cannot grow
    Address chunk_bytes = 0;   ///< before any filter
    bool filtered = false;
#if H5MOTE_ALL_FORMATS
    std::uint8_t rank = 0;
    const std::uint64_t* chunk_dims = nullptr;  ///< in elements; borrowed as long as the table is used
#endif
};

#if !H5MOTE_ALL_FORMATS
struct ChunkLookup {};
#else
/// What a sequence of searches in one chunk index remembers between two of them: the location of the array block found
/// last and, if that block is too large for the metadata cache, the part of it that was read. It pins no block in the
/// cache and is ignored when the index has changed since. Too large for the stack of a small machine.
class ChunkLookup {
private:
    friend class ChunkTable;

    MetadataWindow window_;
    ElementBlock block_;
    std::uint32_t changes_ = 0;  // ChunkTable::changes_ when block_ was found
    std::byte record_[BTree2::kMaxRecordSize];
};

/// The position of an iteration over all chunks. A new one is before the first chunk.
struct ChunkCursor {
    Address next = 0;
    ChunkBTree1::Cursor btree1;
};
#endif

class ChunkTable {
public:
#if H5MOTE_FIXED_CHUNKS
    ChunkTable() noexcept : extensible_() {}
#endif
    /// Creates the index that `layout` names (extensible or fixed array) and enters its address in `layout`. Nothing in
    /// the file points to the index yet.
    Status create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept;
    Status open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;

    /// Undoes create() before anything points to the index.
    static void discard_fresh(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;

    /// The location of chunk `index`; its address is undefined when the chunk does not exist.
    Status find(Address index, ChunkLocation& location) noexcept;
    /// The first existing chunk from number `index` on, for indexes that number their chunks. not_found: there is none.
    Status next(Address& index, ChunkLocation& location) noexcept;
    /// Creates the index blocks that set() needs for that chunk, so that set() cannot fail for want of file space or
    /// room in the cache, or because the index header cannot be changed safely. Call it before file space for chunks is
    /// allocated: that then lies at the end of the file, behind the blocks, and is cut off when it is not used.
    Status make_place(Address index, Phase phase) noexcept;
    /// Enters `count` chunks, at most reach(index), whose addresses are `stride` bytes apart.
    Status set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
               Phase phase = Phase::index) noexcept;
#if H5MOTE_FIXED_CHUNKS
    /// Whether this is an implicit index (all chunks one behind the other) whose chunks have no file space yet. `bytes`
    /// becomes the size of all of them.
    bool wants_all(std::uint64_t& bytes) const noexcept;
    /// Enters `address` as the place of all chunks of an implicit index.
    Status place_all(Address address) noexcept;
#endif
    /// Gives the file space of the index and of its chunks to `disposal`. unsupported: an index by_coordinates().
    Status dispose(Disposal& disposal) noexcept;
    /// Call before the first row enters a chunk that was allocated ahead: libhdf5 ignores chunks beyond the number that
    /// the index header counts.
    Status cover(Address index) noexcept { return can_reserve() && !missing_ ? extensible_.cover(index) : Status::ok; }
    /// How many chunks, from `index` on, one set() can enter.
    std::uint32_t reach(Address index) const noexcept;
    /// Whether chunks can be given space before they are used.
    bool can_reserve() const noexcept { return kind_ == ChunkIndex::extensible_array; }
    /// Whether a single chunk can be removed from the index.
    bool can_remove() const noexcept { return kind_ != ChunkIndex::implicit; }
    /// Whether the index exists already: creating it changes the dataset's object header.
    bool exists() const noexcept { return !missing_; }
    /// Whether the file has an index or, for the kinds that need none (single, implicit), the chunks themselves.
    bool has_storage() const noexcept {
#if H5MOTE_FIXED_CHUNKS
        if (kind_ == ChunkIndex::single || kind_ == ChunkIndex::implicit) {
            return single_.address != kUndefinedAddress;
        }
#endif
        return !missing_;
    }

#if H5MOTE_ALL_FORMATS
    ChunkIndex kind() const noexcept { return kind_; }
    /// Whether chunks are found by coordinates rather than by number. Such an index is only read.
    bool by_coordinates() const noexcept { return kind_ == ChunkIndex::btree1 || kind_ == ChunkIndex::btree2; }
    /// The location and the stored size of the chunk with the chunk coordinates `scaled` and the number `index`; its
    /// address is undefined when the chunk does not exist. Works for index blocks of any size.
    Status find(ChunkLookup& lookup, const std::uint64_t* scaled, Address index, ChunkLocation& location) noexcept;
    /// The next chunk that exists: its number, or if by_coordinates() its chunk coordinates. not_found after the last.
    Status next(ChunkLookup& lookup, ChunkCursor& cursor, Address& index, std::uint64_t* scaled,
                ChunkLocation& location) noexcept;
    /// Call before the first change in a session. If another writer placed the header of an array index where no single
    /// write switches it from its old to its new contents, replaces the index by a copy whose header is placed so that
    /// one does.
    H5MOTE_STEP Status renew() noexcept;
    /// Bytes of the index itself, without the chunks.
    Status space(std::uint64_t& bytes) noexcept;
#else
    Status find(ChunkLookup& /*lookup*/, const std::uint64_t* /*scaled*/, Address index,
                ChunkLocation& location) noexcept {
        H5MOTE_TRY(find(index, location));
        location.size = shape_.filtered ? location.size : shape_.chunk_bytes;
        return Status::ok;
    }
#endif

private:
    static std::uint8_t size_width(FileState& file, const LayoutMessage& layout,
                                   const ChunkTableShape& shape) noexcept {
        if (!shape.filtered) {
            return 0;
        }
        return H5MOTE_ALL_FORMATS != 0 && layout.version > 4 ? file.shape().sizeof_size
                                                             : ChunkElementFormat::width_for(shape.chunk_bytes);
    }
#if H5MOTE_ALL_FORMATS
    Status enter_all(ChunkTable& from) noexcept;
    Status open_btree2(const LayoutMessage& layout) noexcept;
    Status block_of(Address index, ElementBlock& block) noexcept;
    Status find_element(ChunkLookup& lookup, Address index, ChunkLocation& location) noexcept;
    Status find_record(ChunkLookup& lookup, const std::uint64_t* scaled, ChunkLocation& location) noexcept;
    Status next_element(ChunkLookup& lookup, Address& next, ChunkLocation& location) noexcept;
    bool is_array() const noexcept { return kind_ == ChunkIndex::extensible_array || kind_ == ChunkIndex::fixed_array; }
    Status next_record(ChunkLookup& lookup, Address& next, std::uint64_t* scaled, ChunkLocation& location) noexcept;
    const ChunkElementFormat& element() const noexcept {
        return kind_ == ChunkIndex::fixed_array ? fixed_.element() : extensible_.element();
    }
    // Call before blocks of the index change, move or are created: what a ChunkLookup remembers of them is no longer
    // valid.
    void note_change() noexcept { ++changes_; }
#else
    void note_change() noexcept {}
#endif
    Status read_layout(LayoutMessage& layout) noexcept;
    Status store_layout(const LayoutMessage& layout) noexcept;
    Status create_missing() noexcept;
    Status set_single(const ChunkLocation& location) noexcept;

    FileState* file_ = nullptr;
    ChunkIndex kind_ = ChunkIndex::none;
#if H5MOTE_FIXED_CHUNKS
    // The index, of the kind that kind_ says.
    union {
        ExtensibleArray extensible_;
        FixedArray fixed_;
        ChunkLocation single_;  // of an implicit index: the first chunk
#if H5MOTE_ALL_FORMATS
        ChunkBTree1 btree1_;
        BTree2 btree2_;
#endif
    };
#else
    ExtensibleArray extensible_;
#endif
    ChunkTableShape shape_;
#if H5MOTE_ALL_FORMATS
    std::uint32_t changes_ = 0;      // how often note_change() was called
    std::uint8_t record_width_ = 0;  // version 2 B-tree: bytes of the field for a filtered chunk's size
#endif
    bool missing_ = false;  // nothing was stored yet, there is no index
};

}  // namespace h5mote
