// H5L (H5Ldelete of a group with links) - everything below a group is removed link by link.

#include "links.hpp"
#include "owned_bytes.hpp"

#include <h5mote/group.hpp>

namespace h5mote {
namespace {

// If the link is the last one to a group that has links, `below` becomes that group, and `first` its first link.
H5MOTE_STEP Status look(Group& from, std::string_view path, Link& first, Address& below) noexcept {
    Link link;
    H5MOTE_TRY(from.find_link(path, link));
    if (link.type() != LinkType::hard) {
        return Status::ok;
    }
    Result<Object> object = from.open_object_at(link.address());
    H5MOTE_TRY(object.status());
    ObjectInfo info;
    H5MOTE_TRY((*object).info(info, false));
    if (info.type != ObjectType::group || info.reference_count > 1) {
        return Status::ok;
    }
    const Result<Group> group = Group::from(static_cast<Object&&>(*object));
    H5MOTE_TRY(group.status());
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        GroupInfo facts;
        H5MOTE_TRY((*group).group_info(facts));
        if (facts.mounted) {
            return Status::ok;  // paths to what is below lead to the file that is mounted there
        }
    }
    LinkIterator links(*group);
    const Status status = links.next(first);
    if (status == Status::ok) {
        below = link.address();
    }
    return status == Status::not_found ? Status::ok : status;
}

// In damaged files a name can lead to the group itself, or be none that a path can have.
bool is_name(std::string_view name) noexcept {
    return !name.empty() && name != "." && name.find('/') == std::string_view::npos;
}

// Tells a path that goes round in circles, as links of damaged files can, from one that is long: each group is compared
// with the one that was met at the last step whose number is a power of two.
class Circle {
public:
    bool closes(Address group) noexcept {
        if (group == known_) {
            return true;
        }
        if (++steps_ == last_) {
            known_ = group;
            last_ *= 2;
        }
        return false;
    }

private:
    Address known_ = kUndefinedAddress;
    std::uint32_t steps_ = 0;
    std::uint32_t last_ = 1;
};

}  // namespace

// The path of the link at hand is all that is remembered: a tree of any depth takes the memory of its longest path.
Status Group::unlink_tree(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // What is below is found by addresses, which are those of one file.
        LinkGroup parent;
        std::string_view name;
        const Status resolved = resolve_parent(*file_, address_, path, parent, name);
        if (FileState* const other = parent.other()) {
            return parent.commit_change(Group(*other, parent.address).unlink_tree(name));
        }
        H5MOTE_TRY(resolved);
    }
    OwnedText text(file_->context);
    H5MOTE_TRY(text.set(0, path));
    Circle circle;
    for (;;) {
        const std::string_view now = text.view();
        Link first;
        Address below = kUndefinedAddress;
        H5MOTE_TRY(look(*this, now, first, below));
        if (below != kUndefinedAddress) {
            if (!is_name(first.name()) || circle.closes(below)) {
                return file_->context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file, 0, below);
            }
            H5MOTE_TRY(text.set(now.size(), "/"));
            H5MOTE_TRY(text.set(text.view().size(), first.name()));
            continue;
        }
        H5MOTE_TRY(unlink(now));
        if (now.size() == path.size()) {
            return Status::ok;
        }
        H5MOTE_TRY(text.set(now.rfind('/'), {}));
        circle = {};
    }
}

}  // namespace h5mote
