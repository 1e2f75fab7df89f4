// Files that lead to each other: by external links, virtual datasets, mounts.

#include "file_state.hpp"
#include "text.hpp"

namespace h5mote {

// The caller gets a reference to the other file. This file keeps none, so that external links in a circle do not keep
// their files open.
Status FileState::open_other(std::string_view name, OpenPurpose purpose, FileState*& file, bool writing) noexcept {
    DriverOpener* const opener = this->opener();
    if (opener == nullptr || foreign()->open_driver == nullptr) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::external_link);
    }
    Driver* other = nullptr;
    const Status opened = !names_other_file(name) ? Status::not_found
                          : writing               ? opener->open_to_write(storage(), name, purpose, other)
                                                  : opener->open(storage(), name, purpose, other);
    if (opened != Status::ok) {
        return context.fail(Module::file, H5MOTE_HERE, opened);
    }
    return take_driver(*opener, *other, writing, file);
}

// The file on a driver that the opener has given out, which the opener gets back if it is open already, or cannot be
// opened.
Status FileState::take_driver(DriverOpener& opener, Driver& other, bool writing, FileState*& file) noexcept {
    file = find_open(context, other);
    if (file != nullptr) {
        file->retain();
        opener.close(other);
        return Status::ok;
    }
    const Status status = foreign()->open_driver(*this, other, writing, file);
    if (status != Status::ok) {
        opener.close(other);
        return status;
    }
    file->foreign()->opened_by = &opener;
    return Status::ok;
}

Status FileState::open_linked(std::string_view name, FileState*& file) noexcept {
    constexpr OpenPurpose kPurpose = OpenPurpose::external_link;
    Driver* other = nullptr;
    if (writable() && opener() != nullptr && foreign()->open_driver != nullptr && names_other_file(name) &&
        opener()->open_to_write(storage(), name, kPurpose, other) == Status::ok) {
        const Status status = take_driver(*opener(), *other, true, file);
        if (status != Status::read_only && status != Status::busy && status != Status::unsupported) {
            return status;
        }
    }
    return open_other(name, kPurpose, file);
}

Status FileState::commit_opened() noexcept {
    const DriverOpener* const opener = this->opener();
    Status result = Status::ok;
    auto& files = context.open_files();
    for (FileState* file = opener == nullptr ? nullptr : files.front(); file != nullptr; file = files.next(*file)) {
        if (file != this && file->writable() && file->foreign()->opened_by == opener) {
            const Status status = file->commit();
            result = result == Status::ok ? status : result;
        }
    }
    return result;
}

void FileState::leave() noexcept {
    if (DriverOpener* const opener = foreign()->opened_by) {
        opener->close(storage());
    }
}

FileState* FileState::find_mounted(Address group) const noexcept {
    const Mount* mount = foreign()->mounts;
    while (mount != nullptr && mount->group != group) {
        mount = mount->next;
    }
    return mount == nullptr || !mount->file->is_open() ? nullptr : mount->file;
}

FileState& FileState::find_top() noexcept {
    FileState* file = this;
    while (file->foreign()->mounted_in != nullptr) {
        file = file->foreign()->mounted_in;
    }
    return *file;
}

Status FileState::mount(Address group, FileState& file) noexcept {
    if (foreign() == nullptr) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::external_link);
    }
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
    mount->next = foreign()->mounts;
    foreign()->mounts = mount;
    file.retain();
    file.foreign()->mounted_in = this;
    return Status::ok;
}

Status FileState::unmount_self() noexcept {
    if (!is_mounted()) {
        return context.fail(Module::file, H5MOTE_HERE, Status::not_found);
    }
    FileState& parent = *foreign()->mounted_in;
    const Mount* mount = parent.foreign()->mounts;
    while (mount->file != this) {
        mount = mount->next;
    }
    return parent.unmount(*mount);
}

// The program may have closed its handles of the mounted file, which stayed open for the mount only: it closes now, as
// its close degree says.
Status FileState::unmount(const Mount& gone) noexcept {
    Mount** link = &foreign()->mounts;
    while (*link != &gone) {
        link = &(*link)->next;
    }
    Mount* const mount = *link;
    *link = mount->next;
    FileState* const file = mount->file;
    file->foreign()->mounted_in = nullptr;
    context.destroy(MemoryKind::file, mount);
    const bool ends = file->handles_ == 0 && file->open_ && file->close_degree_ == CloseDegree::strong;
    const Status status = ends ? file->close() : Status::ok;
    release(file);
    return status;
}

void FileState::release_mounts() noexcept {
    while (foreign()->mounts != nullptr) {
        if (unmount(*foreign()->mounts) != Status::ok) {
            context.port().log("closing a file failed");
        }
    }
}

}  // namespace h5mote
