// H5D - an open dataset: what every access needs, once for all handles of it.
#pragma once

#include "checked.hpp"
#include "chunk_table.hpp"
#include "header_message.hpp"
#include "messages.hpp"
#include "pipeline.hpp"

#include <h5mote/dataset.hpp>

namespace h5mote {

/// Tells of a filter that failed: one that is missing, or only reads, is `unsupported` by name.
Status tell_filter(Context& context, SourcePlace place, Status status, FilterId failed,
                   std::uint64_t address = 0) noexcept;

/// Shared by the handles of one dataset and known to its file as the owner of chunks in memory. In one block of memory
/// with the sizes of its dimensions, its filters and their client data.
///
/// Append: the cursor (its base class, which handles write through) points into the slot of the last chunk. Whatever
/// needs to know how far it has come calls settle_cursor() first.
class DatasetState final : public AppendCursor, public FlushClient, public ChunkOwner {
public:
    /// The dataset whose header is at `address`; shared with handles that are open already.
    /// `depth`: how many virtual datasets it is a source of, one through the other.
    H5MOTE_STEP static Status open(FileState& file, Address address, DatasetState*& state, unsigned depth = 0) noexcept;
    void retain() noexcept { ++references_; }
    /// Drops one reference; the last one writes what is buffered into the file (not durable yet) and goes. After an
    /// error the dataset stays open without a handle, so that the file's next flush or close tries again.
    static Status release(DatasetState* state) noexcept;
    /// Ends a dataset that no handle was given out of, without writing.
    static void discard(DatasetState* state) noexcept;

    /// Ends a dataset that nothing leads to yet, of which the caller has the only handle: gives up its data, its index
    /// and its header.
    H5MOTE_STEP static void unmake(DatasetState& state) noexcept;
    /// Gives up the data of the dataset whose header is at `address` and which is not open.
    H5MOTE_STEP static Status dispose(FileState& file, Address address, Disposal& disposal) noexcept;

    FileState& file() const noexcept { return *file_; }
    unsigned rank() const noexcept { return rank_; }
    /// Current sizes, maxima and chunk sizes: rank() numbers each.
    std::uint64_t* dims() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
    std::uint64_t* max_dims() noexcept { return dims() + rank_; }
    std::uint64_t* chunk_dims() noexcept { return dims() + 2 * rank_; }
    bool is_null() const noexcept { return null_space_; }
    /// Builds the dataspace in place: it is too large for one more on the stack.
    void copy_dataspace(Dataspace& space) noexcept {
        const Span<const std::uint64_t> sizes(dims(), rank_);
        if (null_space_) {
            ::new (static_cast<void*>(&space)) Dataspace(Dataspace::null());
        } else {
            ::new (static_cast<void*>(&space)) Dataspace(Dataspace::simple(sizes, {max_dims(), rank_}));
        }
    }
    LayoutMessage::Class layout_class() const noexcept { return layout_class_; }
    std::uint32_t element_size() const noexcept { return element_size_; }
    Address chunk_bytes() const noexcept { return chunk_bytes_; }
    /// Address and bytes of contiguous data; the address of compact data is not one of the file.
    Address data_address() const noexcept { return data_address_; }
    Address data_size() const noexcept { return data_size_; }
    bool filtered() const noexcept { return filter_count_ != 0; }
    ChunkTable& table() noexcept { return table_; }

    /// Brings dims() and the dirty range of the last chunk up to the cursor, and ends fast appending.
    void settle_cursor() noexcept;

    /// Appends to a one-dimensional dataset: `count` elements of the file's datatype, or of another by way of
    /// `conversion`.
    Status append(const std::byte* records, std::size_t record_size, std::size_t count,
                  const Conversion* conversion) noexcept;
    /// unsupported: values are more than their own bytes (is_plain()) and cannot be stored as they stand in memory.
    Status check_plain() noexcept;
    /// Makes the dataset larger.
    Status set_extent(Span<const std::uint64_t> dims) noexcept;

