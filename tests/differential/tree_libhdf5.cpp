#include "tree.hpp"

#include <algorithm>
#include <iterator>

namespace differential {
namespace {

class Reader {
public:
    explicit Reader(hid_t file) : file_(file) {}
    Tree read() {
        place(file_, "/");
        for (std::size_t i = 0; i < found_.size(); ++i) {
            object(i);
        }
        return std::move(tree_);
    }

private:
    // The index in Tree::objects of the object that a path leads to; reads an object that is met for the first time.
    std::size_t place(hid_t group, const std::string& name);
    void object(std::size_t index);
    void attributes(hid_t from, ObjectValue& to);
    void links(hid_t from, ObjectValue& to);
    // The index in Tree::objects of a datatype, if that is a committed one.
    std::size_t type_object(hid_t type) {
        const htri_t committed = H5Tcommitted(type);
        DIFFERENTIAL_OK(committed);
        return committed > 0 ? place(type, ".") : kNoObject;
    }
    static Extent extent(hid_t space);
    void references(hid_t from, ObjectValue& to);
    void regions(hid_t from, ObjectValue& to);
    // All values in their stored form or, for variable-length types, the values in memory as flatten() gives them.
    template <typename Read>
    static Blob values(hid_t type, std::uint64_t count, Read read);

    hid_t file_;
    Tree tree_;
    std::map<haddr_t, std::size_t> places_;
    std::vector<Id> found_;
};

std::size_t Reader::place(hid_t group, const std::string& name) {
    Id object = DIFFERENTIAL_ID(H5Oopen(group, name.c_str(), H5P_DEFAULT));
    H5O_info_t info;
    DIFFERENTIAL_OK(H5Oget_info2(object, &info, H5O_INFO_BASIC));
    const auto [at, fresh] = places_.emplace(info.addr, found_.size());
    if (fresh) {
        found_.push_back(std::move(object));
        tree_.objects.resize(found_.size());
    }
    return at->second;
}

Extent Reader::extent(hid_t space) {
    Extent extent;
    switch (H5Sget_simple_extent_type(space)) {
        case H5S_NULL:
            extent.space_class = h5mote::DataspaceClass::null;
            break;
        case H5S_SIMPLE: {
            hsize_t dims[H5S_MAX_RANK];
            hsize_t most[H5S_MAX_RANK];
            const int rank = H5Sget_simple_extent_dims(space, dims, most);
            extent.space_class = h5mote::DataspaceClass::simple;
            extent.dims.assign(dims, dims + rank);
            extent.max_dims.assign(most, most + rank);
            break;
        }
        default:
            break;
    }
    return extent;
}

template <typename Read>
Blob Reader::values(hid_t type, std::uint64_t count, Read read) {
    const bool variable = is_variable(type);
    const Id memory =
        variable ? DIFFERENTIAL_ID(H5Tget_native_type(type, H5T_DIR_ASCEND)) : DIFFERENTIAL_ID(H5Tcopy(type));
    const std::size_t size = H5Tget_size(memory);
    Blob bytes(count * size);
    if (count == 0) {
        return bytes;
    }
    read(memory, bytes.data());
    if (!variable) {
        return bytes;
    }
    Blob flat;
    for (std::size_t i = 0; i < bytes.size(); i += size) {
        flatten(memory, bytes.data() + i, flat);
    }
    release_values(memory, count, bytes);
    return flat;
}

void Reader::references(hid_t from, ObjectValue& to) {
    to.is_reference = true;
    std::vector<hobj_ref_t> stored(to.extent.count());
    DIFFERENTIAL_OK(H5Dread(from, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()));
    for (const hobj_ref_t& each : stored) {
        to.references.push_back(
            each == 0 ? kNoObject : place(DIFFERENTIAL_ID(H5Rdereference2(from, H5P_DEFAULT, H5R_OBJECT, &each)), "."));
    }
}

void Reader::regions(hid_t from, ObjectValue& to) {
    to.is_reference = to.is_region = true;
    struct Reference {
        hdset_reg_ref_t bytes;
    };
    std::vector<Reference> stored(to.extent.count());
    DIFFERENTIAL_OK(H5Dread(from, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()));
    for (const Reference& each : stored) {
        to.references.push_back(kNoObject);
        to.regions.emplace_back();
        if (std::all_of(std::begin(each.bytes), std::end(each.bytes), [](unsigned char byte) { return byte == 0; })) {
            continue;
        }
        const Id target = DIFFERENTIAL_ID(H5Rdereference2(from, H5P_DEFAULT, H5R_DATASET_REGION, each.bytes));
        to.references.back() = place(target, ".");
        const Id space = DIFFERENTIAL_ID(H5Rget_region(from, H5R_DATASET_REGION, each.bytes));
        Blob marks(extent(space).count());
        const unsigned char one = 1;
        DIFFERENTIAL_OK(H5Dfill(&one, H5T_NATIVE_UCHAR, marks.data(), H5T_NATIVE_UCHAR, space));
        to.regions.back() = marked(marks);
    }
}

void Reader::attributes(hid_t from, ObjectValue& to) {
    H5O_info_t info;
    DIFFERENTIAL_OK(H5Oget_info2(from, &info, H5O_INFO_NUM_ATTRS));
    for (hsize_t i = 0; i < info.num_attrs; ++i) {
        const Id attribute =
            DIFFERENTIAL_ID(H5Aopen_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT));
        char name[512];
        DIFFERENTIAL_OK(H5Aget_name(attribute, sizeof name, name));
        const Id type = DIFFERENTIAL_ID(H5Aget_type(attribute));
        const Id space = DIFFERENTIAL_ID(H5Aget_space(attribute));
        AttributeValue& value = to.attributes[name];
        value.type = Type(type);
        value.extent = extent(space);
        value.values = values(type, value.extent.count(),
                              [&](hid_t memory, void* bytes) { DIFFERENTIAL_OK(H5Aread(attribute, memory, bytes)); });
        value.type_object = type_object(type);
    }
    const Id properties = create_list(from);
    unsigned flags = 0;
    DIFFERENTIAL_OK(H5Pget_attr_creation_order(properties, &flags));
    to.attributes_ordered = (flags & H5P_CRT_ORDER_TRACKED) != 0;
    for (hsize_t i = 0; to.attributes_ordered && i < info.num_attrs; ++i) {
        const Id attribute =
            DIFFERENTIAL_ID(H5Aopen_by_idx(from, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT));
        char name[512];
        DIFFERENTIAL_OK(H5Aget_name(attribute, sizeof name, name));
        to.attribute_order.emplace_back(name);
    }
}

void Reader::links(hid_t from, ObjectValue& to) {
    const Id properties = DIFFERENTIAL_ID(H5Gget_create_plist(from));
    unsigned flags = 0;
    DIFFERENTIAL_OK(H5Pget_link_creation_order(properties, &flags));
    to.ordered = (flags & H5P_CRT_ORDER_TRACKED) != 0;
    H5G_info_t info;
    DIFFERENTIAL_OK(H5Gget_info(from, &info));
    const H5_index_t order = to.ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        char name[512];
        DIFFERENTIAL_OK(H5Lget_name_by_idx(from, ".", order, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT));
        if (to.ordered) {
            to.order.emplace_back(name);
        }
        H5L_info_t link;
        DIFFERENTIAL_OK(H5Lget_info(from, name, &link, H5P_DEFAULT));
        LinkValue value;
        value.soft = link.type != H5L_TYPE_HARD;
        if (value.soft) {
            std::string data(link.u.val_size, '\0');
            DIFFERENTIAL_OK(H5Lget_val(from, name, data.data(), data.size(), H5P_DEFAULT));
            const char* file = nullptr;
            const char* path = data.c_str();
            if (link.type == H5L_TYPE_EXTERNAL) {
                DIFFERENTIAL_OK(H5Lunpack_elink_val(data.data(), data.size(), nullptr, &file, &path));
            }
            value.path = link.type == H5L_TYPE_SOFT ? path
                         : link.type == H5L_TYPE_EXTERNAL
                             ? link_text(file, path)
                             : link_text(static_cast<unsigned>(link.type), reinterpret_cast<std::byte*>(data.data()),
                                         data.size());
        } else {
            value.object = place(from, std::string("./") + name);
        }
        to.links[name] = value;
    }
}

