// H5D (chunk index) - finds and enters the chunks of a dataset, whichever index structure it uses.
#pragma once

#include "chunk_extensible_array.hpp"

namespace h5mote {

class ChunkTable {
public:
    ChunkTable() noexcept = default;
    ChunkTable(const ChunkTable&) = delete;
    ChunkTable& operator=(const ChunkTable&) = delete;
    ~ChunkTable() {
        if (index_.chosen() && format().close != nullptr && !index_.missing) {
            format().close(index_);
        }
    }

    /// Creates the index that `layout` names (extensible or fixed array) and enters its address in `layout`. Nothing in
    /// the file points to the index yet. unsupported: the program has no such index.
    Status create(FileState& file, LayoutMessage& layout, const ChunkTableShape& shape) noexcept;
    /// `chunk_dims`: sizes of a chunk in elements, for indexes that find chunks by coordinates; borrowed as long as the
    /// table is used. unsupported: the program has no such index.
    Status open(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape,
                const std::uint64_t* chunk_dims = nullptr) noexcept;

    /// Undoes create() before anything points to the index.
    static void discard_fresh(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;

    /// The location of a chunk that is to be changed; its address is undefined when the chunk does not exist. This
    /// function and those below change the index or come before a change: only if can_change().
    Status find(const ChunkKey& chunk, ChunkLocation& location) noexcept;
    /// The first existing chunk from number `number` on, for indexes that number their chunks. not_found: there is
    /// none.
    Status next(ChunkNumber& number, ChunkLocation& location) noexcept;
    /// Creates the index blocks that set() needs for that chunk, so that set() cannot fail for want of file space or
    /// room in the cache, or because the index header cannot be changed safely. Call it before file space for chunks is
    /// allocated: that then lies at the end of the file, behind the blocks, and is cut off when it is not used.
    Status make_place(const ChunkKey& chunk, Phase phase) noexcept;
    /// Whether the metadata cache has room for changes of the index. over_budget.
    Status check_room() noexcept {
        return index_.missing || changes().check_room == nullptr ? Status::ok : changes().check_room(index_);
    }
    /// Enters `count` chunks, at most as many as free_run() allows, whose addresses are `stride` bytes apart.
    Status set(const ChunkKey& chunk, const ChunkLocation& location, Address stride, std::uint32_t count,
               Phase phase = Phase::index) noexcept;
    /// Whether this is an implicit index (all chunks one behind the other) whose chunks have no file space yet. `bytes`
    /// becomes the size of all of them.
    bool wants_all(std::uint64_t& bytes) const noexcept;
    /// Enters `address` as the place of all chunks of an implicit index.
    Status place_all(Address address) noexcept;
    /// Gives the file space of the index and of its chunks to `disposal`. unsupported: not can_change().
    Status dispose(Disposal& disposal) noexcept;
    /// Call before the first row enters a chunk that was allocated ahead: libhdf5 ignores chunks beyond the number that
    /// the index header counts.
    Status cover(const ChunkKey& chunk) noexcept {
        return changes().cover != nullptr && !index_.missing ? changes().cover(index_, chunk) : Status::ok;
    }
    /// Makes `count`, at least 1, smaller, if it has to be, until one set() can enter `chunk` and all of the `count`
    /// chunks that begin with it, and none of them exists. Only for an index that can_reserve(), after make_place() for
    /// `chunk`, which is known not to exist.
    Status free_run(const ChunkKey& chunk, std::uint32_t& count) noexcept {
        return changes().free_run(index_, chunk, count);
    }
    /// Call after open() if the dataset can have a single chunk only, and has no element: see FreedChunk.
    void distrust() noexcept {
        index_.set_freed(!index_.missing);
        index_.missing = true;
    }
    /// Whether the layout message still locates such a chunk.
    bool has_freed_chunk() const noexcept { return index_.freed(); }
    /// Call before the first change in a session. Forgets such a chunk. If another writer placed the header of an array
    /// index where no single write switches it from its old to its new contents, replaces the index by a copy whose
    /// header is placed so that one does.
    H5MOTE_STEP Status renew() noexcept;

    /// Whether this build can change such an index.
    bool can_change() const noexcept { return index_.has_changes(); }
    /// Whether chunks can be given space before they are used.
    bool can_reserve() const noexcept { return can_change() && changes().free_run != nullptr; }
    /// Whether a single chunk can be removed from the index.
    bool can_remove() const noexcept { return kind() != ChunkIndex::implicit; }
    /// Whether chunks behind the last row may be entered before they are used, because those that are not used can be
    /// removed again: nothing looks for them in a B-tree.
    bool can_give_back() const noexcept {
        return H5MOTE_ALL_FORMATS == 0 || (can_change() && can_remove() && !by_coordinates());
    }
    /// Whether the chunks of an implicit index, all of them, lie in the file. corrupt_file.
    Status check_space() noexcept;
    /// Whether the index exists already: creating it changes the dataset's object header. Only if can_change().
    bool exists() const noexcept { return !index_.missing || changes().create == nullptr; }
    /// Whether the file has an index or, for the kinds that need none (single, implicit), the chunks themselves.
    bool has_storage() const noexcept { return !index_.missing; }

    ChunkIndex kind() const noexcept { return index_.kind; }
    /// Bytes that the size of a filtered chunk has in the index; 0 when chunks are not filtered.
    std::uint8_t size_width() const noexcept { return index_.size_width(); }
    /// Whether chunks are found by coordinates rather than by number.
    bool by_coordinates() const noexcept { return format().by_coordinates; }
    /// The location and the stored size of a chunk; its address is undefined when the chunk does not exist. Works for
    /// index blocks of any size.
    Status find(ChunkLookup& lookup, const ChunkKey& chunk, ChunkLocation& location) noexcept;
    /// The next chunk that exists: its number, or if by_coordinates() its chunk coordinates. not_found after the last.
    Status next(ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& number, std::uint64_t* scaled,
                ChunkLocation& location) noexcept;
    /// Bytes of the index itself, without the chunks.
    Status space(std::uint64_t& bytes) noexcept;

private:
    const ChunkIndexFormat& format() const noexcept { return index_.format(); }
    const ChunkIndexChanges& changes() const noexcept { return *format().changes; }
    Status begin(FileState& file, const LayoutMessage& layout, const ChunkTableShape& shape) noexcept;
    Status move_header(LayoutMessage& layout) noexcept;
    Status enter_all(ChunkTable& from) noexcept;
    Status next_element(ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& number,
                        ChunkLocation& location) noexcept;
    // Call before blocks of the index change, move or are created: what a ChunkLookup remembers of them is no longer
    // valid.
    void note_change() noexcept { ++index_.changes; }
    Status read_layout(LayoutMessage& layout) noexcept;
    Status store_layout(Address address, Phase phase) noexcept;
    Status create_missing() noexcept;

    OpenChunkIndex index_;
};

}  // namespace h5mote
