#include "tree.hpp"

#include "hdf5_image.hpp"

#include <algorithm>

namespace h5mote_test {

namespace {

class Reader {
public:
    explicit Reader(Tree& tree) : tree_(tree) {}

    void object(hid_t id, const std::string& path) {
        H5O_info_t info;
        if (H5Oget_info2(id, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0) {
            bad += path + ": no information; ";
            return;
        }
        if (tree_.nodes.count(info.addr) != 0) {
            return;
        }
        Tree::Node& node = tree_.nodes[info.addr];
        if (path == "/") {
            tree_.root = info.addr;
        }
        node.dataset = info.type == H5O_TYPE_DATASET;
        node.datatype = info.type == H5O_TYPE_NAMED_DATATYPE;
        node.attribute_count = info.num_attrs;
        Walk<Tree::Attribute> attributes{*this, node.attributes, path};
        if (H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, attribute, &attributes) < 0) {
            bad += path + ": attributes cannot be walked; ";
        }
        char comment[Tree::kMostComment + 1] = "";
        if (H5Oget_comment(id, comment, sizeof comment) < 0) {
            bad += path + ": the comment cannot be read; ";
        }
        put_comment(comment, node);
        if (node.dataset) {
            data(id, node, path);
            return;
        }
        if (node.datatype) {
            node.element = static_cast<std::uint32_t>(H5Tget_size(id));
            node.mark = tag_of(id);
            return;
        }
        Walk<Tree::Link> links{*this, node.links, path};
        if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, link, &links) < 0) {
            bad += path + ": links cannot be walked; ";
        }
        for (std::size_t i = 0; i < node.links.size(); ++i) {
            const std::string name = node.links[i].name;
            if (!node.links[i].hard) {
                continue;
            }
            const Hdf5Id child(H5Oopen(id, name.c_str(), H5P_DEFAULT), H5Oclose);
            if (child < 0) {
                bad += path + name + ": cannot be opened; ";
            } else {
                object(child, path + name + "/");
            }
        }
    }

    std::string bad;

private:
    template <typename T>
    struct Walk {
        Reader& reader;
        std::vector<T>& found;
        const std::string& path;
    };

    static herr_t attribute(hid_t object, const char* name, const H5A_info_t*, void* to) {
        auto& walk = *static_cast<Walk<Tree::Attribute>*>(to);
        const Hdf5Id id(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
        const Hdf5Id type(id < 0 ? -1 : H5Aget_type(id), H5Tclose);
        Tree::Attribute found;
        found.name = name;
        found.value.resize(id < 0 ? 0 : static_cast<std::size_t>(H5Aget_storage_size(id)));
        if (type >= 0 && H5Tis_variable_str(type) > 0) {
            const Hdf5Id space(H5Aget_space(id), H5Sclose);
            const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
            found.value.clear();
            std::vector<char*> texts(count);
            if (count != 0 && H5Aread(id, type, texts.data()) < 0) {
                walk.reader.bad += walk.path + "@" + name + ": strings cannot be read; ";
            } else {
                take_texts(texts, found.value);
            }
        } else if (type < 0 || (!found.value.empty() && H5Aread(id, type, found.value.data()) < 0)) {
            walk.reader.bad += walk.path + "@" + name + ": cannot be read; ";
        }
        walk.found.push_back(found);
        return 0;
    }

    // Puts strings that libhdf5 has allocated in the form in which a Tree has them, and releases them.
    static void take_texts(const std::vector<char*>& texts, Blob& padded) {
        for (char* const each : texts) {
            put_text(each, padded);
            H5free_memory(each);
        }
    }

    static herr_t link(hid_t group, const char* name, const H5L_info_t* info, void* to) {
        auto& walk = *static_cast<Walk<Tree::Link>*>(to);
        Tree::Link found;
        found.name = name;
        found.hard = info->type == H5L_TYPE_HARD;
        if (found.hard) {
            found.address = info->u.address;
        } else {
            std::vector<char> target(info->u.val_size + 1);
            if (H5Lget_val(group, name, target.data(), target.size(), H5P_DEFAULT) < 0) {
                walk.reader.bad += walk.path + name + ": link cannot be read; ";
            }
            const char* file = nullptr;
            const char* object = target.data();
            if (info->type == H5L_TYPE_EXTERNAL &&
                H5Lunpack_elink_val(target.data(), info->u.val_size, nullptr, &file, &object) < 0) {
                walk.reader.bad += walk.path + name + ": link cannot be unpacked; ";
            }
            found.target = (file == nullptr ? "" : std::string(file) + ":") + object;
        }
        walk.found.push_back(found);
        return 0;
    }

    static std::string tag_of(hid_t type) {
        char* const tag = H5Tget_tag(type);
        std::string text = tag == nullptr ? "" : tag;
        H5free_memory(tag);
        return text;
    }

    void data(hid_t id, Tree::Node& node, const std::string& path) {
        const Hdf5Id space(H5Dget_space(id), H5Sclose);
        const Hdf5Id type(H5Dget_type(id), H5Tclose);
        const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
        if (rank < 0 || type < 0) {
            bad += path + ": no dataspace or type; ";
            return;
        }
        std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
        H5Sget_simple_extent_dims(space, dims.data(), nullptr);
        node.dims.assign(dims.begin(), dims.end());
        node.element = static_cast<std::uint32_t>(H5Tget_size(type));
        const Hdf5Id member(H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_type(type, 0) : H5Tcopy(type), H5Tclose);
        node.mark = tag_of(member);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        if (count < 0 || static_cast<std::uint64_t>(count) * node.element > 1000000) {
            bad += path + ": " + std::to_string(count) + " elements; ";
            return;
        }
        if (H5Tis_variable_str(type) > 0) {
            node.element = Tree::kTextWidth;
            node.mark = "0";
            std::vector<char*> texts(static_cast<std::size_t>(count));
            if (count > 0 && H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) {
                bad += path + ": strings cannot be read; ";
            } else {
                take_texts(texts, node.data);
            }
            return;
        }
        node.data.resize(static_cast<std::size_t>(count) * node.element);
        if (count > 0 && H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, node.data.data()) < 0) {
            bad += path + ": cannot be read; ";
        }
    }

