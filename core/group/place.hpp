// H5G (H5G_traverse) - following paths, across links of every kind, mounts and files.
#pragma once

#include "link_storage.hpp"

namespace h5mote {

/// An object and the file that it is in; holds a reference to that file.
class Place {
public:
    Place(FileState& file, Address header) noexcept : file_(&file), header_(header) { file.retain(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { FileState::release(file_); }

    FileState& file() const noexcept { return *file_; }
    Address header() const noexcept { return header_; }

    /// Goes to the object that the path leads to. not_found, with a record in the error trail of the part that is
    /// missing; also after more than 16 links that are not hard, so that circles of them end.
    H5MOTE_STEP Status follow(std::string_view path) noexcept;
    /// follow() without the record.
    H5MOTE_STEP Status look(std::string_view path) noexcept;
    /// Follows all of the path except its last part, which is returned in `name`. invalid_argument: the last part
    /// cannot be a name.
    Status follow_to_parent(std::string_view path, std::string_view& name) noexcept;

private:
    class Path;

    Status step(std::string_view part, Path& path) noexcept;
    Status leave_by(StoredLink& link, Path& path) noexcept;
    Status resolve_user_link(const StoredLink& link, Path& path) noexcept;
    void go_to_root() noexcept;
    void move(FileState& file, Address header) noexcept;
    void enter_mount() noexcept;

    FileState* file_;
    Address header_;
    unsigned links_ = 0;    // links followed that are not hard
    unsigned missing_ = 0;  // number of the part that is looked for, in the path or in the target of the last link
};

/// Follows a path from a group to an object, which may be in another file. The caller gets a reference to that file.
/// Errors of Place::follow().
H5MOTE_STEP Status find_object(FileState& from, Address group, std::string_view path, FileState*& file,
                               Address& header) noexcept;

/// Takes the last part off a path: what remains leads to the parent. false: it cannot be a name.
bool split_path(std::string_view path, std::string_view& parent, std::string_view& name) noexcept;

}  // namespace h5mote
