// H5D - datasets: creation properties, whole and partial input and output, append.
#pragma once

#include <h5mote/attributes_create.hpp>
#include <h5mote/dataset_info.hpp>
#include <h5mote/filter.hpp>
#include <h5mote/library_lock.hpp>
#include <h5mote/object.hpp>

#include <cstring>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace h5mote {

class Conversion;
class Context;
struct ChunkWalk;

/// Sizes of a chunk in elements, one for each dimension, slowest dimension first. They can be written in place, as in
/// `{64, 3}`; sizes that are known only at run time come from a Span, or one by one through push_back().
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
    /// Number of sizes. A list of more than H5MOTE_MAX_RANK is refused by the call that it is passed to.
    constexpr std::size_t rank() const noexcept { return rank_; }
    constexpr const std::uint32_t* data() const noexcept { return dims_; }

private:
    static constexpr std::size_t kCapacity = H5MOTE_PARTIAL_IO != 0 ? H5MOTE_MAX_RANK : 1;
    std::uint32_t dims_[kCapacity] = {};
    std::uint8_t rank_ = 0;
};

/// Filters of a new dataset, in the order in which they are applied to a chunk that is written. They can be written in
/// place; filters that are known only at run time come from a Span, or one by one through push_back().
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
    /// Number of filters. A list of more than H5MOTE_MAX_FILTERS is refused by the call that it is passed to.
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr const FilterSpec* data() const noexcept { return specs_; }

private:
    // In a build without filters the list only knows that some were asked for.
    static constexpr std::size_t kCapacity = H5MOTE_FILTERS != 0 ? H5MOTE_MAX_FILTERS : 1;
    FilterSpec specs_[kCapacity];
    std::uint8_t count_ = 0;
};

/// An external file of a new dataset (H5Pset_external).
struct NewExternalFile {
    /// As the program's DriverOpener knows it; "" and names with zero bytes are invalid_argument.
    std::string_view name;
    std::uint64_t offset = 0;         ///< where the data begin in that file, in bytes
    std::uint64_t size = kUnlimited;  ///< bytes reserved there; kUnlimited, in the last file only: up to its end
};

/// A mapping of a new virtual dataset (H5Pset_virtual): the elements that `destination` selects in the virtual dataset
/// are those that `source` selects in another dataset, in order.
///
/// Both select the same number of elements, or both are unlimited; with an unlimited `destination` and a limited
/// `source` each block of `destination` is a source dataset of its own, and one of the names has "%b" for the number of
/// the block ("%%" is a percent sign). Everything else is invalid_argument.
///
/// The source need not exist, or may have become smaller. Elements without a source read as the fill value of the
/// virtual dataset, those beyond the extent of their source as the fill value of the source. Of a source of which `all`
/// is mapped those that are read have to be there (corrupt_file).
struct NewMapping {
    std::string_view file;     ///< name of the source file; ".": the file of the virtual dataset itself
    std::string_view dataset;  ///< path of the source dataset in that file
    Selection source;
    /// Extent of the source dataset, borrowed. nullptr: it is not known, so that nothing is checked that depends on it.
    const Dataspace* source_space = nullptr;
    Selection destination;  ///< in the extent of the virtual dataset
};

/// A list that only builds with H5MOTE_ALL_FORMATS have.
struct NoList {
    static constexpr std::size_t size() noexcept { return 0; }
    static constexpr bool empty() noexcept { return true; }
};
/// A choice that only such builds have.
struct NoFlag {
    constexpr operator bool() const noexcept { return false; }
};
template <typename T>
using ListOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, Span<const T>, NoList>;

