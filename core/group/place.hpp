// H5G_traverse - where a path leads, across links of every kind, mounts and files.
#pragma once

#include "link_storage.hpp"

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// An object in whatever file; holds a reference to that file.
class Place {
public:
    Place(FileState& file, Address header) noexcept : file_(&file), header_(header) { file.retain(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { FileState::release(file_); }

    FileState& file() const noexcept { return *file_; }
    Address header() const noexcept { return header_; }

    /// Goes where the path leads. not_found, with a record of the part that is missing; also after too many links that
    /// are not hard (16), so that circles of them end.
    H5MOTE_STEP Status follow(std::string_view path) noexcept;
    /// The same without a record.
    H5MOTE_STEP Status look(std::string_view path) noexcept;
    /// Goes along all of the path but its last part, which is returned in `name`. invalid_argument: it ends in nothing
    /// that can be a name.
    Status follow_to_parent(std::string_view path, std::string_view& name) noexcept;

private:
    struct Target;
    class Path;

    Status step(std::string_view part, Path& path) noexcept;
    Status leave_by(StoredLink& link, Path& path) noexcept;
    Status resolve_user_link(const StoredLink& link, Path& path) noexcept;
    void go_to_root() noexcept;
    void move(FileState& file, Address header) noexcept;
    void enter_mount() noexcept;

    FileState* file_;
    Address header_;
    unsigned links_ = 0;    // followed that are not hard
    unsigned missing_ = 0;  // part of the path, or of what a link leads to, that is looked for
};

/// Takes the last part off a path: what remains leads to the parent. false: it cannot be a name.
bool split_path(std::string_view path, std::string_view& parent, std::string_view& name) noexcept;

#endif

}  // namespace h5mote
