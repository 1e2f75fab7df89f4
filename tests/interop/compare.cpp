#include "compare.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace h5mote_interop {

using h5mote::Dataset;
using h5mote::DatatypeView;
using h5mote::Group;
using h5mote::Object;
using h5mote::Result;
using h5mote::Status;
using h5mote::TypeClass;

Comparison::Comparison(h5mote::Library& library, h5mote::File& file, Sidecar& sidecar, std::string name)
    : library_(library), file_(file), sidecar_(sidecar), name_(std::move(name)) {}

bool Comparison::check(bool right, const std::string& what) {
    ++checks_;
    if (!right) {
        ++differences_;
        std::fprintf(stderr, "%s: %s\n", name_.c_str(), what.c_str());
    }
    return right;
}

bool Comparison::ok(Status status, const std::string& what) {
    if (status == Status::ok) {
        return true;
    }
    std::string trail;
    for (std::size_t i = 0; i < library_.trail().size() && i < 3; ++i) {
        const h5mote::ErrorRecord record = library_.trail().newest(i);
        trail += std::string(" | ") + to_string(record.module) + " line " + std::to_string(record.line) + " " +
                 to_string(record.status) + " " + std::to_string(record.detail) + " " + std::to_string(record.value);
    }
    return check(false, what + ": " + to_string(status) + trail);
}

bool Comparison::run() {
    for (const Entry& entry : sidecar_.entries) {
        if (entry.kind == "group") {
            group(entry);
        } else if (entry.kind == "dataset") {
            dataset(entry);
        }
    }
    check(!file_.root().exists("/no such object"), "a name that nobody gave leads somewhere");
    return differences_ == 0;
}

// --- groups --------------------------------------------------------------------------------------------------------

bool Comparison::address_of(const std::string& path, h5mote::Address& address) {
    const Entry* const entry = sidecar_.find(path);
    if (entry == nullptr || (entry->kind != "group" && entry->kind != "dataset")) {
        return false;
    }
    if (entry->kind == "group") {
        Result<Group> group = file_.root().open_group(path);
        address = group->address();
        return ok(group.status(), "open " + path);
    }
    Result<Dataset> dataset = file_.root().open_dataset(path);
    address = dataset->address();
    return ok(dataset.status(), "open " + path);
}

void Comparison::group(const Entry& entry) {
    Result<Group> group = file_.root().open_group(entry.path);
    if (!ok(group.status(), "open " + entry.path)) {
        return;
    }
    std::size_t wanted = 0;
    for (const Entry& other : sidecar_.entries) {
        wanted += other.path != "/" && parent_of(other.path) == entry.path ? 1U : 0U;
    }
    std::uint32_t count = 0;
    ok(group->link_count(count), "count the links of " + entry.path);
    check(count == wanted, entry.path + " has " + std::to_string(count) + " links, not " + std::to_string(wanted));
    std::vector<std::pair<std::uint64_t, std::string>> found;
    for (std::uint32_t i = 0; i < count; ++i) {
        h5mote::LinkInfo info;
        char name[1024];
        char target[1024];
        if (ok(group->link(i, info, name, target), "link of " + entry.path)) {
            found.emplace_back(info.order, std::string(name, info.name_length));
            link(entry, found.back().second, std::string(target, info.target_length), info);
        }
    }
    order(entry, found);
    attributes(entry, *group);
}

void Comparison::order(const Entry& entry, std::vector<std::pair<std::uint64_t, std::string>>& found) {
    if (entry.field("track_order") != "1") {
        return;
    }
    std::sort(found.begin(), found.end());
    std::size_t i = 0;
    for (const Entry& other : sidecar_.entries) {
        if (other.path != "/" && parent_of(other.path) == entry.path) {
            check(i < found.size() && found[i].second == leaf_of(other.path),
                  entry.path + ": link " + std::to_string(i) + " in creation order is not " + other.path);
            ++i;
        }
    }
}

