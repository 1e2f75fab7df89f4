// H5EA - the extensible array: the chunk index of a dataset with one unlimited dimension. Specification VII.C.
//
// Finding an element costs a fixed number of steps however long the array is. The header points to the index block. The
// index block holds the first elements themselves, the addresses of the first data blocks, and the addresses of super
// blocks, which hold those of the other data blocks. From super block to super block the number of data blocks and
// their length double in turn, so that both grow with the square root of the array. A data block longer than a page is
// followed by pages, each with a checksum of its own; the super block has a bit for each that was written.
//
// A change that one sector does not hold, up to the checksum, is made in a copy, and the pointer to that switched: most
// pages straddle two sectors.
//
//   header       EAHD | 0 | client | element size | max bits | index elements | min data block elements
//                | min super block pointers | page bits | super blocks: number, bytes | data blocks: number, bytes
//                | highest index set + 1 | elements realized | index block address | checksum
//   index block  EAIB | 0 | client | header address | elements | data block addresses | super block addresses |
//   checksum super block  EASB | 0 | client | header address | offset | page bits of each data block | data block
//   addresses | checksum data block   EADB | 0 | client | header address | offset | elements (without pages) | checksum
//   | pages page         elements | checksum
#pragma once

#include "checked.hpp"
#include "chunk_element.hpp"
#include "disposal.hpp"
#include "element_block.hpp"
#include "file_state.hpp"
#include "messages.hpp"

namespace h5mote {

class ExtensibleArray {
public:
    /// Creates header and index block, which nothing points to yet.
    H5MOTE_STEP Status create(FileState& file, const ExtensibleArrayParameters& parameters, std::uint8_t size_width,
                              Address& address) noexcept;
    H5MOTE_STEP Status open(FileState& file, Address address, std::uint8_t size_width) noexcept;

    /// Where chunk `index` stands; an undefined address when it was never set.
    Status find(Address index, ChunkLocation& location) noexcept;
    /// The first element from `index` on that is set. not_found: there is none.
    Status next(Address& index, ChunkLocation& location) noexcept;
    /// Makes the block that element `index` goes into, for set(), which then takes no more space.
    H5MOTE_STEP Status make_place(Address index, Phase phase) noexcept;
    /// Sets `count` elements from `index` on, at most reach(index), the addresses `stride` bytes apart. Blocks are made
    /// as needed. no_space when the array can hold no such index.
    /// `phase`: when what exists already may be written: Phase::index, Phase::prepared, or for a chunk within the
    /// dataset's extent Phase::element. libhdf5 takes elements that the header does not count for missing.
    H5MOTE_STEP Status set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
                           Phase phase = Phase::index) noexcept;
    /// Gives up all blocks of the array and every chunk in it: `chunk_bytes` each, or as many as the element says where
    /// those are filtered.
    H5MOTE_STEP Status dispose(Disposal& disposal, Address chunk_bytes) noexcept;
    /// For an element that is set already and about to be used: the header counts up to it, without which libhdf5 takes
    /// the element for missing. A power cut may have kept the element and lost the header.
    Status cover(Address index) noexcept;
    Address index_block_address() const noexcept { return index_block_; }
    /// Elements from `index` to the end of its block or page, this one included: what one set() reaches.
    std::uint32_t reach(Address index) const noexcept;

#if H5MOTE_ALL_FORMATS
    /// Whether one write holds any change of the header, which cannot move: every block names it.
    bool switches_at_once() const noexcept;
    const ChunkElementFormat& element() const noexcept { return element_; }
    /// The block that holds element `index`, for reading; when it was never made, all elements that are missing with
    /// it. Works for blocks of any size. not_found: beyond what the array can hold. corrupt_file, io_error.
    Status block_of(Address index, ElementBlock& block) noexcept;
    /// Number of the highest element ever set, plus one; and bytes of all blocks.
    Status facts(std::uint64_t& elements, std::uint64_t& bytes) noexcept;
#endif

private:
    // Position of an element: which super block, which data block of it, which element of that.
    struct Position {
        unsigned super_block;      // counted from the first data block on
        std::uint32_t data_block;  // within the super block
        std::uint32_t element;     // within the data block
        std::uint32_t elements;    // of the data block
    };

    // A block to be found or made.
    struct Block {
        std::uint32_t signature;
        Address first;           // index of its first element, without those of the index block
        std::size_t size;        // bytes of the block itself
        std::size_t space;       // bytes with the pages that follow it
        std::size_t stats;       // where the header counts blocks of this kind
        std::size_t contents;    // offset of what is undefined at first: elements, then addresses
        std::uint32_t elements;  // in the block itself
        std::uint32_t realized;  // in the block and its pages
    };

