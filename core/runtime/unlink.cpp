// H5L H5O - removing links, and the objects that no link leads to any more.

#include "dataset_state.hpp"
#include "dense_changes.hpp"
#include "disposal.hpp"
#include "link_storage.hpp"
#include "links.hpp"
#include "spilled_extents.hpp"
#include "text.hpp"

#include <h5mote/group.hpp>

namespace h5mote {
namespace {

// An object whose last link is removed: whether it can be deleted is gathered from the messages of its header.
class Victim {
public:
    Victim(FileState& file, Address header, Disposal& disposal) noexcept
        : file_(file), header_(header), disposal_(disposal) {}

    Status dispose() noexcept {
        bool dataset = false;
        H5MOTE_TRY(survey(dataset));
        if (dataset) {
            H5MOTE_TRY(DatasetState::dispose(file_, header_, disposal_));
        }
        H5MOTE_TRY(dispose_dense());
        return dispose_header(file_, header_, disposal_);
    }

private:
    Status unsupported(SourcePlace place, Feature feature) noexcept {
        return file_.context.unsupported(Module::object, place, feature);
    }

    H5MOTE_STEP Status survey(bool& dataset) noexcept {
        MessageIterator message(file_, header_);
        Status status;
        while ((status = message.next()) == Status::ok) {
            if (H5MOTE_ALL_FORMATS != 0 && message.version() == 1) {
                return unsupported(H5MOTE_HERE, Feature::object_header_version);
            }
            dataset = dataset || message.type() == MessageType::layout;
            H5MOTE_TRY(look_at(message));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status look_at(MessageIterator& message) noexcept {
        const ConstBytes body = message.body();
        if ((message.flags() & kMessageShared) != 0) {
            return unsupported(H5MOTE_HERE, Feature::shared_message);
        }
        switch (message.type()) {
            case MessageType::link:
                return file_.context.fail(Module::group, H5MOTE_HERE, Status::busy, 0, header_);
            case MessageType::symbol_table:
                return unsupported(H5MOTE_HERE, Feature::symbol_table_group);
            case MessageType::link_info: {
                LinkInfoMessage info;
                H5MOTE_TRY(info.decode(file_.context, file_.shape(), body));
                return info.dense ? look_at_dense(info.storage, true) : Status::ok;
            }
            case MessageType::attribute_info: {
                AttributeInfoMessage info;
                H5MOTE_TRY(info.decode(file_.context, file_.shape(), body));
                return info.dense ? look_at_dense(info.storage, false) : Status::ok;
            }
            case MessageType::attribute:
                return AttributeParts::are_shared(body) ? unsupported(H5MOTE_HERE, Feature::shared_message)
                                                        : Status::ok;
            default:
                return Status::ok;
        }
    }

    // Links or attributes in dense storage: those of a group that has links stay.
    Status look_at_dense(const DenseStorage& storage, bool links) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (const DenseChangesFormat* const format = file_.context.formats().dense_changes) {
                const DenseAddresses addresses{storage.heap, storage.name_index, storage.order_index};
                bool empty = true;
                if (links) {
                    H5MOTE_TRY(format->is_empty(file_, addresses, empty));
                }
                (links ? links_ : attributes_) = addresses;
                return empty ? Status::ok : file_.context.fail(Module::group, H5MOTE_HERE, Status::busy, 0, header_);
            }
        }
        return unsupported(H5MOTE_HERE, links ? Feature::dense_links : Feature::dense_attributes);
    }

    Status dispose_dense() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            for (const DenseAddresses& each : {links_, attributes_}) {
                if (each.heap != kUndefinedAddress) {
                    H5MOTE_TRY(file_.context.formats().dense_changes->dispose(file_, each, disposal_));
                }
            }
        }
        return Status::ok;
    }

    FileState& file_;
    Address header_;
    Disposal& disposal_;
    DenseAddresses links_;
    DenseAddresses attributes_;
};

H5MOTE_STEP Status dispose(FileState& file, Address header, bool rehearsal) noexcept {
    Disposal disposal(file, rehearsal);
    return Victim(file, header, disposal).dispose();
}

