// H5Oget_info and the like: what objects and files say of themselves, from all parts of the library.

#include "attribute_storage.hpp"
#include "extension_messages.hpp"
#include "link_storage.hpp"
#include "links.hpp"
#include "object_facts.hpp"
#include "object_messages.hpp"
#include "supported.hpp"

#include <h5mote/h5mote.hpp>

namespace h5mote {

Status Object::type(ObjectType& type) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    return object_type(*file_, address_, type);
}

namespace {

H5MOTE_STEP Status attribute_facts(FileState& file, Address object, ObjectInfo& info, bool with_storage) noexcept {
    AttributeCursor attributes(file);
    H5MOTE_TRY(attributes.open(object));
    H5MOTE_TRY(attributes.count(info.attributes));
    info.tracks_attribute_order = attributes.tracks_order();
    return with_storage ? attributes.storage_size(info.attribute_storage) : Status::ok;
}

H5MOTE_STEP Status link_storage_size(FileState& file, Address group, StorageSize& size) noexcept {
    LinkCursor links(file);
    H5MOTE_TRY(links.open(group));
    return links.storage_size(size);
}

// If the dataset cannot be opened (a filter is missing), the sizes stay 0: the rest of its information is still given.
H5MOTE_STEP void dataset_storage_size(Object&& object, StorageSize& size) noexcept {
    const Result<Dataset> dataset = Dataset::from(static_cast<Object&&>(object));
    std::uint64_t chunks = 0;
    if (dataset) {
        (void)(*dataset).index_size(chunks, size.index);
        (void)(*dataset).heap_size(size.heap);
    }
}

}  // namespace

Status Object::info(ObjectInfo& info, bool with_storage) const noexcept {
    const LibraryLock lock(context_of(file_));
    info = {};
    H5MOTE_TRY(type(info.type));
    H5MOTE_TRY(header_facts(*file_, address_, info));
    H5MOTE_TRY(attribute_facts(*file_, address_, info, with_storage));
    if (with_storage && info.type == ObjectType::group) {
        return link_storage_size(*file_, address_, info.object_storage);
    }
    if (with_storage && info.type == ObjectType::dataset) {
        dataset_storage_size(duplicate(), info.object_storage);
    }
    return Status::ok;
}

