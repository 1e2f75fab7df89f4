// H5A - the attributes of an object, however it keeps them: messages in its header, dense storage, shared messages.
#pragma once

#include "btree2.hpp"
#include "fractal_heap.hpp"
#include "stored_message.hpp"

#include <h5mote/attribute.hpp>

#include <string_view>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// Where an attribute message stands, so that it is found again without a search.
struct AttributePlace {
    enum class Kind : std::uint8_t { header, heap, shared };

    Kind kind = Kind::header;
    bool checksummed = true;     ///< header: the block
    std::uint8_t id_length = 0;  ///< heaps
    std::uint16_t size = 0;      ///< header: of the message
    std::uint32_t block_size = 0;
    std::uint32_t offset = 0;             ///< header: of the message in the block
    Address address = kUndefinedAddress;  ///< header: of the block; heap: of the heap
    std::byte id[AttributeRecord::kHeapIdSize] = {};

    Status open(FileState& file, MetadataWindow& bytes) const noexcept;
    /// The same in the heap, which is open.
    Status open_in(FileState& file, FractalHeap& heap, MetadataWindow& bytes) const noexcept;
};

/// An attribute message taken apart: what stands where in it.
///
/// version 3 | flags: 1 shared type, 2 shared space | sizes of name, type, space 2 each | charset | name\0 | type |
/// space | data; version 2: without charset; version 1: without flags, each part padded to a multiple of 8
struct AttributeParts {
    static constexpr std::uint8_t kSharedType = 1;
    static constexpr std::uint8_t kSharedSpace = 2;

    std::uint8_t flags = 0;
    std::uint8_t character_set = 0;
    std::uint16_t name_size = 0;  ///< terminator included
    std::uint16_t type_size = 0;
    std::uint16_t space_size = 0;
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint32_t space = 0;
    std::uint32_t data = 0;

    Status decode(Context& context, MetadataWindow& bytes) noexcept;
};

/// An attribute that was found: its message.
struct StoredAttributeMessage {
    MetadataWindow bytes;
    AttributeParts parts;
    AttributePlace place;
    std::uint32_t order = 0;
    bool has_order = false;

    /// The name, until the next call on the window.
    Status name(std::string_view& text) noexcept;
};

/// Walks the attributes of an object in the order in which they stand.
class AttributeCursor {
public:
    explicit AttributeCursor(FileState& file) noexcept : file_(file), message_(file, 0) {}
    AttributeCursor(const AttributeCursor&) = delete;
    AttributeCursor& operator=(const AttributeCursor&) = delete;
    ~AttributeCursor() { file_.context.destroy(MemoryKind::handle, dense_); }

    /// corrupt_file, io_error.
    Status open(Address header) noexcept;
    bool tracks_order() const noexcept { return tracked_; }
    bool can(IndexOrder order, Direction direction) const noexcept;
    Status start(IndexOrder order, Direction direction) noexcept;
    /// not_found at the end.
    Status next(StoredAttributeMessage& attribute) noexcept;
    /// The attribute at a position in native order.
    Status at(std::uint64_t position, StoredAttributeMessage& attribute) noexcept;
    /// not_found.
    Status find(std::string_view name, StoredAttributeMessage& attribute) noexcept;
    Status count(std::uint64_t& attributes) noexcept;
    Status storage_size(StorageSize& size) noexcept;
    void park() noexcept {
        message_.park();
        if (dense_ != nullptr) {
            dense_->heap.close();
        }
    }

private:
    Status next_in_header(StoredAttributeMessage& attribute) noexcept;
    H5MOTE_STEP Status dense_at(std::uint64_t position, StoredAttributeMessage& attribute) noexcept;
    H5MOTE_STEP Status find_dense(std::string_view name, StoredAttributeMessage& attribute) noexcept;

    FileState& file_;
    Address header_ = kUndefinedAddress;
    AttributeInfoMessage info_;
    MessageIterator message_;
    // Dense storage; apart, for it is most of the cursor, which stands on stacks.
    struct Dense {
        BTree2 index;
        FractalHeap heap;
    };
    Dense* dense_ = nullptr;
    std::uint64_t position_ = 0;
    Direction direction_ = Direction::increasing;
    bool tracked_ = false;
};

/// The attribute of that name. not_found.
H5MOTE_STEP Status find_attribute(FileState& file, Address object, std::string_view name,
                                  StoredAttributeMessage& attribute) noexcept;

/// Makes a handle's state of an attribute that was found: its own copy of name, type and space.
Status make_attribute(FileState& file, Address object, StoredAttributeMessage& attribute,
                      AttributeState*& state) noexcept;

#endif

}  // namespace h5mote