/// Fixed when a dataset is created (H5Pcreate(H5P_DATASET_CREATE)). Can be constexpr, so that it takes no RAM.
struct DatasetCreate {
    Layout layout = Layout::automatic;
    ChunkDims chunk;     ///< one size for each dimension of the dataspace
    FilterList filters;  ///< chunked layout only
    /// The fill value, one element in the file's datatype; empty: zeros. Strings and sequences of any length in it have
    /// the form of memory, as in the datatype (with a committed one: `char*`, VariableLength, and everything else as in
    /// the file). Of these every element that gets space has copies of its own, 16 bytes and the text each. Elements of
    /// a chunk that lie beyond the extent have none and stay empty until the dataset comes to contain them: if it is
    /// libhdf5 that makes the dataset larger, it finds no value there, nor other members of a compound.
    ConstBytes fill;
    /// The dataset has no fill value (H5D_FILL_VALUE_UNDEFINED): elements that were never written have no defined
    /// value, and readers may refuse to read them (h5mote reads zeros). invalid_argument together with a fill value, or
    /// with FillTime::on_allocation.
    bool fill_undefined = false;
    /// When chunks get their space: early, all of them, also when the dataset grows; late, all of them when elements
    /// are written for the first time; incremental, each of them when elements of it are written, which is what profile
    /// `logger` does in any case. automatic is early for compact, incremental for chunked and late for other datasets.
    AllocationTime allocation = AllocationTime::automatic;
    /// FillTime::if_set becomes FillTime::on_allocation for a datatype with values of variable length, as in libhdf5,
    /// and FillTime::never is an invalid_argument for it.
    FillTime fill_time = FillTime::if_set;
    /// Bytes of file space that an extensible dataset without filters allocates for chunks ahead of the appends, so
    /// that most appends change no chunk index. It never allocates more ahead than it already uses, and gives the rest
    /// back when the file closes. After a session that did not close it, File::reclaim() does so. 0: space is allocated
    /// for one chunk at a time.
    std::uint32_t reserve = 65536;
    /// Records the port's time at creation in the header (H5Pset_obj_track_times). Later changes do not update it.
    bool track_times = false;
    /// How the dataset keeps its attributes.
    AttributesOrDefault attributes{};
    /// Chunks that reach beyond the extent are stored without the filters (H5Pset_chunk_opts with
    /// H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS). A chunk that the growing dataset comes to fill is filtered with the next
    /// flush, and one at the edge of a dataset that became smaller is stored anew without filters. Chunked layout only
    /// (otherwise invalid_argument); the dataset needs HDF5 1.10 to be read. Needs formats::unfiltered_edges.
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, bool, NoFlag> unfiltered_edges{};
    /// The raw data stand in other files (H5Pset_external), behind each other as they are listed here. Contiguous
    /// layout only. At least as many bytes as the dataset has must have room (otherwise invalid_argument, as for a file
    /// without bytes, and one of any size that is not the last). The library makes no file: write() does, through
    /// FileAccess::opener. What write() has written is durable there when it returns ok; the files take no part in the
    /// commits of a flush, so that a power cut may leave any part of one write(). What elements there refer to is
    /// durable before them: on a driver whose sync() is a commit (a journal, raw flash), a write() of strings and
    /// sequences of any length, or of references to regions that were made since the last flush, therefore commits all
    /// changes of the file so far, as flush() does, unless the dataset is new. Needs formats::external_changes;
    /// specification IV.A.2.h. Borrowed while the dataset is created, with all names.
    ListOrNone<NewExternalFile> external;
    /// The dataset is made of parts of others (H5Pset_virtual): one mapping for each part. Excludes all of the layouts
    /// and the other properties but the fill value. write() writes to the sources, each element to all that have it,
    /// not_found if an element has none (nothing is written then), and commits those in other files;
    /// FileAccess::opener opens them. unlink() leaves the sources. Needs formats::virtual_changes; specification III.F.
    /// Borrowed while the dataset is created, with all that the mappings refer to.
    ListOrNone<NewMapping> mappings;
};

/// Where append() puts the next record: at `at` in the chunk that is in memory. [at, end) is the room that is left
/// there.
struct AppendCursor {
    std::byte* at = nullptr;
    std::byte* end = nullptr;
};

/// A handle of an open dataset. What is written is durable after the file's next flush() that returns ok. Every call
/// can return the errors that Object lists, type_mismatch when no conversion leads from one datatype to the other, and
/// `unsupported` when the dataset needs a filter that this program lacks.
class Dataset : public Object {
public:
    Dataset() noexcept = default;
    Dataset(Dataset&& other) noexcept;
    Dataset& operator=(Dataset&& other) noexcept;
    ~Dataset() { (void)close(); }

