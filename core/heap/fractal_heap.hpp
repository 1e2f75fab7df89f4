// H5HF - the fractal heap: links and attributes in dense storage, shared messages. Specification III.G.
//
// An object is found by its heap id. A `tiny` object is stored in the id itself. A `huge` object has its own place in
// the file; the id tells that place, or is looked up in a version 2 B-tree. All other objects are `managed`: they lie
// in an address space of the heap that is cut into direct blocks. Indirect blocks hold the addresses of these, row by
// row. The first two rows have blocks of the starting block size; from then on the blocks of each row are twice as
// large as those of the row before. Rows whose blocks are too large for direct blocks consist of indirect blocks.
//
//   header    FRHP | version 0 | id length 2 | length of the filters 2 | flags 1 | largest managed object 4
//             | next huge id L | huge objects' B-tree O | free space L | free space manager O | managed space L
//             | allocated L | iterator L | managed objects L | huge: bytes L, objects L | tiny: bytes L, objects L
//             | table width 2 | first block size L | largest direct block L | log2 of the address space 2
//             | first rows 2 | root block O | rows of the root block, 0: it is direct 2
//             | [filtered: root block size L | filter mask 4 | filter pipeline message] | checksum
//   direct    FHDB | 0 | header O | offset in the address space w | [checksum, of the block with 0 here] | objects
//   indirect  FHIB | 0 | header O | offset w | direct blocks: address O [| size L | filter mask 4]
//             | indirect blocks: address O | checksum
#pragma once

#include "btree2.hpp"
#include "file_state.hpp"

namespace h5mote {

/// What the header of a heap tells.
struct FractalHeapFacts {
    Address header_size = 0;
    Address free_space_manager = kUndefinedAddress;
    Address managed_space = 0;  ///< bytes of the address space
    Address allocated = 0;      ///< bytes of the address space that direct blocks take
    Address free_space = 0;     ///< free bytes in direct blocks
    std::uint64_t managed = 0;  ///< number of managed objects
    std::uint64_t huge = 0;     ///< number of huge objects
    Address huge_bytes = 0;
    std::uint64_t tiny = 0;  ///< number of tiny objects
    Address tiny_bytes = 0;
    std::uint64_t largest_managed = 0;  ///< most bytes of a managed object
    std::uint64_t rows = 0;             ///< rows of the root block; 0: it is a direct block
};

class FractalHeap {
public:
    FractalHeap() noexcept = default;
    FractalHeap(const FractalHeap&) = delete;
    FractalHeap& operator=(const FractalHeap&) = delete;
    ~FractalHeap() { close(); }

    /// Reads the header. corrupt_file, io_error.
    Status open(FileState& file, Address header) noexcept;
    /// Releases the memory that is kept between two calls: the last filtered block, decoded.
    void close() noexcept;

    /// Bytes of an id.
    unsigned id_length() const noexcept { return id_length_; }
    /// The bytes of the object with that id, in a window. Only tiny and filtered objects are copied into memory; the
    /// window shows all others as they are in the file. corrupt_file, io_error, out_of_memory, unsupported: a filter is
    /// missing.
    Status object(ConstBytes id, MetadataWindow& bytes) noexcept;

    Status facts(FractalHeapFacts& facts) noexcept;
    /// Shows to `visitor` the header, all blocks, the B-tree of huge objects, these objects, and the free space
    /// manager.
    Status walk(BlockVisitor& visitor) noexcept;

private:
    // A direct or indirect block.
    struct Block {
        Address address = kUndefinedAddress;
        Address size = 0;    // in the address space
        Address offset = 0;  // in the address space
        Address stored = 0;  // bytes in the file; differs from size when filtered
        std::uint32_t mask = 0;
        unsigned rows = 0;  // rows of an indirect block; 0: a direct block
    };

    Status open_header(MetadataWindow& window) noexcept;
    Status decode_header(MetadataWindow& window, FractalHeapFacts& facts) noexcept;
    Status managed(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status huge(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status tiny(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status find_block(Address offset, Block& block, BlockVisitor* visitor) noexcept;
    Status open_indirect(const Block& block, MetadataWindow& window) noexcept;
    Status entry(MetadataWindow& window, const Block& parent, unsigned row, unsigned column, Block& block) noexcept;
    Status open_direct(const Block& block, MetadataWindow& window) noexcept;
    Status check_prefix(MetadataWindow& window, std::uint32_t signature, const Block& block) noexcept;
    ChecksumPlace direct_checksum() const noexcept;
    Status decode(Address address, Address stored, std::uint32_t mask, Bytes to) noexcept;
    Status find_huge(std::uint64_t id, HugeRecord& record) noexcept;
    bool huge_ids_direct() const noexcept;
    BTree2Type huge_type() const noexcept;
    Status open_huge_index(BTree2& tree) noexcept;
    Status walk_huge(BlockVisitor& visitor) noexcept;
    Status walk_blocks(BlockVisitor& visitor) noexcept;
    Status walk_free_space(Address header, BlockVisitor& visitor) noexcept;
    Block root() const noexcept;
    unsigned row_bits(unsigned row) const noexcept { return row == 0 ? start_bits_ : start_bits_ + row - 1U; }
    Address row_size(unsigned row) const noexcept { return Address{1} << row_bits(row); }
    Address row_offset(unsigned row) const noexcept;
    unsigned offset_width() const noexcept { return (heap_bits_ + 7U) / 8U; }
    // Bytes before the contents of a block; a direct block's checksum, if it has one, is not included.
    std::size_t prefix_size() const noexcept { return 5U + file_->shape().sizeof_addr + offset_width(); }
    // The most rows of an indirect block that consist of direct blocks; the rows behind them are indirect blocks.
    unsigned direct_rows() const noexcept { return direct_bits_ - start_bits_ + 2U; }
    std::size_t direct_entry_size() const noexcept {
        return std::size_t{file_->shape().sizeof_addr} + (filtered() ? file_->shape().sizeof_size + 4U : 0U);
    }
    bool filtered() const noexcept { return filters_length_ != 0; }
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::heap, place, Status::corrupt_file, 0, address);
    }

    FileState* file_ = nullptr;
    Address header_ = kUndefinedAddress;
    Address header_size_ = 0;
    Address huge_index_ = kUndefinedAddress;
    Address root_ = kUndefinedAddress;
    Address root_stored_ = 0;
    std::uint32_t root_mask_ = 0;
    std::uint32_t max_managed_ = 0;
    std::uint16_t filters_length_ = 0;
    std::uint16_t id_length_ = 0;
    std::uint16_t width_ = 0;
    std::uint16_t root_rows_ = 0;
    std::uint8_t start_bits_ = 0;
    std::uint8_t width_bits_ = 0;
    std::uint8_t direct_bits_ = 0;
    std::uint8_t heap_bits_ = 0;
    std::uint8_t length_width_ = 0;
    bool checksums_ = false;
    MetadataWindow decoded_;                    // the last filtered direct block, decoded ...
    Address decoded_from_ = kUndefinedAddress;  // ... and its address in the file
};

}  // namespace h5mote
