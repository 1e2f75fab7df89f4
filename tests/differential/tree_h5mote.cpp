#include "tree.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/selected_memory.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

namespace differential {
namespace {

using namespace h5mote;

class Reader {
public:
    Reader(Library& library, File& file) : library_(library), root_(file.root()) {}
    Tree read() {
        place(root_.address());
        for (std::size_t i = 0; i < addresses_.size(); ++i) {
            object(i);
        }
        return std::move(tree_);
    }

private:
    void need(Status status, const char* what) {
        if (status != Status::ok) {
            differ(std::string("h5mote cannot read: ") + what + ": " + say(library_, status));
        }
    }
    std::size_t place(Address address) {
        const auto [at, fresh] = places_.emplace(address, addresses_.size());
        if (fresh) {
            addresses_.push_back(address);
            tree_.objects.resize(addresses_.size());
        }
        return at->second;
    }
    std::size_t type_object(Address address) { return address == kUndefinedAddress ? kNoObject : place(address); }
    void object(std::size_t index);
    void attributes(const Object& from, ObjectValue& to);
    void object_facts(const Object& from, ObjectValue& to);
    void links(Group& from, ObjectValue& to);
    void dataset(Dataset& from, ObjectValue& to);
    void references(Dataset& from, DatatypeView type, ObjectValue& to);
    // The elements that a reference to a region selects.
    Sizes region(Dataset& from, ConstBytes reference);
    // All values in the form that tree_libhdf5.cpp describes.
    template <typename Read>
    Blob values(const Type& type, std::uint64_t count, Read read);
    static Extent extent(const Dataspace& space) {
        return {space.space_class(),
                {space.dims().begin(), space.dims().end()},
                {space.max_dims().begin(), space.max_dims().end()}};
    }

