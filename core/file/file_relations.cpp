// Files that lead to each other: by external links, virtual datasets, mounts.

#include "file_state.hpp"
#include "text.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

// The caller gets a reference to the other file. This file keeps none, so that external links in a circle do not keep
// their files open.
Status FileState::open_other(std::string_view name, OpenPurpose purpose, FileState*& file) noexcept {
    DriverOpener* const opener = this->opener();
    if (opener == nullptr || open_driver == nullptr) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::external_link);
    }
    Driver* other = nullptr;
    const Status opened = names_other_file(name) ? opener->open(storage(), name, purpose, other) : Status::not_found;
    if (opened != Status::ok) {
        return context.fail(Module::file, H5MOTE_HERE, opened);
    }
    file = find_open(context, *other);
    if (file != nullptr) {
        file->retain();
        opener->close(*other);
        return Status::ok;
    }
    const Status status = open_driver(*this, *other, file);
    if (status != Status::ok) {
        opener->close(*other);
        return status;
    }
    file->opened_by_ = opener;
    return Status::ok;
}

void FileState::leave() noexcept {
    if (opened_by_ != nullptr) {
        opened_by_->close(storage());
    }
}

FileState* FileState::mounted_at(Address group) const noexcept {
    const Mount* mount = mounts_;
    while (mount != nullptr && mount->group != group) {
        mount = mount->next;
    }
    return mount == nullptr || !mount->file->is_open() ? nullptr : mount->file;
}

FileState& FileState::top() noexcept {
    FileState* file = this;
    while (file->mounted_in_ != nullptr) {
        file = file->mounted_in_;
    }
    return *file;
}

Status FileState::mount(Address group, FileState& file) noexcept {
    if (mounted_at(group) != nullptr || file.is_mounted()) {
        return context.fail(Module::file, H5MOTE_HERE, Status::already_exists);
    }
    if (&top() == &file) {
        return context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    auto* mount = context.create<Mount>(MemoryKind::file);
    if (mount == nullptr) {
        return Status::out_of_memory;
    }
    mount->group = group;
    mount->file = &file;
    mount->next = mounts_;
    mounts_ = mount;
    file.retain();
    file.mounted_in_ = this;
    return Status::ok;
}

Status FileState::unmount_self() noexcept {
    if (mounted_in_ == nullptr) {
        return context.fail(Module::file, H5MOTE_HERE, Status::not_found);
    }
    FileState& parent = *mounted_in_;
    const Mount* mount = parent.mounts_;
    while (mount->file != this) {
        mount = mount->next;
    }
    parent.unmount(*mount);
    return Status::ok;
}

void FileState::unmount(const Mount& gone) noexcept {
    Mount** link = &mounts_;
    while (*link != &gone) {
        link = &(*link)->next;
    }
    Mount* const mount = *link;
    *link = mount->next;
    mount->file->mounted_in_ = nullptr;
    release(mount->file);
    context.destroy(MemoryKind::file, mount);
}

void FileState::release_mounts() noexcept {
    while (mounts_ != nullptr) {
        unmount(*mounts_);
    }
}

}  // namespace h5mote

#endif
