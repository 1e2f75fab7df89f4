// H5D - the data layout message. Specification IV.A.2.i.
#pragma once

#include "message_type.hpp"

#include <h5mote/dataset_info.hpp>

namespace h5mote {

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

}  // namespace h5mote
