// H5G H5L - links in object headers: finding, adding, following paths.
#pragma once

#include "checked.hpp"
#include "header.hpp"

#include <h5mote/object.hpp>

#include <string_view>

namespace h5mote {

/// Tells what kind of object stands at `header`. corrupt_file: none that exists; unsupported: a symbol-table group.
H5MOTE_STEP Status object_type(FileState& file, Address header, ObjectType& type) noexcept;

/// Writes an empty group's messages.
class GroupContent final : public HeaderContent {
public:
    explicit GroupContent(bool track_order, bool with_times = false) noexcept : track_order_(track_order) {
        track_times = with_times;
    }
    void write(HeaderWriter& header) const noexcept override;

private:
    bool track_order_;
};

#if !H5MOTE_ALL_FORMATS
/// Moves to the next link of a group. not_found at the end; unsupported: dense storage.
Status next_link(MessageIterator& message, LinkMessage& link) noexcept;
/// Moves to the link of that name.
Status find_link(MessageIterator& message, std::string_view name, LinkMessage& link) noexcept;
#endif
/// Adds a link, whose order is set here if the group tracks it. The name is free: see prepare_link(). Nothing changes
/// when an error is returned.
H5MOTE_STEP Status insert_link(FileState& file, Address group, LinkMessage& link) noexcept;

/// Follows a path from a group to an object header. not_found; unsupported (external and user-defined links).
H5MOTE_STEP Status resolve(FileState& file, Address group, std::string_view path, Address& object) noexcept;
/// Follows all but the last part of a path, which is returned in `name`: where a new link goes. invalid_argument: the
/// path ends in nothing that can be a name.
Status resolve_parent(FileState& file, Address group, std::string_view path, Address& parent,
                      std::string_view& name) noexcept;
#if H5MOTE_ALL_FORMATS
/// unsupported: the group's links are not messages of its header, or the header is of version 1.
H5MOTE_STEP Status check_link_storage(FileState& file, Address group) noexcept;
#endif
/// The same before anything is made for a new link: already_exists when the name is taken.
H5MOTE_STEP Status prepare_link(FileState& file, Address group, std::string_view path, Address& parent,
                                std::string_view& name) noexcept;

}  // namespace h5mote
