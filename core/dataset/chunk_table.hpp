// H5D (chunk index) - finds and enters the chunks of a dataset, whichever index structure it uses.
#pragma once

#include "btree1.hpp"
#include "dense_storage.hpp"
#include "extensible_array.hpp"
#include "fixed_array.hpp"

#include <new>
#include <type_traits>

namespace h5mote {

/// What a chunk index needs to know of its dataset.
struct ChunkTableShape {
    Address dataset = 0;       ///< address of the object header
    std::uint64_t chunks = 0;  ///< number of chunks of a dataset that cannot grow
    Address chunk_bytes = 0;   ///< before any filter
    bool filtered = false;
    std::uint8_t rank = 0;  ///< for indexes that find chunks by coordinates
};

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

class ChunkTable {
public:
    ChunkTable() noexcept = default;
    ChunkTable(const ChunkTable&) = delete;
    ChunkTable& operator=(const ChunkTable&) = delete;
    ~ChunkTable() {
        if (is(ChunkIndex::btree2) && !missing_) {
            btree2().~DenseHandle();
        }
    }

    /// Creates the index that `layout` names (extensible or fixed array) and enters its address in `layout`. Nothing in
    /// the file points to the index yet.
    Status create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept;
    /// `chunk_dims`: sizes of a chunk in elements, for indexes that find chunks by coordinates; borrowed as long as the
    /// table is used.
    Status open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape,
                const std::uint64_t* chunk_dims = nullptr) noexcept;

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
    /// Enters `count` chunks, at most as many as free_run() allows, whose addresses are `stride` bytes apart.
    Status set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
               Phase phase = Phase::index) noexcept;
    /// Whether this is an implicit index (all chunks one behind the other) whose chunks have no file space yet. `bytes`
    /// becomes the size of all of them.
    bool wants_all(std::uint64_t& bytes) const noexcept;
    /// Enters `address` as the place of all chunks of an implicit index.
    Status place_all(Address address) noexcept;
    /// Gives the file space of the index and of its chunks to `disposal`. unsupported: an index by_coordinates().
    Status dispose(Disposal& disposal) noexcept;
    /// Call before the first row enters a chunk that was allocated ahead: libhdf5 ignores chunks beyond the number that
    /// the index header counts.
    Status cover(Address index) noexcept { return can_reserve() && !missing_ ? extensible().cover(index) : Status::ok; }
    /// Makes `count`, at least 1, smaller, if it has to be, until one set() can enter all chunks of [index, index +
    /// count), and none of them exists. Only for an index that can_reserve(), after make_place() for the first of them,
    /// which is known not to exist.
    Status free_run(Address index, std::uint32_t& count) noexcept;
    /// Whether chunks can be given space before they are used.
    bool can_reserve() const noexcept { return kind_ == ChunkIndex::extensible_array; }
    /// Whether a single chunk can be removed from the index.
    bool can_remove() const noexcept { return kind_ != ChunkIndex::implicit; }
    /// Whether the index exists already: creating it changes the dataset's object header.
    bool exists() const noexcept { return !missing_; }
    /// Whether the file has an index or, for the kinds that need none (single, implicit), the chunks themselves.
    bool has_storage() const noexcept {
        return is(ChunkIndex::single) || is(ChunkIndex::implicit) ? single().address != kUndefinedAddress : !missing_;
    }

    ChunkIndex kind() const noexcept { return kind_; }
    /// Whether chunks are found by coordinates rather than by number. Such an index is only read.
    bool by_coordinates() const noexcept { return is(ChunkIndex::btree1) || is(ChunkIndex::btree2); }
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

