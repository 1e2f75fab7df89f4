// H5EA - the blocks of an extensible array. Specification VII.C.
//
//   header       EAHD | 0 | client | element size | max bits | index elements | min data block elements
//                | min super block pointers | page bits | super blocks: number, bytes | data blocks: number, bytes
//                | highest index set + 1 | elements realized | index block address | checksum
//   index block  EAIB | 0 | client | header address | elements | data block addresses | super block addresses
//                | checksum
//   super block  EASB | 0 | client | header address | offset | page bits of each data block | data block addresses
//                | checksum
//   data block   EADB | 0 | client | header address | offset | elements (without pages) | checksum | pages
//   page         elements | checksum
#pragma once

#include "checked.hpp"
#include "chunk_element.hpp"
#include "layout_message.hpp"

namespace h5mote {

/// What the header of an extensible array says, and what follows from it for the sizes and places in its blocks.
struct ExtensibleArrayFormat {
    static constexpr std::uint32_t kHeader = 0x44484145U;      // "EAHD"
    static constexpr std::uint32_t kIndexBlock = 0x42494145U;  // "EAIB"
    static constexpr std::uint32_t kSuperBlock = 0x42534145U;  // "EASB"
    static constexpr std::uint32_t kDataBlock = 0x42444145U;   // "EADB"
    static constexpr std::size_t kChecksumSize = 4;

    // The statistics in the header, counted from kStatsOffset on; each has sizeof_size bytes. Super blocks and data
    // blocks have two each: their number, then their bytes.
    static constexpr std::size_t kStatsOffset = 12;
    static constexpr std::size_t kSuperBlockStats = 0;
    static constexpr std::size_t kDataBlockStats = 2;
    static constexpr std::size_t kHighestSet = 4;
    static constexpr std::size_t kRealized = 5;
    static constexpr std::size_t kStats = 6;

    /// The position of an element that is not in the index block.
    struct Position {
        unsigned super_block;      ///< those below direct_super_blocks() are part of the index block
        std::uint32_t data_block;  ///< within the super block
        std::uint32_t element;     ///< within the data block
        std::uint32_t elements;    ///< of the data block
    };

    /// A block and what it holds.
    struct Block {
        std::uint32_t signature;
        Address first;           ///< index of its first element, not counting the elements of the index block
        std::size_t size;        ///< bytes of the block itself
        std::size_t space;       ///< bytes with the pages that follow it
        std::size_t stats;       ///< statistic of the header that counts blocks of this kind
        std::size_t contents;    ///< offset of the elements and addresses, which are undefined in a new block
        std::uint32_t elements;  ///< number of elements in the block itself
        std::uint32_t realized;  ///< number of elements in the block and its pages
    };

    ChunkElementFormat element;
    ExtensibleArrayParameters parameters;

    /// Reads a header of header_size() bytes for an array of `element`; false when it is none or not sound().
    bool decode(ConstBytes header) noexcept;
    /// Writes what stands before the statistics of a header.
    void encode(Writer& writer) const noexcept;
    /// Writes what stands before the contents of a new block.
    void encode_block(Writer& writer, const Block& block, Address header) const noexcept;

    /// Whether the parameters go together. Only then have the functions below results.
    bool sound() const noexcept;
    Block index_block() const noexcept;
    Block super_block(const Position& at) const noexcept;
    Block data_block(const Position& at) const noexcept;
    Position position(Address index) const noexcept;
    /// The index of the first element of a super block, not counting the elements of the index block.
    Address start_of(unsigned super_block) const noexcept {
        return ((Address{1} << super_block) - 1) << floor_log2(parameters.data_block_min_elements);
    }
    /// Number of pages of a data block; 0: the elements stand in the data block itself.
    std::uint32_t pages(const Position& at) const noexcept {
        return at.elements > page_elements() ? at.elements >> parameters.page_bits : 0;
    }
    /// Offset in the index block of the address of an element's data block, or, if there is one, of its super block.
    std::size_t pointer_offset(const Position& at) const noexcept;

    unsigned addr_size() const noexcept { return element.shape.sizeof_addr; }
    /// Bytes of the offset in super blocks and data blocks.
    unsigned offset_width() const noexcept { return (parameters.max_bits + 7U) / 8U; }
    /// Bytes of a block up to the header's address, included.
    std::size_t prefix_size() const noexcept { return 6U + addr_size(); }
    std::size_t block_prefix_size() const noexcept { return prefix_size() + offset_width(); }
    std::size_t header_size() const noexcept {
        return kStatsOffset + kStats * element.shape.sizeof_size + addr_size() + kChecksumSize;
    }
    /// Offset in the header of the address of the index block.
    std::size_t index_block_pointer() const noexcept { return header_size() - kChecksumSize - addr_size(); }
    std::uint32_t page_elements() const noexcept { return 1U << parameters.page_bits; }
    std::size_t page_size() const noexcept { return std::size_t{page_elements()} * element.size() + kChecksumSize; }
    /// The super blocks, and the data blocks, whose addresses the index block has itself.
    unsigned direct_super_blocks() const noexcept { return 2 * floor_log2(parameters.super_block_min_pointers); }
    unsigned direct_data_blocks() const noexcept { return 2U * (parameters.super_block_min_pointers - 1U); }
    /// All super blocks that the array can have, those that are part of the index block included.
    unsigned super_blocks() const noexcept {
        return 1U + parameters.max_bits - floor_log2(parameters.data_block_min_elements);
    }

    /// The number of data blocks of super block u, and of all super blocks before it. Each data block of super block u
    /// has 2^length_shift(u) times as many elements as the shortest data blocks of the array.
    static constexpr std::uint32_t data_blocks(unsigned u) noexcept { return 1U << (u / 2); }
    static constexpr std::uint32_t data_blocks_before(unsigned u) noexcept {
        return u % 2 == 0 ? 2 * (data_blocks(u) - 1) : 3 * data_blocks(u) - 2;
    }
    static constexpr unsigned length_shift(unsigned u) noexcept { return (u + 1) / 2; }
};

}  // namespace h5mote
