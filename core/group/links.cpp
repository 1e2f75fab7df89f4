#include "links.hpp"

#include "dense_changes.hpp"
#include "link_storage.hpp"
#include "object_messages.hpp"
#include "place.hpp"
#include "symbol_table_changes.hpp"
#include "text.hpp"

namespace h5mote {
void GroupContent::write(HeaderWriter& header) const noexcept {
    LinkInfoMessage info;
    const std::uint8_t order = create_.unindexed_link_order ? kOrderTracked : kOrderTracked | kOrderIndexed;
    info.flags = create_.track_link_order ? order : 0;
    header.begin(MessageType::link_info);
    info.encode(header.out, header.shape);
    header.end();
    header.begin(MessageType::group_info, kMessageConstant);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        GroupInfoMessage::encode(header.out, create_);
    } else {
        GroupInfoMessage::encode(header.out);
    }
    header.end();
    // Room for the first two links, if their names have eight bytes. libhdf5 makes room for more such links by default.
    header.reserve_continuation(2 * (header.layout.head_size() + 3 + 8 + header.shape.sizeof_addr));
}

// Kinds of objects are told apart as in libhdf5: by the messages that only groups have, then by those of datasets.
Status object_type(FileState& file, Address header, ObjectType& type) noexcept {
    MessageIterator message(file, header);
    bool space = false;
    bool datatype = false;
    Status status;
    while ((status = message.next()) == Status::ok) {
        switch (message.type()) {
            case MessageType::link_info:
            case MessageType::symbol_table:
                type = ObjectType::group;
                return Status::ok;
            case MessageType::layout:
                type = ObjectType::dataset;
                return Status::ok;
            case MessageType::dataspace:
                space = true;
                break;
            case MessageType::datatype:
                datatype = true;
                break;
            default:
                break;
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    type = space ? ObjectType::dataset : ObjectType::datatype;
    return datatype ? Status::ok : file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, header);
}

namespace {

class LinkContent final : public MessageContent {
public:
    LinkContent(const LinkMessage& link, FileShape shape) noexcept : link_(link), shape_(shape) {}
    void write(Writer& writer) const noexcept override { link_.encode(writer, shape_); }

private:
    const LinkMessage& link_;
    FileShape shape_;
};

}  // namespace

namespace {

// Takes the next creation order of a group that tracks it; `dense`: for a link that appears outside of its header. Call
// number_stays_first() after one has appeared in the header.
H5MOTE_STEP Status take_order(FileState& file, Address group, LinkMessage& link, bool dense) noexcept {
    LinkInfoMessage info;
    MessageIterator message(file, group);
    H5MOTE_TRY(message.next(MessageType::link_info));
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    link.has_order = (info.flags & kOrderTracked) != 0;
    link.order = info.max_order;
    if (!link.has_order) {
        return Status::ok;
    }
    if constexpr (H5MOTE_CREATION_ORDER == 0) {
        return file.context.unsupported(Module::group, H5MOTE_HERE, Feature::creation_order);
    }
    // The number is taken before the link is added: after that nothing may fail. A number that no link gets does no
    // harm.
    H5MOTE_TRY(message.store(LinkInfoMessage::kOrderOffset, info.max_order + 1, 8, Phase::index));
    return H5MOTE_ALL_FORMATS != 0 && dense ? number_first(file, group, *message.block()) : Status::ok;
}

void number_stays_first(FileState& file, Address group, const LinkMessage& link) noexcept {
    if (H5MOTE_ALL_FORMATS != 0 && link.has_order) {
        keep_number_first(file, group, MessageType::link_info);
    }
}

}  // namespace

Status raise_link_order(FileState& file, Address group, std::uint64_t next) noexcept {
    LinkInfoMessage info;
    MessageIterator message(file, group);
    const Status status = message.next(MessageType::link_info);
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
    return (info.flags & kOrderTracked) != 0 && info.max_order < next
               ? message.store(LinkInfoMessage::kOrderOffset, next, 8, Phase::index)
               : Status::ok;
}

Status insert_link(FileState& file, Address group, LinkMessage& link) noexcept {
    LinkStorage kind = LinkStorage::compact;
    H5MOTE_TRY(changeable_storage(file, group, kind));
    file.note_change(group);
    if (H5MOTE_ALL_FORMATS != 0 && kind == LinkStorage::symbol_table) {
        return file.context.formats().symbol_table_changes->insert_link(file, group, link);
    }
    // A link that replace_link() has refused keeps the number that it took there.
    if (H5MOTE_ALL_FORMATS == 0 || !link.has_order) {
        H5MOTE_TRY(take_order(file, group, link, kind == LinkStorage::dense));
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (const DenseChangesFormat* const dense = file.context.formats().dense_changes) {
            bool compact = false;
            H5MOTE_TRY(dense->insert_link(file, group, link, compact));
            if (!compact) {
                return Status::ok;
            }
        }
    }
    H5MOTE_TRY(add_message(file, group, MessageType::link, 0, 0, LinkContent(link, file.shape())));
    number_stays_first(file, group, link);
    return Status::ok;
}

Status find_link(MessageIterator& message, std::string_view name, LinkMessage& link) noexcept {
    do {
        H5MOTE_TRY(message.next(MessageType::link));
    } while (!LinkMessage::has_name(message.body(), bytes_of(name)));
    return link.decode(message.file().context, message.file().shape(), message.body());
}

Status replace_link(FileState& file, Address group, std::string_view name, LinkMessage& link) noexcept {
    H5MOTE_TRY(take_order(file, group, link, false));
    {
        MessageIterator message(file, group);
        LinkMessage replaced;
        H5MOTE_TRY(find_link(message, name, replaced));
        H5MOTE_TRY(replace_short_message(message, LinkContent(link, file.shape())));
    }
    number_stays_first(file, group, link);
    return Status::ok;
}

Status changeable_storage(FileState& file, Address group, LinkStorage& kind) noexcept {
    kind = LinkStorage::compact;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const Formats& formats = file.context.formats();
        if (formats.dense_changes == nullptr && formats.symbol_table_changes == nullptr) {
            return Status::ok;
        }
        GroupStorage storage;
        H5MOTE_TRY(storage.open(file, group));
        kind = storage.is_changeable(file) ? storage.kind : LinkStorage::compact;
    }
    return Status::ok;
}

