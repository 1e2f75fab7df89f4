#include "equal_type.hpp"

#include "owned_bytes.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/dataset.hpp>
#include <h5mote/dataset_info.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote {

Status EqualType::search(Group& group) noexcept {
    if (found_ != kUndefinedAddress) {
        return Status::ok;
    }
    const Status status = group.visit(*this);
    return found_ != kUndefinedAddress ? Status::ok : status;
}

Status EqualType::search(Group& group, std::string_view path) noexcept {
    if (found_ != kUndefinedAddress) {
        return Status::ok;
    }
    Result<Object> there = group.open_object(path);
    if (!there) {
        return there.status() == Status::not_found ? Status::ok : there.status();
    }
    const Status status = object(path, *there);
    return found_ != kUndefinedAddress ? Status::ok : status;
}

// The visit ends with already_exists when a datatype is found. Links and mounts may lead into other files.
Status EqualType::object(std::string_view /*path*/, Object& object) noexcept {
    if (!object.same_file(file_)) {
        return Status::ok;
    }
    ObjectType kind;
    H5MOTE_TRY(object.type(kind));
    H5MOTE_TRY(compare(object, kind));
    H5MOTE_TRY(found_ == kUndefinedAddress ? compare_attributes(object) : Status::ok);
    return found_ == kUndefinedAddress ? Status::ok : Status::already_exists;
}

Status EqualType::compare(const Object& object, ObjectType kind) noexcept {
    if (kind == ObjectType::datatype) {
        const Result<NamedDatatype> named = NamedDatatype::from(object.duplicate());
        H5MOTE_TRY(named.status());
        compare((*named).type(), object.address());
    } else if (kind == ObjectType::dataset) {
        Result<Dataset> dataset = Dataset::from(object.duplicate());
        H5MOTE_TRY(dataset.status());
        DatasetInfo info;
        H5MOTE_TRY(dataset->info(info));
        if (info.type_object != kUndefinedAddress) {
            OwnedBytes bytes(context_);
            DatatypeView type;
            H5MOTE_TRY(bytes.reserve(info.type_length));
            H5MOTE_TRY(dataset->datatype(bytes.first(info.type_length), type));
            compare(type, info.type_object);
        }
        return dataset->close();
    }
    return Status::ok;
}

Status EqualType::compare_attributes(const Object& object) noexcept {
    AttributeIterator attributes(object);
    Attribute attribute;
    Status status = Status::ok;
    while (found_ == kUndefinedAddress && (status = attributes.next(attribute)) == Status::ok) {
        compare(attribute.type(), attribute.type_object());
    }
    return status == Status::not_found ? Status::ok : status;
}

void EqualType::compare(DatatypeView type, Address header) noexcept {
    if (header != kUndefinedAddress && equal(type, type_)) {
        found_ = header;
    }
}

}  // namespace h5mote
