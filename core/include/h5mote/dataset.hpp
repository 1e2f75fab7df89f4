// H5D - datasets: creation properties, whole and partial input and output, append.
#pragma once

#include <h5mote/dataset_info.hpp>
#include <h5mote/filter.hpp>
#include <h5mote/library_lock.hpp>
#include <h5mote/object.hpp>

#include <cstring>
#include <initializer_list>

namespace h5mote {

class Conversion;
class Context;
struct ChunkWalk;

/// Sizes of a chunk in elements, one a dimension, slowest first. Written in place, `{64, 3}`, or known only while
/// running: from a Span, or one after the other.
class ChunkDims {
public:
    constexpr ChunkDims() noexcept = default;
    constexpr ChunkDims(std::initializer_list<std::uint32_t> dims) noexcept
        : ChunkDims(Span<const std::uint32_t>(dims.begin(), dims.size())) {}
    /// Copies the sizes.
    explicit constexpr ChunkDims(Span<const std::uint32_t> dims) noexcept {
        for (const std::uint32_t dim : dims) {
            push_back(dim);
        }
    }
    constexpr void push_back(std::uint32_t dim) noexcept {
        if (rank_ < kCapacity) {
            dims_[rank_] = dim;
        }
        rank_ = static_cast<std::uint8_t>(rank_ + (rank_ <= kCapacity ? 1 : 0));
    }
    /// More than H5MOTE_MAX_RANK: refused when used.
    constexpr std::size_t rank() const noexcept { return rank_; }
    constexpr const std::uint32_t* data() const noexcept { return dims_; }

private:
    static constexpr std::size_t kCapacity = H5MOTE_PARTIAL_IO != 0 ? H5MOTE_MAX_RANK : 1;
    std::uint32_t dims_[kCapacity] = {};
    std::uint8_t rank_ = 0;
};

/// Filters of a new dataset, in the order in which a chunk passes them when written. Written in place, or known only
/// while running: from a Span, or one after the other.
class FilterList {
public:
    constexpr FilterList() noexcept = default;
    constexpr FilterList(std::initializer_list<FilterSpec> specs) noexcept
        : FilterList(Span<const FilterSpec>(specs.begin(), specs.size())) {}
    /// Copies the specifications.
    explicit constexpr FilterList(Span<const FilterSpec> specs) noexcept {
        for (const FilterSpec& spec : specs) {
            push_back(spec);
        }
    }
    constexpr void push_back(const FilterSpec& spec) noexcept {
        if (count_ < kCapacity) {
            specs_[count_] = spec;
        }
        count_ = static_cast<std::uint8_t>(count_ + (count_ <= kCapacity ? 1 : 0));
    }
    /// More than H5MOTE_MAX_FILTERS: refused when used.
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr const FilterSpec* data() const noexcept { return specs_; }

private:
    // Without filters the list only knows that some were asked for.
    static constexpr std::size_t kCapacity = H5MOTE_FILTERS != 0 ? H5MOTE_MAX_FILTERS : 1;
    FilterSpec specs_[kCapacity];
    std::uint8_t count_ = 0;
};

/// Fixed when a dataset is created (H5Pcreate(H5P_DATASET_CREATE)). Can be constexpr, so that it takes no RAM.
struct DatasetCreate {
    Layout layout = Layout::automatic;
    ChunkDims chunk;     ///< as many sizes as the dataspace has dimensions
    FilterList filters;  ///< chunked layout only
    ConstBytes fill;     ///< one element in the file's datatype; empty: zeros
    /// There is no fill value (H5D_FILL_VALUE_UNDEFINED): what elements hold that were never written is not said, and
    /// readers may refuse to read them (h5mote reads zeros). invalid_argument with a fill value, or with
    /// FillTime::on_allocation.
    bool fill_undefined = false;
    AllocationTime allocation = AllocationTime::automatic;
    FillTime fill_time = FillTime::if_set;
    /// File space that an extensible dataset without filters holds in advance, in bytes (never more than it already
    /// uses), so that most appends change no index. Given back by close(). 0: one chunk at a time.
    std::uint32_t reserve = 65536;
    /// Records the port's time at creation in the header (H5Pset_obj_track_times). Later changes do not update it.
    bool track_times = false;
};

/// Where append() puts the next record: in the chunk in memory.
struct AppendCursor {
    std::byte* at = nullptr;
    std::byte* end = nullptr;
};

/// A handle of an open dataset. What is written is durable after the file's next flush() that returns ok. Calls return
/// what Object says, and type_mismatch when no conversion leads from one datatype to the other; a filter that this
/// program lacks is `unsupported`.
class Dataset : public Object {
public:
    Dataset() noexcept = default;
    Dataset(Dataset&& other) noexcept;
    Dataset& operator=(Dataset&& other) noexcept;
    ~Dataset() { (void)close(); }