void Comparison::link(const Entry& group, const std::string& name, const std::string& target,
                      const h5mote::LinkInfo& info) {
    const std::string path = (group.path == "/" ? "" : group.path) + "/" + name;
    const Entry* const wanted = sidecar_.find(path);
    if (!check(wanted != nullptr, path + " is not expected")) {
        return;
    }
    check(info.has_order == (group.field("track_order") == "1"), path + ": creation order kept or not");
    if (wanted->kind == "softlink") {
        check(info.type == h5mote::LinkType::soft && target == wanted->target[0], path + " -> " + target);
        return;
    }
    check(info.type == h5mote::LinkType::hard, path + " is no hard link");
    h5mote::Address address = 0;
    if (address_of(wanted->kind == "hardlink" ? wanted->target[0] : path, address)) {
        check(address == info.address, path + " leads to another object");
    }
}

// --- attributes ----------------------------------------------------------------------------------------------------

void Comparison::attributes(const Entry& entry, Object& object) {
    std::uint32_t count = 0;
    ok(object.attribute_count(count), "count the attributes of " + entry.path);
    check(count == entry.attributes.size(),
          entry.path + " has " + std::to_string(count) + " attributes, not " + std::to_string(entry.attributes.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
        char name[1024];
        std::size_t length = 0;
        if (ok(object.attribute_name(i, name, length), "attribute name of " + entry.path)) {
            const std::string text(name, length);
            const bool known = std::any_of(entry.attributes.begin(), entry.attributes.end(),
                                           [&](const Entry& other) { return other.name == text; });
            check(known, entry.path + " attribute " + text + " is not expected");
        }
    }
    for (const Entry& wanted : entry.attributes) {
        attribute(wanted, object);
    }
    check(!object.has_attribute("no such attribute"), entry.path + " has an attribute that nobody gave");
}

void Comparison::attribute(const Entry& entry, Object& object) {
    const std::string what = entry.path + " attribute " + entry.name;
    h5mote::AttributeInfo info;
    if (!ok(object.attribute_info(entry.name, info), what)) {
        return;
    }
    check(shape_text(info.space) == entry.field("shape"), what + " has the shape " + shape_text(info.space));
    Blob message(info.type_length);
    DatatypeView type;
    if (!ok(object.attribute_type(entry.name, {message.data(), message.size()}, type), what + " type")) {
        return;
    }
    check(type_text(type) == entry.field("type"), what + " has the type " + type_text(type));
    std::uint64_t count = 0;
    ok(info.space.element_count(count), what + " count");
    Blob data(static_cast<std::size_t>(count) * type.size());
    if (ok(object.read_attribute(entry.name, type, {data.data(), data.size()}), "read " + what)) {
        clear_gaps(type, data);
        check(entry.field("shape") == "null" || data == entry.data, what + " has another value");
    }
}

// --- datasets ------------------------------------------------------------------------------------------------------

void Comparison::dataset(const Entry& entry) {
    Result<Dataset> dataset = file_.root().open_dataset(entry.path);
    if (!ok(dataset.status(), "open " + entry.path)) {
        return;
    }
    h5mote::Dataspace space;
    ok(dataset->dataspace(space), entry.path + " dataspace");
    check(shape_text(space) == entry.field("shape"), entry.path + " has the shape " + shape_text(space));
    const std::string most = entry.field("max");
    check(max_text(space) == (most.empty() ? entry.field("shape") : most), entry.path + " has other maxima");
    Blob message(8192);
    DatatypeView type;
    if (!ok(dataset->datatype({message.data(), message.size()}, type), entry.path + " datatype")) {
        return;
    }
    check(type_text(type) == entry.field("type"), entry.path + " has the type " + type_text(type));
    if (entry.field("shape") == shape_text(space)) {
        whole(entry, *dataset, type);
    }
    attributes(entry, *dataset);
    ok(dataset->close(), "close " + entry.path);
}

void Comparison::values(const Entry& entry, DatatypeView type, Blob& data) {
    clear_gaps(type, data);
    if (entry.digest.empty()) {
        if (!check(data == entry.data, entry.path + " has other values") && data.size() == entry.data.size()) {
            std::size_t at = 0;
            while (data[at] == entry.data[at]) {
                ++at;
            }
            std::fprintf(stderr, "    element %zu of %zu\n", at / type.size(), data.size() / type.size());
        }
        return;
    }
    const bool sha = entry.digest.compare(0, 11, "data-sha256") == 0;
    char sum[16];
    std::snprintf(sum, sizeof sum, "%08x", crc32({data.data(), data.size()}));
    const std::string found = sha ? sha256({data.data(), data.size()}) : std::string(sum);
    check(entry.digest ==
              entry.digest.substr(0, entry.digest.find(' ')) + " " + std::to_string(data.size()) + " " + found,
          entry.path + " has other values than its checksum says");
}

void Comparison::whole(const Entry& entry, Dataset& dataset, DatatypeView type) {
    const bool none = entry.field("shape") == "null";
    const std::uint64_t count = none ? 0 : product(parse_dims(entry.field("shape")));
    Blob data(static_cast<std::size_t>(count) * type.size());
    if (!ok(dataset.read(h5mote::Selection::all(), type, {data.data(), data.size()}), "read " + entry.path)) {
        return;
    }
    if (entry.skip || none) {
        return;
    }
    values(entry, type, data);
    if (count != 0 && entry.field("shape") != "scalar") {
        parts(entry, dataset, type, data);
    }
    if (count != 0) {
        converted(entry, dataset, type, data);
    }
}

// Reads three hyperslabs: one element, every second element, blocks with gaps.
void Comparison::parts(const Entry& entry, Dataset& dataset, DatatypeView type, Blob& data) {
    const Shape dims = parse_dims(entry.field("shape"));
    Random random(entry.path);
    Slab slabs[3];
    for (const std::uint64_t dim : dims) {
        slabs[0].start.push_back(random.below(dim));
        slabs[0].count.push_back(1);
        slabs[1].start.push_back(dim > 1 ? 1 : 0);
        slabs[1].stride.push_back(2);
        slabs[1].count.push_back(dim > 1 ? dim / 2 : 1);
        const std::uint64_t block = 1 + random.below(dim < 4 ? dim : 4);
        const std::uint64_t stride = block + random.below(3);
        slabs[2].start.push_back(random.below(dim - block + 1));
        slabs[2].block.push_back(block);
        slabs[2].stride.push_back(stride);
        slabs[2].count.push_back((dim - slabs[2].start.back() - block) / stride + 1);
    }
    for (const Slab& slab : slabs) {
        Blob wanted;
        transfer(dims, type.size(), slab, data, wanted, false);
        Blob found(wanted.size());
        if (ok(dataset.read(slab.selection(), type, {found.data(), found.size()}), "read part of " + entry.path)) {
            clear_gaps(type, found);
            check(found == wanted, entry.path + ": a hyperslab has other values");
        }
    }
}

// Reads numbers once more, converted to the machine's 64-bit types.
void Comparison::converted(const Entry& entry, Dataset& dataset, DatatypeView type, const Blob& data) {
    const bool floating = type.type_class() == TypeClass::floating;
    if ((!floating && type.type_class() != TypeClass::integer) || type.precision() != 8 * type.size()) {
        return;
    }
    const DatatypeView memory = floating           ? h5mote::datatype_of<double>()
                                : type.is_signed() ? h5mote::datatype_of<std::int64_t>()
                                                   : h5mote::datatype_of<std::uint64_t>();
    const std::size_t size = type.size();
    std::vector<std::uint64_t> found(data.size() / size);
    if (!ok(dataset.read(h5mote::Selection::all(), memory,
                         {reinterpret_cast<std::byte*>(found.data()), 8 * found.size()}),
            "convert " + entry.path)) {
        return;
    }
    bool same = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t at = type.order() == h5mote::ByteOrder::big ? k : size - 1 - k;
            bits = bits << 8 | static_cast<std::uint64_t>(data[i * size + at]);
        }
        const unsigned unused = static_cast<unsigned>(64 - 8 * size);
        if (floating) {
            double wanted = 0;
            if (size == 4) {
                const auto low = static_cast<std::uint32_t>(bits);
                float single = 0;
                std::memcpy(&single, &low, 4);
                wanted = single;
            } else {
                std::memcpy(&wanted, &bits, 8);
            }
            double is = 0;
            std::memcpy(&is, &found[i], 8);
            same = same && (std::memcmp(&is, &wanted, 8) == 0 || (is != is && wanted != wanted));
        } else if (type.is_signed()) {
            same = same && static_cast<std::int64_t>(found[i]) == static_cast<std::int64_t>(bits << unused) >> unused;
        } else {
            same = same && found[i] == bits;
        }
    }
    check(same, entry.path + " has other values when converted to 64 bits");
}

}  // namespace h5mote_interop