namespace {

H5MOTE_STEP Status remove_stored(FileState& file, Address group, std::string_view name) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        LinkStorage kind = LinkStorage::compact;
        H5MOTE_TRY(changeable_storage(file, group, kind));
        if (kind == LinkStorage::dense) {
            return file.context.formats().dense_changes->remove_link(file, group, bytes_of(name));
        }
        if (kind == LinkStorage::symbol_table) {
            return file.context.formats().symbol_table_changes->remove_link(file, group, bytes_of(name));
        }
    }
    MessageIterator message(file, group);
    LinkMessage removed;
    H5MOTE_TRY(find_link(message, name, removed));
    return remove_message(message);
}

// A group that has lost its last link counts creation orders from 0 again, as with libhdf5. The link is gone on the
// storage before: with the lower number a later link could get the same order.
H5MOTE_STEP Status restart_order(FileState& file, Address group) noexcept {
    {
        MessageIterator message(file, group);
        H5MOTE_TRY(message.next(MessageType::link_info));
        LinkInfoMessage info;
        H5MOTE_TRY(info.decode(file.context, file.shape(), message.body()));
        if (info.max_order == 0 || info.storage.heap != kUndefinedAddress) {
            return Status::ok;
        }
    }
    H5MOTE_TRY(last_has_gone(file, group, MessageType::link, MessageType::link_info));
    MessageIterator message(file, group);
    H5MOTE_TRY(message.next(MessageType::link_info));
    return message.store(LinkInfoMessage::kOrderOffset, 0, 8, Phase::object);
}

}  // namespace

Status remove_link(FileState& file, Address group, std::string_view name) noexcept {
    file.note_change(group);
    H5MOTE_TRY(remove_stored(file, group, name));
    file.note_loss(group, ObjectWalk::Over::links);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // The link is gone, whatever fails here, and a number that is too high does no harm.
        (void)restart_order(file, group);
    }
    return Status::ok;
}

namespace {

H5MOTE_STEP Status resolve(FileState& file, Address group, std::string_view path, LinkGroup& parent) noexcept {
    Place place(file, group);
    H5MOTE_TRY(place.follow(path));
    parent.address = place.header();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (&place.file() != &file) {
            parent.set_other(place.file());
        }
    }
    return Status::ok;
}

}  // namespace

Status resolve_parent(FileState& file, Address group, std::string_view path, LinkGroup& parent,
                      std::string_view& name) noexcept {
    std::string_view parents;
    if (!split_path(path, parents, name) || !is_name(name)) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    H5MOTE_TRY(resolve(file, group, parents, parent));
    if (H5MOTE_ALL_FORMATS != 0 && parent.other() != nullptr) {
        return Status::unsupported;
    }
    ObjectType type;
    H5MOTE_TRY(object_type(file, parent.address, type));
    return type == ObjectType::group
               ? Status::ok
               : file.context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                   subject(Subject::object_type, static_cast<std::uint32_t>(type)));
}

namespace {

// Whether a group can get a link of that name: already_exists; unsupported: the program cannot change its kind.
H5MOTE_STEP Status check_free(FileState& file, Address group, std::string_view name) noexcept {
    StoredLink existing;
    Status status = Status::ok;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // Other builds have refused such a group when they followed the path to it.
        GroupStorage storage;
        H5MOTE_TRY(storage.open_to_change(file, group));
        status = storage.find(file, group, name, existing);
    } else {
        status = find_stored_link(file, group, name, existing);
    }
    if (status == Status::ok) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::already_exists);
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

Status check_link_storage(FileState& file, Address group) noexcept {
    GroupStorage storage;
    return storage.open_to_change(file, group);
}

Status prepare_link(FileState& file, Address group, std::string_view path, LinkGroup& parent,
                    std::string_view& name) noexcept {
    H5MOTE_TRY(file.check_writable());
    H5MOTE_TRY(resolve_parent(file, group, path, parent, name));
    return check_free(file, parent.address, name);
}

}  // namespace h5mote
