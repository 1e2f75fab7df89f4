#include "shared_changes.hpp"

#include "dense_changes.hpp"
#include "extension_messages.hpp"
#include "shared_messages.hpp"
#include "superblock_extension.hpp"

#include <h5mote/file_access.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::uint16_t kKinds =
    1U << static_cast<unsigned>(MessageType::dataspace) | 1U << static_cast<unsigned>(MessageType::datatype) |
    1U << static_cast<unsigned>(MessageType::fill_value) | 1U << static_cast<unsigned>(MessageType::filter_pipeline) |
    1U << static_cast<unsigned>(MessageType::attribute);
constexpr std::uint16_t kMostInList = 5000;

class TableContent final : public MessageContent {
public:
    TableContent(FileShape shape, Address table, std::uint8_t indexes) noexcept
        : shape_(shape), table_(table), indexes_(indexes) {}
    void write(Writer& writer) const noexcept override { SharedTableMessage::encode(shape_, writer, table_, indexes_); }

private:
    FileShape shape_;
    Address table_;
    std::uint8_t indexes_;
};

constexpr std::uint8_t kTableFlags = kMessageConstant | kMessageNotShareable;

// A superblock extension with nothing but that message.
class ExtensionContent final : public HeaderContent {
public:
    explicit ExtensionContent(const TableContent& table) noexcept : table_(table) {}
    void write(HeaderWriter& header) const noexcept override {
        header.begin(MessageType::shared_message_table, kTableFlags);
        table_.write(header.out);
        header.end();
    }

private:
    const TableContent& table_;
};

// Whether a file can be created with such indexes. As libhdf5, which has no numbers between both phases.
bool is_sound(const SharedMessageCreate& create) noexcept {
    unsigned used = 0;
    bool sound = create.indexes.size() <= SharedTableMessage::kMaxIndexes && create.list_max <= kMostInList &&
                 create.btree_min <= create.list_max + 1;
    for (const SharedIndexCreate& each : create.indexes) {
        sound = sound && each.kinds != 0 && (each.kinds & ~kKinds) == 0 && (each.kinds & used) == 0;
        used |= each.kinds;
    }
    return sound;
}

// Headers of version 1 have padding behind messages, of up to seven bytes, and the index has the message without.
constexpr std::size_t kMostPadding = 7;

}  // namespace

Status share_message(FileState& file, MessageType type, HeapContent& body, Bytes reference, bool& shared) noexcept {
    shared = false;
    Temporary<SharedMessages> messages(file.context, file, type);
    if (!messages) {
        return Status::out_of_memory;
    }
    const Status status = messages->open();
    if (status != Status::ok || body.size() < messages->least_size() || body.size() == 0) {
        return status == Status::not_found ? Status::ok : status;
    }
    std::byte id[SharedReference::kHeapIdSize];
    H5MOTE_TRY(messages->share(body, id, shared));
    if (shared) {
        SharedReference::encode_heap(reference, id);
    }
    return Status::ok;
}

namespace {

// Opens the index of the message to which `reference` leads, and calls `then(index, id)`.
template <typename Then>
Status with_message(FileState& file, MessageType type, ConstBytes reference, const Then& then) noexcept {
    Temporary<SharedMessages> messages(file.context, file, type);
    if (!messages) {
        return Status::out_of_memory;
    }
    SharedReference place;
    (void)place.decode(file.shape(), reference);
    if (!place.in_heap || place.heap_id.size() < SharedReference::kHeapIdSize) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::corrupt_file, static_cast<std::uint32_t>(type));
    }
    const Status status = messages->open();
    return status == Status::ok ? then(*messages, place.heap_id.first(SharedReference::kHeapIdSize)) : status;
}

}  // namespace

Status release_shared_message(FileState& file, MessageType type, ConstBytes reference, bool& gone) noexcept {
    gone = false;
    return with_message(file, type, reference,
                        [&](SharedMessages& messages, ConstBytes id) noexcept { return messages.release(id, gone); });
}

Status count_users(FileState& file, MessageType type, ConstBytes reference, std::uint32_t& users) noexcept {
    users = 0;
    return with_message(file, type, reference, [&](SharedMessages& messages, ConstBytes id) noexcept {
        return messages.count_users(id, users);
    });
}

Status forget_shareable_message(FileState& file, MessageType type, ConstBytes body, Address header,
                                bool marked) noexcept {
    bool found = false;
    for (std::size_t cut = 0; !found && cut <= kMostPadding && cut < body.size(); ++cut) {
        Temporary<SharedMessages> messages(file.context, file, type);
        if (!messages) {
            return Status::out_of_memory;
        }
        const Status status = messages->open();
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        BytesContent content(body.first(body.size() - cut));
        H5MOTE_TRY(messages->forget(content, header, marked, found));
    }
    return Status::ok;
}

Status check_shared_indexes(FileState& file, const FileCreate& create) noexcept {
    const SharedMessageCreate& wanted = create.shared_messages;
    return is_sound(wanted)
               ? Status::ok
               : file.context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument, 0, wanted.indexes.size());
}

// The table has to lie within one sector, so that one write switches an index.
Status create_shared_indexes(FileState& file, const FileCreate& create) noexcept {
    const SharedMessageCreate& wanted = create.shared_messages;
    const auto count = static_cast<std::uint8_t>(wanted.indexes.size());
    const Address size = SharedTable::size(file.shape(), count);
    Pinned table;
    H5MOTE_TRY(file.create_block(Usage::object_header, static_cast<std::size_t>(size), size, table));
    Writer writer(table->image());
    SharedTable::encode_prefix(writer);
    for (const SharedIndexCreate& each : wanted.indexes) {
        SharedIndex index;
        index.kinds = each.kinds;
        index.least_size = each.least_size;
        index.list_max = wanted.list_max;
        index.btree_min = wanted.btree_min;
        index.btree = wanted.list_max == 0;
        index.encode(file.shape(), writer);
    }
    MetadataCache::mark_dirty(*table, 0, Phase::object);
    file.foreign()->shared_table = table->address();
    file.foreign()->shared_indexes = count;
    const TableContent content(file.shape(), table->address(), count);
    return add_to_extension(file, MessageType::shared_message_table, kTableFlags, content, ExtensionContent(content));
}

}  // namespace h5mote

#endif
