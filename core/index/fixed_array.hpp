// H5FA - the fixed array: the chunk index of a chunked dataset that cannot grow. Specification VII.D.
// The bytes are shown in fixed_array_blocks.hpp.
#pragma once

#include "block_mover.hpp"
#include "disposal.hpp"
#include "element_block.hpp"
#include "file_state.hpp"
#include "fixed_array_blocks.hpp"

namespace h5mote {

class FixedArray : private FixedArrayFormat {
public:
    /// Creates the header, which nothing points to yet. The data block is made when the first element is set. overflow:
    /// more elements than an array can have. over_budget: the cache has no room to set one.
    Status create(FileState& file, std::uint64_t count, std::uint8_t bits, std::uint8_t size_width,
                  Address& address) noexcept;
    Status open(FileState& file, Address address, std::uint8_t size_width) noexcept;
    Status find(Address index, ChunkLocation& location) noexcept;
    Status set(Address index, const ChunkLocation& location) noexcept;

    /// Gives up all blocks of the array and every chunk in it, as ExtensibleArray::dispose() does.
    Status dispose(Disposal& disposal, Address chunk_bytes) noexcept;

    /// The number of elements of the array.
    Address size() const noexcept { return elements; }
    /// Whether every change of the header is one atomic write, as ExtensibleArray::switches_at_once().
    bool switches_at_once() const noexcept;
    using FixedArrayFormat::element;
    /// The block or page that holds element `index`, for reading, without an address if it was never made. Works for
    /// blocks of any size. corrupt_file, io_error.
    Status block_of(Address index, ElementBlock& block) noexcept;
    /// Bytes of the data block before its pages; 0: it has no pages.
    Address map_size() const noexcept { return pages() == 0 ? 0 : data_block_size(); }
    /// Whether the storage has room for the copy that a change of a large data block takes. no_space.
    Status check_space() noexcept;
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
    Status check_cache(FileState& file) const noexcept;
    // Pins the block or page that holds an element which is about to change; the element is at `offset` in it. A
    // missing block is made.
    Status locate(Address index, Pinned& block, std::size_t& offset) noexcept;
    Status walk(Address index, Pinned& block, std::size_t& offset) noexcept;
    Status locate_page(CacheEntry& data, Address index, Pinned& block, std::size_t& offset) noexcept;
    bool must_move(CacheEntry& data, Address index) noexcept;
    H5MOTE_STEP Status move(CacheEntry& header, Pinned& data) noexcept;
    Status make_data_block(CacheEntry& header, Pinned& data) noexcept;
    Status pin_data_block(Address address, Pinned& data) noexcept;

    // Whether elements are changed on the storage itself, because the cache has no room for a page, or for the data
    // block if it has none.
    bool is_large() const noexcept {
        return H5MOTE_ALL_FORMATS != 0 &&
               file().cache.is_large(pages() == 0 ? data_block_size() : narrow(page_of(0).size));
    }
    Status set_large(Address index, const ChunkLocation& location) noexcept;
    // Finds the block or page that holds an element which is about to change, makes it if it is missing, and copies it
    // if it has to be.
    Status walk_large(Address index, ElementBlock& block) noexcept;
    Status walk_large_page(CacheEntry& header, Address index, Pinned& data, ElementBlock& block) noexcept;
    Status make_large(CacheEntry& header, Address& address) noexcept;

    // The most bytes of a data block with its pages that every program moves to change it. To move a larger one takes
    // long: programs with formats::any_placement do so, others change it in place.
    static constexpr Address kMostMoved = 65536;

    FileState& file() const noexcept { return blocks_.file(); }
    Address root() const noexcept { return blocks_.root(); }  // the header

    BlockMover blocks_;
};

}  // namespace h5mote
