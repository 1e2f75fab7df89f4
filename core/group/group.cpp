#include "links.hpp"
#include "place.hpp"

#include "text.hpp"

#include <h5mote/group.hpp>

#include <cstring>

namespace h5mote {

Result<Group> Group::create_group(std::string_view path, const GroupCreate& create) noexcept {
    const LibraryLock lock(context_of(file_));
    LinkGroup parent;
    std::string_view name;
    Status status = check();
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (status == Status::ok && create.max_compact < create.min_dense) {
            status = file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, create.min_dense);
        }
    }
    if (status == Status::ok) {
        status = check_attributes(file_->context, create.attributes);
    }
    if (status == Status::ok) {
        status = prepare_link(*file_, address_, path, parent, name);
        if (FileState* const other = parent.other()) {
            return Group(*other, parent.address).create_group(name, create);
        }
    }
    LinkMessage link;
    if (status == Status::ok) {
        status = create_group_object(*file_, create, link.address);
    }
    if (status != Status::ok) {
        return status;
    }
    link.name = bytes_of(name);
    status = insert_link(*file_, parent.address, link);
    if (status != Status::ok) {
        discard_group_object(*file_, link.address);
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
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    if (!target.valid() || !same_file(target)) {
        // The path may lead to the file of the target.
        if (H5MOTE_ALL_FORMATS != 0 && target.valid()) {
            (void)prepare_link(*file_, address_, path, parent, name);
        }
        if (FileState* const other = parent.other()) {
            return parent.commit_change(Group(*other, parent.address).create_hard_link(name, target));
        }
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument);
    }
    const Status prepared = prepare_link(*file_, address_, path, parent, name);
    if (FileState* const other = parent.other()) {
        return parent.commit_change(Group(*other, parent.address).create_hard_link(name, target));
    }
    H5MOTE_TRY(prepared);
    H5MOTE_TRY(add_reference(*file_, target.address()));
    link.name = bytes_of(name);
    link.address = target.address();
    const Status status = insert_link(*file_, parent.address, link);
    if (status != Status::ok) {
        // Should this fail as well: a reference count that is too high does no harm.
        std::uint32_t count = 0;
        (void)change_reference_count(*file_, target.address(), -1, count);
    }
    return status;
}

Status Group::create_soft_link(std::string_view path, std::string_view target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    const Status prepared = prepare_link(*file_, address_, path, parent, name);
    if (FileState* const other = parent.other()) {
        return parent.commit_change(Group(*other, parent.address).create_soft_link(name, target));
    }
    H5MOTE_TRY(prepared);
    if (!is_name(target)) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, target.size());
    }
    link.type = LinkType::soft;
    link.name = bytes_of(name);
    link.target = bytes_of(target);
    return insert_link(*file_, parent.address, link);
}

namespace {

// The value of an external link in memory of its own: version and flags 1 | file name\0 | path\0. The path is stored
// without repeated and final '/'.
class ExternalTarget {
public:
    explicit ExternalTarget(Context& context) noexcept : context_(context) {}
    ExternalTarget(const ExternalTarget&) = delete;
    ExternalTarget& operator=(const ExternalTarget&) = delete;
    ~ExternalTarget() { context_.release(MemoryKind::other, text_, capacity_); }

    Status make(std::string_view file_name, std::string_view path) noexcept {
        capacity_ = 1 + file_name.size() + 1 + path.size() + 1;
        text_ = static_cast<char*>(context_.allocate(MemoryKind::other, capacity_));
        if (text_ == nullptr) {
            return Status::out_of_memory;
        }
        text_[0] = '\0';
        std::memcpy(text_ + 1, file_name.data(), file_name.size());
        char* const begin = text_ + 1 + file_name.size() + 1;
        begin[-1] = '\0';
        char* to = begin;
        for (const char c : path) {
            if (c != '/' || to == begin || to[-1] != '/') {
                *to++ = c;
            }
        }
        to -= to - begin > 1 && to[-1] == '/' ? 1 : 0;
        *to++ = '\0';
        length_ = static_cast<std::size_t>(to - text_);
        return Status::ok;
    }
    ConstBytes bytes() const noexcept { return bytes_of({text_, length_}); }

private:
    Context& context_;
    char* text_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t length_ = 0;
};

}  // namespace

Status Group::create_external_link(std::string_view path, std::string_view file_name,
                                   std::string_view target) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    const Status prepared = prepare_link(*file_, address_, path, parent, name);
    if (FileState* const other = parent.other()) {
        return parent.commit_change(Group(*other, parent.address).create_external_link(name, file_name, target));
    }
    H5MOTE_TRY(prepared);
    if (!is_name(file_name) || !is_name(target) || file_name.size() + target.size() > 0xffff - 3) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, target.size());
    }
    ExternalTarget value(file_->context);
    H5MOTE_TRY(value.make(file_name, target));
    link.type = LinkType::external;
    link.name = bytes_of(name);
    link.target = value.bytes();
    return insert_link(*file_, parent.address, link);
}

Status Group::create_user_link(std::string_view path, LinkType type, ConstBytes data) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    const Status prepared = prepare_link(*file_, address_, path, parent, name);
    if (FileState* const other = parent.other()) {
        return parent.commit_change(Group(*other, parent.address).create_user_link(name, type, data));
    }
    H5MOTE_TRY(prepared);
    if (type <= LinkType::external || data.size() > 0xffff) {
        return file_->context.fail(Module::group, H5MOTE_HERE, Status::invalid_argument, 0, data.size());
    }
    link.type = type;
    link.name = bytes_of(name);
    link.target = data;
    return insert_link(*file_, parent.address, link);
}

}  // namespace h5mote
