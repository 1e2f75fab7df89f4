// H5FA - the fixed array: the chunk index of a chunked dataset that cannot grow. Specification VII.D.
//
//   header      FAHD | 0 | client | element size | page bits | number of elements | data block address | checksum
//   data block  FADB | 0 | client | header address | [bits of the pages] | elements (without pages) | checksum | pages
//   page        elements | checksum
#pragma once

#include "chunk_element.hpp"
#include "disposal.hpp"
#include "element_block.hpp"
#include "file_state.hpp"

namespace h5mote {

class FixedArray {
public:
    /// Creates the header, which nothing points to yet. The data block is made when the first element is set.
    Status create(FileState& file, std::uint64_t elements, std::uint8_t page_bits, std::uint8_t size_width,
                  std::uint64_t& address) noexcept;
    Status open(FileState& file, std::uint64_t address, std::uint8_t size_width) noexcept;
    Status find(std::uint64_t index, ChunkLocation& location) noexcept;
    Status set(std::uint64_t index, const ChunkLocation& location) noexcept;

    /// Gives up all blocks of the array and every chunk in it, as ExtensibleArray::dispose() does.
    Status dispose(Disposal& disposal, Address chunk_bytes) noexcept;

    /// The number of elements of the array.
    std::uint64_t size() const noexcept { return elements_; }
#if H5MOTE_ALL_FORMATS
    /// Whether every change of the header is one atomic write, as ExtensibleArray::switches_at_once().
    bool switches_at_once() const noexcept;
    const ChunkElementFormat& element() const noexcept { return element_; }
    /// The block or page that holds element `index`, for reading, without an address if it was never made. Works for
    /// blocks of any size. corrupt_file, io_error.
    Status block_of(std::uint64_t index, ElementBlock& block) noexcept;
    /// Bytes of the header and of the data block with its pages, if that exists.
    Status space(std::uint64_t& bytes) noexcept;
#endif

private:
    // The page that holds an element.
    struct Page {
        std::uint64_t number;
        std::uint64_t elements;
        std::uint64_t offset;  // from the end of the data block to the page
        std::size_t size;
        std::size_t element;  // offset of the element in the page
        std::byte mask() const noexcept { return static_cast<std::byte>(0x80U >> (number % 8)); }
    };

    Page page_of(std::uint64_t index) const noexcept;
    Status locate(std::uint64_t index, bool create, Pinned& block, std::size_t& offset) noexcept;
    Status walk(std::uint64_t index, bool create, Pinned& block, std::size_t& offset) noexcept;
    Status locate_page(CacheEntry& data, std::uint64_t index, bool create, Pinned& block, std::size_t& offset) noexcept;
    bool must_move(CacheEntry& data, std::uint64_t index) noexcept;
    H5MOTE_STEP Status move(CacheEntry& header, Pinned& data) noexcept;
    H5MOTE_STEP Status copy_pages(std::uint64_t from, std::uint64_t to, Pinned& data) noexcept;
    Status copy(std::uint64_t from, std::uint64_t to, std::size_t size, Pinned& block) noexcept {
        return file_->cache.copy(Usage::btree, narrow(from), narrow(to), size, block);
    }
    Status make_data_block(CacheEntry& header, Pinned& data) noexcept;

    // The most bytes of a data block with its pages that is moved to be changed. A larger one is changed in place:
    // moving it would take too long.
    static constexpr std::uint64_t kMostMoved = 65536;

    // An array has to fit in its file. The limit on its elements keeps the sums below from overflowing.
    bool sound() const noexcept { return page_bits_ > 0 && page_bits_ < 32 && elements_ < (std::uint64_t{1} << 48); }
    std::uint64_t pages() const noexcept {
        const std::uint64_t page = std::uint64_t{1} << page_bits_;
        return elements_ > page ? (elements_ + page - 1) >> page_bits_ : 0;
    }
    std::size_t header_size() const noexcept {
        return 8U + element_.shape.sizeof_size + element_.shape.sizeof_addr + 4U;
    }
    std::size_t prefix_size() const noexcept { return 6U + element_.shape.sizeof_addr; }
    std::uint64_t data_block_size() const noexcept;   // of the block itself
    std::uint64_t data_block_space() const noexcept;  // with its pages

    FileState* file_ = nullptr;
    std::uint64_t address_ = kUndefinedAddress;
    std::uint64_t elements_ = 0;
    ChunkElementFormat element_;
    std::uint8_t page_bits_ = 0;
};

}  // namespace h5mote
