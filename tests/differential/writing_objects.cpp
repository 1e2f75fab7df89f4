// Whole objects: copies of them, and datasets of variable-length values, which are written as a whole.
#include "writing_run.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>

namespace differential {

Blob Values::flat() const {
    if (!is_variable(type_)) {
        return bytes_;
    }
    Blob flat;
    const std::size_t size = H5Tget_size(type_);
    for (std::size_t i = 0; i < bytes_.size(); i += size) {
        flatten(type_, bytes_.data() + i, flat);
    }
    return flat;
}

Type native_type(const Type& type) { return Type(DIFFERENTIAL_ID(H5Tget_native_type(type.id(), H5T_DIR_ASCEND))); }

#if H5MOTE_ALL_FORMATS

std::size_t Writing::copied(const Writing& from, std::size_t object, std::map<std::size_t, std::size_t>& copies) {
    const auto [at, fresh] = copies.emplace(object, model_.objects.size());
    const std::size_t copy = at->second;
    if (fresh) {
        const ObjectValue original = from.model_.objects[object];
        model_.objects.push_back(original);
        if (const auto fill = from.fills_.find(object); fill != from.fills_.end()) {
            const auto value = fill->second;
            fills_[copy] = value;
        }
        for (const auto& [name, link] : original.links) {
            if (!link.soft) {
                const std::size_t to = copied(from, link.object, copies);
                model_.objects[copy].links[name].object = to;
            }
        }
        if (original.type_object != kNoObject) {
            const std::size_t to = copied(from, original.type_object, copies);
            model_.objects[copy].type_object = to;
        }
        for (const auto& [name, attribute] : original.attributes) {
            if (attribute.type_object != kNoObject) {
                const std::size_t to = copied(from, attribute.type_object, copies);
                model_.objects[copy].attributes[name].type_object = to;
            }
        }
    }
    return copy;
}

void Writing::repack(const Blob& image) {
    using Version = FormatVersion;
    MallocAllocator heap;
    NullPort port;
    Library both(heap, port, writing_filters(), formats::all);
    MemoryDriver from = MemoryDriver::reading({image.data(), image.size()});
    GrowingMemoryDriver to(heap);
    FileAccess access;
    access.metadata_cache = 1 << 16;
    access.chunk_cache = 1 << 20;
    access.low = random_.pick({Version::standard, Version::earliest, Version::v18, Version::v110});
    access.opener = &shelf_;
    FileAccess reading = access;
    reading.read_only = true;
    tell("repack, versions from %d\n", static_cast<int>(access.low));
    {
        auto original = File::open(both, from, reading);
        auto copy = File::create(both, to, access, {});
        if (!original || !copy) {
            differ("repack: open: " + say(both, original ? copy.status() : original.status()));
        }
        CopyOptions options;
        options.buffer = random_.pick<std::size_t>({256, 4096, 65536});
        const Status status = copy_file(*original, *copy, options);
        if (status != Status::ok || copy->close() != Status::ok) {
            differ("repack: " + say(both, status));
        }
    }
    const ConstBytes bytes = to.contents();
    verify(Blob(bytes.begin(), bytes.end()), "the copy of the file");
}

namespace {

// Whether H5Ocopy would copy a committed datatype of eight bytes, such as that of a text. In a file of the oldest
// format libhdf5 1.10 gives the copy an object header that it cannot read any more when an attribute follows.
bool has_short_type(const ObjectValue& value) {
    const auto is_short = [](const Type& type, bool committed) { return committed && type.view().bytes().size() <= 8; };
    bool found = is_short(value.type, value.kind == ObjectValue::Kind::datatype || value.type_object != kNoObject);
    for (const auto& each : value.attributes) {
        found = found || is_short(each.second.type, each.second.type_object != kNoObject);
    }
    return found;
}

}  // namespace

std::size_t Writing::copy_size(std::size_t object, const Writing& to) const {
    constexpr std::size_t kMany = 100;
    std::size_t size = 0;
    std::vector<std::size_t> below{object};
    for (std::size_t i = 0; i < below.size(); ++i) {
        const ObjectValue& value = model_.objects[below[i]];
        for (const auto& [name, link] : value.links) {
            if (!link.soft && std::find(below.begin(), below.end(), link.object) == below.end()) {
                below.push_back(link.object);
            }
        }
        // The copies of external data and of the original are the same bytes; references are not followed.
        // The sources of a virtual dataset are those of its own file. With short addresses libhdf5 1.10 packs the
        // header of a group so much that it loses it when it adds a link: none of its messages, and not all together,
        // have room for a continuation.
        const bool packed = to.short_addresses_ && value.kind == ObjectValue::Kind::group;
        const bool unfit = packed || value.external || value.is_reference || (&to != this && !value.parts.empty()) ||
                           (bounds_.low == H5F_LIBVER_EARLIEST && has_short_type(value));
        size += unfit ? kMany : 1;
    }
    return size;
}

void Writing::copy_object(Writing& other, Random& random) {
    bool found = false;
    const bool between_files = &other != this;
    const std::size_t object = other.any_object(random, is_any, found);
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string from = other.model_.path_of(object);
    const std::string to = model_.path_of(parent) + "/" + name;
    // libhdf5 1.10 damages its file, or its memory, when it copies objects into a file in which it would make them with
    // other versions or other sizes. Within one file that happens to shared dataspaces.
    const bool alike = !exchanged_ && !other.exchanged_ && bounds_.low == other.bounds_.low;
    const bool shared_alike = !exchanged_ || !shares_messages_;
    // Not into itself, and not too often of much, so that files stay small.
    if (!everything_ || object == 0 || other.copy_size(object, *this) > 8 ||
        (between_files ? !alike : !shared_alike || (to + "/").rfind(from + "/", 0) == 0) ||
        model_.objects[parent].links.count(name) != 0) {
        return;
    }
    tell("copy_object %s%s to %s\n", between_files ? other.label_ : "", from.c_str(), to.c_str());
    Group source = other.session_->file.root();
    Group root = session_->file.root();
    CopyOptions options;
    options.buffer = random.pick<std::size_t>({512, 4096, 65536});
    if (!done(h5mote::copy_object(source, from, root, to, options), "copy_object")) {
        return;
    }
    // libhdf5 1.10 crashes when attributes in dense storage have values of variable length.
    const Alone alone;
    if (H5Ocopy(other.file_, from.c_str(), file_, to.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0) {
        // Its metadata cache still has a tag for an object that lay at the same address and was deleted.
        throw Spoiled{};
    }
    uncertain_ = uncertain_ || other.uncertain_ || other.counts_.refused != 0;
    renewed_ = renewed_ || other.renewed_ || other.was_disturbed_;
    // The copy of an object that tracks the order of its attributes does, too.
    model_.tracks_all = model_.tracks_all || other.model_.tracks_all;
    std::map<std::size_t, std::size_t> copies;
    const std::size_t copy = copied(other, object, copies);
    link(parent, name, {false, "", copy});
}

void Writing::commit_datatype(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    if (!everything_ || model_.objects[parent].links.count(name) != 0) {
        return;
    }
    TypeChoice choice;
    choice.depth = random.one_in(2) ? 0 : 3;
    const Type type(random_type(random, choice));
    const NewAttributes attributes(random, everything_);
    const std::string path = model_.path_of(parent) + "/" + name;
    tell("commit_datatype %s %s%s\n", path.c_str(), type_text(type.view()).c_str(), attributes.text().c_str());
    if (!done(session_->file.root().commit_datatype(path, type.view(), attributes).status(), "commit_datatype")) {
        return;
    }
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATATYPE_CREATE));
    attributes.set_list(list);
    DIFFERENTIAL_OK(H5Tcommit2(file_, path.c_str(), type.id(), H5P_DEFAULT, list, H5P_DEFAULT));
    ObjectValue& value = add_object(parent, name, ObjectValue::Kind::datatype);
    value.type = type;
    value.attributes_ordered = attributes.track_order;
}

