// H5FA - the fixed array: the chunk index of a chunked dataset that cannot grow. Specification VII.D.
//
//   header      FAHD | 0 | client | element size | page bits | number of elements | data block address | checksum
//   data block  FADB | 0 | client | header address | [bits of the pages] | elements (without pages) | checksum | pages
//   page        elements | checksum
#pragma once

#include "block_mover.hpp"
#include "chunk_element.hpp"
#include "disposal.hpp"
#include "element_block.hpp"
#include "file_state.hpp"

namespace h5mote {

class FixedArray {
public:
    /// Creates the header, which nothing points to yet. The data block is made when the first element is set.
    Status create(FileState& file, std::uint64_t elements, std::uint8_t page_bits, std::uint8_t size_width,
                  Address& address) noexcept;
    Status open(FileState& file, Address address, std::uint8_t size_width) noexcept;
    Status find(Address index, ChunkLocation& location) noexcept;
    Status set(Address index, const ChunkLocation& location) noexcept;

    /// Gives up all blocks of the array and every chunk in it, as ExtensibleArray::dispose() does.
    Status dispose(Disposal& disposal, Address chunk_bytes) noexcept;

    /// The number of elements of the array.
    Address size() const noexcept { return elements_; }
    /// Whether every change of the header is one atomic write, as ExtensibleArray::switches_at_once().
    bool switches_at_once() const noexcept;
    const ChunkElementFormat& element() const noexcept { return element_; }
    /// The block or page that holds element `index`, for reading, without an address if it was never made. Works for
    /// blocks of any size. corrupt_file, io_error.
    Status block_of(Address index, ElementBlock& block) noexcept;
    /// Bytes of the header and of the data block with its pages, if that exists.
    Status space(std::uint64_t& bytes) noexcept;

private:
    // The page that holds an element.
    struct Page {
        Address number;
        Address elements;
        Address offset;  // from the end of the data block to the page
        std::size_t size;
        std::size_t element;  // offset of the element in the page
        std::byte mask() const noexcept { return static_cast<std::byte>(0x80U >> (number % 8)); }
    };

    Page page_of(Address index) const noexcept;
    // Pins the block or page that holds an element which is about to change; the element is at `offset` in it. A
    // missing block is made.
    Status locate(Address index, Pinned& block, std::size_t& offset) noexcept;
    Status walk(Address index, Pinned& block, std::size_t& offset) noexcept;
    Status locate_page(CacheEntry& data, Address index, Pinned& block, std::size_t& offset) noexcept;
    bool must_move(CacheEntry& data, Address index) noexcept;
    H5MOTE_STEP Status move(CacheEntry& header, Pinned& data) noexcept;
    Status make_data_block(CacheEntry& header, Pinned& data) noexcept;

    // The most bytes of a data block with its pages that is moved to be changed. A larger one is changed in place:
    // moving it would take too long.
    static constexpr Address kMostMoved = 65536;

    // An array has to fit in its file. The limit on its elements keeps the sums below from overflowing.
    static constexpr Address kMostElements = Address{1} << (H5MOTE_LARGE_FILES != 0 ? 48 : 27);
    bool sound() const noexcept { return page_bits_ > 0 && page_bits_ < 32 && elements_ < kMostElements; }
    Address pages() const noexcept {
        const Address page = Address{1} << page_bits_;
        return elements_ > page ? (elements_ + page - 1) >> page_bits_ : 0;
    }
    std::size_t header_size() const noexcept {
        return 8U + element_.shape.sizeof_size + element_.shape.sizeof_addr + 4U;
    }
    std::size_t prefix_size() const noexcept { return 6U + element_.shape.sizeof_addr; }
    Address data_block_size() const noexcept;   // of the block itself
    Address data_block_space() const noexcept;  // with its pages

    FileState& file() const noexcept { return blocks_.file(); }
    Address root() const noexcept { return blocks_.root(); }  // the header
    std::size_t pointer() const noexcept {                    // of the data block, in the header
        return header_size() - kChecksum - element_.shape.sizeof_addr;
    }

    static constexpr std::size_t kChecksum = kChecksumSize;

    BlockMover blocks_;
    Address elements_ = 0;
    ChunkElementFormat element_;
    std::uint8_t page_bits_ = 0;
};

}  // namespace h5mote
