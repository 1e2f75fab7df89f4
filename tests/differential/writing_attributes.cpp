// Attributes: written, replaced, renamed, removed.
#include "writing_run.hpp"

#include <h5mote/named_datatype.hpp>

#include <algorithm>

namespace differential {
namespace {

bool has_attributes(const ObjectValue& value) { return !value.attributes.empty(); }

bool is_variable_length_type(const Type& type) { return contains_class(type.view(), TypeClass::variable_length); }

// An attribute whose value the model has in its stored form, and whose datatype is its own.
bool is_plain(const AttributeValue& value) {
    return value.type_object == kNoObject && !is_variable_length_type(value.type);
}

bool are_plain(const ObjectValue& value) {
    return std::all_of(value.attributes.begin(), value.attributes.end(),
                       [](const auto& each) { return is_plain(each.second); });
}

void create_libhdf5(hid_t object, const std::string& name, const AttributeValue& value, hid_t type, const void* data) {
    const Id attribute =
        DIFFERENTIAL_ID(H5Acreate2(object, name.c_str(), type, value.extent.id(), H5P_DEFAULT, H5P_DEFAULT));
    if (value.extent.count() != 0) {
        const Id memory = value.type.id();
        DIFFERENTIAL_OK(H5Awrite(attribute, memory, data));
    }
}

}  // namespace

static bool is_number(DatatypeView type) {
    return type.type_class() == TypeClass::integer || type.type_class() == TypeClass::floating;
}

AttributeValue Writing::new_attribute(Random& random) {
    AttributeValue made;
    bool found = false;
    const std::size_t committed = everything_ && random.one_in(4) ? any_object(random, is_datatype, found) : kNoObject;
    if (found) {
        made.type_object = committed;
        made.type = model_.objects[committed].type;
    } else {
        TypeChoice choice;
        choice.depth = 2;
        choice.variable = everything_ && random.one_in(3);
        made.type = Type(random_type(random, choice));
        if (is_variable_length_type(made.type)) {
            // write_attribute() takes sequences as they are in memory, and so it does the rest of the value.
            made.type = native_type(made.type);
        }
    }
    const std::uint64_t rank = random.below(3);
    made.extent.space_class = rank == 0
                                  ? random.pick({DataspaceClass::scalar, DataspaceClass::scalar, DataspaceClass::null})
                                  : DataspaceClass::simple;
    for (std::uint64_t d = 0; d < rank; ++d) {
        made.extent.dims.push_back(random.between(1, random.one_in(8) ? 30 : 3));
    }
    made.extent.max_dims = made.extent.dims;
    return made;
}

// Deletes attributes in the file of libhdf5.
//
// libhdf5 1.10 loses the message behind a null message when it moves all messages of a header to a new chunk, because
// none of them is large enough to give way to a continuation. What was just deleted leaves a null message in the middle
// of its list of messages; in a header that it has read from the file, a null message is the last. Therefore the file
// is opened again when the null messages of the header are too small for a continuation.
void Writing::delete_attributes(std::size_t object, const std::vector<std::string>& names) {
    constexpr hsize_t kContinuation = 32;  // with its prefix, and what aligns it
    H5O_info_t info;
    {
        const Id from = other(object, file_);
        for (const std::string& name : names) {
            DIFFERENTIAL_OK(H5Adelete(from, name.c_str()));
        }
        DIFFERENTIAL_OK(H5Oget_info2(from, &info, H5O_INFO_HDR));
    }
    if (info.hdr.space.free != 0 && info.hdr.space.free < kContinuation) {
        file_ = open_image(close_image(file_), bounds_);
    }
}

// h5mote keeps the creation order of an attribute that it replaces or renames. libhdf5, which cannot, makes all of them
// anew. `before`: the names that they have there.
void Writing::renew_attributes(std::size_t object, const std::vector<std::string>& before) {
    renewed_ = true;
    delete_attributes(object, before);
    const ObjectValue& value = model_.objects[object];
    const Id to = other(object, file_);
    for (const std::string& name : value.attribute_order) {
        const AttributeValue& each = value.attributes.at(name);
        create_libhdf5(to, name, each, each.type.id(), each.values.data());
    }
}

Status Writing::write_attribute(Object& object, const std::string& name, const AttributeValue& made, ConstBytes data,
                                bool any) {
    if (made.type_object == kNoObject) {
        return any ? object.replace_attribute(name, made.type.view(), made.extent.dataspace(), data)
                   : object.write_attribute(name, made.type.view(), made.extent.dataspace(), data);
    }
    auto opened = session_->file.root().open_object(model_.path_of(made.type_object));
    if (!opened) {
        return opened.status();
    }
    auto type = NamedDatatype::from(static_cast<Object&&>(*opened));
    return type ? object.write_attribute(name, *type, made.type.view(), made.extent.dataspace(), data) : type.status();
}

void Writing::attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_any, found);
    ObjectValue& value = model_.objects[object];
    const std::string name = "at" + std::to_string(random.below(14));
    const auto old = value.attributes.find(name);
    const bool exists = old != value.attributes.end();
    AttributeValue made = new_attribute(random);
    if (exists && random.one_in(2)) {
        made = old->second;
    }
    const bool plain = are_plain(value);
    // Nobody can open a datatype that has lost its links and is only used by attributes any more.
    const bool lost = made.type_object != kNoObject && model_.path_of(made.type_object) == "?";
    // libhdf5 1.10 crashes when it removes an attribute from the committed datatype that the attribute has.
    if (made.type_object == object) {
        return;
    }
    if (exists && (lost || made.type_object != old->second.type_object ||
                   (value.attributes_ordered && (!plain || !is_plain(made))))) {
        return remove_attribute(object, name);
    }
    const Values held(random, made.type, made.extent.count());
    made.values = held.flat();
    tell("attribute %s@%s %s %s%s\n", model_.path_of(object).c_str(), name.c_str(), type_text(made.type.view()).c_str(),
         text_of(made.extent.dims).c_str(),
         made.type_object == kNoObject ? "" : (" of type " + model_.path_of(made.type_object)).c_str());
    const bool same =
        exists && made.extent == old->second.extent && h5mote::equal(made.type.view(), old->second.type.view());
    // write_attribute() would convert other numbers to the type that is there, which has a unit test.
    const bool converts = exists && !same && is_number(made.type.view()) && is_number(old->second.type.view());
    const bool any = random.one_in(2) || converts;
    Object holder;
    Object* const opened = open_object(object, holder);
    if (opened == nullptr) {
        return;
    }
    const Status mismatch = exists && !same && !any ? Status::type_mismatch : Status::unsupported;
    if (!done(write_attribute(*opened, name, made, held.bytes(), any), "write_attribute", {mismatch})) {
        return;
    }
    value.attributes[name] = made;
    if (!exists) {
        value.attribute_order.push_back(name);
    }
    if (exists && value.attributes_ordered) {
        return renew_attributes(object, value.attribute_order);
    }
    if (exists) {
        delete_attributes(object, {name});
    }
    const Id to = other(object, file_);
    const Id type = made.type_object == kNoObject ? made.type.id() : other(made.type_object, file_);
    create_libhdf5(to, name, made, type, held.bytes().data());
}