    Library& library_;
    Group root_;
    Tree tree_;
    std::map<Address, std::size_t> places_;
    std::vector<Address> addresses_;
};

template <typename Read>
Blob Reader::values(const Type& type, std::uint64_t count, Read read) {
    const bool variable = contains_class(type.view(), TypeClass::variable_length);
    const Type memory = variable ? Type(DIFFERENTIAL_ID(H5Tget_native_type(type.id(), H5T_DIR_ASCEND))) : type;
    Blob bytes(count * memory.size());
    if (count == 0) {
        return bytes;
    }
    need(read(memory.view(), {bytes.data(), bytes.size()}), "values");
    if (!variable) {
        return bytes;
    }
    Blob flat;
    const Id id = memory.id();
    for (std::size_t i = 0; i < bytes.size(); i += memory.size()) {
        flatten(id, bytes.data() + i, flat);
    }
    need(reclaim(library_, memory.view(), count, memory.size(), bytes.data()), "reclaim");
    return flat;
}

void Reader::attributes(const Object& from, ObjectValue& to) {
    AttributeIterator all(from, IndexOrder::name);
    for (;;) {
        Attribute attribute;
        const Status status = all.next(attribute);
        if (status == Status::not_found) {
            break;
        }
        need(status, "attributes");
        AttributeValue& value = to.attributes[std::string(attribute.name())];
        value.type = Type(attribute.type());
        value.extent = extent(attribute.dataspace());
        value.values = values(value.type, value.extent.count(),
                              [&](DatatypeView memory, Bytes bytes) { return attribute.read(memory, bytes); });
        value.type_object = type_object(attribute.type_object());
    }
}

void Reader::object_facts(const Object& from, ObjectValue& to) {
    char comment[300];
    std::size_t length = 0;
    need(from.comment(comment, length), "comment");
    to.comment.assign(comment, length);
    ObjectInfo info;
    need(from.info(info), "info");
    to.attributes_ordered = info.tracks_attribute_order;
    if (!to.attributes_ordered) {
        return;
    }
    AttributeIterator all(from, IndexOrder::creation);
    for (;;) {
        Attribute attribute;
        const Status status = all.next(attribute);
        if (status == Status::not_found) {
            return;
        }
        need(status, "attributes in creation order");
        to.attribute_order.emplace_back(attribute.name());
    }
}

void Reader::links(Group& from, ObjectValue& to) {
    GroupInfo info;
    need(from.group_info(info), "group_info");
    to.ordered = info.tracks_order;
    LinkIterator all(from, info.tracks_order ? IndexOrder::creation : IndexOrder::name);
    for (;;) {
        Link link;
        const Status status = all.next(link);
        if (status == Status::not_found) {
            return;
        }
        need(status, "links");
        const std::string name(link.name());
        LinkValue value;
        value.soft = link.type() != LinkType::hard;
        if (value.soft) {
            value.path = link.type() == LinkType::soft ? std::string(link.target())
                         : link.type() == LinkType::external
                             ? link_text(link.file_name(), link.target())
                             : link_text(static_cast<unsigned>(link.type()), link.data().data(), link.data().size());
        } else {
            value.object = place(link.address());
        }
        to.links[name] = value;
        if (to.ordered) {
            to.order.push_back(name);
        }
    }
}

void Reader::references(Dataset& from, DatatypeView type, ObjectValue& to) {
    const ReferenceType kind = type.reference_type();
    to.is_reference = true;
    to.is_region = kind == ReferenceType::region1;
    Blob stored(to.extent.count() * type.size());
    need(from.read(Selection::all(), type, {stored.data(), stored.size()}), "references");
    for (std::size_t i = 0; i < stored.size(); i += type.size()) {
        const ConstBytes element{stored.data() + i, type.size()};
        ReferenceTarget target;
        need(from.reference_target(kind, element, target), "reference");
        to.references.push_back(target.null ? kNoObject : place(target.address));
        if (to.is_region) {
            to.regions.push_back(target.null ? Sizes() : region(from, element));
        }
    }
}

Sizes Reader::region(Dataset& from, ConstBytes reference) {
    Object target;
    SelectionSet selected(library_);
    need(from.reference_region(ReferenceType::region1, reference, target, selected), "region");
    auto dataset = Dataset::from(static_cast<Object&&>(target));
    need(dataset.status(), "open dataset");
    Dataspace space;
    need(dataset->dataspace(space), "dataspace");
    Blob marks(extent(space).count());
    constexpr auto kByte = datatype_of<std::uint8_t>();
    const std::uint8_t one = 1;
    need(fill(library_, space, selected, kByte, as_bytes(Span<const std::uint8_t>(&one, 1)), kByte,
              {marks.data(), marks.size()}),
         "fill");
    return marked(marks);
}

void Reader::dataset(Dataset& from, ObjectValue& to) {
    to.kind = ObjectValue::Kind::dataset;
    DatasetInfo info;
    need(from.info(info), "info");
    Blob message(info.type_length);
    DatatypeView type;
    need(from.datatype({message.data(), message.size()}, type), "datatype");
    to.type = Type(type);
    to.type_object = type_object(info.type_object);
    Dataspace space;
    need(from.dataspace(space), "dataspace");
    to.extent = extent(space);
    if (type.type_class() == TypeClass::reference) {
        references(from, type, to);
        return;
    }
    to.values = values(to.type, to.extent.count(),
                       [&](DatatypeView memory, Bytes bytes) { return from.read(Selection::all(), memory, bytes); });
}

void Reader::object(std::size_t index) {
    auto opened = root_.open_object_at(addresses_[index]);
    need(opened.status(), "open_object_at");
    ObjectType type = ObjectType::group;
    need(opened->type(type), "type");
    ObjectValue value;
    attributes(*opened, value);
    object_facts(*opened, value);
    if (type == ObjectType::datatype) {
        value.kind = ObjectValue::Kind::datatype;
        auto named = NamedDatatype::from(static_cast<Object&&>(*opened));
        need(named.status(), "committed datatype");
        value.type = Type(named->type());
    } else if (type == ObjectType::group) {
        auto group = Group::from(static_cast<Object&&>(*opened));
        need(group.status(), "group");
        links(*group, value);
    } else {
        auto from = Dataset::from(static_cast<Object&&>(*opened));
        need(from.status(), "open dataset");
        dataset(*from, value);
    }
    tree_.objects[index] = std::move(value);
}

}  // namespace

Tree read_h5mote(Library& library, File& file) { return Reader(library, file).read(); }

}  // namespace differential
