// H5HF - changes of a fractal heap. Specification III.G.
//
// Changes are staged: insert() and remove() leave the heap as it is, make what is new beside it, and write objects
// where it has free bytes, to which nothing leads. prepare() stores what the header will lead to, and only apply()
// changes the header, which cannot fail. Until then undo() takes everything back. Whoever changes a heap and its
// indexes together can therefore apply the heap's part when everything else has succeeded.
//
// Heaps of links and attributes that are changed are heaps that this library made: with the numbers that libhdf5 uses,
// but direct blocks have no checksum. With one, each new object takes a copy of its block of up to 64 KiB. A heap that
// libhdf5 made is copied first (dense_rebuild.hpp). libhdf5 changes ours as they are, and leaves them as they are. A
// heap of shared messages cannot be copied, because object headers all over the file have ids of its objects: it is
// changed as it is, with or without checksums.
//
// Bytes that objects gave up are used again after the next commit only: ReleasedHeapSpace.
#pragma once

#include "btree2_changes.hpp"
#include "heap_sections.hpp"
#include "metadata_writer.hpp"

namespace h5mote {

/// The bytes of an object that goes into a heap.
class HeapContent {
public:
    virtual Address size() const noexcept = 0;
    /// As many bytes from `offset` on as are at hand: at least one.
    virtual Status peek(Address offset, ConstBytes& bytes) noexcept = 0;

protected:
    ~HeapContent() = default;
};

/// Writes the bytes [begin, end) of a content. Errors of peek() and of MetadataWriter::put().
Status put_content(MetadataWriter& writer, HeapContent& content, Address begin, Address end) noexcept;

/// A content of two parts, one behind the other.
class BytesContent final : public HeapContent {
public:
    explicit BytesContent(ConstBytes first, ConstBytes second = {}) noexcept : first_(first), second_(second) {}
    Address size() const noexcept override { return static_cast<Address>(first_.size() + second_.size()); }
    Status peek(Address offset, ConstBytes& bytes) noexcept override {
        bytes = offset < first_.size() ? first_.subspan(static_cast<std::size_t>(offset))
                                       : second_.subspan(static_cast<std::size_t>(offset - first_.size()));
        return Status::ok;
    }

private:
    ConstBytes first_;
    ConstBytes second_;
};

/// An object of another heap.
class WindowContent final : public HeapContent {
public:
    explicit WindowContent(MetadataWindow& window) noexcept : window_(window) {}
    Address size() const noexcept override { return window_.size(); }
    Status peek(Address offset, ConstBytes& bytes) noexcept override { return window_.peek(offset, bytes); }

private:
    MetadataWindow& window_;
};

/// The numbers of a heap of links, of attributes, or of shared messages.
struct HeapKind {
    std::uint8_t id_length;
    std::uint8_t start_bits;  ///< log2 of the size of the first direct blocks
    std::uint8_t heap_bits;   ///< log2 of the address space
    bool checksums;           ///< a heap whose direct blocks have checksums is changed, too
};
inline constexpr HeapKind kLinkHeap{7, 9, 32, false};
inline constexpr HeapKind kAttributeHeap{8, 10, 40, false};
inline constexpr HeapKind kSharedHeap{8, 10, 40, true};

class FractalHeapChanges {
public:
    /// Longest id.
    static constexpr std::size_t kMostId = 8;

    explicit FractalHeapChanges(FileState& file) noexcept : file_(file), blocks_(file) {}
    FractalHeapChanges(const FractalHeapChanges&) = delete;
    FractalHeapChanges& operator=(const FractalHeapChanges&) = delete;

    /// Bytes of a header.
    static Address header_size(FileShape shape) noexcept {
        return FractalHeapHeader::fixed_size(shape, false) + FractalHeapTable::kChecksumSize;
    }
    /// Makes an empty heap whose header stands at `header`, in space that the caller has allocated and to which nothing
    /// leads. Errors of MetadataCache::create().
    static Status create(FileState& file, const HeapKind& kind, Address header) noexcept;

    /// Opens a heap to be changed and keeps its header pinned. not_found: it is not one that is changed as it is.
    /// corrupt_file, io_error, over_budget, out_of_memory.
    Status open(const HeapKind& kind, Address header) noexcept;
    /// Unpins the header. What was staged must have been applied or undone.
    void close() noexcept { header_block_.reset(); }
    const FractalHeapHeader& header() const noexcept { return header_; }
    /// The block of the header, while the heap is open.
    CacheEntry& header_block() noexcept { return *header_block_; }

