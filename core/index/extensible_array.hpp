// H5EA - the extensible array: the chunk index of a dataset with one unlimited dimension. Specification VII.C.
//
// Finding an element costs a fixed number of steps however long the array is. The header points to the index block. The
// index block holds the first elements themselves, the addresses of the first data blocks, and the addresses of super
// blocks, which hold those of the other data blocks. From super block to super block the number of data blocks and
// their length double in turn, so that both grow with the square root of the array. A data block longer than a page is
// followed by pages, each with a checksum of its own; the super block has a bit for each that was written.
//
// A write that covers more than one sector, from the changed bytes to the checksum at the block's end, could be torn by
// a power cut. Such a change is made in a copy of the block, and one write then switches the pointer to the copy. This
// is common: most pages straddle two sectors.
// The bytes are shown in extensible_array_blocks.hpp.
#pragma once

#include "block_mover.hpp"
#include "checked.hpp"
#include "disposal.hpp"
#include "element_block.hpp"
#include "extensible_array_blocks.hpp"
#include "file_state.hpp"

namespace h5mote {

class ExtensibleArray : private ExtensibleArrayFormat {
public:
    /// Creates the header and the index block; nothing points to the header, at `address`, yet. `size_width`: see
    /// ChunkElementFormat.
    H5MOTE_STEP Status create(FileState& file, const ExtensibleArrayParameters& chosen, std::uint8_t size_width,
                              Address& address) noexcept;
    H5MOTE_STEP Status open(FileState& file, Address address, std::uint8_t size_width) noexcept;

    /// The location of chunk `index`; its address is undefined when it was never set. no_space: the array can hold no
    /// such index.
    Status find(Address index, ChunkLocation& location) noexcept;
    /// The first element from `index` on that is set. not_found: there is none.
    Status next(Address& index, ChunkLocation& location) noexcept;
    /// Creates the block for element `index`, or moves it if the change could be torn, so that set() of this element
    /// afterwards takes no more space.
    H5MOTE_STEP Status make_place(Address index, Phase phase) noexcept;
    /// Sets `count` elements from `index` on, at most reach(index), the addresses `stride` bytes apart. Blocks are made
    /// as needed. no_space when the array can hold no such index.
    /// `phase`: when changed blocks may be written that the storage leads to already: Phase::index, Phase::prepared, or
    /// for a chunk within the dataset's extent Phase::element. The header then reaches the storage before the element:
    /// libhdf5 takes elements that the header does not count for missing.
    H5MOTE_STEP Status set(Address index, const ChunkLocation& location, Address stride, std::uint32_t count,
                           Phase phase = Phase::index) noexcept;
    /// Gives up all blocks of the array, and every chunk in it if `disposal` takes chunks. The space of a chunk is
    /// `chunk_bytes`, or, if chunks are filtered, the size that its element tells.
    H5MOTE_STEP Status dispose(Disposal& disposal, Address chunk_bytes) noexcept;
    /// Call before a chunk whose element is set already is used: makes the header count the element, which libhdf5
    /// takes for missing otherwise. A power cut may have kept the element and lost the change of the header.
    Status cover(Address index) noexcept;
    /// Bytes of the super block that leads to element `index`, which the array can hold; 0: there is none.
    std::size_t super_block_size(Address index) const noexcept;
    Address index_block_address() const noexcept { return index_block_; }
    /// The number of elements from `index` on, itself included, up to the end of its block or page: one set() can set
    /// so many.
    std::uint32_t reach(Address index) const noexcept;
    /// Makes `count`, at least 1, smaller, if it has to be, until one set() can set all elements of [index, index +
    /// count), and none of them is set. Element `index` itself is known not to be set.
    Status free_run(Address index, std::uint32_t& count) noexcept;

