#include "links.hpp"
#include "place.hpp"

#include "text.hpp"

#include <h5mote/group.hpp>

namespace h5mote {

Result<Group> Group::create_group(std::string_view path, const GroupCreate& create) noexcept {
    const LibraryLock lock(context_of(file_));
    Address parent = 0;
    std::string_view name;
    Status status = check();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (status == Status::ok && create.max_compact < create.min_dense) {
            status = file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, create.min_dense);
        }
    }
    if (status == Status::ok) {
        status = prepare_link(*file_, address_, path, parent, name);
    }
    LinkMessage link;
    if (status == Status::ok) {
        status = create_header(*file_, GroupContent(create), link.address);
    }
    if (status != Status::ok) {
        return status;
    }
    link.name = bytes_of(name);
    status = insert_link(*file_, parent, link);
    if (status != Status::ok) {
        discard_fresh_block(*file_, link.address);
        return status;
    }
    return Group(*file_, link.address);
}

Result<Group> Group::open_group(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState* file = nullptr;
    Address header = kUndefinedAddress;
    H5MOTE_TRY(find_object(*file_, address_, path, file, header));
    ObjectType type = ObjectType::group;
    Status status = object_type(*file, header, type);
    if (status == Status::ok && type != ObjectType::group) {
        status = file->context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                    subject(Subject::object_type, static_cast<std::uint32_t>(type)));
    }
    if (status != Status::ok) {
        FileState::release(file);
        return status;
    }
    Group group(*file, header);
    FileState::release(file);
    return group;
}

Result<Group> Group::open_or_create_group(std::string_view path, const GroupCreate& create) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Group> opened = open_group(path);
    return opened.status() == Status::not_found ? create_group(path, create) : static_cast<Result<Group>&&>(opened);
}

Status Group::create_hard_link(std::string_view path, const Object& target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!target.valid() || !same_file(target)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    LinkMessage link;
    Address parent = 0;
    std::string_view name;
    H5MOTE_TRY(prepare_link(*file_, address_, path, parent, name));
    std::uint32_t count = 0;
    H5MOTE_TRY(change_reference_count(*file_, target.address(), 1, count));
    Status status = file_->order();
    if (status == Status::ok) {
        link.name = bytes_of(name);
        link.address = target.address();
        status = insert_link(*file_, parent, link);
    }
    if (status != Status::ok) {
        // Should this fail as well: a reference count that is too high does no harm.
        (void)change_reference_count(*file_, target.address(), -1, count);
    }
    return status;
}

Status Group::create_soft_link(std::string_view path, std::string_view target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    LinkMessage link;
    Address parent = 0;
    std::string_view name;
    H5MOTE_TRY(prepare_link(*file_, address_, path, parent, name));
    if (!is_name(target)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, target.size());
    }
    link.type = LinkType::soft;
    link.name = bytes_of(name);
    link.target = bytes_of(target);
    return insert_link(*file_, parent, link);
}

}  // namespace h5mote
