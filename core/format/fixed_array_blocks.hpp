// H5FA - the blocks of a fixed array. Specification VII.D.
//
//   header      FAHD | 0 | client | element size | page bits | number of elements | data block address | checksum
//   data block  FADB | 0 | client | header address | [bits of the pages] | elements (without pages) | checksum | pages
//   page        elements | checksum
#pragma once

#include "chunk_element.hpp"

namespace h5mote {

/// What the header of a fixed array says, and what follows from it for the sizes and places in its blocks.
struct FixedArrayFormat {
    static constexpr std::uint32_t kHeader = 0x44484146U;     // "FAHD"
    static constexpr std::uint32_t kDataBlock = 0x42444146U;  // "FADB"
    static constexpr std::size_t kChecksumSize = 4;

    Address elements = 0;
    ChunkElementFormat element;
    std::uint8_t page_bits = 0;  ///< log2 of the elements of a page

    /// Reads a header of header_size() bytes for an array of `element`; false when it is none. Only if it is sound()
    /// have the other functions results.
    bool decode(ConstBytes header) noexcept;
    /// Writes a header without a data block.
    void encode(Writer& writer) const noexcept;
    /// Writes what stands before the bits or elements of a data block.
    void encode_data_block(Writer& writer, Address header) const noexcept;

    /// An array has to fit in its file. The limit on its elements keeps the sums below from overflowing.
    bool sound() const noexcept { return page_bits_sound() && elements < kMostElements; }
    /// Number of pages; 0: the elements stand in the data block itself.
    Address pages() const noexcept {
        const Address page = Address{1} << page_bits;
        return elements > page ? (elements + page - 1) >> page_bits : 0;
    }
    std::size_t header_size() const noexcept { return 8U + element.shape.sizeof_size + element.shape.sizeof_addr + 4U; }
    /// Offset in the header of the address of the data block.
    std::size_t pointer() const noexcept { return header_size() - kChecksumSize - element.shape.sizeof_addr; }
    /// Bytes of a data block before the bits or elements.
    std::size_t prefix_size() const noexcept { return 6U + element.shape.sizeof_addr; }
    Address data_block_size() const noexcept;   ///< of the block itself
    Address data_block_space() const noexcept;  ///< with its pages

private:
    bool page_bits_sound() const noexcept { return page_bits > 0 && page_bits < 32; }

    static constexpr Address kMostElements = Address{1} << (H5MOTE_LARGE_FILES != 0 ? 48 : 27);
};

}  // namespace h5mote
