// H5D (H5D_chunk_ops_t) - what every kind of chunk index does, in tables of functions.
//
// ChunkTable reaches an index only through the tables of its kind, so that a program links the kinds that its list of
// formats names and no other. What changes an index is a table of its own: builds that write nothing do not link it,
// and a kind that is only read has none. A build without H5MOTE_FIXED_CHUNKS has one kind, the extensible array; there
// ChunkTable uses the constant kExtensibleArrayChunks, and its calls are direct.
//
// The kinds are in chunk_extensible_array.hpp, chunk_fixed_array.cpp, chunk_unindexed.cpp, chunk_btree1.cpp and
// chunk_btree2.cpp.
#pragma once

#include "btree1.hpp"
#include "btree2.hpp"
#include "chunk_key.hpp"
#include "disposal.hpp"
#include "extensible_array.hpp"
#include "header.hpp"
#include "messages.hpp"

#include <h5mote/formats.hpp>

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
struct ChunkLookup {
    MetadataWindow window;
    ElementBlock block;
    std::uint32_t changes = 0;  ///< OpenChunkIndex::changes when `block` was found
    std::byte record[BTree2::kMaxRecordSize];
};

/// The position of an iteration over all chunks. A new one is before the first chunk.
struct ChunkCursor {
    ChunkNumber next = 0;
    ChunkBTree1::Cursor btree1;
    std::uint32_t changes = 0;  ///< OpenChunkIndex::changes when `btree1` was set

    /// Call after the chunk that was visited last was removed from an index that finds chunks by coordinates: the next
    /// one has its place now.
    void step_back() noexcept {
        --next;
        --btree1.child;
    }
};

/// The coordinates by which a tree finds a chunk. In a dataset of one dimension the number of a chunk is its
/// coordinate, and may be all that names it.
class ChunkPlace {
public:
    explicit ChunkPlace(const ChunkKey& chunk) noexcept : number_(chunk.number), chunk_(chunk) {}
    const std::uint64_t* scaled() const noexcept { return chunk_.bytes() == 0 ? &number_ : chunk_.scaled(); }

private:
    std::uint64_t number_;
    const ChunkKey& chunk_;
};

struct ChunkIndexFormat;

/// The kind of one index, in builds that have several.
class ChosenIndexFormat {
public:
    /// unsupported: the program has not named the kind.
    Status choose(Context& context, ChunkIndex kind) noexcept;
    bool chosen() const noexcept { return format_ != nullptr; }
    const ChunkIndexFormat& format() const noexcept { return *format_; }
    bool has_changes() const noexcept;
    /// Sizes of a chunk in elements, for indexes that find chunks by coordinates; borrowed as long as the index is
    /// used.
    const std::uint64_t* chunk_dims() const noexcept { return chunk_dims_; }
    void set_chunk_dims(const std::uint64_t* dims) noexcept { chunk_dims_ = dims; }

private:
    const ChunkIndexFormat* format_ = nullptr;
    const std::uint64_t* chunk_dims_ = nullptr;
};

/// Takes its place in builds without H5MOTE_FIXED_CHUNKS: LayoutMessage::decode() accepts no other index there.
class OnlyExtensibleArrays {
public:
    static Status choose(Context& /*context*/, ChunkIndex /*kind*/) noexcept { return Status::ok; }
    static bool chosen() noexcept { return true; }
    static void set_chunk_dims(const std::uint64_t* /*dims*/) noexcept {}
    static const ChunkIndexFormat& format() noexcept;  // in chunk_extensible_array.hpp
    static bool has_changes() noexcept { return H5MOTE_WRITE != 0; }
};

/// Whether the layout message locates a single chunk although the extent has no element, as libhdf5 1.10 leaves it when
/// it makes such a dataset empty: it has freed the chunk, and other objects may lie there. OpenChunkIndex::missing is
/// true then.
class FreedChunk {
public:
    bool freed() const noexcept { return freed_; }
    void set_freed(bool freed) noexcept { freed_ = freed; }

private:
    bool freed_ = false;
};