    /// The chunk of that linear index in memory, read or filled. over_budget: too large for the cache.
    Status chunk(Address index, bool overwrite, ChunkSlot*& slot) noexcept;
    /// Where an unfiltered chunk stands that is accessed in place; allocated and filled first if `create`.
    Status chunk_in_place(Address index, bool create, Address& address) noexcept;
    bool fits_cache() const noexcept { return chunk_bytes_ <= file_->chunks.budget(); }
    /// Fills `count` elements of the file's datatype with the fill value.
    Status fill(std::byte* to, std::size_t count) noexcept;
    /// Whether there is no fill value.
    bool default_fill() const noexcept { return default_fill_; }
    /// Whether nothing was ever stored and there is no fill value. libhdf5 then leaves zero bytes in memory, whatever
    /// the type there: what has no value is not converted. Of a dataset that has any storage it converts zeros.
    bool reads_as_zeros() const noexcept {
        return default_fill_ && (layout_class_ != LayoutMessage::Class::chunked || !table_.has_storage());
    }
    /// The fill value message of either kind; without one `fill_value` stays as it is. Its value lives as long as
    /// `message` is not used.
    Status find_fill(HeaderMessage& message, FillValueMessage& fill_value) noexcept;
    /// Gives a contiguous dataset that has none its file space, filled.
    Status allocate_contiguous() noexcept;
    /// Gives every element of the current extent its file space, filled (allocation time early).
    Status allocate_all() noexcept;
    /// Number of the chunk at those chunk coordinates in the index.
    Address chunk_index(const std::uint64_t* scaled) noexcept;
    /// Chunk coordinates of the chunk with that number.
    void scaled_of(Address index, std::uint64_t* scaled) noexcept;
#if H5MOTE_ALL_FORMATS
    /// Before the dataset is changed: whether this library can do that.
    Status begin_change() noexcept;
    bool external() const noexcept { return external_; }
    VirtualView virtual_view() const noexcept { return virtual_view_; }
    std::uint64_t virtual_gap() const noexcept { return virtual_gap_; }
    Status set_virtual_view(VirtualView view, std::uint64_t gap) noexcept;
    FilterEntry* filters() noexcept { return filter_entries(); }
    unsigned filter_count() const noexcept { return filter_count_; }
#else
    Status begin_change() noexcept {
        H5MOTE_TRY(file_->check_writable());
        H5MOTE_TRY(reserve_scratch());
        changed_ = true;
        return Status::ok;
    }
#endif
    /// Where the chunk at those coordinates stands, and whether it passed filters. `location` is undefined when it does
    /// not exist, and otherwise lies in the file.
    Status locate_chunk(ChunkLookup& lookup, const std::uint64_t* scaled, Address index, ChunkLocation& location,
                        bool& filtered) noexcept;
    /// Reads a chunk that locate_chunk() found to `chunk`, chunk_bytes() bytes.
    Status load_chunk(const ChunkLocation& location, bool filtered, Bytes chunk) noexcept;
    /// Takes a chunk into the cache.
    Status cache_chunk(Address index, const ChunkLocation& location, bool filtered, ChunkSlot*& slot) noexcept;
    /// The chunk that is in the cache already, or nullptr.
    ChunkSlot* cached_chunk(Address index) noexcept;
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
    explicit DatasetState(FileState& file, Address address, unsigned rank) noexcept
        : file_(&file), address_(address), rank_(static_cast<std::uint8_t>(rank)) {}

    // What the header says, gathered in one walk over its messages.
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
    H5MOTE_STEP Status dispose(Disposal& disposal) noexcept;
    void drop_buffers() noexcept;
    void destroy() noexcept;

    FilterEntry* filter_entries() noexcept { return reinterpret_cast<FilterEntry*>(dims() + 3 * rank_); }
    FilterPipeline pipeline() noexcept { return FilterPipeline(Span<FilterEntry>(filter_entries(), filter_count_)); }
    // Comes before the first change: the work memory that the filters need to write a chunk is there from then on, so
    // that no flush fails for want of it. out_of_memory.
    Status reserve_scratch() noexcept;