    /// Of the functions that stage, only one may insert or remove a huge object: replace() can do both.
    ///
    /// Stages a new object and tells its id, of header().id_length bytes. Also no_space: the address space is used up,
    /// and wants_copy() is true.
    Status insert(HeapContent& object, Bytes id) noexcept;
    /// Stages the removal of an object. corrupt_file: there is no such object.
    Status remove(ConstBytes id) noexcept;
    /// Stages both: the object with the id `old` goes, and another one comes.
    Status replace(HeapContent& object, ConstBytes old, Bytes id) noexcept;
    /// Stores the free sections. Call when everything is staged. `in_place`: they may be changed where they are by
    /// apply(); then call it again until is_prepared() is true without that anything else has used the metadata cache.
    Status prepare(bool in_place = false) noexcept;
    bool is_prepared() const noexcept { return sections_.is_stored(file_); }
    void apply() noexcept;
    void undo() noexcept;

    /// Whether the heap takes several times the space that its objects need, or addresses run out, so that it should be
    /// copied.
    bool wants_copy() const noexcept;

private:
    // The most indirect blocks above a direct one: with an address space of 40 bits the root has at most 29 rows, a
    // block in its last row 27, and so on, down to 10.
    static constexpr unsigned kMostDepth = 12;
    static constexpr Address kMaxManaged = 4096;

    struct Slot {
        Address address = kUndefinedAddress;
        Address offset = 0;  // in the address space
        Address size = 0;
        unsigned rows = 0;   // of an indirect block; 0: a direct one
        unsigned entry = 0;  // its number among the entries of the block above
    };

    bool is_ours(const HeapKind& kind) const noexcept;
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_.context.fail(Module::heap, place, Status::corrupt_file, 0, address);
    }
    // Bytes of a direct block before the first object.
    std::size_t overhead() const noexcept {
        return header_.prefix_size(file_.shape()) + (header_.checksums ? FractalHeapTable::kChecksumSize : 0U);
    }
    Address payload(unsigned row) const noexcept;
    Address capacity(unsigned rows) const noexcept;
    Address used() const noexcept;
    unsigned most_rows() const noexcept { return header_.heap_bits - header_.first_row_bits() + 1U; }
    Slot root() const noexcept;
    Slot slot_at(const Slot& parent, Address offset) const noexcept;
    std::size_t entry_offset(unsigned entry) const noexcept;
    Status pin(const Slot& slot, Pinned& block) noexcept;
    Status descend(Address offset) noexcept;
    Status set_entry(unsigned level, Address address) noexcept;
    bool is_empty(CacheEntry& block, const Slot& slot) const noexcept;
    bool next_slot(Address least, Address& offset) const noexcept;
    Status new_block(Address size, Address& offset) noexcept;
    Status resize_root(unsigned rows) noexcept;
    Status insert_managed(HeapContent& object, Bytes id) noexcept;
    Status write_object(HeapContent& object, Address offset) noexcept;
    Status replace_block(HeapContent& object, Address offset, bool is_new) noexcept;
    Status write_block(HeapContent& object, Address offset, Address old) noexcept;
    Status write(Usage usage, Address address, ConstBytes bytes) noexcept;
    Status remove_managed(ConstBytes id) noexcept;
    Status remove_block() noexcept;
    Status last_block(Address& end, unsigned& row, bool& only_first) noexcept;
    Status shrink() noexcept;
    Status open_huge(bool last) noexcept;
    Status write_huge(HeapContent& object, HugeRecord& record) noexcept;
    Status insert_huge(HeapContent& object, Bytes id) noexcept;
    Status replace_huge(HeapContent& object, ConstBytes old, Bytes id) noexcept;
    Status remove_huge(ConstBytes id) noexcept;
    Status enter_huge(const HugeRecord& record, Bytes id) noexcept;
    Status leave_huge(ConstBytes id) noexcept;
    Status give_up_huge(ConstBytes record) noexcept;
    bool is_released(Address offset, Address size) const noexcept;
    Status note_released(Address offset, Address size) noexcept;

    FileState& file_;
    Pinned header_block_;
    FractalHeapHeader header_;  // as apply() will store it
    StagedBlocks blocks_;
    BTree2Changes huge_;  // the tree of huge objects, while one of them comes or goes
    HeapSections sections_;
    Address removed_ = 0;       // bytes that the change gives up, of which apply() makes sure that they are noted
    Address removed_size_ = 0;  // 0: none
    // The way to a block that descend() has found: the root, then what leads to it, at last the block itself.
    Slot path_[kMostDepth + 1];
    unsigned depth_ = 0;  // number of the last one
};

}  // namespace h5mote