    /// Adds `count` elements at the end of a one-dimensional extensible dataset. `records` are packed values of the
    /// memory datatype that the handle was opened with (the file's own if none). On error those that fitted were
    /// appended; size() tells how many. invalid_argument: another rank or a fixed extent. unsupported
    /// (datatype_class): the dataset, which another program made, holds variable-length data or references.
    Status append_records(const void* records, std::size_t count) noexcept;

    /// Number of dimensions, current sizes and maxima.
    Status dataspace(Dataspace& space) const noexcept;
    /// Size of the first dimension; 1 for a scalar, 0 for an invalid handle.
    std::uint64_t size() const noexcept;
    /// Bytes of one element in the file.
    std::uint32_t element_size() const noexcept;
    /// Copies the encoded datatype to `buffer` and views it there. over_budget: the buffer is too small; the trail's
    /// second number is the length.
    Status datatype(Bytes buffer, DatatypeView& type) const noexcept;

#if H5MOTE_ALL_FORMATS
    /// The dataset that an object is; the object is used up. not_found: it is no dataset, `object` keeps it.
    static Result<Dataset> from(Object&& object) noexcept;

    /// What the header says of layout, fill value, filters and type.
    Status info(DatasetInfo& info) const noexcept;
    /// Bytes of file space that the raw data takes, filters counted (H5Dget_storage_size). Walks the chunk index.
    Status storage_size(std::uint64_t& bytes) const noexcept;
    /// Number of chunks that have space, and bytes of the chunk index itself.
    Status index_size(std::uint64_t& chunks, std::uint64_t& bytes) const noexcept;
    /// Bytes that the names of external files or the mappings of a virtual dataset take in a heap; else 0.
    Status heap_size(std::uint64_t& bytes) const noexcept;
    /// Sizes of a chunk in elements; as many as `dims` has, at most the rank. invalid_argument: not chunked.
    Status chunk_dims(Span<std::uint64_t> dims) const noexcept;
    /// The i-th filter in writing order; its name and client data as far as the spans reach. not_found: no such one.
    Status filter(std::size_t i, FilterInfo& info, Span<char> name = {},
                  Span<std::uint32_t> values = {}) const noexcept;
    /// The i-th external file; its name as far as the span reaches, none if that is empty. not_found: no such one.
    /// invalid_argument: the name is longer than the span.
    Status external_file(std::size_t i, ExternalFile& info, Span<char> name) const noexcept;
    /// The i-th mapping of a virtual dataset and, if asked for, its selections in the extents of the source and of this
    /// dataset. not_found: no such one.
    Status virtual_mapping(std::size_t i, VirtualMapping& mapping, SelectionSet* source = nullptr,
                           SelectionSet* destination = nullptr) const noexcept;
    /// Where a virtual dataset ends, for all its handles (H5Pset_virtual_view, H5Pset_virtual_printf_gap); at first
    /// last_available with a gap of 0. The extent is found anew; after an error all is as it was. `gap`: how many
    /// numbered sources may be missing before one that is there. No effect on other layouts.
    Status set_virtual_view(VirtualView view, std::uint64_t gap = 0) noexcept;
    /// One element with the fill value as `type`, or as it stands in the file (element_size() bytes); zeros when there
    /// is none. invalid_argument: `to` has another size.
    Status fill_value(DatatypeView type, Bytes to) const noexcept;
    Status stored_fill_value(Bytes to) const noexcept;

    /// Reads the selected elements as they stand in the file, packed in the order of the selection, without conversion:
    /// element_size() bytes each. Needs little memory, so that any dataset can be shown piece by piece.
    Status read_stored(const Selection& selection, Bytes data) noexcept;
#endif

    /// Makes the dataset larger; new elements read as the fill value. invalid_argument: beyond a maximum, or smaller
    /// than it is.
    Status set_extent(Span<const std::uint64_t> dims) noexcept;
    Status set_extent(std::initializer_list<std::uint64_t> dims) noexcept {
        return set_extent(Span<const std::uint64_t>(dims.begin(), dims.size()));
    }