Status Object::comment(Span<char> to, std::size_t& length) const noexcept {
    const LibraryLock lock(context_of(file_));
    length = 0;
    H5MOTE_TRY(check());
    StoredMessage message;
    const Status status = message.find(*file_, address_, MessageType::comment);
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    ConstBytes text;
    H5MOTE_TRY(message.view(text));
    length = CommentMessage::length(text);
    if (to.empty()) {
        return Status::ok;
    }
    if (length > to.size()) {
        return file_->context.fail(Module::object, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    std::memcpy(to.data(), text.data(), length);
    return Status::ok;
}

NamedDatatype::NamedDatatype(NamedDatatype&& other) noexcept
    : Object(static_cast<Object&&>(other)), bytes_(other.bytes_), size_(other.size_) {
    other.bytes_ = nullptr;
    other.size_ = 0;
}

NamedDatatype& NamedDatatype::operator=(NamedDatatype&& other) noexcept {
    if (this != &other) {
        close();
        Object::operator=(static_cast<Object&&>(other));
        bytes_ = other.bytes_;
        size_ = other.size_;
        other.bytes_ = nullptr;
        other.size_ = 0;
    }
    return *this;
}

void NamedDatatype::close() noexcept {
    const LibraryLock lock(context_of(file_));
    if (bytes_ != nullptr) {
        file_->context.release(MemoryKind::type, bytes_, size_);
    }
    bytes_ = nullptr;
    size_ = 0;
    Object::close();
}

Result<NamedDatatype> NamedDatatype::from(Object&& object) noexcept {
    const LibraryLock lock(context_of(object.file_));
    ObjectType type = ObjectType::datatype;
    H5MOTE_TRY(object.type(type));
    FileState& file = *object.file_;
    if (type != ObjectType::datatype) {
        return file.context.fail(Module::datatype, H5MOTE_HERE, Status::not_found, static_cast<std::uint32_t>(type));
    }
    StoredMessage message;
    ConstBytes bytes;
    DatatypeView view;
    H5MOTE_TRY(message.find(file, object.address_, MessageType::datatype));
    H5MOTE_TRY(message.view(bytes));
    H5MOTE_TRY(parse_datatype(file.context, bytes, view));
    const std::size_t length = view.encoded_length();
    auto* copy = static_cast<std::byte*>(file.context.allocate(MemoryKind::type, length));
    if (copy == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = message.bytes().read(0, {copy, length});
    if (status != Status::ok) {
        file.context.release(MemoryKind::type, copy, length);
        return status;
    }
    NamedDatatype named;
    static_cast<Object&>(named) = static_cast<Object&&>(object);
    named.bytes_ = copy;
    named.size_ = static_cast<std::uint32_t>(length);
    return named;
}

namespace {

Status shared_message_sizes(FileState& file, FileInfo& info) noexcept {
    const unsigned indexes = info.shared_message_indexes;
    DenseHandle dense(file.context);
    if (indexes != 0) {
        info.shared_message_table_size = SharedTable::size(file.shape(), indexes);
        H5MOTE_TRY(dense.make(Module::object, Feature::shared_message));
    }
    for (unsigned i = 0; i < indexes; ++i) {
        SharedIndex index;
        BlockSum trees;
        BlockSum heaps;
        H5MOTE_TRY(read_shared_index(file, i, index));
        if (!index.btree) {
            // The list's size, whether it is there yet or not (H5SM_ih_size).
            trees.bytes = SharedList::size(file.shape(), index.list_max);
        } else if (index.index != kUndefinedAddress) {
            H5MOTE_TRY(dense->open_index(file, index.index));
            H5MOTE_TRY(dense->walk_index(trees));
        }
        if (index.heap != kUndefinedAddress) {
            H5MOTE_TRY(dense->open_heap(file, index.heap));
            H5MOTE_TRY(dense->walk_heap(heaps));
        }
        info.shared_message_storage.index += trees.bytes;
        info.shared_message_storage.heap += heaps.bytes;
    }
    return Status::ok;
}

Status read_file_space_info(FileState& file, MessageIterator& message, FileInfo& info) noexcept {
    FileSpaceInfoMessage space;
    const bool sound = space.decode(file.shape(), message.body());
    info.has_file_space_info = true;
    info.file_space_version = space.version;
    info.file_space_strategy = space.strategy;
    info.persists_free_space = space.persistent;
    if (space.version == 0) {
        // Version 0 has 1 to 4: all with persistence, all, aggregators and driver, driver alone. As version 1 numbers
        // them:
        static constexpr std::uint8_t kNow[] = {0, 0, 0, 2, 3};
        info.free_space_threshold = space.strategy < 3 ? space.threshold : info.free_space_threshold;
        info.file_space_strategy = kNow[space.strategy > 4 ? 0 : space.strategy];
    } else {
        info.free_space_threshold = space.threshold;
        info.page_size = space.page_size;
    }
    return sound ? Status::ok : damaged_message(file.context, H5MOTE_HERE, MessageType::file_space_info);
}

Status extension_facts(FileState& file, FileInfo& info) noexcept {
    ObjectInfo header;
    H5MOTE_TRY(header_facts(file, info.superblock_extension, header));
    info.superblock_extension_size = header.header.total;
    MessageIterator message(file, info.superblock_extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        // A library that does not know the message marks it when it changes the file: the message may be out of date
        // then.
        if (message.type() == MessageType::file_space_info && (message.flags() & kMessageWasUnknown) == 0) {
            H5MOTE_TRY(read_file_space_info(file, message, info));
        } else if (message.type() == MessageType::driver_info) {
            DriverInfoMessage driver;
            info.has_driver_info = driver.decode(message.body());
            if (info.has_driver_info) {
                std::memcpy(info.driver_name, driver.name.data(), driver.name.size());
            }
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

Status File::info(FileInfo& info) const noexcept {
    const LibraryLock lock(context_of(file_));
    info = {};
    if (!valid()) {
        return Status::invalid_handle;
    }
    FileState& file = *file_;
    const Superblock& superblock = file.superblock();
    info.superblock_version = superblock.version;
    info.sizeof_addr = superblock.shape.sizeof_addr;
    info.sizeof_size = superblock.shape.sizeof_size;
    info.flags = superblock.flags;
    info.end_of_address = superblock.end_of_file;
    info.superblock_size = superblock.size();
    info.superblock_extension = superblock.extension;
    info.root = superblock.root;
    if (const ForeignState* const foreign = file.foreign()) {
        info.user_block = foreign->base_driver.base();
        info.symbol_leaf_k = foreign->btree_k.group_leaf;
        info.symbol_internal_k = foreign->btree_k.group_internal;
        info.chunk_btree_k = foreign->btree_k.chunk;
        info.shared_message_table = foreign->shared_table;
        info.shared_message_indexes = foreign->shared_indexes;
        info.truncated = foreign->truncated;
    }
    H5MOTE_TRY(file.driver.end_of_file(info.file_size));
    info.file_size += info.user_block;
    if (superblock.driver_info != kUndefinedAddress) {
        std::byte prefix[16];
        H5MOTE_TRY(file.driver.read(Usage::superblock, superblock.driver_info, prefix));
        info.has_driver_info = true;
        std::memcpy(info.driver_name, prefix + 8, 8);
    }
    if (info.superblock_extension != kUndefinedAddress) {
        H5MOTE_TRY(extension_facts(file, info));
    }
    return shared_message_sizes(file, info);
}

}  // namespace h5mote
