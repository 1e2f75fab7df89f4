#include "tree.hpp"

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
    static Extent extent(hid_t space);
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
        value.soft = link.type == H5L_TYPE_SOFT;
        if (value.soft) {
            std::string path(link.u.val_size, '\0');
            DIFFERENTIAL_OK(H5Lget_val(from, name, path.data(), path.size(), H5P_DEFAULT));
            value.path = path.c_str();
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
    if (H5Iget_type(from) == H5I_GROUP) {
        links(from, value);
    } else {
        value.kind = ObjectValue::Kind::dataset;
        const Id type = DIFFERENTIAL_ID(H5Dget_type(from));
        const Id space = DIFFERENTIAL_ID(H5Dget_space(from));
        value.type = Type(type);
        value.extent = extent(space);
        value.values = values(type, value.extent.count(), [&](hid_t memory, void* bytes) {
            DIFFERENTIAL_OK(H5Dread(from, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes));
        });
    }
    tree_.objects[index] = std::move(value);
}

}  // namespace

Tree read_libhdf5(hid_t file) { return Reader(file).read(); }

}  // namespace differential
