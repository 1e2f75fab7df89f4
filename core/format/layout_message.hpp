// H5D - the data layout message. Specification IV.A.2.i.
#pragma once

#include "message_type.hpp"

#include <h5mote/dataset_info.hpp>

namespace h5mote {

/// Creation parameters of an extensible array, in the order of the layout message.
struct ExtensibleArrayParameters {
    std::uint8_t max_bits = 32;  ///< log2 of the largest number of elements
    std::uint8_t index_block_elements = 16;
    std::uint8_t super_block_min_pointers = 2;
    std::uint8_t data_block_min_elements = 16;
    std::uint8_t page_bits = 5;  ///< log2 of the elements of a data block page
};

/// version 3, 4 (4 when chunked, 5 for chunks of any size) | class | per class:
///   compact     size 2 | data
///   contiguous  address O | size L
///   chunked     4, 5: flags | dimensionality (rank + 1) | width w | sizes of w bytes | index type | parameters
///               | address O
///               3: dimensionality | address O of the B-tree | sizes 4 each
///   virtual     address O of a global heap collection | index 4
/// version 1, 2 | dimensionality | class | 0 5 | address O, but for compact | sizes 4 each | [compact: size 4 | data]
struct LayoutMessage {
    static constexpr std::uint8_t kPartialEdgeUnfiltered = 1;
    static constexpr std::uint8_t kSingleFiltered = 2;
    /// Parameters of the version 2 B-trees that are made: those of libhdf5.
    static constexpr std::uint32_t kBTree2NodeSize = 2048;
    static constexpr std::uint8_t kBTree2Split = 100;
    static constexpr std::uint8_t kBTree2Merge = 40;
    /// Everything in a message but compact data lies within this many bytes from its start.
    static constexpr std::size_t kMaxHead = 320;

    Layout layout_class = Layout::contiguous;
    std::uint8_t version = 4;
    std::uint32_t compact_offset = 0;     ///< of the data of a compact dataset, within the message
    Address address = kUndefinedAddress;  ///< data, chunk index, or collection
    Address size = 0;                     ///< bytes of contiguous or compact data; kUndefinedAddress: not stored here
    std::uint8_t flags = 0;
    std::uint8_t dimensionality = 0;  ///< rank + 1; the last size is that of an element in bytes
    std::uint8_t dim_width = 0;
    const std::byte* chunk_dims = nullptr;
    ChunkIndex index = ChunkIndex::none;
    ExtensibleArrayParameters array;  ///< extensible array; page_bits also of a fixed array
    Address single_size = 0;          ///< bytes of a filtered single chunk in the file
    std::uint32_t single_mask = 0;    ///< filter mask of a single chunk
    std::uint32_t heap_index = 0;     ///< virtual dataset: index in the collection

    std::uint64_t chunk_dim(unsigned i) const noexcept { return load_uint(chunk_dims + i * dim_width, dim_width); }
    /// `head` is the start of a message of `length` bytes: kMaxHead of them, or all if there are fewer. It must outlive
    /// the use of chunk_dims, which points into it.
    Status decode(Context& context, FileShape shape, ConstBytes head, Address length) noexcept;
    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept {
        return decode(context, shape, body, narrow(body.size()));
    }
    /// The offset of the address of the chunk index in a message that decode() has read. In headers of version 1
    /// padding may follow the address, although it is the last field.
    static std::size_t index_offset(ConstBytes body, FileShape shape) noexcept {
        return H5MOTE_ALL_FORMATS != 0 ? find_index(body, shape) : body.size() - shape.sizeof_addr;
    }
    /// The offset of the address of contiguous data in a message that decode() has read.
    static std::size_t data_offset(ConstBytes body) noexcept {
        constexpr std::size_t kOld = 8;  // versions 1 and 2 have the rank and reserved bytes before it
        return H5MOTE_ALL_FORMATS != 0 && body[0] < std::byte{3} ? kOld : 2;
    }
    /// Writes a message of version 4, or the version that `version` says, without the compact data, which the caller
    /// appends. `dims` are the `rank` sizes of a chunk in elements.
    void encode(Writer& writer, FileShape shape, const std::uint32_t* dims, std::uint32_t element_size) const noexcept;

private:
    static std::size_t find_index(ConstBytes body, FileShape shape) noexcept;
};

}  // namespace h5mote
