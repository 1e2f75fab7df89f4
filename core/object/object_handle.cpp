#include "header.hpp"

#include <h5mote/object.hpp>

namespace h5mote {

Object::Object(FileState& file, Address address) noexcept : file_(&file), address_(address) { file.retain(); }

Object& Object::operator=(Object&& other) noexcept {
    if (this != &other) {
        close();
        file_ = other.file_;
        address_ = other.address_;
        other.file_ = nullptr;
    }
    return *this;
}

void Object::close() noexcept {
    const LibraryLock lock(context_of(file_));
    FileState::release(file_);
    file_ = nullptr;
}

bool Object::valid() const noexcept {
    const LibraryLock lock(context_of(file_));
    return check() == Status::ok;
}

Status Object::check() const noexcept {
    return file_ != nullptr && file_->is_open() ? Status::ok : Status::invalid_handle;
}

Context* Object::library() const noexcept { return context_of(file_); }

Object Object::file_root() const noexcept {
    const LibraryLock lock(context_of(file_));
    return check() == Status::ok ? Object(*file_, file_->root()) : Object();
}

Object Object::duplicate() const noexcept {
    const LibraryLock lock(context_of(file_));
    return file_ == nullptr ? Object() : Object(*file_, address_);
}

}  // namespace h5mote
