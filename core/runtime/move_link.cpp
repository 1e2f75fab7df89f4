// H5L (H5Lmove, H5Lcopy) - links that get another name or place, or a copy.

#include "link_storage.hpp"
#include "links.hpp"
#include "text.hpp"

#include <h5mote/group.hpp>

namespace h5mote {
namespace {

// A link, with name and value in memory of its own, and the group that it goes to.
class Relocation {
public:
    explicit Relocation(FileState& file) noexcept : file_(file) {}

    /// Whether one of the paths leads to another file.
    bool leaves_file() const noexcept { return group_.other() != nullptr || target_.other() != nullptr; }

    /// Reads the link at the end of `path`. not_found.
    H5MOTE_STEP Status find(Address from, std::string_view path) noexcept {
        H5MOTE_TRY(file_.check_writable());
        H5MOTE_TRY(resolve_parent(file_, from, path, group_, name_));
        StoredLink stored;
        H5MOTE_TRY(find_stored_link(file_, group_.address, name_, stored));
        return source_.assign(file_.context, stored.link);
    }

    /// Checks that a link can be made at the end of `path`.
    H5MOTE_STEP Status prepare(Address from, std::string_view path) noexcept {
        std::string_view name;
        H5MOTE_TRY(prepare_link(file_, from, path, target_, name));
        link_.name = bytes_of(name);
        link_.type = source_.type();
        link_.address = source_.address();
        link_.target = source_.data();
        return Status::ok;
    }

    /// A copy of a hard link leads to an object that one more link has to be counted for, and before the link is there.
    Status insert() noexcept {
        const bool counted = link_.type == LinkType::hard;
        if (counted) {
            // The count of a version 1 header stands in its prefix: this refuses such an object.
            std::uint32_t links = 0;
            H5MOTE_TRY(reference_count(file_, link_.address, links));
            H5MOTE_TRY(add_reference(file_, link_.address));
        }
        const Status status = insert_link(file_, target_.address, link_);
        if (status != Status::ok && counted) {
            // Should this fail as well: a reference count that is too high does no harm.
            (void)count(-1);
        }
        return status;
    }

    Status move() noexcept {
        H5MOTE_TRY(check_link_storage(file_, group_.address));
        LinkStorage kind = LinkStorage::compact;
        H5MOTE_TRY(changeable_storage(file_, group_.address, kind));
        if (group_.address == target_.address && kind == LinkStorage::compact) {
            // One block changes. It must not come before the block that lost a link of the new name earlier.
            H5MOTE_TRY(file_.order());
            const Status status = replace_link(file_, group_.address, name_, link_);
            if (H5MOTE_ALL_FORMATS == 0 || (status != Status::unsupported && status != Status::over_budget)) {
                return status;
            }
            // The message is too short for what would have to take its place in a header that others have arranged, or
            // no message can have the new name. Dense storage can.
        }
        // If the old link cannot be removed, and the new one neither, both are counted.
        H5MOTE_TRY(insert());
        // The new link is on the storage before the old one goes.
        Status status = file_.order();
        if (status == Status::ok) {
            status = remove_link(file_, group_.address, name_);
        }
        const bool counted = link_.type == LinkType::hard;
        if (status != Status::ok) {
            const bool undone = remove_link(file_, target_.address, text_of(link_.name)) == Status::ok;
            if (undone && counted && file_.order() == Status::ok) {
                (void)count(-1);
            }
            return status;
        }
        // A storage that has failed once may go on with the next call.
        if (counted && (file_.order() == Status::ok || file_.order() == Status::ok)) {
            (void)count(-1);
        }
        return Status::ok;
    }

private:
    Status count(int change) noexcept {
        std::uint32_t now = 0;
        return change_reference_count(file_, link_.address, change, now);
    }

    FileState& file_;
    LinkGroup group_;
    LinkGroup target_;
    std::string_view name_;
    Link source_;
    LinkMessage link_;
};

}  // namespace

Status Group::move_link(std::string_view from, const Group& group, std::string_view to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!group.valid() || !same_file(group)) {
        return H5MOTE_ALL_FORMATS != 0 && group.valid()
                   ? relocate(from, group, to, &Group::move_link)
                   : file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    Relocation relocation(*file_);
    Status status = relocation.find(address_, from);
    status = status == Status::ok ? relocation.prepare(group.address_, to) : status;
    if (relocation.leaves_file()) {
        return relocate(from, group, to, &Group::move_link);
    }
    H5MOTE_TRY(status);
    return relocation.move();
}

Status Group::copy_link(std::string_view from, const Group& group, std::string_view to) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!group.valid() || !same_file(group)) {
        return H5MOTE_ALL_FORMATS != 0 && group.valid()
                   ? relocate(from, group, to, &Group::copy_link)
                   : file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    Relocation relocation(*file_);
    Status status = relocation.find(address_, from);
    status = status == Status::ok ? relocation.prepare(group.address_, to) : status;
    if (relocation.leaves_file()) {
        return relocate(from, group, to, &Group::copy_link);
    }
    H5MOTE_TRY(status);
    return relocation.insert();
}

// One of the paths, or both, may lead to another file. `call` is what both ends are then passed to.
Status Group::relocate(std::string_view from, const Group& group, std::string_view to, Relocate call) noexcept {
    LinkGroup source;
    LinkGroup target;
    std::string_view name;
    std::string_view new_name;
    Status status = resolve_parent(*file_, address_, from, source, name);
    if (status == Status::ok || source.other() != nullptr) {
        status = resolve_parent(*group.file_, group.address_, to, target, new_name);
    }
    if (status != Status::ok && target.other() == nullptr) {
        return status;
    }
    FileState& file = source.other() != nullptr ? *source.other() : *file_;
    if (&file != (target.other() != nullptr ? target.other() : group.file_)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    Group there(file, source.address);
    return file.commit_change((there.*call)(name, Group(file, target.address), new_name));
}

}  // namespace h5mote
