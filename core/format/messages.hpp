// H5O - object header messages, decoded in place: views hold pointers into the header's bytes and no copies.
// Specification IV.A.2; the layout of each message stands beside its type.
#pragma once

#include "file_shape.hpp"

#include <h5mote/context.hpp>

namespace h5mote {

enum class MessageType : std::uint8_t {
    null = 0x00,
    dataspace = 0x01,
    link_info = 0x02,
    datatype = 0x03,
    fill_value_old = 0x04,
    fill_value = 0x05,
    link = 0x06,
    external_files = 0x07,
    layout = 0x08,
    group_info = 0x0a,
    filter_pipeline = 0x0b,
    attribute = 0x0c,
    continuation = 0x10,
    symbol_table = 0x11,
    attribute_info = 0x15,
    reference_count = 0x16,
};

/// Message flags, specification IV.A.1.b.
inline constexpr std::uint8_t kMessageConstant = 0x01;
inline constexpr std::uint8_t kMessageShared = 0x02;
inline constexpr std::uint8_t kMessageFailIfUnknownAndWriting = 0x08;
inline constexpr std::uint8_t kMessageFailIfUnknown = 0x80;

/// version | rank | flags (1: maximum sizes present) | type (v2) or 5 reserved bytes (v1) | sizes | maximum sizes
struct DataspaceMessage {
    enum class Type : std::uint8_t { scalar = 0, simple = 1, null = 2 };

    FileShape shape;
    Type type = Type::scalar;
    std::uint8_t rank = 0;
    const std::byte* dims = nullptr;      ///< rank sizes
    const std::byte* max_dims = nullptr;  ///< rank sizes, or nullptr: equal to dims

    std::uint64_t dim(unsigned i) const noexcept { return load_uint(dims + i * shape.sizeof_size, shape.sizeof_size); }
    /// Largest size of dimension i; ~0 when unlimited.
    std::uint64_t max_dim(unsigned i) const noexcept {
        return max_dims == nullptr ? dim(i) : shape.load_size(max_dims + i * shape.sizeof_size);
    }
    Status decode(Context& context, FileShape file_shape, ConstBytes body) noexcept;
};

/// An extent as the object model hands it down: borrowed sizes. A scalar by default.
struct Extent {
    DataspaceMessage::Type type = DataspaceMessage::Type::scalar;
    std::uint8_t rank = 0;
    const std::uint64_t* dims = nullptr;
    const std::uint64_t* max_dims = nullptr;

    /// Whether any dimension may grow.
    bool extensible() const noexcept {
        bool any = false;
        for (unsigned i = 0; i < rank; ++i) {
            any = any || dims[i] != max_dims[i];
        }
        return any;
    }
    /// Bytes of all elements of `element_size` bytes; false when 64 bits do not hold them.
    bool data_size(std::uint32_t element_size, std::uint64_t& bytes) const noexcept {
        bytes = type == DataspaceMessage::Type::null ? 0 : element_size;
        bool fits = true;
        for (unsigned i = 0; i < rank; ++i) {
            fits = !__builtin_mul_overflow(bytes, dims[i], &bytes) && fits;
        }
        return fits;
    }
};

/// Writes a version 2 dataspace message, with the maximum sizes only if they differ.
void encode_dataspace(Writer& writer, FileShape shape, const Extent& extent) noexcept;

/// version 3 | flags: bits 0-1 allocation time, 2-3 write time, 4 undefined, 5 value present | [size 4 | value]
struct FillValueMessage {
    std::uint8_t allocation_time = 3;
    std::uint8_t write_time = 2;
    bool undefined = false;
    ConstBytes value;  ///< one element in the file's datatype; empty: zeros

    Status decode(Context& context, ConstBytes body) noexcept;
    void encode(Writer& writer) const noexcept;
};

/// Chunk index types of layout version 4.
enum class ChunkIndex : std::uint8_t {
    none = 0,
    single = 1,
    implicit = 2,
    fixed_array = 3,
    extensible_array = 4,
    btree2 = 5
};

/// Creation parameters of an extensible array, in the order of the layout message.
struct ExtensibleArrayParameters {
    std::uint8_t max_bits = 32;  ///< log2 of the most elements
    std::uint8_t index_block_elements = 16;
    std::uint8_t super_block_min_pointers = 2;
    std::uint8_t data_block_min_elements = 16;
    std::uint8_t page_bits = 5;  ///< log2 of the elements of a data block page
};

/// version 4 (3 without chunks) | class | per class:
///   compact     size 2 | data
///   contiguous  address | size
///   chunked     flags | dimensionality (rank + 1) | width w | sizes of w bytes | index type | parameters | address
struct LayoutMessage {
    enum class Class : std::uint8_t { compact = 0, contiguous = 1, chunked = 2 };
    static constexpr std::uint8_t kPartialEdgeUnfiltered = 1;
    static constexpr std::uint8_t kSingleFiltered = 2;