    Status open_tail() noexcept;
    // Comes before a chunk in memory is changed: it has its place in the file then, or if filtered its element in the
    // index. no_space, over_budget: it could not be written. A power cut may have kept the element and lost the number
    // that counts it: now it is counted.
    Status before_change(ChunkSlot& slot) noexcept;
    Status convert(const Conversion& conversion, const std::byte* records, std::size_t record_size, std::size_t count,
                   std::byte* to) noexcept;
    Status append_in_place(const std::byte* records, std::size_t record_size, std::size_t count,
                           const Conversion* conversion) noexcept;
    Status allocate_chunks(Address index, ChunkLocation& location, bool& zeros, Phase phase) noexcept;
    // Gives all data of the dataset its space in one piece, filled. `store` puts `address` into the header; when that
    // fails, the space is given back.
    template <typename Store>
    Status allocate_whole(Address size, Address& address, Store store) noexcept;
#if H5MOTE_FIXED_CHUNKS && H5MOTE_PARTIAL_IO
    // libhdf5 gives all chunks up to the maximum extent their space at once, as soon as there is an element.
    H5MOTE_STEP Status allocate_implicit(std::uint64_t bytes) noexcept;
#endif
    H5MOTE_STEP Status prepare_chunks(Address from, Address to, Phase phase) noexcept;
    /// Rows of a chunk of a one-dimensional dataset.
    std::uint32_t chunk_rows() noexcept { return static_cast<std::uint32_t>(chunk_dims()[0]); }
    /// Whether the chunk can hold elements of the dataset as it is.
    bool within(Address index) noexcept { return rank_ != 1 || dims()[0] > index * chunk_dims()[0]; }
    static Phase index_phase(bool within) noexcept { return within ? Phase::element : Phase::index; }
    Status allocate_chunk(Address index) noexcept;
    // corrupt_file: a chunk does not lie in the file.
    Status check_place(const ChunkLocation& location) noexcept;
    // Gives up the space of a chunk that nothing names any more. One that a damaged file places outside of itself has
    // none.
    void release_chunk(const ChunkLocation& location) noexcept;
    Status read_filtered(const ChunkLocation& location, Bytes chunk) noexcept;
    Status read_chunk(ChunkSlot& slot, const ChunkLocation& location) noexcept;
    Status write_filtered(ChunkSlot& slot) noexcept;
    Status fill_file(Address address, Address bytes) noexcept;
    // Changes the sizes in the header to `wanted`, or without `store` only secures the message that they stand in.
    H5MOTE_STEP Status change_dims(const std::uint64_t* wanted, bool store) noexcept;
    // Comes before dims() become `wanted`: a header that cannot be changed safely is told by the call that changes
    // them, and not by the flush.
    Status secure_dims(const std::uint64_t* wanted) noexcept { return change_dims(wanted, false); }
    H5MOTE_STEP Status store_dims() noexcept;
    // Gives up chunks beyond the extent of a dataset of rows. over_budget: no room in the cache to change the index,
    // and some of them are left.
    H5MOTE_STEP Status remove_ahead() noexcept;
    // Gives up chunks beyond the extent, and fills what others hold beyond it.
    H5MOTE_STEP Status clear_beyond() noexcept;
    Address first_beyond() noexcept;
    Status clear_chunk(Address index, const ChunkLocation& location, std::uint64_t* first) noexcept;

    FileState* file_;
    Address address_;
    ChunkSlot* tail_ = nullptr;    // slot of the chunk that the cursor points into
    std::uint32_t tail_from_ = 0;  // offset in it up to which the dirty range is known
    std::uint32_t references_ = 1;
    std::uint32_t element_size_ = 0;
    Address chunk_bytes_ = 0;
    std::uint32_t reserve_ = 65536;
    // Chunks of a log. Behind the last row, those before prepared_ have their space; it need not read as fill values in
    // [unfilled_, unfilled_end_).
    Address prepared_ = 0;
    Address unfilled_ = 0;
    Address unfilled_end_ = 0;
    Address begun_ = 0;      // chunks with rows at the last flush, or before the first append
    bool appended_ = false;  // in this session
    bool growable_ = false;  // append() found that the header can be changed
    bool changed_ = false;   // in this session: begin_change() was called
    bool given_back_ = false;
    bool plain_ = false;    // check_plain() found it so
    bool cleared_ = false;  // nothing is left beyond the extent, from earlier sessions or held in advance by this one
#if H5MOTE_FILTERS
    std::uint32_t filter_values_ = 0;  // bytes of client data behind the filters
#endif
    Address data_address_ = kUndefinedAddress;
    Address data_size_ = 0;
    std::uint8_t rank_;
    std::uint8_t filter_count_ = 0;
    LayoutMessage::Class layout_class_ = LayoutMessage::Class::contiguous;
    bool null_space_ = false;
    bool dims_changed_ = false;
#if H5MOTE_ALL_FORMATS
    bool external_ = false;
    bool edges_unfiltered_ = false;
    bool countable_ = true;  // 64 bits count the chunks
    VirtualView virtual_view_ = VirtualView::last_available;
    std::uint32_t virtual_gap_ = 0;
#endif
    bool zero_fill_ = true;     // unwritten elements are zeros
    bool default_fill_ = true;  // there is no fill value
    ChunkTable table_;
};

}  // namespace h5mote
