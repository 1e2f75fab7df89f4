#include "stored_message.hpp"

#include "dense_storage.hpp"

namespace h5mote {

Status SharedIndex::read(FileState& file, unsigned i, SharedIndex& index) noexcept {
    constexpr std::uint32_t kSignature = 0x42544d53U;  // "SMTB"
    const FileShape shape = file.shape();
    constexpr unsigned kFill = 1U << static_cast<unsigned>(MessageType::fill_value);
    constexpr unsigned kOldFill = 1U << static_cast<unsigned>(MessageType::fill_value_old);
    MetadataWindow table;
    H5MOTE_TRY(file.window(Usage::object_header, file.foreign()->shared_table,
                           table_size(shape, file.foreign()->shared_indexes), true, table));
    ConstBytes bytes;
    H5MOTE_TRY(table.view(0, 4, bytes));
    const bool sound = load_le<std::uint32_t>(bytes.data()) == kSignature;
    H5MOTE_TRY(table.view(4 + i * size(shape), size(shape), bytes));
    Reader reader(bytes);
    const unsigned version = reader.u8();
    const unsigned type = reader.u8();
    index.btree = type == 1;
    index.kinds = reader.u16();
    // Fill value messages of the old form have no bit of their own: they are shared together with those of the new form
    // (H5SM_type_to_flag).
    if ((index.kinds & kFill) != 0) {
        index.kinds = static_cast<std::uint16_t>(index.kinds | kOldFill);
    }
    index.least_size = reader.u32();
    index.list_max = reader.u16();
    index.btree_min = reader.u16();
    index.messages = reader.u16();
    index.index = shape.read_addr(reader);
    index.heap = shape.read_addr(reader);
    return sound && version == kVersion && type <= 1
               ? Status::ok
               : file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, i, file.foreign()->shared_table);
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
    constexpr Address kLongest = 24;
    std::byte reference[kLongest];
    const auto length = static_cast<std::size_t>(bytes_.size() < kLongest ? bytes_.size() : kLongest);
    H5MOTE_TRY(bytes_.read(0, {reference, length}));
    return open_shared(message.file(), message.type(), {reference, length});
}

Status StoredMessage::open_shared(FileState& file, MessageType type, ConstBytes reference) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message,
                                        static_cast<std::uint32_t>(type));
    }
    constexpr unsigned kHeap = 1;
    Reader reader(reference);
    const unsigned version = reader.u8();
    const unsigned place = reader.u8();
    if (version == 0 || version > 3) {
        return file.context.unsupported(Module::object, H5MOTE_HERE, Feature::shared_message, version);
    }
    if (version == 3 && place == kHeap) {
        committed_ = kUndefinedAddress;
        const DenseStorageFormat* format = nullptr;
        H5MOTE_TRY(dense_storage(file.context, Module::object, Feature::shared_message, format));
        return format->open_shared_message(file, type, reader.rest(), bytes_);
    }
    reader.skip(version == 1 ? 6U + file.shape().sizeof_size : 0U);
    const Address header = file.shape().read_addr(reader);
    if (!reader.ok()) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(type));
    }
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
        H5MOTE_TRY(SharedIndex::read(file, i, index));
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
