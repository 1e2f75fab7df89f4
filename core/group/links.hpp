// H5G H5L - links in object headers: finding, adding, following paths.
#pragma once

#include "checked.hpp"
#include "header.hpp"

#include <h5mote/group.hpp>

#include <string_view>
#include <type_traits>

namespace h5mote {

/// Tells what kind of object has its header at `header`. corrupt_file: none that exists. unsupported: a symbol-table
/// group, in a build that does not read all formats.
H5MOTE_STEP Status object_type(FileState& file, Address header, ObjectType& type) noexcept;

/// Writes an empty group's messages.
class GroupContent final : public HeaderContent {
public:
    explicit GroupContent(const GroupCreate& create) noexcept : create_(create) {
        track_times = create.track_times;
        attributes = create.attributes;
    }
    void write(HeaderWriter& header) const noexcept override;

private:
    const GroupCreate& create_;
};

/// Makes an empty group with a symbol table, to which no link leads. unsupported: the program cannot make symbol
/// tables.
H5MOTE_STEP Status create_symbol_table_group(FileState& file, const GroupCreate& create, Address& header) noexcept;
/// Gives up the symbol table of such a group, if it has one, before discard_fresh_block() gives up the header.
void discard_symbol_table(FileState& file, Address header) noexcept;

/// Makes an empty group to which no link leads, with messages for its links or, if the file's lower bound is the
/// earliest one, with a symbol table; a group that tracks the order of its links cannot have one. unsupported: the
/// program cannot make symbol tables.
inline Status create_group_object(FileState& file, const GroupCreate& create, Address& header) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (file.low() == FormatVersion::earliest && !create.track_link_order) {
            return create_symbol_table_group(file, create, header);
        }
    }
    return create_header(file, GroupContent(create), header);
}
/// Undoes create_group_object().
inline void discard_group_object(FileState& file, Address header) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        discard_symbol_table(file, header);
    }
    discard_fresh_block(file, header);
}

/// Adds a link. Its creation order is set here if the group tracks it and the link has none. prepare_link() must have
/// found that the name is free. When an error is returned there is no new link, but a creation order may have been used
/// up.
H5MOTE_STEP Status insert_link(FileState& file, Address group, LinkMessage& link) noexcept;

/// Lets the next link of a group have at least the creation order `next`, if the group tracks it.
Status raise_link_order(FileState& file, Address group, std::uint64_t next) noexcept;

/// Where the group has its links. LinkStorage::compact also for all that the program has no part to change.
Status changeable_storage(FileState& file, Address group, LinkStorage& kind) noexcept;

/// Finds the message of the link `name` in the group's header, with a new iterator, and decodes it. not_found.
Status find_link(MessageIterator& message, std::string_view name, LinkMessage& link) noexcept;
/// Puts `link` in the place of the link `name`: both names in one group whose links are messages of its header. The
/// storage has the old link or the new one. The creation order is set as in insert_link(), also of a link that is
/// refused, which insert_link() then gives no other. prepare_link() must have found that the new name is free. Call
/// FileState::order() before. Errors as for insert_link(); unsupported: the old message is too short for what would
/// have to take its place.
H5MOTE_STEP Status replace_link(FileState& file, Address group, std::string_view name, LinkMessage& link) noexcept;
/// Removes the link `name`, wherever the group keeps it, and nothing of what it leads to.
H5MOTE_STEP Status remove_link(FileState& file, Address group, std::string_view name) noexcept;

/// Holds a reference to the file that a path has led to, if that is another one than where the path begins.
class OtherFile {
public:
    OtherFile() = default;
    OtherFile(const OtherFile&) = delete;
    OtherFile& operator=(const OtherFile&) = delete;
    ~OtherFile() { FileState::release(file_); }

    FileState* other() const noexcept { return file_; }
    void set_other(FileState& file) noexcept {
        file.retain();
        FileState::release(file_);
        file_ = &file;
    }
    /// FileState::commit_change() of that file.
    Status commit_change(Status status) noexcept { return file_->commit_change(status); }

private:
    FileState* file_ = nullptr;
};

/// Takes its place in builds that follow no path into another file.
class NoOtherFile {
public:
    static constexpr FileState* other() noexcept { return nullptr; }
    static void set_other(FileState& /*file*/) noexcept {}
    static Status commit_change(Status status) noexcept { return status; }
};

/// The group that has, or gets, the link at the end of a path.
struct LinkGroup : std::conditional_t<H5MOTE_ALL_FORMATS != 0, OtherFile, NoOtherFile> {
    Address address = 0;
};

/// Follows all but the last part of a path, to the group that a new link goes into. The last part is returned in
/// `name`. invalid_argument: it cannot be a name. not_found. unsupported: the path follows a user-defined link that
/// nobody resolves. Builds that do not read all formats refuse every external or user-defined link.
///
/// If the path leads to another file, through an external link or a mount, the result is `unsupported`, without a
/// record in the error trail, and `parent.other()` is that file: the caller begins anew, with `name` in that group of
/// that file. As long as `parent` exists the file stays open.
Status resolve_parent(FileState& file, Address group, std::string_view path, LinkGroup& parent,
                      std::string_view& name) noexcept;
/// Checks that links can be added to the group. unsupported: the program cannot change the storage that its links have.
H5MOTE_STEP Status check_link_storage(FileState& file, Address group) noexcept;
/// resolve_parent(), and checks that a link of that name can be added. Call before anything is made for a new link.
/// already_exists: the name is taken. Errors of FileState::check_writable() and check_link_storage().
H5MOTE_STEP Status prepare_link(FileState& file, Address group, std::string_view path, LinkGroup& parent,
                                std::string_view& name) noexcept;

}  // namespace h5mote
