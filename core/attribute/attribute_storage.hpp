// H5A - the attributes of an object, however it keeps them: messages in its header, dense storage, shared messages.
#pragma once

#include "dense_storage.hpp"
#include "stored_message.hpp"

#include <h5mote/attribute.hpp>

#include <string_view>

namespace h5mote {

/// The place of an attribute message, by which the message is found again without a search.
struct AttributePlace {
    enum class Kind : std::uint8_t { header, heap, shared };

    Kind kind = Kind::header;
    bool checksummed = true;     ///< header: whether the block has a checksum
    std::uint8_t id_length = 0;  ///< heap, shared: bytes of `id`
    std::uint16_t size = 0;      ///< header: bytes of the message's body
    std::uint32_t block_size = 0;
    std::uint32_t offset = 0;  ///< header: offset of the body in the block
    /// header: address of the block; in dense storage: of the fractal heap; a shared message in a header: undefined
    Address address = kUndefinedAddress;
    std::byte id[AttributeRecord::kHeapIdSize] = {};

    bool in_header() const noexcept { return kind == Kind::header || address == kUndefinedAddress; }
    Status open(FileState& file, MetadataWindow& bytes) const noexcept;
};

/// Decodes the attribute message that a window has open: a message in a header, an object of a heap.
Status decode_attribute(Context& context, MetadataWindow& bytes, AttributeParts& parts) noexcept;

/// An attribute that was found: its message.
struct StoredAttributeMessage {
    MetadataWindow bytes;
    AttributeParts parts;
    AttributePlace place;
    std::uint32_t order = 0;
    bool has_order = false;

    /// Whether it is a message that other objects may have, too.
    bool is_shared() const noexcept { return place.kind == AttributePlace::Kind::shared; }
    /// The name; valid until the next call on `bytes`.
    Status name(std::string_view& text) noexcept;
};

/// Walks the attributes of an object in the order in which they are stored, or in another one that the storage has.
class AttributeCursor {
public:
    explicit AttributeCursor(FileState& file) noexcept : file_(file), message_(file, 0), dense_(file.context) {}
    AttributeCursor(const AttributeCursor&) = delete;
    AttributeCursor& operator=(const AttributeCursor&) = delete;
    ~AttributeCursor() = default;

    /// corrupt_file, io_error.
    Status open(Address header) noexcept;
    bool tracks_order() const noexcept { return tracked_; }
    // A constant in builds that read attributes in object headers only: their programs do not link dense storage.
    bool is_dense() const noexcept { return H5MOTE_ALL_FORMATS != 0 && info_.dense; }
    /// Goes to the start of that order if the storage itself has the attributes in it; otherwise `direct` is false.
    Status start_directly(IndexOrder order, Direction direction, bool& direct) noexcept;
    /// Goes to the start of the native order, or of one that start_directly() has found.
    Status start(IndexOrder order, Direction direction) noexcept;
    /// After start(): passes so many attributes at once. false: this storage cannot, and none was passed.
    bool skip(std::uint64_t attributes) noexcept {
        position_ = is_dense() ? attributes : position_;
        return is_dense();
    }
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
        if (dense_) {
            dense_->close_heap();
        }
    }

private:
    Status next_in_header(StoredAttributeMessage& attribute) noexcept;
    DenseAttributes dense_attributes() noexcept { return {file_, *dense_, info_.storage.heap, tracked_}; }
    Status dense_at(std::uint64_t position, StoredAttributeMessage& attribute) noexcept;

    FileState& file_;
    Address header_ = kUndefinedAddress;
    AttributeInfoMessage info_;
    MessageIterator message_;
    DenseHandle dense_;
    std::uint64_t position_ = 0;
    Direction direction_ = Direction::increasing;
    bool tracked_ = false;
};

/// The attribute of that name. not_found.
H5MOTE_STEP Status find_attribute(FileState& file, Address object, std::string_view name,
                                  StoredAttributeMessage& attribute) noexcept;

/// DenseStorageFormat::find_attribute, attribute_at and open_attribute.
H5MOTE_STEP Status find_dense_attribute(const DenseAttributes& dense, std::string_view name,
                                        StoredAttributeMessage& attribute) noexcept;
H5MOTE_STEP Status dense_attribute_at(const DenseAttributes& dense, std::uint64_t position,
                                      StoredAttributeMessage& attribute) noexcept;
H5MOTE_STEP Status open_dense_attribute(FileState& file, const AttributePlace& place, MetadataWindow& bytes) noexcept;

/// Makes the state of a handle for an attribute that was found, with its own copy of name, datatype and dataspace. The
/// state holds a reference to the file.
Status make_attribute(FileState& file, Address object, StoredAttributeMessage& attribute,
                      AttributeState*& state) noexcept;

}  // namespace h5mote