Status find(MessageIterator& message, std::string_view name, LinkMessage& link) noexcept {
    do {
        H5MOTE_TRY(message.next(MessageType::link));
    } while (!LinkMessage::has_name(message.body(), bytes_of(name)));
    return link.decode(message.file().context, message.file().shape(), message.body());
}

// Whether one link to the object may be removed; `gone`: that was the last one, and the object is deleted with it.
H5MOTE_STEP Status judge(FileState& file, Address object, bool& gone) noexcept {
    std::uint32_t count = 0;
    H5MOTE_TRY(reference_count(file, object, count));
    gone = count <= 1;
    if (!gone) {
        return Status::ok;
    }
    if (object == file.root()) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, object);
    }
    const FlushClient* const client = file.find_client(object);
    const bool used = (client != nullptr && !client->is_unused()) || file.mounted_at(object) != nullptr;
    return used ? file.context.fail(Module::group, H5MOTE_HERE, Status::busy, 1, object) : dispose(file, object, true);
}

struct Parting {
    bool hard = false;
    bool last = false;
    Address object = kUndefinedAddress;
};

// Whether the links of the group are in dense storage, which the program can change.
Status is_dense(FileState& file, Address group, bool& dense) noexcept {
    GroupStorage storage;
    dense = false;
    if (H5MOTE_ALL_FORMATS != 0 && file.context.formats().dense_changes != nullptr) {
        H5MOTE_TRY(storage.open(file, group));
        dense = storage.kind == LinkStorage::dense;
    }
    return Status::ok;
}

H5MOTE_STEP Status prepare(FileState& file, Address group, std::string_view name, Parting& parting) noexcept {
    bool dense = false;
    H5MOTE_TRY(is_dense(file, group, dense));
    if (dense) {
        StoredLink link;
        H5MOTE_TRY(find_stored_link(file, group, name, link));
        parting.hard = link.link.type == LinkType::hard;
        parting.object = link.link.address;
    } else {
        MessageIterator message(file, group);
        LinkMessage link;
        H5MOTE_TRY(find(message, name, link));
        parting.hard = link.type == LinkType::hard;
        parting.object = link.address;
    }
    return parting.hard ? judge(file, parting.object, parting.last) : Status::ok;
}

H5MOTE_STEP Status remove(FileState& file, Address group, std::string_view name) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bool dense = false;
        H5MOTE_TRY(is_dense(file, group, dense));
        if (dense) {
            return file.context.formats().dense_changes->remove_link(file, group, bytes_of(name));
        }
    }
    MessageIterator message(file, group);
    LinkMessage link;
    H5MOTE_TRY(find(message, name, link));
    return remove_message(message);
}

}  // namespace

// Earlier changes reach the storage first, so that an object that is renamed has its new link before it loses the old
// one.
Status Group::unlink(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    Address parent = 0;
    std::string_view name;
    H5MOTE_TRY(resolve_parent(file, address_, path, parent, name));
    H5MOTE_TRY(check_link_storage(file, parent));
    Parting parting;
    H5MOTE_TRY(prepare(file, parent, name, parting));
    if (parting.last) {
        // Once space was released, the file must no longer say that all its free space is recorded.
        H5MOTE_TRY(file.space.begin());
    }
    H5MOTE_TRY(file.order());
    H5MOTE_TRY(remove(file, parent, name));
    if (parting.last) {
        SpilledExtents::attach(file);
        // A dataset that nobody has open stays in memory if its last rows could not be stored. They are deleted with
        // it.
        if (FlushClient* const client = file.find_client(parting.object)) {
            (void)client->retire(false);
        }
        // After an error here some space of the file is lost, and no more.
        if (dispose(file, parting.object, false) != Status::ok) {
            file.space.free().set_complete(false);
        }
    } else if (parting.hard && file.order() == Status::ok) {
        // The link is gone. If the reference count cannot follow, it is too high, which harms nothing. What the storage
        // failed to write is written by the next flush, which returns any error.
        std::uint32_t count = 0;
        (void)change_reference_count(file, parting.object, -1, count);
    }
    return Status::ok;
}

}  // namespace h5mote
