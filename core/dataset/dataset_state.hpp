// H5D - the state of an open dataset, which all its handles share.
#pragma once

#include "checked.hpp"
#include "chunk_table.hpp"
#include "header_message.hpp"
#include "messages.hpp"
#include "own_fill.hpp"
#include "pipeline.hpp"
#include "unfiltered_edges.hpp"

#include <h5mote/dataset.hpp>

namespace h5mote {

/// Records in the error trail that filter `failed` failed, and returns `status`. A filter that is missing, or that can
/// only decode, is `unsupported` with its number.
Status tell_filter(Context& context, SourcePlace place, Status status, FilterId failed,
                   std::uint64_t address = 0) noexcept;

/// How the extent of a virtual dataset follows from its sources: Dataset::set_virtual_view().
class VirtualSettings {
public:
    VirtualView virtual_view() const noexcept { return view_; }
    std::uint64_t virtual_gap() const noexcept { return gap_; }

protected:
    void set_virtual(VirtualView view, std::uint64_t gap) noexcept {
        view_ = view;
        gap_ = gap < 0xffffffffU ? static_cast<std::uint32_t>(gap) : 0xffffffffU;
    }

private:
    std::uint32_t gap_ = 0;
    VirtualView view_ = VirtualView::last_available;
};

/// Takes its place in builds that open no virtual datasets.
class NoVirtualSettings {
public:
    static VirtualView virtual_view() noexcept { return VirtualView::last_available; }
    static std::uint64_t virtual_gap() noexcept { return 0; }

protected:
    static void set_virtual(VirtualView /*view*/, std::uint64_t /*gap*/) noexcept {}
};

/// The number of bytes of client data that the filters of a dataset do not hold themselves.
class FilterValues {
protected:
    std::uint32_t filter_values() const noexcept { return bytes_; }
    void set_filter_values(std::size_t bytes) noexcept { bytes_ = static_cast<std::uint32_t>(bytes); }

private:
    std::uint32_t bytes_ = 0;
};

/// Takes its place in builds without filters.
class NoFilterValues {
protected:
    static std::uint32_t filter_values() noexcept { return 0; }
    static void set_filter_values(std::size_t /*bytes*/) noexcept {}
};

/// Shared by all handles of one dataset. For the file it is the owner of chunks in the chunk cache. The dimension
/// sizes, the filters and their client data follow the object in the same block of memory.
///
/// Appending: the cursor (the base class AppendCursor, through which handles write) points into the cache slot of the
/// last chunk. Call count_appended() before using the current number of rows.
class DatasetState final : public AppendCursor,
                           public FlushClient,
                           public ChunkOwner,
                           public std::conditional_t<H5MOTE_ALL_FORMATS != 0, VirtualSettings, NoVirtualSettings>,
                           private std::conditional_t<H5MOTE_ALL_FORMATS != 0, EdgeNumbers, NoEdgeNumbers>,
                           private std::conditional_t<H5MOTE_FILTERS != 0, FilterValues, NoFilterValues> {
public:
    /// Opens the dataset whose header is at `address`; a dataset that is open already is shared. `depth`: number of
    /// virtual datasets in the chain that leads to this one as a source, 0 if there is none; kAnyType: 0, and elements
    /// are not looked at, so that their datatype may be nested deeper than this build reads it.
    static constexpr unsigned kAnyType = ~0U;
    H5MOTE_STEP static Status open(FileState& file, Address address, DatasetState*& state, unsigned depth = 0) noexcept;
    void retain() noexcept { ++references_; }
    /// Drops one reference. The last one writes buffered data to the storage (not durable yet) and destroys the state.
    /// After an error the dataset stays open without a handle, so that the file's next flush or close tries again.
    static Status release(DatasetState* state) noexcept;
    /// Destroys a state for which no handle was given out, without writing.
    static void discard(DatasetState* state) noexcept;

    /// Deletes a dataset that no link leads to yet and destroys its state, of which the caller has the only reference:
    /// releases the file space of its data, its chunk index and its object header.
    H5MOTE_STEP static void unmake(DatasetState& state) noexcept;
    /// Calls `work` with the dataset whose header is at `address`, of which no handle is open, for what does not depend
    /// on its datatype.
    template <typename Work>
    static Status visit(FileState& file, Address address, Work work) noexcept {
        DatasetState* state = nullptr;
        // A state without handles may hold rows that could not be stored. They are kept until the dataset is really
        // deleted.
        const bool unused = file.find_client(address) != nullptr;
        H5MOTE_TRY(open(file, address, state, H5MOTE_ALL_FORMATS != 0 ? kAnyType : 0));
        const Status status = work(*state);
        end_visit(*state, unused);
        return status;
    }
    /// Gives the raw data and the chunk index of the dataset whose header is at `address` to `disposal`. No handle of
    /// the dataset is open.
    H5MOTE_STEP static Status dispose(FileState& file, Address address, Disposal& disposal) noexcept;
    H5MOTE_STEP Status dispose(Disposal& disposal) noexcept;
    /// Removes the chunks that lie wholly beyond the extent of the dataset whose header is at `address`, of which no
    /// handle is open: they were allocated ahead of appends, or a power cut has lost their rows. Chunks that cannot be
    /// removed now, for want of file space or of room in the cache, are left. out_of_memory, io_error, corrupt_file.
    H5MOTE_STEP static Status trim(FileState& file, Address address) noexcept;
    /// Whether there is such a chunk; in a dataset of another rank than 1, or with a B-tree, none is looked for.
    Status find_ahead(bool& found) noexcept;

    FileState& file() const noexcept { return *file_; }
    /// A constant in builds without partial I/O, which refuse other ranks.
    unsigned rank() const noexcept { return H5MOTE_PARTIAL_IO != 0 ? rank_ : 1; }
    /// Current sizes, maxima and chunk sizes: rank() numbers each.
    std::uint64_t* dims() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
    std::uint64_t* max_dims() noexcept { return dims() + rank(); }
    std::uint64_t* chunk_dims() noexcept { return dims() + 2 * rank(); }
    /// Builds the dataspace in place: a second one is too large for the stack.
    void copy_dataspace(Dataspace& space) noexcept {
        const Span<const std::uint64_t> sizes(dims(), rank());
        if (null_space_) {
            ::new (static_cast<void*>(&space)) Dataspace(Dataspace::null());
        } else {
            ::new (static_cast<void*>(&space)) Dataspace(Dataspace::simple(sizes, {max_dims(), rank()}));
        }
    }
    Layout layout_class() const noexcept { return layout_class_; }
    /// A constant in builds without partial I/O, which refuse other layouts.
    bool is_chunked() const noexcept { return H5MOTE_PARTIAL_IO == 0 || layout_class_ == Layout::chunked; }
    std::uint32_t element_size() const noexcept { return element_size_; }
    Address chunk_bytes() const noexcept { return chunk_bytes_; }
    /// Address and bytes of contiguous data. Compact data has no file address. Of a virtual dataset these are the
    /// global heap collection and the number of the object in it that holds the mappings.
    Address data_address() const noexcept { return data_address_; }
    Address data_size() const noexcept { return data_size_; }
    /// A virtual dataset: number of the object with its mappings, in the global heap collection at data_address().
    std::uint32_t mappings_index() const noexcept { return static_cast<std::uint32_t>(data_size_); }
    bool filtered() const noexcept { return H5MOTE_FILTERS != 0 && filter_count_ != 0; }
    ChunkTable& table() noexcept { return table_; }

    /// Brings dims() and the dirty range of the last chunk up to the cursor.
    void count_appended() noexcept;

    /// Appends to a one-dimensional dataset: `count` elements of the file's datatype, or of another by way of
    /// `conversion`.
    Status append(const std::byte* records, std::size_t record_size, std::size_t count,
                  const Conversion* conversion) noexcept;
    /// unsupported: the datatype is not is_plain(), it has variable-length data or references, which cannot be stored
    /// as they are in memory.
    Status check_plain() noexcept;
    /// Makes the dataset larger or smaller.
    Status set_extent(Span<const std::uint64_t> dims) noexcept;
    /// Takes back an extent that was made larger for rows that could not be written: `rows` is the first size before.
    void withdraw_rows(std::uint64_t rows) noexcept;
    /// Stores everything that is buffered for the dataset, so that its chunk index is up to date.
    Status store_chunks() noexcept;
    /// Enters a chunk in the form in which it is to be stored, with the filters of `mask` skipped; the bytes that it
    /// had before are released. The dataset is filtered.
    Status enter_stored(const ChunkKey& key, ConstBytes stored, std::uint32_t mask) noexcept;

    /// The chunk with that name in the chunk cache, ready to be changed: read from the file, or filled with the fill
    /// value if it does not exist or `overwrite` is set. over_budget: it is too large for the cache.
    Status chunk(const ChunkKey& key, bool overwrite, ChunkSlot*& slot) noexcept;
    /// File address of an unfiltered chunk that is accessed in the file, not in the cache; undefined if it does not
    /// exist. With `create` it is allocated and filled first.
    Status chunk_in_place(const ChunkKey& key, bool create, Address& address) noexcept;
    bool fits_cache() const noexcept { return chunk_bytes_ <= file_->chunks.budget(); }
    /// Fills `count` elements of the file's datatype with the fill value, as nothing but reading may show it: those
    /// that are stored pass fill_stored().
    Status fill(std::byte* to, std::size_t count) noexcept;
    /// Whether the fill value has objects in the global heap, of which every stored element needs its own copies.
    bool own_fill() const noexcept { return H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0 && own_fill_; }
    /// Fills `count` elements that are to be stored. Errors of OwnFill::copy(), and no copies are left.
    Status fill_stored(std::byte* to, std::size_t count, [[maybe_unused]] const FillPlace& place) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (own_fill_) {
                return fill_own(to, count, place);
            }
        }
        return fill(to, count);
    }
    /// Whether there is no fill value.
    bool default_fill() const noexcept { return default_fill_; }
    /// Whether nothing was ever stored and there is no fill value. Such a dataset reads, as with libhdf5, as zero bytes
    /// in memory, whatever the memory type: a value that does not exist is not converted. If the dataset has any
    /// storage, zeros of the file's datatype are converted.
    bool reads_as_zeros() const noexcept { return default_fill_ && (!is_chunked() || !table_.has_storage()); }
    /// Decodes the fill value message, the new kind or the old one; without either `fill_value` stays as it is. Its
    /// value borrows bytes of `message`, until that is used again.
    Status find_fill(HeaderMessage& message, FillValueMessage& fill_value) noexcept;
    /// Allocates and fills the file space of a contiguous dataset that has none.
    Status allocate_contiguous() noexcept;
    /// Allocates and fills file space for every element of the current extent (allocation time early). `before`: an
    /// extent whose chunks have their space already; nullptr: there is none.
    Status allocate_all(const std::uint64_t* before = nullptr) noexcept;
    /// Comes before elements or a chunk are written: with allocation time late, all chunks get their space together
    /// with the index. Errors of allocate_all(), which may leave some of the chunks; the elements read as before.
    Status allocate_late() noexcept {
        return H5MOTE_ALL_FORMATS != 0 && allocation_ == AllocationTime::late && is_chunked() && !table_.has_storage()
                   ? allocate_all()
                   : Status::ok;
    }
    /// From now on, and until the dataset is closed, only chunks that are written get space, and all of their elements
    /// are written: for a copy, which gets the chunks that the original has.
    void allocate_incrementally() noexcept {
        allocation_ = AllocationTime::incremental;
        writes_all_ = true;
    }
    /// Names the chunk with these chunk coordinates, which are borrowed.
    ChunkKey key_of(const std::uint64_t* scaled) noexcept {
        const ChunkNumber number = number_of(scaled);
        const bool by_number = !table_.by_coordinates() || (rank() == 1 && number == scaled[0]);
        return {number, scaled, by_number ? 0 : rank() * sizeof *scaled};
    }
    /// Chunk coordinates of the chunk with that number, in an index that goes by numbers.
    void scaled_of(ChunkNumber number, std::uint64_t* scaled) noexcept;
    /// Chunk coordinates of a chunk.
    void coordinates_of(const ChunkKey& key, std::uint64_t* scaled) noexcept {
        if (key.bytes() != 0) {
            key.copy(scaled);
        } else {
            scaled_of(key.number, scaled);
        }
    }
    /// Whether chunks that reach beyond the extent are stored without filters.
    bool edges_unfiltered() const noexcept { return H5MOTE_ALL_FORMATS != 0 && edges_unfiltered_; }
    /// Whether the bytes that such a dataset has for the chunk did not go through its filters, because with the present
    /// extent it is at the edge. If the rank is not 1, `key` has coordinates.
    bool is_edge(const ChunkKey& key) noexcept;
    /// Call when a chunk is to be stored as it is given: what it has beyond the extent has to be cleared before the
    /// dataset grows there.
    void note_stored(const std::uint64_t* scaled) noexcept { cleared_ = cleared_ && !reaches_beyond(scaled, dims()); }
    /// Whether a chunk that has elements within `sizes` reaches beyond them, too.
    bool reaches_beyond(const std::uint64_t* scaled, const std::uint64_t* sizes) noexcept;
    /// The filter mask that skips every filter.
    std::uint32_t all_filters() const noexcept {
        return filter_count_ < 32 ? (std::uint32_t{1} << filter_count_) - 1 : 0xffffffffU;
    }
    /// Call before every change of the dataset. An error says that this library cannot change it.
    Status begin_change(bool stored_chunk = false) noexcept;
    /// Whether the data are in external files.
    bool external() const noexcept { return H5MOTE_ALL_FORMATS != 0 && external_; }
    /// Whether the data are in other datasets.
    bool is_virtual() const noexcept { return H5MOTE_ALL_FORMATS != 0 && layout_class_ == Layout::virtual_dataset; }
    Status set_virtual_view(VirtualView view, std::uint64_t gap) noexcept;
    FilterEntry* filters() noexcept { return filter_entries(); }
    unsigned filter_count() const noexcept { return filter_count_; }
    /// The location of a chunk that key_of() has named, and whether its bytes are filtered. The address is undefined
    /// when the chunk does not exist; otherwise the chunk lies in the file.
    Status locate_chunk(ChunkLookup& lookup, const ChunkKey& key, ChunkLocation& location, bool& filtered) noexcept;
    /// Reads a chunk that locate_chunk() found, and decodes it, into the chunk_bytes() bytes of `chunk`.
    Status load_chunk(const ChunkLocation& location, bool filtered, Bytes chunk) noexcept;
    /// Loads a chunk that locate_chunk() found into the chunk cache.
    Status cache_chunk(const ChunkKey& key, const ChunkLocation& location, bool filtered, ChunkSlot*& slot) noexcept;
    /// The chunk that is in the cache already, or nullptr.
    ChunkSlot* cached_chunk(const ChunkKey& key) noexcept { return file_->chunks.find(*this, key); }
    void set_reserve(std::uint32_t bytes) noexcept { reserve_ = bytes; }

    Status flush_raw() noexcept override;
    Status prepare(Phase phase) noexcept override;
    Status give_back(bool again) noexcept override;
    bool is_unused() const noexcept override { return references_ == 0; }
    Status retire(bool store) noexcept override;
    void detach() noexcept override;
    Address address() const noexcept override { return address_; }
    Status write_back(ChunkSlot& slot) noexcept override;
    void evicted(ChunkSlot& slot) noexcept override;