void Writing::remove_attribute(std::size_t object, const std::string& name) {
    tell("remove_attribute %s@%s\n", model_.path_of(object).c_str(), name.c_str());
    Object holder;
    Object* const opened = open_object(object, holder);
    if (opened == nullptr || !done(opened->remove_attribute(name), "remove_attribute")) {
        return;
    }
    delete_attributes(object, {name});
    ObjectValue& value = model_.objects[object];
    value.attributes.erase(name);
    value.attribute_order.erase(std::find(value.attribute_order.begin(), value.attribute_order.end(), name));
}

void Writing::remove_attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, has_attributes, found);
    if (!found) {
        return;
    }
    const auto& attributes = model_.objects[object].attributes;
    auto at = attributes.begin();
    std::advance(at, random.below(attributes.size()));
    remove_attribute(object, std::string(at->first));
}

void Writing::rename_attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, has_attributes, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    auto at = value.attributes.begin();
    std::advance(at, random.below(value.attributes.size()));
    std::string name = "at" + std::to_string(random.below(12));
    name.append(random.one_in(4) ? random.below(60) : 0, '_');
    tell("rename_attribute %s@%s to %s\n", model_.path_of(object).c_str(), at->first.c_str(), name.c_str());
    // libhdf5 1.10 keeps the old attribute in the index by creation order, if it is in dense storage.
    const bool renew = value.attributes_ordered;
    Object held;
    Object* const opened = renew && !are_plain(value) ? nullptr : open_object(object, held);
    if (opened == nullptr) {
        return;
    }
    const bool exists = value.attributes.count(name) != 0 && name != at->first;
    const Status status = opened->rename_attribute(at->first, name);
    if (exists) {
        // libhdf5 1.10 refuses as well, but leaves the attribute twice in the heap of dense storage.
        return expect_exists(status, "rename_attribute");
    }
    if (!done(status, "rename_attribute")) {
        return;
    }
    if (!renew) {
        DIFFERENTIAL_OK(H5Arename(other(object, file_), at->first.c_str(), name.c_str()));
    }
    const std::vector<std::string> before = value.attribute_order;
    std::replace(value.attribute_order.begin(), value.attribute_order.end(), at->first, name);
    const AttributeValue moved = at->second;
    value.attributes.erase(at);
    value.attributes[name] = moved;
    if (renew) {
        renew_attributes(object, before);
    }
}

}  // namespace differential
