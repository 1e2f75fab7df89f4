#include "links.hpp"

#include "text.hpp"

#include <h5mote/group.hpp>

namespace h5mote {
#if !H5MOTE_ALL_FORMATS
namespace {

Status copy_text(FileState& file, ConstBytes from, Span<char> to, std::size_t& length) noexcept {
    length = from.size();
    if (to.data() == nullptr || length == 0) {
        return Status::ok;
    }
    if (length > to.size()) {
        return file.context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, length);
    }
    std::memcpy(to.data(), from.data(), length);
    return Status::ok;
}

}  // namespace
#endif

Result<Group> Group::create_group(std::string_view path, const GroupCreate& create) noexcept {
    const LibraryLock lock(context_of(file_));
    Address parent = 0;
    std::string_view name;
    Status status = check();
    if (status == Status::ok) {
        status = prepare_link(*file_, address_, path, parent, name);
    }
    LinkMessage link;
    if (status == Status::ok) {
        status = create_header(*file_, GroupContent(create.track_link_order, create.track_times), link.address);
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

#if H5MOTE_ALL_FORMATS
Result<Group> Group::open_group(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Object> object = open_object(path);
    if (!object) {
        return object.status();
    }
    return from(static_cast<Object&&>(*object));
}
#else
Result<Group> Group::open_group(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    Address object = 0;
    ObjectType type = ObjectType::group;
    Status status = check();
    if (status == Status::ok) {
        status = resolve(*file_, address_, path, object);
    }
    if (status == Status::ok) {
        status = object_type(*file_, object, type);
    }
    if (status == Status::ok && type != ObjectType::group) {
        status = file_->context.fail(Module::group, H5MOTE_HERE, Status::not_found,
                                     subject(Subject::object_type, static_cast<std::uint32_t>(type)));
    }
    if (status != Status::ok) {
        return status;
    }
    return Group(*file_, object);
}
#endif

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
    link.type = LinkMessage::Type::soft;
    link.name = bytes_of(name);
    link.target = bytes_of(target);
    return insert_link(*file_, parent, link);
}

#if !H5MOTE_ALL_FORMATS

bool Group::exists(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    Address object = 0;
    return check() == Status::ok && resolve(*file_, address_, path, object) == Status::ok;
}

Status Group::link_count(std::uint32_t& count) noexcept {
    const LibraryLock lock(context_of(file_));
    count = 0;
    H5MOTE_TRY(check());
    MessageIterator message(*file_, address_);
    LinkMessage link;
    Status status;
    while ((status = next_link(message, link)) == Status::ok) {
        ++count;
    }
    return status == Status::not_found ? Status::ok : status;
}

Status Group::link(std::uint32_t i, LinkInfo& info, Span<char> name, Span<char> target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    MessageIterator message(*file_, address_);
    LinkMessage link;
    do {
        H5MOTE_TRY(next_link(message, link));
    } while (i-- > 0);
    info.type = static_cast<LinkType>(link.type);
    info.has_order = link.has_order;
    info.order = link.order;
    info.address = link.address;
    H5MOTE_TRY(copy_text(*file_, link.name, name, info.name_length));
    return copy_text(*file_, link.target, target, info.target_length);
}

#endif

}  // namespace h5mote
