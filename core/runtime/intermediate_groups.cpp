// H5G (H5Pset_create_intermediate_group) - creates every group of a path that is missing.

#include "file_state.hpp"

#include <h5mote/group.hpp>

namespace h5mote {

Result<Group> Group::open_or_create_groups(std::string_view path, const GroupCreate& create) noexcept {
    const LibraryLock lock(context_of(file_));
    std::size_t created = 0;  // length of the path of the uppermost group that is new
    std::size_t end = 0;
    for (;;) {
        while (end < path.size() && path[end] == '/') {
            ++end;
        }
        while (end < path.size() && path[end] != '/') {
            ++end;
        }
        const std::string_view upper = path.substr(0, end);
        Result<Group> group = open_group(upper);
        if (group.status() == Status::not_found) {
            group = create_group(upper, create);
            created = created == 0 && group.status() == Status::ok ? end : created;
        }
        if (group.status() != Status::ok && created != 0) {
            (void)unlink_tree(path.substr(0, created));  // should this fail as well: empty groups do no harm
        }
        if (group.status() != Status::ok || end == path.size()) {
            return group;
        }
    }
}

}  // namespace h5mote