    /// Adds `count` elements at the end of a one-dimensional extensible dataset; append_rows() is for any rank.
    /// `records` are packed values of the memory datatype that the handle was opened with or that set_memory_type()
    /// fixed; without one, of the datatype in the file. After an error the elements that fitted are appended; size()
    /// tells how many there are. invalid_argument: the dataset has another rank or a fixed extent, or would exceed its
    /// maximum or what set_extent() takes. unsupported (datatype_class): variable-length data, and no memory type was
    /// fixed.
    Status append_records(const void* records, std::size_t count) noexcept;

    /// Copies the number of dimensions, the current sizes and the maxima.
    Status dataspace(Dataspace& space) const noexcept;
    /// Size of the first dimension; 1 for a scalar, 0 for an invalid handle.
    std::uint64_t size() const noexcept;
    /// Bytes of one element in the file.
    std::uint32_t element_size() const noexcept;
    /// Copies the encoded datatype to `buffer` and makes `type` a view of it there. over_budget: the buffer is too
    /// small; the second number of the error trail's record is the length.
    Status datatype(Bytes buffer, DatatypeView& type) const noexcept;

    /// Turns a handle of an object into a handle of the dataset that the object is, and leaves `object` empty.
    /// not_found: it is no dataset; `object` stays as it was.
    static Result<Dataset> from(Object&& object) noexcept;

    /// Reads what the object header says of layout, fill value, filters and datatype.
    Status info(DatasetInfo& info) const noexcept;
    /// Bytes of file space that the raw data takes, as stored, that is after filters (H5Dget_storage_size). Walks over
    /// the whole chunk index.
    Status storage_size(std::uint64_t& bytes) const noexcept;
    /// Number of chunks that have file space, and bytes of the chunk index itself.
    Status index_size(std::uint64_t& chunks, std::uint64_t& bytes) const noexcept;
    /// Bytes that the names of external files or the mappings of a virtual dataset take in a heap; 0 for other layouts.
    Status heap_size(std::uint64_t& bytes) const noexcept;
    /// Fills `dims` with the sizes of a chunk in elements, slowest dimension first: as many as fit, at most the rank.
    /// invalid_argument: the dataset is not chunked.
    Status chunk_dims(Span<std::uint64_t> dims) const noexcept;
    /// The i-th filter in the order of writing. `name` and `values` get its name and client data as far as they reach.
    /// not_found: there is no i-th filter.
    Status filter(std::size_t i, FilterInfo& info, Span<char> name = {},
                  Span<std::uint32_t> values = {}) const noexcept;
    /// The i-th external file. `name` gets its name; an empty span gets none. not_found: there is no i-th file.
    /// invalid_argument: the name is longer than a span that is not empty.
    Status external_file(std::size_t i, ExternalFile& info, Span<char> name) const noexcept;
    /// The i-th mapping of a virtual dataset and, if asked for, its selections: `source` in the extent of the source
    /// dataset, `destination` in the extent of this one. not_found: there is no i-th mapping.
    Status virtual_mapping(std::size_t i, VirtualMapping& mapping, SelectionSet* source = nullptr,
                           SelectionSet* destination = nullptr) const noexcept;
    /// Chooses where a virtual dataset with unlimited mappings ends (H5Pset_virtual_view, H5Pset_virtual_printf_gap),
    /// and determines its extent anew, as each opening of the dataset does: sources may have grown. Applies to all
    /// handles of the dataset; before the first call it is last_available with a gap of 0. `gap`: how many sources with
    /// consecutive numbers in their names may be missing before one that is there. After an error all is as it was. No
    /// effect on other layouts.
    Status set_virtual_view(VirtualView view, std::uint64_t gap = 0) noexcept;
    /// The fill value, one element: fill_value() converts it to `type`, stored_fill_value() copies it as it stands in
    /// the file (element_size() bytes). Zeros when the dataset has none. invalid_argument: `to` has another size.
    Status fill_value(DatatypeView type, Bytes to) const noexcept;
    Status stored_fill_value(Bytes to) const noexcept;