    // Finds the block that holds an element and pins it; with `create` for a change. Without it a missing block gives
    // an empty Pinned. over_budget: the cache does not hold the blocks on the way at once.
    H5MOTE_STEP Status locate(Address index, bool create, Pinned& block, std::size_t& offset) noexcept;
    // The same once. busy: the cache had to write a block on the way, which has to move again.
    H5MOTE_STEP Status walk(Address index, bool create, Pinned& block, std::size_t& offset) noexcept;
    // The block that has the address of an element's data block, and where; empty if there is none. `holder` comes as
    // the index block.
    Status find_pointer(const Position& at, bool create, Pinned& holder, std::size_t& pointer) noexcept;
    Status data_block_address(const Position& at, Address& data, Address& super) noexcept;
    Status dispose_chunks(Disposal& disposal, Address first, Address count, Address chunk_bytes) noexcept;
    H5MOTE_STEP Status locate_page(const Position& at, CacheEntry& super, std::size_t pointer, bool create,
                                   Pinned& block, std::size_t& offset) noexcept;
    std::byte* page_bit(const Position& at, CacheEntry& super, std::uint32_t page, std::byte& mask) noexcept;
    bool page_exists(const Position& at, CacheEntry& super, std::uint32_t page) noexcept;
    std::size_t pointer_offset(const Position& at) const noexcept;
    Status protect_index_block(bool create, Pinned& block) noexcept;
    Position position(Address index) const noexcept;
    Address start_of(unsigned super_block) const noexcept;
    std::uint32_t pages(const Position& at) const noexcept {
        return at.elements > page_elements() ? at.elements >> parameters_.page_bits : 0;
    }

    // Pins the block that a pointer in `holder` names, made first if it is undefined and `create` is set.
    Status follow(CacheEntry& holder, std::size_t pointer, bool create, const Block& wanted, Pinned& block) noexcept;
    H5MOTE_STEP Status make(CacheEntry& holder, std::size_t pointer, const Block& wanted, Pinned& block) noexcept;
    Status allow_change(const CacheEntry& block, std::size_t from) noexcept;
    void hold_back(CacheEntry& holder, std::size_t pointer, const CacheEntry& block) noexcept;
    void set_pointer(CacheEntry& holder, std::size_t pointer, Address to) noexcept;
    Status move(CacheEntry& holder, std::size_t pointer, CacheEntry& block) noexcept;
    Status copy(Address from, Address to, std::size_t size, Pinned& block) noexcept {
        return file_->cache.copy(Usage::btree, from, to, size, block);
    }
    H5MOTE_STEP Status move_pages(const Position& at, CacheEntry& holder, std::size_t pointer, std::uint32_t page,
                                  Pinned& block) noexcept;
#if H5MOTE_ALL_FORMATS
    Status open_window(Address address, const Block& wanted, MetadataWindow& window) noexcept;
    Status page_of(const Position& at, MetadataWindow& super, Address data, ElementBlock& block) noexcept;
#endif
    Block index_block() const noexcept;
    Block super_block(const Position& at) const noexcept;
    Block data_block(const Position& at) const noexcept;
    bool sound() const noexcept;
    H5MOTE_STEP Status missing_from(Address index, std::uint64_t& count) noexcept;
    Status protect_header(Pinned& header) noexcept;
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::index, place, Status::corrupt_file, 0, address);
    }
    // When a block that set() changes is written: the header, which counts elements, before them.
    Phase phase_of(const CacheEntry& block) const noexcept {
        return phase_ == Phase::element && block.address() == address_ ? Phase::index : phase_;
    }
    void add_stat(CacheEntry& header, std::size_t field, std::uint64_t amount) noexcept;
    // Number of the highest element ever set, plus one.
    std::uint64_t highest(CacheEntry& header) const noexcept;
    // Comes before elements up to `end` are set: pins the header. unsupported: it cannot be changed in order.
    Status begin_change(Address end, Phase phase, Pinned& header) noexcept;
    void count_to(CacheEntry& header, Address end) noexcept;

    unsigned addr_size() const noexcept { return element_.shape.sizeof_addr; }
    unsigned offset_width() const noexcept { return (parameters_.max_bits + 7U) / 8U; }
    std::size_t prefix_size() const noexcept { return 6U + addr_size(); }  // up to and with the header's address
    std::size_t block_prefix_size() const noexcept { return prefix_size() + offset_width(); }
    std::size_t header_size() const noexcept { return 12U + 6U * element_.shape.sizeof_size + addr_size() + 4U; }
    std::uint32_t page_elements() const noexcept { return 1U << parameters_.page_bits; }
    unsigned direct_super_blocks() const noexcept { return 2 * floor_log2(parameters_.super_block_min_pointers); }
    unsigned direct_data_blocks() const noexcept { return 2U * (parameters_.super_block_min_pointers - 1U); }
    std::size_t page_size() const noexcept { return std::size_t{page_elements()} * element_.size() + 4U; }

    FileState* file_ = nullptr;
    Address address_ = kUndefinedAddress;
    Address index_block_ = kUndefinedAddress;
    ChunkElementFormat element_;
    ExtensibleArrayParameters parameters_;
    Phase phase_ = Phase::index;  // of what set() changes
};

}  // namespace h5mote