/// Takes its place in builds that open no files of libhdf5.
class NoFreedChunk {
public:
    static constexpr bool freed() noexcept { return false; }
    static void set_freed(bool /*freed*/) noexcept {}
};

/// What ChunkTable keeps of an index for the functions of its kind.
struct OpenChunkIndex : std::conditional_t<H5MOTE_FIXED_CHUNKS != 0, ChosenIndexFormat, OnlyExtensibleArrays>,
                        std::conditional_t<H5MOTE_ALL_FORMATS != 0, FreedChunk, NoFreedChunk> {
    OpenChunkIndex() noexcept = default;
    OpenChunkIndex(const OpenChunkIndex&) = delete;
    OpenChunkIndex& operator=(const OpenChunkIndex&) = delete;

    /// Makes the object of the kind. What has a destructor needs a ChunkIndexFormat::close.
    template <typename Index, typename... Arguments>
    Index& make(Arguments&&... arguments) noexcept {
        // An index may be a pointer, and its limits the size and alignment of one.
        // NOLINTNEXTLINE(misc-redundant-expression, bugprone-sizeof-expression)
        static_assert(sizeof(Index) <= kSize && alignof(Index) <= kAlignment);
        return *::new (static_cast<void*>(place)) Index(static_cast<Arguments&&>(arguments)...);
    }
    /// The object that make() has made.
    template <typename Index>
    Index& as() noexcept {
        return *std::launder(reinterpret_cast<Index*>(place));
    }

    /// Bytes that the size of a filtered chunk has in the index; 0 when chunks are not filtered.
    std::uint8_t size_width() const noexcept { return H5MOTE_FILTERS != 0 ? width : std::uint8_t{0}; }
    ChunkElementFormat element() const noexcept { return {file->shape(), size_width()}; }
    /// Enters the size of a chunk that is not filtered, which no index tells.
    void add_size(ChunkLocation& location) const noexcept {
        location.size = shape.filtered ? location.size : shape.chunk_bytes;
    }

    // As large as the largest object of the kinds that the build has.
    static constexpr std::size_t kSize =
        H5MOTE_FIXED_CHUNKS == 0 ? sizeof(ExtensibleArray) : 2 * sizeof(Address) + 6 * sizeof(void*);
    static constexpr std::size_t kAlignment = alignof(Address) > alignof(void*) ? alignof(Address) : alignof(void*);

    FileState* file = nullptr;
    alignas(kAlignment) std::byte place[kSize];
    ChunkTableShape shape;
    /// How often blocks of the index may have changed, moved or come into being: what a ChunkLookup remembers of them
    /// is then no longer valid. Only builds that have ChunkLookup need that.
    std::conditional_t<H5MOTE_PARTIAL_IO != 0, std::uint32_t, std::uint8_t> changes = 0;
    ChunkIndex kind = ChunkIndex::none;
    std::uint8_t width = 0;  ///< see size_width()
    /// Nothing was stored yet, the layout message has no address. No function of a kind is then called but those that
    /// say so.
    bool missing = false;
};

