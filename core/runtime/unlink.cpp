// H5L H5O - removing links, and the objects that no link leads to any more.

#include "committed_type.hpp"
#include "dataset_state.hpp"
#include "deletion.hpp"
#include "dense_changes.hpp"
#include "disposal.hpp"
#include "left_values.hpp"
#include "link_storage.hpp"
#include "links.hpp"
#include "shared_changes.hpp"
#include "spilled_extents.hpp"
#include "symbol_table_changes.hpp"
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
        // Only now, because the size of the dataset's elements stands in its datatype.
        if (!disposal_.rehearses()) {
            release_types();
        }
        H5MOTE_TRY(disposal_.rehearses() ? Status::ok : release_shared());
        H5MOTE_TRY(dispose_storage());
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
            dataset = dataset || message.type() == MessageType::layout;
            H5MOTE_TRY(look_at(message));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status look_at(MessageIterator& message) noexcept {
        Address type = kUndefinedAddress;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            H5MOTE_TRY(committed_type_of(message, type));
            types_ = types_ || type != kUndefinedAddress;
        } else if ((message.flags() & kMessageShared) != 0) {
            return unsupported(H5MOTE_HERE, Feature::shared_message);
        }
        const ConstBytes body = message.body();
        switch (message.type()) {
            case MessageType::link:
                return file_.context.fail(Module::group, H5MOTE_HERE, Status::busy, 0, header_);
            case MessageType::symbol_table:
                return look_at_symbols(body);
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
                return shared_changes(file_) == nullptr && type == kUndefinedAddress && AttributeParts::are_shared(body)
                           ? unsupported(H5MOTE_HERE, Feature::shared_message)
                           : Status::ok;
            default:
                return Status::ok;
        }
    }

    // The committed datatypes that the object uses are used once less. Their counts follow when the object is gone on
    // the storage; a count that cannot follow is too high, which harms nothing.
    void release_types() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (attributes_.heap != kUndefinedAddress) {
                (void)file_.context.formats().dense_changes->release_types(file_, header_);
            }
        }
        if (!types_ || file_.order() != Status::ok) {
            return;
        }
        MessageIterator message(file_, header_);
        while (message.next() == Status::ok) {
            Address type = kUndefinedAddress;
            if (committed_type_of(message, type) == Status::ok && type != kUndefinedAddress) {
                message.park();
                (void)release_committed_type(file_, type);
            }
        }
    }

    // The same for messages that other objects share. What disposed of the dataset needed them. After an error an index
    // may still lead to a message of this header: then the header stays, and reclaim() leaves it alone.
    Status release_shared() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (const SharedMessageChangesFormat* const format = shared_changes(file_)) {
                H5MOTE_TRY(file_.order());
                return format->release_all(file_, header_);
            }
        }
        return Status::ok;
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

    Status look_at_symbols(ConstBytes body) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (const SymbolTableChangesFormat* const format = file_.context.formats().symbol_table_changes) {
                bool empty = false;
                if (!symbols_.decode(file_.shape(), body)) {
                    return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, header_);
                }
                H5MOTE_TRY(format->is_empty(file_, symbols_, empty));
                return empty ? Status::ok : file_.context.fail(Module::group, H5MOTE_HERE, Status::busy, 0, header_);
            }
        }
        return unsupported(H5MOTE_HERE, Feature::symbol_table_group);
    }

    // Storage of links and attributes outside the header.
    Status dispose_storage() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (symbols_.btree != kUndefinedAddress) {
                H5MOTE_TRY(file_.context.formats().symbol_table_changes->dispose(file_, symbols_, disposal_));
            }
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
    bool types_ = false;  // the object uses committed datatypes
    DenseAddresses links_;
    DenseAddresses attributes_;
    SymbolTableMessage symbols_;
};

H5MOTE_STEP Status dispose(FileState& file, Address header, bool rehearsal) noexcept {
    Disposal disposal(file, rehearsal);
    return Victim(file, header, disposal).dispose();
}

// Gives up what a rehearsal has found good, after FileSpace::begin(). After an error some space of the file is lost,
// and no more. So is that of its values in the global heap, which nobody gives up: the file must not say then that all
// its free space is recorded.
H5MOTE_STEP Status give_up_object(FileState& file, Address header) noexcept {
    SpilledExtents::attach(file);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        file.foreign()->walks.end(header);
        if (file.space.free().is_complete() && leaves_values(file, header)) {
            file.space.free().set_complete(false);
        }
    }
    // A dataset that nobody has open stays in memory if its last rows could not be stored. They are deleted with it.
    if (FlushClient* const client = file.find_client(header)) {
        (void)client->retire(false);
    }
    const Status status = dispose(file, header, false);
    if (status != Status::ok) {
        file.space.free().set_complete(false);
    }
    return status;
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
    LinkStorage kind = LinkStorage::compact;
    bool hard = false;
    bool last = false;
    Address object = kUndefinedAddress;
};

H5MOTE_STEP Status prepare(FileState& file, Address group, std::string_view name, Parting& parting) noexcept {
    H5MOTE_TRY(changeable_storage(file, group, parting.kind));
    if (parting.kind != LinkStorage::compact) {
        StoredLink link;
        H5MOTE_TRY(find_stored_link(file, group, name, link));
        parting.hard = link.link.type == LinkType::hard;
        parting.object = link.link.address;
    } else {
        MessageIterator message(file, group);
        LinkMessage link;
        H5MOTE_TRY(find_link(message, name, link));
        parting.hard = link.type == LinkType::hard;
        parting.object = link.address;
    }
    return parting.hard ? judge(file, parting.object, parting.last) : Status::ok;
}

}  // namespace

// Earlier changes reach the storage first, so that an object that is renamed has its new link before it loses the old
// one.
Status Group::unlink(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    LinkGroup group;
    std::string_view name;
    const Status resolved = resolve_parent(file, address_, path, group, name);
    if (FileState* const other = group.other()) {
        return group.commit_change(Group(*other, group.address).unlink(name));
    }
    H5MOTE_TRY(resolved);
    const Address parent = group.address;
    H5MOTE_TRY(check_link_storage(file, parent));
    Parting parting;
    H5MOTE_TRY(prepare(file, parent, name, parting));
    if (parting.last) {
        // Once space was released, the file must no longer say that all its free space is recorded.
        H5MOTE_TRY(file.space.begin());
    }
    H5MOTE_TRY(file.begin_removal(parent, parting.kind == LinkStorage::dense));
    H5MOTE_TRY(remove_link(file, parent, name));
    if (parting.last) {
        (void)give_up_object(file, parting.object);
    } else if (parting.hard && file.order() == Status::ok) {
        // The link is gone. If the reference count cannot follow, it is too high, which harms nothing. What the storage
        // failed to write is written by the next flush, which returns any error.
        std::uint32_t count = 0;
        (void)change_reference_count(file, parting.object, -1, count);
    }
    file.end_removal(parent);
    return Status::ok;
}

Status Group::unlink(std::string_view path, IndexOrder order, Direction direction, std::uint64_t position) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Group> group = open_group(path);
    H5MOTE_TRY(group.status());
    Link link;
    {
        LinkIterator links(*group, order, direction);
        do {
            H5MOTE_TRY(links.next(link));
        } while (position-- > 0);
    }
    return group->unlink(link.name());
}

Status delete_unlinked(FileState& file, Address object) noexcept {
    H5MOTE_TRY(dispose(file, object, true));
    H5MOTE_TRY(file.space.begin());
    return give_up_object(file, object);
}

}  // namespace h5mote
