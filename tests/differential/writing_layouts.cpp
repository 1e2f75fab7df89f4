// Datasets whose data stand elsewhere: in external files, in other datasets, and as references to other objects.
#include "writing_run.hpp"

#include <h5mote/encoded_type.hpp>

#include <algorithm>
#include <numeric>

#include <unistd.h>

namespace differential {

Status Shelf::open(const Driver& /*parent*/, std::string_view name, OpenPurpose /*purpose*/, Driver*& driver) noexcept {
    const auto found = files_.find(name);
    driver = found == files_.end() ? nullptr : found->second.get();
    return driver == nullptr ? Status::not_found : Status::ok;
}

Status Shelf::open_to_write(const Driver& parent, std::string_view name, OpenPurpose purpose,
                            Driver*& driver) noexcept {
    if (purpose != OpenPurpose::external_data) {
        return open(parent, name, purpose, driver);
    }
    auto& file = files_[std::string(name)];
    if (file == nullptr) {
        file = std::make_unique<GrowingMemoryDriver>(heap_);
    }
    driver = file.get();
    return Status::ok;
}

#if H5MOTE_ALL_FORMATS

namespace {

bool is_fixed(const ObjectValue& value) {
    return has_elements(value) && value.parts.empty() && !value.extent.dims.empty() &&
           value.extent.dims == value.extent.max_dims && value.extent.count() != 0;
}
bool is_virtual(const ObjectValue& value) { return !value.parts.empty(); }
bool is_reference(const ObjectValue& value) { return value.is_reference; }

}  // namespace

void Writing::pin(std::size_t object) {
    const std::string path = model_.path_of(object);
    pinned_.insert(path);
}

bool Writing::is_pinned(const std::string& path) const {
    return std::any_of(pinned_.begin(), pinned_.end(),
                       [&](const std::string& each) { return (each + "/").rfind(path + "/", 0) == 0; });
}

ObjectValue& Writing::add_dataset(std::size_t parent, const std::string& name, const Type& type, const Extent& extent) {
    ObjectValue& value = add_object(parent, name, ObjectValue::Kind::dataset);
    value.type = type;
    value.extent = extent;
    value.values.resize(extent.count() * type.size());
    value.known.assign(value.values.size(), std::byte{0xff});
    fills_[model_.objects.size() - 1] = {Blob(type.size()), std::byte{0xff}};
    return value;
}

void Writing::external(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    if (!everything_ || model_.objects[parent].links.count(name) != 0) {
        return;
    }
    TypeChoice choice;
    choice.depth = random.one_in(2) ? 0 : 3;
    const Type type(random_type(random, choice));
    Extent extent;
    extent.space_class = DataspaceClass::simple;
    extent.dims = {random.between(1, 60)};
    extent.max_dims = extent.dims;
    const std::uint64_t bytes = extent.count() * type.size();
    DatasetCreate create;
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    std::vector<std::string> names;
    std::vector<NewExternalFile> files;
    std::uint64_t left = bytes;
    const std::uint64_t count = random.between(1, 3);
    names.reserve(count);
    static unsigned number = 0;  // all files that are open have theirs in one directory
    for (std::uint64_t i = 0; i < count; ++i) {
        names.push_back("differential." + std::to_string(::getpid()) + ".external" + std::to_string(number++));
        const std::uint64_t size = i + 1 == count ? (random.one_in(2) ? kUnlimited : std::max<std::uint64_t>(left, 1))
                                                  : random.between(1, bytes);
        files.push_back({names.back(), random.below(20), size});
        left -= std::min(left, size);
        DIFFERENTIAL_OK(H5Pset_external(list, names.back().c_str(), static_cast<off_t>(files.back().offset), size));
    }
    create.external = {files.data(), files.size()};
    const std::string path = model_.path_of(parent) + "/" + name;
    tell("create_dataset %s %s %s in %zu external files\n", path.c_str(), type_text(type.view()).c_str(),
         text_of(extent.dims).c_str(), files.size());
    auto made = session_->file.root().create_dataset(path, type.view(), extent.dataspace(), create);
    if (!done(made.status(), "create_dataset")) {
        return;
    }
    const Id theirs =
        DIFFERENTIAL_ID(H5Dcreate2(file_, path.c_str(), type.id(), extent.id(), H5P_DEFAULT, list, H5P_DEFAULT));
    ObjectValue& value = add_dataset(parent, name, type, extent);
    value.external = true;
    value.values = random_values(random, type.id(), extent.count());
    calm();  // external files that were never written have no values that the model could expect
    if (!done(made->write(Selection::all(), type.view(), {value.values.data(), value.values.size()}), "write")) {
        differ("write: external data are refused");
    }
    DIFFERENTIAL_OK(H5Dwrite(theirs, type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.values.data()));
}

void Writing::virtual_dataset(Random& random) {
    bool found = false;
    const std::size_t first = any_object(random, is_fixed, found);
    const std::size_t parent = found ? any_object(random, is_group, found) : 0;
    const std::string name = new_name(random);
    if (!everything_ || !found || model_.objects[parent].links.count(name) != 0) {
        return;
    }
    const Type type = model_.objects[first].type;
    std::vector<VirtualPart> parts;
    std::vector<Pick> picks;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < model_.objects.size() && parts.size() < 3; ++i) {
        const ObjectValue& source = model_.objects[i];
        if (!is_fixed(source) || model_.path_of(i) == "?" || !h5mote::equal(source.type.view(), type.view())) {
            continue;
        }
        Pick pick = Pick::random(random, source.extent.dims, false);
        const Sizes from = pick.elements(source.extent.dims);
        // A mapping is made of hyperslabs.
        if ((pick.kind() != Pick::Kind::slab && pick.kind() != Pick::Kind::all) || from.empty()) {
            continue;
        }
        end += random.one_in(3) ? random.below(5) : 0;
        parts.push_back({i, from, end});
        end += from.size();
        picks.push_back(std::move(pick));
    }
    if (parts.empty() || end * type.size() > kMostBytes) {
        return;
    }
    end += random.one_in(3) ? random.below(5) : 0;
    Extent extent;
    extent.space_class = DataspaceClass::simple;
    extent.dims = {end};
    extent.max_dims = extent.dims;
    const Blob fill = random.one_in(2) ? random_values(random, type.id(), 1) : Blob();
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    if (!fill.empty()) {
        DIFFERENTIAL_OK(H5Pset_fill_value(list, type.id(), fill.data()));
    }
    std::vector<std::string> paths;
    std::vector<Dataspace> spaces;
    std::vector<std::unique_ptr<SelectionSet>> sets;
    std::vector<NewMapping> mappings;
    paths.reserve(parts.size());
    spaces.reserve(parts.size());
    Sizes counts;
    for (const VirtualPart& part : parts) {
        counts.push_back(part.from.size());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const ObjectValue& source = model_.objects[parts[i].source];
        paths.push_back(model_.path_of(parts[i].source));
        spaces.push_back(source.extent.dataspace());
        sets.push_back(std::make_unique<SelectionSet>(selections_));
        mappings.push_back({".", paths.back(), picks[i].view(*sets.back(), spaces.back()), &spaces.back(),
                            Selection::hyperslab({&parts[i].to, 1}, {&counts[i], 1})});
        const Id from = picks[i].select(source.extent.dims);
        const Id to = extent.id();
        const hsize_t start = parts[i].to;
        const hsize_t count = parts[i].from.size();
        DIFFERENTIAL_OK(H5Sselect_hyperslab(to, H5S_SELECT_SET, &start, nullptr, &count, nullptr));
        DIFFERENTIAL_OK(H5Pset_virtual(list, to, ".", paths.back().c_str(), from));
    }
    DatasetCreate create;
    create.fill = {fill.data(), fill.size()};
    create.mappings = {mappings.data(), mappings.size()};
    const std::string path = model_.path_of(parent) + "/" + name;
    tell("create_dataset %s %s %s of %zu parts\n", path.c_str(), type_text(type.view()).c_str(),
         text_of(extent.dims).c_str(), parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        tell("  from %s %s to %llu\n", paths[i].c_str(), picks[i].text().c_str(),
             static_cast<unsigned long long>(parts[i].to));
    }
    auto made = session_->file.root().create_dataset(path, type.view(), extent.dataspace(), create);
    if (!done(made.status(), "create_dataset")) {
        return;
    }
    DIFFERENTIAL_ID(H5Dcreate2(file_, path.c_str(), type.id(), extent.id(), H5P_DEFAULT, list, H5P_DEFAULT));
    for (const VirtualPart& part : parts) {
        pin(part.source);
    }
    ObjectValue& value = add_dataset(parent, name, type, extent);
    value.parts = parts;
    fills_[model_.objects.size() - 1].first = fill.empty() ? Blob(type.size()) : fill;
}