/// Functions that change an index, with the contracts of the functions of ChunkTable that have their names.
struct ChunkIndexChanges {
    /// Makes an index without chunks and enters its address in `layout`; nothing in the file points to it yet. nullptr:
    /// the chunks need no index, and set() is called when the index is missing. ChunkIndexFormat::close ends also what
    /// this function began, even if it failed.
    Status (*create)(OpenChunkIndex& index, LayoutMessage& layout);
    /// Undoes create() but for the block at the address of the index. nullptr: create() makes no other block.
    void (*discard)(OpenChunkIndex& index);
    Status (*find)(OpenChunkIndex& index, const ChunkKey& chunk, ChunkLocation& location);
    /// nullptr: chunks are found by coordinates, and there is only ChunkIndexFormat::next.
    Status (*next)(OpenChunkIndex& index, ChunkNumber& number, ChunkLocation& location);
    /// nullptr: entering the chunk's present location once more creates the blocks that set() will need.
    Status (*make_place)(OpenChunkIndex& index, const ChunkKey& chunk, Phase phase);
    Status (*set)(OpenChunkIndex& index, const ChunkKey& chunk, const ChunkLocation& location, Address stride,
                  std::uint32_t count, Phase phase);
    /// nullptr: chunks cannot be given space before they are used, and set() enters one at a time.
    Status (*free_run)(OpenChunkIndex& index, const ChunkKey& chunk, std::uint32_t& count);
    /// nullptr: there is nothing to do.
    Status (*cover)(OpenChunkIndex& index, const ChunkKey& chunk);
    /// Whether every change of the header is one atomic write. nullptr: it always is.
    bool (*switches_at_once)(OpenChunkIndex& index);
    Status (*dispose)(OpenChunkIndex& index, Disposal& disposal);
    /// Copies the header of an index, which alone has to move for switches_at_once(), and enters the new address in
    /// `layout`. nullptr: the index is copied as a whole.
    Status (*copy_header)(OpenChunkIndex& index, LayoutMessage& layout) = nullptr;
    /// Comes after copy_header(): the index has the header at `used`, and the other one, at `unused`, is given up.
    void (*use_header)(OpenChunkIndex& index, Address used, Address unused) = nullptr;
    /// The address that the layout message must have after set(), or undefined if it has that already. nullptr: it
    /// always has.
    Address (*moved_to)(OpenChunkIndex& index) = nullptr;
    /// Comes after moved_to(): the layout message has the new address, or if not `stored` still the old one. Then set()
    /// is undone.
    void (*settle)(OpenChunkIndex& index, bool stored) = nullptr;
    /// Whether the metadata cache has room for any change of the index, and the storage for a copy of it if it is large
    /// and changes take one. over_budget, no_space. nullptr: they always have.
    Status (*check_room)(OpenChunkIndex& index) = nullptr;
};

/// One kind of chunk index.
struct ChunkIndexFormat {
    /// `chunk_dims`: sizes of a chunk in elements, borrowed as long as the index is open.
    Status (*open)(OpenChunkIndex& index, const LayoutMessage& layout, const std::uint64_t* chunk_dims);
    /// Ends what open() began, also if that failed. nullptr: there is nothing to do.
    void (*close)(OpenChunkIndex& index);
    /// `location` has no address when the function is called, and keeps none if the chunk does not exist. Its size need
    /// not be set if chunks are not filtered.
    Status (*find)(OpenChunkIndex& index, ChunkLookup& lookup, const ChunkKey& chunk, ChunkLocation& location);
    /// The next chunk that exists, with its size, and its number, or if by_coordinates its coordinates. not_found after
    /// the last. nullptr: the index is an array, `find` is find_element(), and ChunkTable goes through the array.
    Status (*next)(OpenChunkIndex& index, ChunkLookup& lookup, ChunkCursor& cursor, ChunkNumber& number,
                   std::uint64_t* scaled, ChunkLocation& location);
    /// The number of elements of an array, or kUndefinedAddress if it can grow. Only in place of `next`.
    Address (*end)(OpenChunkIndex& index);
    /// Bytes of the index itself, without the chunks.
    Status (*space)(OpenChunkIndex& index, std::uint64_t& bytes);
    /// Whether chunks are found by coordinates rather than by number.
    bool by_coordinates;
    /// nullptr: the kind is only read, or the build writes nothing.
    const ChunkIndexChanges* changes;
};

inline bool ChosenIndexFormat::has_changes() const noexcept { return format_->changes != nullptr; }

/// `changes` in builds that write. Other builds do not link its functions.
constexpr const ChunkIndexChanges* changes_if_written(const ChunkIndexChanges& changes) noexcept {
    return H5MOTE_WRITE != 0 ? &changes : nullptr;
}

}  // namespace h5mote