    Tree& tree_;
};

}  // namespace

void put_comment(std::string_view text, Tree::Node& node) {
    if (!text.empty()) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
        node.attributes.push_back({Tree::kComment, Blob(bytes, bytes + text.size())});
        ++node.attribute_count;
    }
}

void put_text(const char* text, Blob& padded) {
    const std::size_t end = padded.size() + Tree::kTextWidth;
    for (; text != nullptr && *text != '\0'; ++text) {
        padded.push_back(static_cast<std::byte>(*text));
    }
    padded.resize(end);
}

namespace {

void sort(Tree& tree) {
    for (auto& [address, node] : tree.nodes) {
        const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
        std::stable_sort(node.links.begin(), node.links.end(), by_name);
        std::stable_sort(node.attributes.begin(), node.attributes.end(), by_name);
    }
}

std::string nodes_differ(const Tree::Node& a, const Tree::Node& b) {
    std::string text = a.dataset != b.dataset || a.datatype != b.datatype ? "kind; " : "";
    text += a.dims != b.dims || a.element != b.element ? "shape; " : "";
    text += a.data != b.data ? "data; " : "";
    text += a.attribute_count != b.attribute_count ? "number of attributes " + std::to_string(a.attribute_count) +
                                                         " and " + std::to_string(b.attribute_count) + "; "
                                                   : "";
    const auto attribute = [](const Tree::Attribute& x, const Tree::Attribute& y) {
        return x.name == y.name && x.value == y.value;
    };
    const auto link = [](const Tree::Link& x, const Tree::Link& y) {
        return x.name == y.name && x.hard == y.hard && x.address == y.address && x.target == y.target;
    };
    text += std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(), attribute)
                ? ""
                : "attributes; ";
    text += std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(), link) ? "" : "links; ";
    return text;
}

}  // namespace

std::string read_by_libhdf5(h5mote::ConstBytes image, Tree& tree) {
    const Hdf5Id file = open_image(image);
    if (file < 0) {
        return "libhdf5 does not open it; ";
    }
    Reader reader(tree);
    const Hdf5Id root(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose);
    if (root < 0) {
        return "libhdf5 does not open the root group; ";
    }
    reader.object(root, "/");
    sort(tree);
    return reader.bad.empty() ? "" : "libhdf5: " + reader.bad;
}

std::string difference(const Tree& a, const Tree& b) {
    std::string text = a.root != b.root || a.nodes.size() != b.nodes.size() ? "other objects; " : "";
    for (const auto& [address, node] : a.nodes) {
        const auto other = b.nodes.find(address);
        if (other != b.nodes.end()) {
            const std::string differ = nodes_differ(node, other->second);
            text += differ.empty() ? "" : "object at " + std::to_string(address) + ": " + differ;
        }
    }
    return text.empty() ? "" : "libhdf5 and h5mote read different things: " + text;
}

}  // namespace h5mote_test