private:
    // Whether the index is of that kind. A constant for the kinds that the build does not have, so that its programs do
    // not link them.
    bool is(ChunkIndex kind) const noexcept {
        if (kind == ChunkIndex::extensible_array) {
            return H5MOTE_FIXED_CHUNKS == 0 || kind_ == kind;
        }
        const bool by_coordinates = kind == ChunkIndex::btree1 || kind == ChunkIndex::btree2;
        if (by_coordinates && H5MOTE_ALL_FORMATS == 0) {
            return false;
        }
        return H5MOTE_FIXED_CHUNKS != 0 && kind_ == kind;
    }
    static std::uint8_t size_width(FileState& file, const LayoutMessage& layout,
                                   const ChunkTableShape& shape) noexcept {
        if (!shape.filtered) {
            return 0;
        }
        return H5MOTE_ALL_FORMATS != 0 && layout.version > 4 ? file.shape().sizeof_size
                                                             : ChunkElementFormat::width_for(shape.chunk_bytes);
    }
    Status enter_all(ChunkTable& from) noexcept;
    Status open_btree2(const LayoutMessage& layout) noexcept;
    Status block_of(Address index, ElementBlock& block) noexcept;
    Status find_element(ChunkLookup& lookup, Address index, ChunkLocation& location) noexcept;
    Status find_record(ChunkLookup& lookup, const std::uint64_t* scaled, ChunkLocation& location) noexcept;
    Status next_element(ChunkLookup& lookup, Address& next, ChunkLocation& location) noexcept;
    bool is_array() const noexcept { return is(ChunkIndex::extensible_array) || is(ChunkIndex::fixed_array); }
    Status next_record(ChunkLookup& lookup, Address& next, std::uint64_t* scaled, ChunkLocation& location) noexcept;
    const ChunkElementFormat& element() const noexcept {
        return is(ChunkIndex::fixed_array) ? fixed().element() : extensible().element();
    }
    // Call before blocks of the index change, move or are created: what a ChunkLookup remembers of them is no longer
    // valid.
    void note_change() noexcept { ++changes_; }
    Status read_layout(LayoutMessage& layout) noexcept;
    Status store_layout(const LayoutMessage& layout) noexcept;
    Status create_missing() noexcept;
    Status set_single(const ChunkLocation& location) noexcept;

    // The index is an object of the class for the kind that kind_ says. Its memory is as large as the largest class
    // that the build has.
    union ArrayOrSingle {
        ExtensibleArray extensible;
        FixedArray fixed;
        ChunkLocation single;
    };
    union AnyIndex {
        ArrayOrSingle array_or_single;
        ChunkBTree1 btree1;
        DenseHandle btree2;
    };
    using Largest = std::conditional_t<H5MOTE_FIXED_CHUNKS == 0, ExtensibleArray,
                                       std::conditional_t<H5MOTE_ALL_FORMATS == 0, ArrayOrSingle, AnyIndex>>;

    template <typename Index, typename... Arguments>
    Index& make(Arguments&&... arguments) noexcept {
        static_assert(sizeof(Index) <= sizeof(Largest));
        return *::new (static_cast<void*>(index_)) Index(static_cast<Arguments&&>(arguments)...);
    }
    template <typename Index>
    Index& index() noexcept {
        return *std::launder(reinterpret_cast<Index*>(index_));
    }
    ExtensibleArray& extensible() noexcept { return index<ExtensibleArray>(); }
    const ExtensibleArray& extensible() const noexcept {
        return *std::launder(reinterpret_cast<const ExtensibleArray*>(index_));
    }
    FixedArray& fixed() noexcept { return index<FixedArray>(); }
    const FixedArray& fixed() const noexcept { return *std::launder(reinterpret_cast<const FixedArray*>(index_)); }
    ChunkBTree1& btree1() noexcept { return index<ChunkBTree1>(); }
    // A version 2 B-tree, without a heap.
    DenseHandle& btree2() noexcept { return index<DenseHandle>(); }
    // Of a single chunk: that chunk. Of an implicit index: the first chunk.
    ChunkLocation& single() noexcept { return index<ChunkLocation>(); }
    const ChunkLocation& single() const noexcept {
        return *std::launder(reinterpret_cast<const ChunkLocation*>(index_));
    }

    FileState* file_ = nullptr;
    alignas(Largest) std::byte index_[sizeof(Largest)];
    ChunkTableShape shape_;
    // How often note_change() was called. Only searches by ChunkLookup need that.
    std::conditional_t<H5MOTE_PARTIAL_IO != 0, std::uint32_t, std::uint8_t> changes_ = 0;
    ChunkIndex kind_ = ChunkIndex::none;
    std::uint8_t record_width_ = 0;  // version 2 B-tree: bytes of the field for a filtered chunk's size
    bool missing_ = false;           // nothing was stored yet, there is no index
};

}  // namespace h5mote
