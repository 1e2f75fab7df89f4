// Functions that are declared for their callers and not written yet.

#include "file_state.hpp"

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

namespace h5mote {

NamedDatatype::NamedDatatype(NamedDatatype&& other) noexcept
    : Object(static_cast<Object&&>(other)), bytes_(other.bytes_), size_(other.size_) {
    other.bytes_ = nullptr;
    other.size_ = 0;
}
NamedDatatype& NamedDatatype::operator=(NamedDatatype&& other) noexcept {
    if (this != &other) {
        close();
        Object::operator=(static_cast<Object&&>(other));
        bytes_ = other.bytes_;
        size_ = other.size_;
        other.bytes_ = nullptr;
        other.size_ = 0;
    }
    return *this;
}
void NamedDatatype::close() noexcept {
    if (bytes_ != nullptr) {
        file_->context.release(MemoryKind::type, bytes_, size_);
    }
    bytes_ = nullptr;
    size_ = 0;
    Object::close();
}
Result<NamedDatatype> NamedDatatype::from(Object&&) noexcept { return Status::unsupported; }

Status Object::type(ObjectType&) const noexcept { return Status::unsupported; }
Status Object::info(ObjectInfo&) const noexcept { return Status::unsupported; }
Status Object::comment(Span<char>, std::size_t&) const noexcept { return Status::unsupported; }
Status Object::reference_target(ReferenceType, ConstBytes, ReferenceTarget&) const noexcept {
    return Status::unsupported;
}
Result<Object> Object::open_reference(ReferenceType, ConstBytes) const noexcept { return Status::unsupported; }
Result<Attribute> Object::open_attribute_reference(ConstBytes) const noexcept { return Status::unsupported; }
Status Object::reference_region(ReferenceType, ConstBytes, Object&, SelectionSet&) const noexcept {
    return Status::unsupported;
}
Status Object::variable_size(ConstBytes, std::uint64_t&) const noexcept { return Status::unsupported; }
Status Object::read_variable(ConstBytes, std::uint64_t, Bytes) const noexcept { return Status::unsupported; }

Status File::info(FileInfo&) const noexcept { return Status::unsupported; }

}  // namespace h5mote

#endif
