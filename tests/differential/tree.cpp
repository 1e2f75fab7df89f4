#include "tree.hpp"

#include "selection.hpp"

#include <algorithm>
#include <cstdio>

namespace differential {
namespace {

std::string hex(const std::byte* at, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 48); ++i) {
        char byte[3];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(at[i]));
        text += byte;
    }
    return text;
}

// Whether two types are equal, also if one is of the file and one of memory: a variable-length type has another size in
// memory than in a file, so libhdf5 normalizes both.
bool same_type(const Type& a, const Type& b) {
    return h5mote::equal(a.view(), b.view()) || h5mote::equal(Type(a.id()).view(), Type(b.id()).view());
}

struct Comparison {
    const Tree& model;
    const Tree& seen;
    const std::string& who;
    std::map<std::size_t, std::size_t> pairs = {};  // for each object of the model, the object of the file

    [[noreturn]] void fail(const std::string& path, const std::string& what) const {
        differ(who + ": " + (path.empty() ? "/" : path) + ": " + what);
    }
    void object(std::size_t mine, std::size_t theirs, const std::string& path);
    void values(const std::string& path, const Type& type, const Blob& expected, const Blob& known,
                const Blob& found) const;
    void type_object(std::size_t mine, std::size_t theirs, const std::string& path);
    void attributes(const ObjectValue& expected, const ObjectValue& found, const std::string& path);
    void links(const ObjectValue& expected, const ObjectValue& found, const std::string& path);
};

void Comparison::values(const std::string& path, const Type& type, const Blob& expected, const Blob& known,
                        const Blob& found) const {
    if (expected.size() != found.size()) {
        fail(path, "has " + std::to_string(found.size()) + " bytes instead of " + std::to_string(expected.size()));
    }
    if (h5mote::contains_class(type.view(), h5mote::TypeClass::variable_length)) {
        if (expected != found) {
            fail(path, "has other values of variable length");
        }
        return;
    }
    const std::size_t size = type.size();
    const Blob mask = significant_bytes(type.id());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::byte bits = mask[i % size] & (known.empty() ? std::byte{0xff} : known[i]);
        if (((expected[i] ^ found[i]) & bits) != std::byte{0}) {
            const std::size_t first = i - i % size;
            fail(path, "element " + std::to_string(i / size) + " byte " + std::to_string(i % size) + " is " +
                           hex(found.data() + first, size) + " instead of " + hex(expected.data() + first, size));
        }
    }
}

void Comparison::attributes(const ObjectValue& expected, const ObjectValue& found, const std::string& path) {
    if (expected.attributes_ordered != found.attributes_ordered && !(model.tracks_all && found.attributes_ordered)) {
        fail(path, expected.attributes_ordered ? "does not track the order of its attributes"
                                               : "tracks the order of its attributes");
    }
    for (const auto& [name, value] : expected.attributes) {
        const auto at = found.attributes.find(name);
        if (at == found.attributes.end()) {
            fail(path, "attribute " + name + " is missing");
        }
        if (!same_type(value.type, at->second.type) || !(value.extent == at->second.extent)) {
            fail(path, "attribute " + name + " has another type or extent");
        }
        values(path + "@" + name, value.type, value.values, {}, at->second.values);
        type_object(value.type_object, at->second.type_object, path + "@" + name);
    }
    for (const auto& entry : found.attributes) {
        if (expected.attributes.count(entry.first) == 0) {
            fail(path, "attribute " + entry.first + " should not be there");
        }
    }
    if (expected.attributes_ordered && expected.attribute_order != found.attribute_order) {
        fail(path, "attributes are in another order of creation");
    }
}

// Whether the committed datatypes of two values, or the lack of one, are the same.
void Comparison::type_object(std::size_t mine, std::size_t theirs, const std::string& path) {
    if ((mine == kNoObject) != (theirs == kNoObject)) {
        fail(path, mine == kNoObject ? "has a committed datatype" : "has no committed datatype");
    }
    if (mine != kNoObject) {
        object(mine, theirs, path + " type");
    }
}

void Comparison::links(const ObjectValue& expected, const ObjectValue& found, const std::string& path) {
    if (expected.ordered != found.ordered) {
        fail(path, expected.ordered ? "does not track the order of its links" : "tracks the order of its links");
    }
    for (const auto& entry : found.links) {
        if (expected.links.count(entry.first) == 0) {
            fail(path, "link " + entry.first + " should not be there");
        }
    }
    if (expected.ordered && expected.order != found.order) {
        fail(path, "links are in another order of creation");
    }
    for (const auto& [name, value] : expected.links) {
        const auto at = found.links.find(name);
        if (at == found.links.end()) {
            fail(path, "link " + name + " is missing");
        }
        if (value.soft != at->second.soft || value.path != at->second.path) {
            fail(path, "link " + name + " leads elsewhere");
        }
        if (!value.soft) {
            object(value.object, at->second.object, path + "/" + name);
        }
    }
}

