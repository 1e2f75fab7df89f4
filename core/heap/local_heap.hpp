// H5HL - the local heap: names of the links of an old group, names of external files. Specification III.D.
//
// The data segment holds names, each with a terminator, and free blocks. A data segment of any size is read piece by
// piece. Nothing stays pinned between two calls, except during a search.
#pragma once

#include "block_visitor.hpp"
#include "btree1.hpp"
#include "file_state.hpp"
#include "local_heap_header.hpp"

namespace h5mote {

class LocalHeap final : public SymbolNames {
public:
    /// Reads the header. corrupt_file, io_error.
    Status open(FileState& file, Address header) noexcept;

    /// `order`: the sign of `name` minus the name at `offset`, compared as bytes. corrupt_file: there is no name, or it
    /// does not end within the segment.
    Status compare(Address offset, ConstBytes name, int& order) noexcept override;
    /// Keeps the segment open for many calls of compare(), until end_search(). Errors of open().
    Status begin_search() noexcept { return open_data(searched_); }
    void end_search() noexcept { searched_.close(); }
    /// Length of the name at `offset`, without its terminator. Errors of compare().
    Status length(Address offset, std::size_t& bytes) noexcept;
    /// The name at `offset`, without its terminator: its length, and as much of it as fits in `to`. Errors of
    /// compare().
    Status copy(Address offset, Bytes to, std::size_t& length) noexcept;
    /// Opens `window` for the bytes of the name at `offset`, without its terminator. Errors of compare(),
    /// out_of_memory.
    Status name(Address offset, MetadataWindow& window) noexcept;

    Address header_size() const noexcept { return LocalHeapHeader::stored_size(file_->shape()); }
    Address data_size() const noexcept { return heap_.data_size; }
    const LocalHeapHeader& fields() const noexcept { return heap_; }
    Address address() const noexcept { return header_; }
    /// Says that the header is at `header` now and has these fields.
    void set_header(Address header, const LocalHeapHeader& fields) noexcept {
        header_ = header;
        heap_ = fields;
    }
    /// Bytes in free blocks.
    Status free_space(Address& bytes) noexcept;
    /// Reads the free block at `at`, in a window of the data segment. `passed`: bytes of the free blocks that were read
    /// before; as free blocks do not overlap, a list with a loop soon has more than the segment. corrupt_file.
    Status free_block(MetadataWindow& window, Address at, Address& passed, LocalHeapFreeBlock& block) noexcept;
    /// Opens the data segment.
    Status open_data(MetadataWindow& window) noexcept;
    /// Shows the header and the data segment to `visitor`.
    Status walk(BlockVisitor& visitor) noexcept;

private:
    Status end_of_name(MetadataWindow& window, Address offset, Address& length) noexcept;
    Status damaged(SourcePlace place) noexcept;

    FileState* file_ = nullptr;
    Address header_ = kUndefinedAddress;
    LocalHeapHeader heap_;
    MetadataWindow searched_;
};

}  // namespace h5mote