    /// Adds rows at the end of the first dimension of a chunked dataset of any rank: `count` elements, which are whole
    /// rows of the other dimensions' present sizes, as values of `type`. After an error nothing is appended.
    /// invalid_argument: no whole rows, or more than the maximum of the first dimension. Other errors of write().
    Status append_rows(DatatypeView type, const void* elements, std::size_t count) noexcept;

    /// What is known of the chunk that has the element at `element`, one coordinate for each dimension
    /// (H5Dget_chunk_info_by_coord). Without space in the file its address is undefined and its size 0.
    /// invalid_argument: not chunked, or the element lies beyond the extent. Chunks in memory are written first.
    Status chunk_info(Span<const std::uint64_t> element, ChunkInfo& chunk) noexcept;
    /// The same for the chunk at `position` in the order of the index, counted from 0 (H5Dget_chunk_info). `offset`,
    /// with room for as many numbers as there are dimensions, gets the coordinates of its first element. not_found.
    Status chunk_info(std::uint64_t position, Span<std::uint64_t> offset, ChunkInfo& chunk) noexcept;
    /// Reads a chunk as it is stored, that is after its filters (H5Dread_chunk). `offset`: coordinates of its first
    /// element. `to` has at least ChunkInfo::size bytes; `chunk` tells how many were read, and which filters were
    /// skipped. invalid_argument: that is no chunk, or `to` is too small. not_found: it has no space in the file.
    Status read_chunk(Span<const std::uint64_t> offset, Bytes to, ChunkInfo& chunk) noexcept;
    /// Writes a chunk as it will be stored (H5Dwrite_chunk): `stored` went through all filters but those of
    /// `filter_mask`. Nothing checks that. The new chunk is complete before the index leads to it. invalid_argument:
    /// `offset` is no chunk, or `stored` is not exactly a chunk although the dataset has no filters, or none for a
    /// chunk at the edge of the extent (DatasetCreate::unfiltered_edges). Other errors of write().
    Status write_chunk(Span<const std::uint64_t> offset, ConstBytes stored, std::uint32_t filter_mask = 0) noexcept;

    /// Reads the selected elements without conversion: element_size() bytes each as they stand in the file, packed in
    /// the order of the selection. It needs little memory, so that any dataset can be shown piece by piece.
    Status read_stored(const Selection& selection, Bytes data) noexcept;

    /// Makes the dataset larger or smaller, or both in different dimensions; new elements read as the fill value, also
    /// where there were others before it became smaller. invalid_argument: the dataset is not chunked, or a size is
    /// beyond the maximum of its dimension, larger than 2^63 - 1, beyond which libhdf5 opens no dataset, or more than
    /// the lengths of the file can state (H5Pset_sizes: 65,534 with 2 bytes, 2^32 - 2 with 4). unsupported
    /// (Feature::chunk_index): the file does not store the maximum sizes, by which the chunks of this dataset are
    /// numbered; h5mote and libhdf5 store them in all that they make. With allocation time early the new chunks get
    /// their space and the fill value here (not in profile `logger`); no_space, with nothing changed: there is too
    /// little for all of them.
    ///
    /// What lies beyond the new extent is cleared once the new sizes are durable: chunks give their space back, and
    /// parts of chunks become fill values. (Where the fill value has variable length they become empty: if it is
    /// libhdf5 that makes the dataset larger again, it finds no values there until it writes some.) What values there
    /// have in the global heap is lost until File::reclaim() finds it, as with unlink(). Therefore a call
    /// that makes the dataset smaller writes and syncs on a storage whose sync is no commit. A power cut leaves the old
    /// sizes or the new ones. What could not be cleared, because memory or space was short for instance, is cleared by
    /// flush() or before the dataset grows again.
    ///
    /// no_space, with nothing changed, also: the dataset becomes smaller, and there is no room for what changes of its
    /// index take: the copy of a fixed array of more than 64 KiB (README.md of vfd), or, where sync() is a commit, new
    /// places for changed blocks.
    Status set_extent(Span<const std::uint64_t> dims) noexcept;
    Status set_extent(std::initializer_list<std::uint64_t> dims) noexcept {
        return set_extent(Span<const std::uint64_t>(dims.begin(), dims.size()));
    }