void Comparison::object(std::size_t mine, std::size_t theirs, const std::string& path) {
    const auto [pair, fresh] = pairs.emplace(mine, theirs);
    if (!fresh) {
        if (pair->second != theirs) {
            fail(path, "leads to another object");
        }
        return;
    }
    const ObjectValue& expected = model.objects[mine];
    const ObjectValue& found = seen.objects[theirs];
    if (expected.kind != found.kind) {
        fail(path, "is another kind of object");
    }
    attributes(expected, found, path);
    if (expected.comment != found.comment) {
        fail(path, "has the comment " + found.comment + " instead of " + expected.comment);
    }
    if (expected.kind == ObjectValue::Kind::group) {
        links(expected, found, path);
        return;
    }
    if (expected.is_reference) {
        if (!found.is_reference || expected.references.size() != found.references.size()) {
            fail(path, "has other references");
        }
        for (std::size_t i = 0; i < expected.references.size(); ++i) {
            const std::size_t to = expected.references[i];
            if ((to == kNoObject) != (found.references[i] == kNoObject)) {
                fail(path, "reference " + std::to_string(i) + (to == kNoObject ? " leads somewhere" : " is null"));
            }
            if (to != kNoObject) {
                object(to, found.references[i], path + " reference " + std::to_string(i));
            }
        }
        if (expected.is_region != found.is_region || expected.regions.size() != found.regions.size()) {
            fail(path, "has references of another kind");
        }
        for (std::size_t i = 0; i < expected.regions.size(); ++i) {
            if (expected.regions[i] != found.regions[i]) {
                fail(path, "reference " + std::to_string(i) + " has " + std::to_string(found.regions[i].size()) +
                               " other elements than the " + std::to_string(expected.regions[i].size()) + " expected");
            }
        }
        return;
    }
    if (!same_type(expected.type, found.type)) {
        fail(path, "has type " + type_text(found.type.view()) + " instead of " + type_text(expected.type.view()));
    }
    if (expected.kind == ObjectValue::Kind::datatype) {
        return;
    }
    type_object(expected.type_object, found.type_object, path);
    if (!(expected.extent == found.extent)) {
        fail(path, "has extent " + text_of(found.extent.dims) + text_of(found.extent.max_dims) + " instead of " +
                       text_of(expected.extent.dims) + text_of(expected.extent.max_dims));
    }
    if (!expected.unknown) {
        values(path, expected.type, expected.values, expected.known, found.values);
    }
}

}  // namespace

Sizes marked(const Blob& marks) {
    Sizes elements;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (marks[i] != std::byte{0}) {
            elements.push_back(i);
        }
    }
    return elements;
}

std::string link_text(std::string_view file, std::string_view path) {
    return "external " + std::string(file) + " -> " + std::string(path);
}

std::string link_text(unsigned link_class, const std::byte* data, std::size_t size) {
    return "class " + std::to_string(link_class) + " " + std::to_string(size) + " " + hex(data, size);
}

std::uint64_t Extent::count() const noexcept { return space_class == h5mote::DataspaceClass::null ? 0 : volume(dims); }

h5mote::Dataspace Extent::dataspace() const noexcept {
    if (space_class == h5mote::DataspaceClass::null) {
        return h5mote::Dataspace::null();
    }
    return h5mote::Dataspace::simple(h5mote::Span<const std::uint64_t>(dims.data(), dims.size()),
                                     h5mote::Span<const std::uint64_t>(max_dims.data(), max_dims.size()));
}

Id Extent::id() const {
    if (space_class != h5mote::DataspaceClass::simple) {
        return DIFFERENTIAL_ID(H5Screate(space_class == h5mote::DataspaceClass::null ? H5S_NULL : H5S_SCALAR));
    }
    const std::vector<hsize_t> now(dims.begin(), dims.end());
    const std::vector<hsize_t> most(max_dims.begin(), max_dims.end());
    return DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()));
}

std::string Tree::path_of(std::size_t object) const {
    std::vector<std::string> paths(objects.size(), "?");
    paths[0] = "";
    std::vector<std::size_t> queue{0};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const auto& [name, link] : objects[queue[i]].links) {
            if (!link.soft && link.object != 0 && paths[link.object] == "?") {
                paths[link.object] = paths[queue[i]] + "/" + name;
                queue.push_back(link.object);
            }
        }
    }
    return paths[object];
}

std::size_t Tree::links_to(std::size_t object) const {
    std::size_t count = 0;
    for (const ObjectValue& group : objects) {
        for (const auto& entry : group.links) {
            count += !entry.second.soft && entry.second.object == object ? 1U : 0U;
        }
    }
    return count;
}

void compare(const Tree& model, const Tree& seen, const std::string& who) {
    Comparison comparison{model, seen, who};
    comparison.object(0, 0, "");
}

std::string say(h5mote::Library& library, h5mote::Status status) {
    std::string text = h5mote::to_string(status);
    for (std::size_t i = 0; i < std::min<std::size_t>(library.trail().size(), 3); ++i) {
        const h5mote::ErrorRecord record = library.trail().newest(i);
        const char* const source = h5mote::source_name(record);
        text += std::string(" (") + (source == nullptr ? "?" : source) + " " + std::to_string(record.line) + " " +
                h5mote::to_string(record.status) + " " + std::to_string(record.detail) + " " +
                std::to_string(record.value) + ")";
    }
    return text;
}

}  // namespace differential