// Brings the values of the virtual datasets of the model up to date.
void Writing::look_through() {
    for (std::size_t i = 0; i < model_.objects.size(); ++i) {
        ObjectValue& value = model_.objects[i];
        if (value.parts.empty()) {
            continue;
        }
        const std::size_t size = value.type.size();
        const Blob& fill = fills_[i].first;
        for (std::size_t at = 0; at < value.values.size(); ++at) {
            value.values[at] = fill[at % size];
        }
        value.known.assign(value.values.size(), std::byte{0xff});
        for (const VirtualPart& part : value.parts) {
            const ObjectValue& source = model_.objects[part.source];
            for (std::size_t n = 0; n < part.from.size(); ++n) {
                for (std::size_t b = 0; b < size; ++b) {
                    value.values[(part.to + n) * size + b] = source.values[part.from[n] * size + b];
                    value.known[(part.to + n) * size + b] = source.known[part.from[n] * size + b];
                }
            }
        }
    }
}

void Writing::write_through(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_virtual, found);
    if (!found) {
        return;
    }
    const ObjectValue& value = model_.objects[object];
    const VirtualPart& part = value.parts[random.below(value.parts.size())];
    const std::uint64_t skip = random.below(part.from.size());
    const std::uint64_t count = random.between(1, part.from.size() - skip);
    const std::uint64_t start = part.to + skip;
    const Blob data = random_values(random, value.type.id(), count);
    tell("write %s %llu from %llu\n", model_.path_of(object).c_str(), static_cast<unsigned long long>(count),
         static_cast<unsigned long long>(start));
    Dataset* const to = dataset(object);
    ObjectValue& source = model_.objects[part.source];
    const Sizes elements(part.from.begin() + static_cast<std::ptrdiff_t>(skip),
                         part.from.begin() + static_cast<std::ptrdiff_t>(skip + count));
    if (to == nullptr) {
        return;
    }
    if (!done(to->write(Selection::hyperslab({&start, 1}, {&count, 1}), value.type.view(), {data.data(), data.size()}),
              "write")) {
        for (const std::uint64_t element : elements) {
            const std::size_t size = source.type.size();
            std::fill_n(source.known.begin() + static_cast<std::ptrdiff_t>(element * size), size, std::byte{0});
        }
        return;
    }
    put(source, elements, value.type.id(), data);
    // As elsewhere libhdf5 writes to the source itself, where its faults with chunks are known.
    put_libhdf5(part.source, elements, value.type.id(), data);
}

