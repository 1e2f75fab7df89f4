// H5HF H5B2 (dense storage) - a fractal heap, and a version 2 B-tree whose records lead to its objects: links and
// attributes that are too many for an object header, and shared messages.
//
// Programs link heaps and trees only if they name formats::dense_storage: everything here goes through DenseReader.
#pragma once

#include "block_visitor.hpp"
#include "btree2.hpp"
#include "file_state.hpp"
#include "info_fields.hpp"
#include "message_type.hpp"

#include <h5mote/formats.hpp>

#include <string_view>

namespace h5mote {

/// Reads one heap and one tree; either may be left closed. Functions are those of FractalHeap and BTree2.
class DenseReader {
public:
    virtual Status open_heap(FileState& file, Address header) noexcept = 0;
    virtual void close_heap() noexcept = 0;
    virtual unsigned id_length() const noexcept = 0;
    virtual Status object(ConstBytes id, MetadataWindow& bytes) noexcept = 0;
    virtual Status walk_heap(BlockVisitor& visitor) noexcept = 0;

    virtual Status open_index(FileState& file, Address header) noexcept = 0;
    virtual BTree2Type type() const noexcept = 0;
    virtual std::uint64_t size() const noexcept = 0;
    virtual std::size_t record_size() const noexcept = 0;
    virtual Status find(RecordCompare& compare, Bytes record) noexcept = 0;
    virtual Status record(std::uint64_t position, Bytes record) noexcept = 0;
    virtual Status walk_index(BlockVisitor& visitor) noexcept = 0;

    virtual void destroy(Context& context) noexcept = 0;

protected:
    ~DenseReader() = default;
};

struct AttributePlace;
struct StoredAttributeMessage;
struct StoredLink;

/// The attributes of one object, in dense storage.
struct DenseAttributes {
    FileState& file;
    DenseReader& reader;  ///< has the heap and one of the indexes open
    Address heap;
    bool tracked;  ///< the object keeps the order in which they were created
};

/// What programs have that name formats::dense_storage. The functions stand where their structures are read: for links
/// in core/group, for attributes in core/attribute, for shared messages in core/object.
struct DenseStorageFormat {
    /// nullptr: out of memory. The caller destroys the reader.
    DenseReader* (*make)(Context& context);
    /// Undoes the filters of blocks of a heap.
    const BlockDecoder* decoder;
    /// The link of that name. not_found.
    Status (*find_link)(FileState& file, const DenseStorage& storage, ConstBytes name, StoredLink& link);
    /// The attribute of that name; the index of names is open. not_found.
    Status (*find_attribute)(const DenseAttributes& dense, std::string_view name, StoredAttributeMessage& attribute);
    /// The attribute at that position of the index that is open.
    Status (*attribute_at)(const DenseAttributes& dense, std::uint64_t position, StoredAttributeMessage& attribute);
    /// Opens an attribute message in a heap, of one object or of shared messages, whose place was found earlier.
    Status (*open_attribute)(FileState& file, const AttributePlace& place, MetadataWindow& bytes);
    /// Opens the message with that id in the file's heap of shared messages of that type.
    Status (*open_shared_message)(FileState& file, MessageType type, ConstBytes id, MetadataWindow& bytes);
};

/// The program's functions for dense storage. unsupported: it has no formats::dense_storage; `needed_for` goes to the
/// trail.
Status dense_storage(Context& context, Module module, Feature needed_for, const DenseStorageFormat*& format) noexcept;

/// Makes the reader of DenseStorageFormat::make.
DenseReader* make_dense_reader(Context& context) noexcept;

/// Owns a reader.
class DenseHandle {
public:
    explicit DenseHandle(Context& context) noexcept : context_(&context) {}
    DenseHandle(const DenseHandle&) = delete;
    DenseHandle& operator=(const DenseHandle&) = delete;
    ~DenseHandle() {
        if (reader_ != nullptr) {
            reader_->destroy(*context_);
        }
    }

    /// Makes a reader if there is none yet. out_of_memory; errors of dense_storage().
    Status make(Module module, Feature needed_for) noexcept;
    explicit operator bool() const noexcept { return reader_ != nullptr; }
    DenseReader* operator->() const noexcept { return reader_; }
    DenseReader& operator*() const noexcept { return *reader_; }
    /// The table that the reader is of; there is a reader.
    const DenseStorageFormat& format() const noexcept { return *context_->formats().dense_storage; }

private:
    Context* context_;
    DenseReader* reader_ = nullptr;
};

}  // namespace h5mote