    /// Transfers the selected elements, packed in row-major order of the selection, as values of `type`.
    /// invalid_argument: the selection does not lie within the extent, or `data` has not exactly the size of what is
    /// selected. Sequences and strings of any length (variable_length.hpp) that were read are the caller's, for
    /// reclaim(); after an error those of all selected elements are empty.
    Status write(const Selection& selection, DatatypeView type, ConstBytes data) noexcept;
    Status read(const Selection& selection, DatatypeView type, Bytes data) noexcept;
    /// The same with a selection of a dataspace in memory.
    Status write(const Selection& selection, DatatypeView type, const Dataspace& memory,
                 const Selection& memory_selection, ConstBytes data) noexcept;
    Status read(const Selection& selection, DatatypeView type, const Dataspace& memory,
                const Selection& memory_selection, Bytes data) noexcept;

    /// Fixes the datatype of records in memory for append_records(). type_mismatch, unsupported (no conversion compiled
    /// in).
    Status set_memory_type(DatatypeView type) noexcept;

    /// Ends the handle. The last one of a dataset writes what is buffered into the file, durable with the file's next
    /// flush. That can fail: what is buffered then stays in memory, flush() and close() of the file try again, and a
    /// handle that opens the dataset meanwhile finds it. After an error, too, the handle has ended.
    Status close() noexcept;

protected:
    friend class Group;
    friend class ChunkIterator;
    Dataset(FileState& file, Address address, AppendCursor& state) noexcept;
    /// The conversion of records of type `memory` to the `stored` type; null where they are the same bytes.
    static Status make_conversion(Context& context, DatatypeView memory, DatatypeView stored,
                                  Conversion*& conversion) noexcept;
    void set_conversion(Conversion* conversion, std::uint32_t record_size) noexcept;
    /// append_records() of a C++ type, which needs no look at the dataset's.
    Status append_packed(const void* records, std::size_t count) noexcept;

    AppendCursor* cursor_ = nullptr;    // the shared state of the dataset
    AppendCursor* fast_ = nullptr;      // the same when records need no conversion
    Conversion* conversion_ = nullptr;  // from memory to file
    std::uint32_t record_size_ = 0;     // bytes of one record in memory
};

#if H5MOTE_ALL_FORMATS

/// Walks the chunks of a dataset that have space in the file, in the order of their index:
/// `ChunkIterator chunks(dataset); while ((status = chunks.next(chunk)) == Status::ok) ...`
/// The iterator keeps the dataset open, as a handle does; nothing is written to it meanwhile.
class ChunkIterator {
public:
    explicit ChunkIterator(const Dataset& dataset) noexcept;
    ChunkIterator(const ChunkIterator&) = delete;
    ChunkIterator& operator=(const ChunkIterator&) = delete;
    ~ChunkIterator();

    /// not_found: after the last. invalid_argument: not chunked. invalid_handle: the handle was, or the file is closed.
    /// corrupt_file, io_error, out_of_memory.
    Status next(ChunkInfo& chunk) noexcept;

private:
    Context* context_;
    AppendCursor* cursor_ = nullptr;  // the shared state of the dataset, of which this holds a reference
    ChunkWalk* walk_ = nullptr;
};

#endif

/// A dataset of records of a C++ type described by H5MOTE_COMPOUND or built in.
template <typename T>
class TypedDataset : public Dataset {
public:
    TypedDataset() noexcept = default;
    explicit TypedDataset(Dataset&& dataset) noexcept : Dataset(static_cast<Dataset&&>(dataset)) {}

    /// Adds one record: a copy into the chunk in memory, which is written when it is full or flushed.
    Status append(const T& record) noexcept {
        const LibraryLock lock(H5MOTE_THREADS != 0 ? library() : nullptr);
        AppendCursor* const to = fast_;
        if (to != nullptr && to->at != to->end) {
            std::memcpy(to->at, &record, sizeof(T));
            to->at += sizeof(T);
            return Status::ok;
        }
        return append_packed(&record, 1);
    }
    Status append(Span<const T> records) noexcept { return append_packed(records.data(), records.size()); }

    using Dataset::read;
    using Dataset::write;
    Status write(const Selection& selection, Span<const T> records) noexcept {
        return write(selection, datatype_of<T>(), as_bytes(records));
    }
    Status read(const Selection& selection, Span<T> records) noexcept {
        return read(selection, datatype_of<T>(),
                    {reinterpret_cast<std::byte*>(records.data()), records.size() * sizeof(T)});
    }
};

}  // namespace h5mote
