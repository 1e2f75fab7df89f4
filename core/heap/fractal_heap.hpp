// H5HF - the fractal heap: links and attributes in dense storage, shared messages. Specification III.G.
//
// An object is found by its heap id. A `tiny` object is stored in the id itself. A `huge` object has its own place in
// the file; the id tells that place, or is looked up in a version 2 B-tree. All other objects are `managed`: they lie
// in an address space of the heap that is cut into direct blocks. Indirect blocks hold the addresses of these, row by
// row. The first two rows have blocks of the starting block size; from then on the blocks of each row are twice as
// large as those of the row before. Rows whose blocks are too large for direct blocks consist of indirect blocks.
#pragma once

#include "btree2.hpp"
#include "file_state.hpp"
#include "fractal_heap_blocks.hpp"

namespace h5mote {

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
    unsigned id_length() const noexcept { return table_.id_length; }
    /// The bytes of the object with that id, in a window. Only tiny and filtered objects are copied into memory; the
    /// window shows all others as they are in the file. corrupt_file, io_error, out_of_memory, unsupported: a filter is
    /// missing.
    Status object(ConstBytes id, MetadataWindow& bytes) noexcept;

    /// Reads the header again. corrupt_file, io_error.
    Status read_header(FractalHeapHeader& header) noexcept;
    /// Shows to `visitor` all blocks, huge objects and their B-tree, the free space manager, and the header. What is
    /// shown is not read again: the visitor may give it up.
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
    Status managed(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status huge(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status tiny(ConstBytes id, MetadataWindow& bytes) noexcept;
    Status find_block(Address offset, unsigned rows, Block& block) noexcept;
    Status open_indirect(const Block& block, MetadataWindow& window) noexcept;
    Status entry(MetadataWindow& window, const Block& parent, unsigned row, unsigned column, Block& block) noexcept;
    Status open_direct(const Block& block, MetadataWindow& window) noexcept;
    Status check_prefix(MetadataWindow& window, std::uint32_t signature, const Block& block) noexcept;
    ChecksumPlace direct_checksum() const noexcept;
    Status decode(Address address, Address stored, std::uint32_t mask, Bytes to) noexcept;
    Status find_huge(std::uint64_t id, HugeRecord& record) noexcept;
    BTree2Type huge_type() const noexcept;
    Status open_huge_index(BTree2& tree) noexcept;
    Status walk_huge(BlockVisitor& visitor) noexcept;
    Status walk_blocks(BlockVisitor& visitor) noexcept;
    Status walk_ended(Address offset, Address end, unsigned rows, BlockVisitor& visitor) noexcept;
    Status walk_free_space(Address header, BlockVisitor& visitor) noexcept;
    Block root() const noexcept;
    std::size_t prefix_size() const noexcept { return table_.prefix_size(file_->shape()); }
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::heap, place, Status::corrupt_file, 0, address);
    }

    FileState* file_ = nullptr;
    Address header_ = kUndefinedAddress;
    Address header_size_ = 0;
    FractalHeapTable table_;
    MetadataWindow decoded_;                    // the last filtered direct block, decoded ...
    Address decoded_from_ = kUndefinedAddress;  // ... and its address in the file
};

}  // namespace h5mote