void Reader::object(std::size_t index) {
    const hid_t from = found_[index];
    ObjectValue value;
    attributes(from, value);
    char comment[300] = "";
    DIFFERENTIAL_OK(H5Oget_comment(from, comment, sizeof comment));
    value.comment = comment;
    if (H5Iget_type(from) == H5I_GROUP) {
        links(from, value);
    } else if (H5Iget_type(from) == H5I_DATATYPE) {
        value.kind = ObjectValue::Kind::datatype;
        value.type = Type(from);
    } else {
        value.kind = ObjectValue::Kind::dataset;
        const Id type = DIFFERENTIAL_ID(H5Dget_type(from));
        const Id space = DIFFERENTIAL_ID(H5Dget_space(from));
        value.type = Type(type);
        value.type_object = type_object(type);
        value.extent = extent(space);
        if (H5Tget_class(type) == H5T_REFERENCE) {
            H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? regions(from, value) : references(from, value);
            tree_.objects[index] = std::move(value);
            return;
        }
        value.values = values(type, value.extent.count(), [&](hid_t memory, void* bytes) {
            DIFFERENTIAL_OK(H5Dread(from, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes));
        });
    }
    tree_.objects[index] = std::move(value);
}

}  // namespace

Tree read_libhdf5(hid_t file) { return Reader(file).read(); }

}  // namespace differential