    Class layout_class = Class::contiguous;
    ConstBytes compact;                   ///< the data of a compact dataset, in the header
    Address address = kUndefinedAddress;  ///< data, or chunk index
    Address size = 0;                     ///< bytes of contiguous data
    std::uint8_t flags = 0;
    std::uint8_t dimensionality = 0;  ///< rank + 1; the last size is that of an element in bytes
    std::uint8_t dim_width = 0;
    const std::byte* chunk_dims = nullptr;
    ChunkIndex index = ChunkIndex::none;
    ExtensibleArrayParameters array;  ///< extensible array; page_bits also of a fixed array
    Address single_size = 0;          ///< bytes of a filtered single chunk in the file
    std::uint32_t single_mask = 0;

    std::uint64_t chunk_dim(unsigned i) const noexcept { return load_uint(chunk_dims + i * dim_width, dim_width); }
    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    /// Writes everything but the compact data, for which the caller appends bytes. `dims` are the chunk's sizes in
    /// elements.
    void encode(Writer& writer, FileShape shape, const std::uint32_t* dims, std::uint32_t element_size) const noexcept;
};

/// version 0 | flags: 1 order tracked, 2 order indexed | [next creation order 8] | heap address | name index address
/// | [order index address]
struct LinkInfoMessage {
    static constexpr std::uint8_t kTracked = 1;
    static constexpr std::uint8_t kIndexed = 2;

    std::uint8_t flags = 0;
    std::uint64_t max_order = 0;  ///< creation order of the next link

    /// Dense storage in use: unsupported by this slice, but not an error here.
    bool dense = false;
    /// Where the next creation order stands in the body.
    static constexpr std::size_t kOrderOffset = 2;

    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
};

/// version 1 | flags: bits 0-1 log2 of the name length's width, 2 order present, 3 type present, 4 charset present
/// | [type] | [order 8] | [charset] | name length | name | hard: address; soft: length 2, path
struct LinkMessage {
    enum class Type : std::uint8_t { hard = 0, soft = 1, external = 64 };

    Type type = Type::hard;
    bool has_order = false;
    std::uint64_t order = 0;
    ConstBytes name;
    Address address = kUndefinedAddress;  ///< hard
    ConstBytes target;                    ///< soft: the path; others: their data

    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
    /// Whether the message in `body` has that name, without decoding the rest; false for a damaged one.
    static bool has_name(ConstBytes body, ConstBytes name) noexcept;
};

/// version 3 | flags: 1 shared type, 2 shared space | name size 2 | type size 2 | space size 2 | charset | name\0 |
/// type | space | data
struct AttributeMessage {
    ConstBytes name;  ///< without the terminating zero
    ConstBytes type;
    ConstBytes space;
    ConstBytes data;

    Status decode(Context& context, ConstBytes body) noexcept;
    /// Writes all but the dataspace and the data, which the caller appends; `space_size` and the sizes of `name` and
    /// `type` are taken from the members.
    void encode(Writer& writer, std::size_t space_size) const noexcept;
};

/// version 0 | flags: 1 order tracked, 2 indexed | [next order 2] | heap address | name index | [order index]
struct AttributeInfoMessage {
    std::uint8_t flags = 0;
    std::uint16_t max_order = 0;
    bool dense = false;
    static constexpr std::size_t kOrderOffset = 2;

    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
};

/// version 2 | count | per filter: id 2 | [name length 2, only id >= 256] | flags 2 | number of values 2 | [name]
/// | values 4 each
class PipelineReader {
public:
    explicit PipelineReader(ConstBytes body) noexcept : reader_(body) {}
    /// Number of filters; call first. unsupported: not version 2.
    Status count(Context& context, unsigned& filters) noexcept;
    /// The next filter; call at most that many times.
    Status next(Context& context, FilterSpec& spec) noexcept;

private:
    Reader reader_;
};
/// Writes the start of a filter pipeline message; then each filter.
void encode_pipeline(Writer& writer, std::size_t count) noexcept;
void encode_filter(Writer& writer, const FilterSpec& spec) noexcept;

}  // namespace h5mote