void Writing::variable_length(Random& random) {
    if (!everything_) {
        return;
    }
    bool found = false;
    std::size_t object = any_object(random, is_variable_length, found);
    if (!found || random.one_in(3)) {
        const std::size_t parent = any_object(random, is_group, found);
        const std::string name = new_name(random);
        if (model_.objects[parent].links.count(name) != 0) {
            return;
        }
        TypeChoice choice;
        choice.depth = 2;
        choice.odd = false;  // the values in memory may use all bits
        choice.variable = true;
        Type type(random_type(random, choice));
        while (!contains_class(type.view(), TypeClass::variable_length)) {
            type = Type(random_type(random, choice));
        }
        Extent extent;
        extent.space_class = DataspaceClass::simple;
        extent.dims = {random.one_in(3) ? random.between(100, 300) : random.between(1, 40)};  // many fill a collection
        DatasetCreate create;
        const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
        const hsize_t chunk = random.between(1, extent.dims[0]);
        const bool chunked = random.one_in(2);
        extent.max_dims = chunked && random.one_in(2) ? Sizes{kUnlimited} : extent.dims;
        if (chunked) {
            create.chunk = {static_cast<std::uint32_t>(chunk)};
            DIFFERENTIAL_OK(H5Pset_chunk(list, 1, &chunk));
            if (random.one_in(2)) {
                create.filters = FilterList{filters::deflate};
                DIFFERENTIAL_OK(H5Pset_deflate(list, 6));
            }
        }
        const std::string path = model_.path_of(parent) + "/" + name;
        tell("create_dataset %s %s %s chunk %d\n", path.c_str(), type_text(type.view()).c_str(),
             text_of(extent.dims).c_str(), chunked ? static_cast<int>(chunk) : 0);
        auto made = session_->file.root().create_dataset(path, type.view(), extent.dataspace(), create);
        if (!done(made.status(), "create_dataset")) {
            return;
        }
        DIFFERENTIAL_ID(H5Dcreate2(file_, path.c_str(), type.id(), extent.id(), H5P_DEFAULT, list, H5P_DEFAULT));
        object = model_.objects.size();
        ObjectValue& value = add_object(parent, name, ObjectValue::Kind::dataset);
        value.type = type;
        value.extent = extent;
        const Type memory = native_type(type);
        const Id id = memory.id();
        const Blob nothing(memory.size());
        for (std::uint64_t i = 0; i < extent.count(); ++i) {
            flatten(id, nothing.data(), value.values);
        }
    }
    ObjectValue& value = model_.objects[object];
    const Type memory = native_type(value.type);
    // Once more: values take the place of others.
    for (std::uint64_t times = random.between(1, 3); times > 0; --times) {
        tell("write all of %s\n", model_.path_of(object).c_str());
        const Values held(random, memory, value.extent.count());
        Dataset* const to = dataset(object);
        value.unknown = to == nullptr || !done(to->write(Selection::all(), memory.view(), held.bytes()), "write");
        if (value.unknown) {
            continue;
        }
        DIFFERENTIAL_OK(
            H5Dwrite(other(object, file_), memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, held.bytes().data()));
        value.values = held.flat();
    }
}

#else

void Writing::repack(const Blob& /*image*/) {}
void Writing::copy_object(Writing& /*other*/, Random& /*random*/) {}
void Writing::variable_length(Random& /*random*/) {}
void Writing::commit_datatype(Random& /*random*/) {}

#endif

}  // namespace differential
