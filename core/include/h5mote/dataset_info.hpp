// H5D - what a dataset says of itself: layout, chunk index, fill value, filters, and where its raw data are in the
// file.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/config.hpp>
#include <h5mote/filter.hpp>
#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace h5mote {

class Context;

/// How the raw data of a dataset is stored (H5D_layout_t), with the numbers that the file has for it.
enum class Layout : std::uint8_t {
    compact = 0,  ///< the data in the object header: at most 64 KiB, fixed extent
    contiguous,   ///< one piece, fixed extent; in the file or in external files
    chunked,
    virtual_dataset,   ///< consists of pieces of other datasets (H5D_VIRTUAL)
    automatic = 0xff,  ///< only when a dataset is created: chunked when chunk sizes are given, else contiguous
};

/// When file space for raw data is allocated (H5D_alloc_time_t).
enum class AllocationTime : std::uint8_t { automatic = 0, early = 1, late = 2, incremental = 3 };
/// When fill values are written (H5D_fill_time_t).
enum class FillTime : std::uint8_t { on_allocation = 0, never = 1, if_set = 2 };
/// What the fill value is (H5D_fill_value_t).
enum class FillState : std::uint8_t {
    undefined = 0,      ///< none: elements that were never written read as zeros here
    default_value = 1,  ///< zeros
    user_defined = 2,
};

/// Where a virtual dataset with unlimited mappings ends (H5D_vds_view_t).
enum class VirtualView : std::uint8_t {
    first_missing = 0,   ///< before the first missing source data
    last_available = 1,  ///< behind the last source data that are there; what is missing before reads as the fill value
};

/// The kinds of index that find the chunks of a dataset. The values below 16 are those of the layout message.
enum class ChunkIndex : std::uint8_t {
    none = 0,
    single = 1,
    implicit = 2,
    fixed_array = 3,
    extensible_array = 4,
    btree2 = 5,
    btree1 = 16,  ///< of layouts before version 4
};

/// What the object header says of a dataset (H5Dget_create_plist, H5Dget_offset).
struct DatasetInfo {
    Layout layout = Layout::contiguous;
    std::uint8_t layout_version = 0;
    ChunkIndex chunk_index = ChunkIndex::none;
    /// Chunks that reach beyond the extent are stored without filters (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
    bool edge_chunks_unfiltered = false;
    FillState fill = FillState::default_value;
    AllocationTime allocation_time = AllocationTime::late;
    FillTime fill_time = FillTime::if_set;
    std::uint8_t rank = 0;
    std::uint8_t filters = 0;
    std::uint32_t element_size = 0;  ///< bytes of one element in the file
    std::uint32_t type_length = 0;   ///< bytes of the encoded datatype
    std::uint32_t fill_size = 0;     ///< bytes of the fill value in the file; 0 unless user_defined
    std::uint32_t external_files = 0;
    std::uint32_t virtual_mappings = 0;
    /// Address of the data (contiguous), of the chunk index or, for a single chunk, of the chunk itself (chunked), or
    /// of the global heap collection with the mappings (virtual). Undefined: nothing is allocated yet, or the data are
    /// external or compact.
    Address address = kUndefinedAddress;
    Address type_object = kUndefinedAddress;  ///< header of the committed datatype, if the dataset uses one
};

/// One filter of a dataset's pipeline (H5Pget_filter2).
struct FilterInfo {
    FilterId id = FilterId::none;
    std::uint16_t flags = 0;        ///< bit 0: optional
    bool available = false;         ///< this program can apply it
    std::uint16_t value_count = 0;  ///< numbers of client data; those that fit are in the caller's `values`
    std::size_t name_length = 0;    ///< length of the name in the file; 0: none
};

/// One external file of a dataset (H5Pget_external).
struct ExternalFile {
    std::uint64_t offset = 0;     ///< where the data begin in that file, in bytes
    std::uint64_t size = 0;       ///< bytes reserved there; kUnlimited: up to its end
    std::size_t name_length = 0;  ///< bytes, without a terminating zero
};

/// One mapping of a virtual dataset (H5Pget_virtual_filename and the like). It owns the memory of the names.
class VirtualMapping {
public:
    VirtualMapping() noexcept = default;
    VirtualMapping(const VirtualMapping&) = delete;
    VirtualMapping& operator=(const VirtualMapping&) = delete;
    ~VirtualMapping() { reset(); }

    /// The names of the source file and dataset as they stand in the file; "." is the file itself. Valid until reset()
    /// or until this object is passed to virtual_mapping() again.
    std::string_view file_name() const noexcept { return {text_, file_length_}; }
    std::string_view dataset_name() const noexcept { return {text_ + file_length_, dataset_length_}; }
    /// Releases the memory.
    void reset() noexcept;

private:
    friend class VirtualLayout;

    Context* context_ = nullptr;
    char* text_ = nullptr;
    std::size_t file_length_ = 0;
    std::size_t dataset_length_ = 0;
};

/// One chunk that has space in the file (H5Dget_chunk_info).
struct ChunkInfo {
    /// Coordinates of the chunk's first element; valid until the iterator's next call.
    Span<const std::uint64_t> offset;
    Address address = kUndefinedAddress;
    std::uint64_t size = 0;         ///< bytes that the chunk takes in the file
    std::uint32_t filter_mask = 0;  ///< bit i: filter i was skipped for this chunk
};

}  // namespace h5mote
