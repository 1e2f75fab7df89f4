#include "stored_message.hpp"

#include "dense_storage.hpp"

namespace h5mote {

Status read_shared_index(FileState& file, unsigned i, SharedIndex& index) noexcept {
    const FileShape shape = file.shape();
    const Address at = file.foreign()->shared_table;
    MetadataWindow table;
    H5MOTE_TRY(
        file.window(Usage::object_header, at, SharedTable::size(shape, file.foreign()->shared_indexes), true, table));
    ConstBytes bytes;
    H5MOTE_TRY(table.view(0, SharedTable::kPrefixSize, bytes));
    const bool sound = SharedTable::is_table(bytes);
    H5MOTE_TRY(table.view(SharedTable::offset(shape, i), SharedIndex::size(shape), bytes));
    return sound && index.decode(shape, bytes)
               ? Status::ok
               : file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, i, at);
}

Status StoredMessage::find(FileState& file, Address header, MessageType type) noexcept {
    MessageIterator message(file, header);
    do {
        H5MOTE_TRY(message.next());
    } while (message.type() != type);
    return open(message);
}

Status StoredMessage::open(MessageIterator& message) noexcept {
    committed_ = kUndefinedAddress;
    H5MOTE_TRY(message.open_body(bytes_));
    flags_ = message.flags();
    if (!message.shared()) {
        return Status::ok;
    }
    constexpr std::size_t kMost = SharedReference::kMaxSize;
    std::byte reference[kMost];
    const auto length = static_cast<std::size_t>(bytes_.size() < kMost ? bytes_.size() : kMost);
    H5MOTE_TRY(bytes_.read(0, {reference, length}));
    return open_shared(message.file(), message.type(), {reference, length});
}

Status StoredMessage::open_shared(FileState& file, MessageType type, ConstBytes reference) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message,
                                        static_cast<std::uint32_t>(type));
    }
    SharedReference place;
    const bool sound = place.decode(file.shape(), reference);
    if (!place.known_version()) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message, place.version);
    }
    if (place.in_heap) {
        committed_ = kUndefinedAddress;
        const DenseStorageFormat* format = nullptr;
        H5MOTE_TRY(dense_storage(file.context, Module::object, Feature::shared_message, format));
        return format->open_shared_message(file, type, place.heap_id, bytes_);
    }
    if (!sound) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(type));
    }
    const Address header = place.header;
    MessageIterator message(file, header);
    Status status;
    do {
        status = message.next();
    } while (status == Status::ok && message.type() != type);
    // A shared message that leads to a shared message could do so for ever; nobody writes such files.
    if (status == Status::not_found || (status == Status::ok && message.shared())) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(type),
                                 header);
    }
    H5MOTE_TRY(status);
    committed_ = header;
    return message.open_body(bytes_);
}

Status open_shared_message(FileState& file, MessageType type, ConstBytes id, MetadataWindow& bytes) noexcept {
    SharedIndex index;
    for (unsigned i = 0; i < file.foreign()->shared_indexes; ++i) {
        H5MOTE_TRY(read_shared_index(file, i, index));
        if (index.holds(type)) {
            DenseHandle dense(file.context);
            H5MOTE_TRY(dense.make(Module::object, Feature::shared_message));
            H5MOTE_TRY(dense->open_heap(file, index.heap));
            if (id.size() < dense->id_length()) {
                break;
            }
            return dense->object(id.first(dense->id_length()), bytes);
        }
    }
    return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(type));
}

Status StoredMessage::view(ConstBytes& body, std::size_t most) noexcept {
    return bytes_.size() > most ? Status::over_budget : bytes_.view(0, static_cast<std::size_t>(bytes_.size()), body);
}

}  // namespace h5mote
