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
    FileState::release(file_);
    file_ = nullptr;
}

bool Object::valid() const noexcept { return file_ != nullptr && file_->is_open(); }

Status Object::check() const noexcept { return valid() ? Status::ok : Status::invalid_handle; }

#if H5MOTE_ALL_FORMATS
Object Object::file_root() const noexcept { return valid() ? Object(*file_, file_->root()) : Object(); }
#endif

}  // namespace h5mote