// A dataset of references to objects, or to regions of datasets.
void Writing::references(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    std::size_t object = any_object(random, is_reference, found);
    const bool fresh = !found || random.one_in(2);
    if (!everything_ || (fresh && model_.objects[parent].links.count(name) != 0)) {
        return;
    }
    const bool regions = fresh ? random.one_in(2) : model_.objects[object].is_region;
    const ReferenceType kind = regions ? ReferenceType::region1 : ReferenceType::object1;
    const std::size_t size = regions ? sizeof(hdset_reg_ref_t) : sizeof(hobj_ref_t);
    Group root = session_->file.root();
    // libhdf5 1.10 gives references the size that they have in files with addresses of eight bytes, and reads no
    // others; since 1.12 they hold an address of the file, as the specification has them.
    if (root.reference_size(kind) != size) {
        return;
    }
    const std::string path = fresh ? model_.path_of(parent) + "/" + name : model_.path_of(object);
    const std::size_t count = fresh ? random.between(1, 20) : model_.objects[object].references.size();
    NewReferences made{kind, size, Blob(count * size), Blob(count * size), {}, std::vector<Sizes>(regions ? count : 0)};
    tell("references %s %zu%s\n", path.c_str(), count, regions ? " to regions" : "");
    for (std::size_t i = 0; i < count; ++i) {
        made.targets.push_back(random.one_in(5) ? kNoObject : any_object(random, regions ? is_fixed : is_any, found));
        made.targets.back() = found ? made.targets.back() : kNoObject;
        if (made.targets.back() != kNoObject && !refer(random, i, made)) {
            return;
        }
    }
    Extent extent;
    extent.space_class = DataspaceClass::simple;
    extent.dims = {count};
    extent.max_dims = extent.dims;
    const hid_t their_type = regions ? H5T_STD_REF_DSETREG : H5T_STD_REF_OBJ;
    const Type type(their_type);
    const DatatypeView view = type.view();
    if (fresh) {
        if (!done(root.create_dataset(path, view, extent.dataspace()).status(), "create_dataset")) {
            return;
        }
        DIFFERENTIAL_ID(
            H5Dcreate2(file_, path.c_str(), their_type, extent.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        object = model_.objects.size();
        ObjectValue& value = add_dataset(parent, name, type, extent);
        value.is_reference = true;
        value.is_region = regions;
        value.values.clear();
        value.known.clear();
    }
    calm();  // the dataset has no references that the model could expect after a refusal
    auto to = root.open_dataset(path);
    if (!done(to.status(), "open_dataset") ||
        !done(to->write(Selection::all(), view, {made.ours.data(), made.ours.size()}), "write")) {
        differ("references: refused");
    }
    DIFFERENTIAL_OK(H5Dwrite(other(object, file_), their_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, made.theirs.data()));
    for (const std::size_t target : made.targets) {
        if (target != kNoObject) {
            pin(target);
        }
    }
    model_.objects[object].references = made.targets;
    model_.objects[object].regions = made.regions;
}

// Makes reference number `i` in both libraries.
bool Writing::refer(Random& random, std::size_t i, NewReferences& made) {
    const std::size_t target = made.targets[i];
    const std::string path = target == 0 ? "/" : model_.path_of(target);
    Group root = session_->file.root();
    auto opened = root.open_object(path);
    if (!done(opened.status(), "open_object")) {
        return false;
    }
    const Bytes ours{made.ours.data() + i * made.size, made.size};
    std::byte* const theirs = made.theirs.data() + i * made.size;
    if (made.kind == ReferenceType::object1) {
        DIFFERENTIAL_OK(H5Rcreate(theirs, file_, path.c_str(), H5R_OBJECT, -1));
        return done(root.create_reference(made.kind, *opened, ours), "create_reference");
    }
    const Extent& extent = model_.objects[target].extent;
    const Pick pick = Pick::random(random, extent.dims, false);
    SelectionSet set(selections_);
    const Dataspace space = extent.dataspace();
    tell("  %zu: %s %s\n", i, path.c_str(), pick.text().c_str());
    made.regions[i] = pick.elements(extent.dims);
    std::sort(made.regions[i].begin(), made.regions[i].end());
    made.regions[i].erase(std::unique(made.regions[i].begin(), made.regions[i].end()), made.regions[i].end());
    const bool regular = pick.kind() == Pick::Kind::all || pick.kind() == Pick::Kind::slab;
    const Id selected = regular ? pick.select(extent.dims) : select_elements(extent.dims, made.regions[i]);
    DIFFERENTIAL_OK(H5Rcreate(theirs, file_, path.c_str(), H5R_DATASET_REGION, selected));
    return done(root.create_region_reference(made.kind, *opened, space, pick.view(set, space), ours),
                "create_region_reference");
}

#else

void Writing::look_through() {}
bool Writing::is_pinned(const std::string& /*path*/) const { return false; }
void Writing::external(Random& /*random*/) {}
void Writing::virtual_dataset(Random& /*random*/) {}
void Writing::write_through(Random& /*random*/) {}
void Writing::references(Random& /*random*/) {}

#endif

}  // namespace differential