    /// Whether every change of the header is one atomic write. The header cannot be moved to make it so, because every
    /// block holds its address.
    bool switches_at_once() const noexcept;
    using ExtensibleArrayFormat::element;
    /// The block or page that holds element `index`, for reading. If it was never made, `block` has no address, and
    /// tells which elements are missing with it. Works for blocks of any size. not_found: beyond what the array can
    /// hold. corrupt_file, io_error.
    Status block_of(Address index, ElementBlock& block) noexcept;
    /// `elements`: the index of the highest element ever set, plus one. `bytes`: of the header and all blocks.
    Status facts(std::uint64_t& elements, std::uint64_t& bytes) noexcept;

private:
    // Pins the block or page that holds an element which is about to change; the element is at `offset` in it. Missing
    // blocks are made, and blocks whose change could be torn are moved. over_budget: the cache cannot hold all blocks
    // on the way at once.
    H5MOTE_STEP Status locate(Address index, Pinned& block, std::size_t& offset) noexcept;
    // One attempt of locate(). busy: to make room, the cache wrote a block that had moved and has to move again.
    H5MOTE_STEP Status walk(Address index, Pinned& block, std::size_t& offset) noexcept;
    // For changing: finds the address of an element's data block at offset `pointer` of `holder`, which is the index
    // block at first, and the super block afterwards if that has the address.
    Status find_pointer(const Position& at, Pinned& holder, std::size_t& pointer) noexcept;
    // For reading: opens in `holder` the block that has the address of an element's data block, and returns that
    // address and the address of the super block, both undefined where there is none.
    H5MOTE_STEP Status find_data_block(const Position& at, MetadataWindow& holder, Address& data,
                                       Address& super) noexcept;
    Status dispose_chunks(Disposal& disposal, Address first, Address count, Address chunk_bytes) noexcept;
    // The page that has an element, and its bit in the super block above.
    struct DataPage {
        std::uint32_t number;   // among the pages of its data block
        std::size_t first_bit;  // in the super block, of the data block's pages
        std::size_t byte;       // of the super block that has the page's bit
        std::byte mask;
        std::size_t offset;  // of the page, from where the data block begins
    };
    DataPage data_page(const Position& at) const noexcept;
    H5MOTE_STEP Status locate_page(const Position& at, CacheEntry& super, std::size_t pointer, Pinned& block,
                                   std::size_t& offset) noexcept;
    Status protect_index_block(Pinned& block) noexcept;

    // Pins the block whose address is at offset `pointer` of `holder` and which is about to change: it is made if the
    // address is undefined, and moved if the change could be torn.
    Status follow(CacheEntry& holder, std::size_t pointer, const Block& wanted, Pinned& block) noexcept;
    H5MOTE_STEP Status make(CacheEntry& holder, std::size_t pointer, const Block& wanted, Pinned& block) noexcept;
    void hold_back(CacheEntry& holder, std::size_t pointer, const CacheEntry& block) noexcept;
    Status open_window(Address address, const Block& wanted, MetadataWindow& window) noexcept;

    // Whether an element is changed on the storage itself, because the cache has no room for its data block or page.
    bool is_large(Address index) const noexcept;
    Status set_large(Address index, const ChunkLocation& location, Address stride, std::uint32_t count) noexcept;
    // Finds the block or page that holds an element which is about to change, makes it if it is missing, and copies it
    // if it has to be.
    Status place_large(Address index, ElementBlock& block) noexcept;
    Status walk_large(Address index, ElementBlock& block) noexcept;
    Status walk_large_page(const Position& at, CacheEntry& super, std::size_t pointer, ElementBlock& block) noexcept;
    Status make_large(CacheEntry& holder, std::size_t pointer, const Block& wanted, Address& address) noexcept;

    void hold_back_large(CacheEntry& holder, std::size_t pointer, bool fresh) noexcept;
    Status page_of(const Position& at, MetadataWindow& super, Address data, ElementBlock& block) noexcept;
    Status protect_header(Pinned& header) noexcept;
    Status damaged(SourcePlace place, Address address) noexcept {
        return file().context.fail(Module::index, place, Status::corrupt_file, 0, address);
    }
    void add_stat(CacheEntry& header, std::size_t field, std::uint64_t amount) noexcept;
    // The index of the highest element ever set, plus one.
    std::uint64_t highest(CacheEntry& header) const noexcept;
    // Call before elements below `end` are set: pins the header. unsupported: the header has to count more elements,
    // but a change of it could be torn.
    Status begin_change(Address end, Phase phase, Pinned& header) noexcept;
    void count_to(CacheEntry& header, Address end) noexcept;

    FileState& file() const noexcept { return blocks_.file(); }
    Address root() const noexcept { return blocks_.root(); }  // the header

    BlockMover blocks_;
    Address index_block_ = kUndefinedAddress;
};

}  // namespace h5mote