private:
    friend class UnfilteredEdges;

    explicit DatasetState(FileState& file, Address address, unsigned rank) noexcept
        : file_(&file), address_(address), rank_(static_cast<std::uint8_t>(rank)) {}

    // What the object header says about the memory that the state takes.
    struct Survey;
    static std::size_t footprint(unsigned rank, std::size_t filters, std::size_t values) noexcept {
        return sizeof(DatasetState) + rank * 3 * sizeof(std::uint64_t) + filters * sizeof(FilterEntry) + values;
    }
    H5MOTE_STEP static Status survey(FileState& file, Address address, Survey& found) noexcept;
    H5MOTE_STEP Status load() noexcept;
    H5MOTE_STEP Status load_messages() noexcept;
    Status load_space(HeaderMessage& message) noexcept;
    Status load_filters(HeaderMessage& message) noexcept;
    H5MOTE_STEP Status load_layout() noexcept;
    H5MOTE_STEP Status open_chunks(const LayoutMessage& layout) noexcept;
    static void end_visit(DatasetState& state, bool unused) noexcept;
    void drop_buffers() noexcept;
    void destroy() noexcept;

    FilterEntry* filter_entries() noexcept { return reinterpret_cast<FilterEntry*>(dims() + 3 * rank()); }
    FilterPipeline pipeline() noexcept { return FilterPipeline(Span<FilterEntry>(filter_entries(), filter_count_)); }
    // Comes before the first change: reserves the work memory that the filters need to write a chunk, so that no flush
    // fails for want of it. out_of_memory; unsupported: a filter cannot encode.
    Status reserve_scratch() noexcept;

    // How many rows can still be appended to a one-dimensional dataset. Builds without H5MOTE_ALL_FORMATS know arrays
    // of chunks only, which end before 2^63 rows, and which libhdf5 cannot use in files with short lengths.
    std::uint64_t rows_left() noexcept {
        std::uint64_t limit = max_dims()[0];
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            const std::uint64_t most = file_->shape().max_size();
            limit = limit < most ? limit : most;
            return dims()[0] < limit ? limit - dims()[0] : 0;
        }
        return limit - dims()[0];
    }
    Status open_tail() noexcept;
    // Comes before a chunk in memory is changed: allocates its file space or, if it is filtered, the room for its index
    // entry. no_space, over_budget: the chunk could not be written later. A power cut may have kept the index entry of
    // a chunk and lost the count in the index header that covers it: the header is made to count it.
    Status before_change(ChunkSlot& slot) noexcept;
    Status convert(const Conversion& conversion, const std::byte* records, std::size_t record_size, std::size_t count,
                   std::byte* to) noexcept;
    Status append_in_place(const std::byte* records, std::size_t record_size, std::size_t count,
                           const Conversion* conversion) noexcept;
    Status allocate_chunks(const ChunkKey& key, ChunkLocation& location, bool& zeros, Phase phase) noexcept;
    // Allocates one piece of file space for all data of the dataset and fills it. `store` then enters `address` in the
    // object header; if that fails, the space is released.
    template <typename Store>
    Status allocate_whole(Address size, Address& address, Store store) noexcept;
    // Comes before a chunk gets its space. In an implicit index all chunks up to the maximum extent get theirs at once:
    // libhdf5 does that as soon as the dataset has an element. Other datasets are left as they are.
    H5MOTE_STEP Status allocate_implicit() noexcept;
    H5MOTE_STEP Status prepare_chunks(ChunkNumber from, ChunkNumber to, Phase phase) noexcept;
    /// Rows of a chunk of a one-dimensional dataset.
    std::uint32_t chunk_rows() noexcept { return static_cast<std::uint32_t>(chunk_dims()[0]); }
    /// Whether the chunk reaches into the current extent; always true if the rank is not 1.
    bool within(ChunkNumber number) noexcept { return rank() != 1 || dims()[0] > number * chunk_dims()[0]; }
    static Phase index_phase(bool within) noexcept { return within ? Phase::element : Phase::index; }
    ChunkNumber number_of(const std::uint64_t* scaled) noexcept;
    Status allocate_chunk(const ChunkKey& key) noexcept;
    // corrupt_file: the chunk does not lie in the file.
    Status check_place(const ChunkLocation& location) noexcept;
    // Releases the space of a chunk that no index names any more, unless a damaged index placed it outside of the file.
    void release_chunk(const ChunkLocation& location) noexcept;
    Status read_filtered(const ChunkLocation& location, Bytes chunk) noexcept;
    Status read_chunk(ChunkSlot& slot, const ChunkLocation& location, bool filtered) noexcept;
    Status write_filtered(ChunkSlot& slot) noexcept;
    Status encode(ChunkSlot& slot, ConstBytes& result, std::uint32_t& mask) noexcept;
    // Only for a dataset that begin_change() has accepted.
    const UnfilteredEdgesFormat& edges() const noexcept { return *file_->context.formats().unfiltered_edges; }
    // Fills a part of the file.
    Status fill_space(Address address, Address bytes, [[maybe_unused]] const FillPlace& place) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (own_fill_) {
                return fill_file_own(address, bytes, place);
            }
        }
        return fill_file(address, bytes);
    }
    // Fills a new chunk in memory, all of which is to be written if `overwrite` is set; a new one in the file.
    Status fill_slot(ChunkSlot& slot, [[maybe_unused]] const ChunkKey& key, [[maybe_unused]] bool overwrite) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (own_fill_) {
                return fill_slot_own(slot, key, overwrite);
            }
        }
        return fill(slot.data(), slot.size / element_size_);
    }
    Status fill_chunk([[maybe_unused]] const ChunkKey& key, Address address) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (own_fill_) {
                return fill_chunk_own(key, address);
            }
        }
        return fill_file(address, chunk_bytes_);
    }
    // Fills the chunks of an implicit index.
    Status fill_chunks(Address address, Address bytes) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (own_fill_) {
                return fill_chunks_own(address, bytes);
            }
        }
        return fill_file(address, bytes);
    }
    Status fill_file(Address address, Address bytes) noexcept;
    // The same for datasets with own_fill(). Other datasets take no stack for them.
    H5MOTE_STEP Status fill_own(std::byte* to, std::size_t count, const FillPlace& place) noexcept;
    H5MOTE_STEP Status fill_file_own(Address address, Address bytes, FillPlace place) noexcept;
    H5MOTE_STEP void discard_own(const std::byte* elements, std::size_t count) noexcept;
    H5MOTE_STEP Status fill_slot_own(ChunkSlot& slot, const ChunkKey& key, bool overwrite) noexcept;
    H5MOTE_STEP Status fill_chunk_own(const ChunkKey& key, Address address) noexcept;
    H5MOTE_STEP Status fill_chunks_own(Address address, Address bytes) noexcept;
    // Changes the sizes in the dataspace message to `wanted`; without `store` only makes sure that they can be changed.
    H5MOTE_STEP Status change_dims(const std::uint64_t* wanted, bool store) noexcept;
    // Comes before dims() become `wanted`, so that a header that cannot be changed safely is reported by the call that
    // changes the extent, and not by the flush.
    Status secure_dims(const std::uint64_t* wanted) noexcept { return change_dims(wanted, false); }
    H5MOTE_STEP Status store_dims() noexcept;
    // Removes all chunks beyond the extent of a one-dimensional dataset. over_budget: the cache has no room to change
    // the index, and some of the chunks are left.
    H5MOTE_STEP Status remove_ahead() noexcept;
    // Removes chunks that lie wholly beyond the extent and, with `parts`, sets the elements beyond it in other chunks
    // to the fill value. `sizes`: nothing beyond these has to be cleared; nullptr: all of it.
    // `grown`: the dataset is about to become as large as `sizes`, and what is within these is filled.
    H5MOTE_STEP Status clear_beyond(const std::uint64_t* sizes = nullptr, bool parts = true,
                                    bool grown = false) noexcept;
    // Clears what lies beyond dims(), but within `sizes`, after the dataset became smaller, whatever chunks are in
    // memory.
    Status clear_cut(const std::uint64_t* sizes = nullptr) noexcept;
    Status drop_beyond() noexcept;
    // Makes the dataset smaller; sizes that are larger were made ready by set_extent().
    Status shrink(const std::uint64_t* wanted) noexcept;
    Status resize_external(const std::uint64_t* wanted) noexcept;
    void set_dims(const std::uint64_t* wanted) noexcept;
    // The last steps of set_extent() for a dataset that allocates early and becomes larger, in other dimensions perhaps
    // `smaller`: gives the new chunks their space, as H5Dset_extent() does. After an error, such as no_space, the
    // dataset is as large as before.
    Status grow_allocated(const std::uint64_t* wanted, bool smaller) noexcept;
    ChunkNumber first_beyond(const std::uint64_t* sizes) noexcept;
    // `filled`: FillPlace::sizes.
    Status clear_by_coordinates(std::uint64_t* scaled, bool parts, const std::uint64_t* filled) noexcept;
    Status clear_implicit(const std::uint64_t* sizes, std::uint64_t* scaled, const std::uint64_t* filled) noexcept;
    Status clear_chunk(const ChunkKey& key, const ChunkLocation& location, std::uint64_t* scaled, bool parts,
                       const std::uint64_t* filled, bool& removed) noexcept;
    Status fill_part(const ChunkLocation& location, ChunkSlot* slot, Address from, Address to,
                     const std::uint64_t* scaled, const std::uint64_t* filled) noexcept;

    FileState* file_;
    Address address_;
    ChunkSlot* tail_ = nullptr;    // slot of the chunk that the cursor points into
    std::uint32_t tail_from_ = 0;  // offset in it up to which rows are counted and marked dirty
    std::uint32_t references_ = 1;
    std::uint32_t element_size_ = 0;
    Address chunk_bytes_ = 0;
    std::uint32_t reserve_ = 65536;
    // Appending: chunks behind the last row and before prepared_ have their file space already. In [unfilled_,
    // unfilled_end_) that space may hold old bytes instead of fill values.
    ChunkNumber prepared_ = 0;
    ChunkNumber unfilled_ = 0;
    ChunkNumber unfilled_end_ = 0;
    ChunkNumber begun_ = 0;  // number of chunks with rows at the last flush, or before the first append
    bool appended_ = false;  // in this session
    bool growable_ = false;  // append() found that the header can be changed
    bool changed_ = false;   // in this session: begin_change() was called
    bool given_back_ = false;
    bool plain_ = false;      // check_plain() found it so
    bool cleared_ = false;    // nothing is left beyond the extent, from earlier sessions or held in advance by this one
    bool uncleared_ = false;  // in this session the dataset became smaller, and what lies beyond is still to be cleared
    bool external_ = false;
    bool edges_unfiltered_ = false;
    bool own_fill_ = false;    // own_fill(), in builds that write all formats
    bool writes_all_ = false;  // no element that is stored keeps the fill value
    Address data_address_ = kUndefinedAddress;
    Address data_size_ = 0;  // bytes; a virtual dataset has mappings_index() here instead
    std::uint8_t rank_;
    std::uint8_t filter_count_ = 0;
    Layout layout_class_ = Layout::contiguous;
    bool null_space_ = false;
    bool dims_changed_ = false;
    bool zero_fill_ = true;                                    // unwritten elements are zeros
    bool default_fill_ = true;                                 // there is no fill value
    AllocationTime allocation_ = AllocationTime::incremental;  // of chunks, in builds that read all formats
    ChunkTable table_;
};

}  // namespace h5mote