    /// Transfer the selected elements between the file and `data`, which holds them as values of `type`, packed in
    /// row-major order of the selection. invalid_argument: the selection does not lie within the extent, or `data` has
    /// not exactly the size of the selected elements. Sequences and strings of any length that read() returned
    /// (variable_length.hpp) belong to the caller, who releases them with reclaim(); after an error those of all
    /// selected elements are empty. A write() that fails half-way, for want of memory for the index of the chunks for
    /// instance, has written some of the selected elements; each has its old value or the new one.
    Status write(const Selection& selection, DatatypeView type, ConstBytes data) noexcept;
    Status read(const Selection& selection, DatatypeView type, Bytes data) noexcept;
    /// The same, but `data` holds all elements of the dataspace `memory`, and `memory_selection` says which of them are
    /// transferred.
    Status write(const Selection& selection, DatatypeView type, const Dataspace& memory,
                 const Selection& memory_selection, ConstBytes data) noexcept;
    Status read(const Selection& selection, DatatypeView type, const Dataspace& memory,
                const Selection& memory_selection, Bytes data) noexcept;

    /// Fixes the datatype of the records that this handle passes to append_records(). type_mismatch. unsupported:
    /// conversions are not compiled in.
    Status set_memory_type(DatatypeView type) noexcept;

    /// Ends the handle, also when it returns an error. The last handle of a dataset writes what is buffered into the
    /// file, where it is durable after the file's next flush. When that fails, the buffered rows stay in memory:
    /// flush() and close() of the file try to write them again, and a handle that opens the dataset meanwhile finds
    /// them.
    Status close() noexcept;

protected:
    friend class Group;
    friend class ChunkIterator;
    friend class Copier;
    /// The opposite of read_stored(). What the elements say of the global heap must be true.
    Status write_stored(const Selection& selection, ConstBytes data) noexcept;
    Dataset(FileState& file, Address address, AppendCursor& state) noexcept;
    /// Makes the conversion of records from the `memory` type to the `stored` type; null where both are the same bytes.
    static Status make_conversion(FileState& file, DatatypeView memory, DatatypeView stored,
                                  Conversion*& conversion) noexcept;
    void set_conversion(Conversion* conversion, std::uint32_t record_size) noexcept;
    void drop_conversion() noexcept;
    /// append_records() for a C++ type, which needs no check of the dataset's own type.
    Status append_packed(const void* records, std::size_t count) noexcept;

    AppendCursor* cursor_ = nullptr;    // the state of the dataset, which all its handles share
    AppendCursor* fast_ = nullptr;      // the same pointer when records need no conversion, else nullptr
    Conversion* conversion_ = nullptr;  // from memory to file
    std::uint32_t record_size_ = 0;     // bytes of one record in memory
};

/// Walks the chunks of a dataset that have space in the file, in the order of their index:
/// `ChunkIterator chunks(dataset); while ((status = chunks.next(chunk)) == Status::ok) ...`
/// The iterator keeps the dataset open, as a handle does; nothing is written to it meanwhile. Chunks in memory that
/// were changed are written to the file first.
class ChunkIterator {
public:
    explicit ChunkIterator(const Dataset& dataset) noexcept;
    ChunkIterator(const ChunkIterator&) = delete;
    ChunkIterator& operator=(const ChunkIterator&) = delete;
    ~ChunkIterator();

    /// not_found: after the last. invalid_argument: not chunked. invalid_handle: the handle was, or the file is closed.
    /// corrupt_file, io_error, out_of_memory; in the first call also no_space and over_budget.
    Status next(ChunkInfo& chunk) noexcept;

private:
    Context* context_;
    AppendCursor* cursor_ = nullptr;  // the state of the dataset, to which the iterator holds a reference
    ChunkWalk* walk_ = nullptr;
};

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
    /// Adds whole rows to a dataset of any rank: Dataset::append_rows().
    using Dataset::append_rows;
    Status append_rows(Span<const T> elements) noexcept {
        return append_rows(datatype_of<T>(), elements.data(), elements.size());
    }

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
