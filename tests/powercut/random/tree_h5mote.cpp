#include "../say.hpp"
#include "player.hpp"
#include "tree.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>

#include <algorithm>

namespace h5mote_test {

using namespace h5mote;

namespace {

constexpr auto kText = make_variable_string();

class Reader {
public:
    Reader(Library& library, File& file, Tree& tree) : library_(library), root_(file.root()), tree_(tree) {}

    void object(const std::string& path) {
        auto opened = root_.open_object(path);
        if (!good(opened.status(), path, "open")) {
            return;
        }
        const std::uint64_t address = opened->address();
        if (tree_.nodes.count(address) != 0) {
            return;
        }
        Tree::Node& node = tree_.nodes[address];
        if (path == "/") {
            tree_.root = address;
        }
        ObjectType type{};
        std::uint32_t count = 0;
        if (!good(opened->type(type), path, "type") || !good(opened->attribute_count(count), path, "attributes")) {
            return;
        }
        node.dataset = type == ObjectType::dataset;
        node.datatype = type == ObjectType::datatype;
        node.attribute_count = count;
        attributes(*opened, node, path);
        ordered_attributes(*opened, count, path);
        char comment[Tree::kMostComment];
        std::size_t length = 0;
        good(opened->comment(comment, length), path, "comment");
        put_comment({comment, length}, node);
        if (node.dataset) {
            data(node, path);
        } else if (node.datatype) {
            auto committed = NamedDatatype::from(static_cast<Object&&>(*opened));
            node.element = good(committed.status(), path, "datatype") ? committed->type().size() : 0;
        } else {
            links(node, path);
        }
    }

    std::string bad;

private:
    bool good(Status status, const std::string& path, const char* what) {
        if (status != Status::ok) {
            bad += path + ": " + what + " " + say(library_, status) + "; ";
        }
        return status == Status::ok;
    }

    void attributes(const Object& object, Tree::Node& node, const std::string& path) {
        AttributeIterator walk(object);
        Attribute attribute;
        Status status = walk.next(attribute);
        for (; status == Status::ok; status = walk.next(attribute)) {
            Tree::Attribute found;
            found.name = std::string(attribute.name());
            found.value.resize(static_cast<std::size_t>(attribute.data_size()));
            if (attribute.type().is_variable_string()) {
                const std::size_t count = found.value.size() / attribute.type().size();
                found.value = texts(count, path + "@" + found.name,
                                    [&](Bytes to) { return object.read_attribute(found.name, kText.view(), to); });
            } else {
                good(attribute.read_stored(0, {found.value.data(), found.value.size()}), path + "@" + found.name,
                     "read");
                Blob again(found.value.size());
                good(object.read_attribute(found.name, attribute.type(), {again.data(), again.size()}),
                     path + "@" + found.name, "read by name");
                bad += again == found.value ? "" : path + "@" + found.name + ": two values; ";
            }
            node.attributes.push_back(found);
        }
        good(status == Status::not_found ? Status::ok : status, path, "attributes");
    }

    // All attributes are found by their creation order, if the object tracks that.
    void ordered_attributes(const Object& object, std::uint32_t count, const std::string& path) {
        ObjectInfo info;
        good(object.info(info, false), path, "info");
        if (!info.tracks_attribute_order) {
            return;
        }
        AttributeIterator walk(object, IndexOrder::creation);
        Attribute attribute;
        std::uint32_t found = 0;
        Status status = walk.next(attribute);
        for (; status == Status::ok; status = walk.next(attribute)) {
            ++found;
        }
        good(status == Status::not_found ? Status::ok : status, path, "attributes by creation order");
        bad += found == count ? "" : path + ": another number of attributes by creation order; ";
    }

    // Strings of variable length, which `read` reads, in the form in which a Tree has them.
    template <typename Read>
    Blob texts(std::size_t count, const std::string& path, const Read& read) {
        std::vector<char*> pointers(count);
        Blob padded;
        const Bytes to(reinterpret_cast<std::byte*>(pointers.data()), count * sizeof(char*));
        if (good(read(to), path, "read strings")) {
            for (const char* const each : pointers) {
                put_text(each, padded);
            }
            good(reclaim(library_, kText.view(), count, sizeof(char*), pointers.data()), path, "reclaim");
        }
        return padded;
    }

    void links(Tree::Node& node, const std::string& path) {
        auto group = root_.open_group(path);
        if (!good(group.status(), path, "open")) {
            return;
        }
        LinkIterator walk(*group, IndexOrder::name);
        Link link;
        Status status = walk.next(link);
        for (; status == Status::ok; status = walk.next(link)) {
            Tree::Link found;
            found.name = std::string(link.name());
            found.hard = link.type() == LinkType::hard;
            found.address = found.hard ? link.address() : 0;
            found.target = found.hard ? "" : std::string(link.target());
            if (link.type() == LinkType::external) {
                found.target = std::string(link.file_name()) + ":" + found.target;
            }
            node.links.push_back(found);
        }
        good(status == Status::not_found ? Status::ok : status, path, "links");
        const std::vector<Tree::Link> all = node.links;
        for (const Tree::Link& each : all) {
            if (each.hard) {
                object(path + each.name + "/");
            }
        }
    }

    void data(Tree::Node& node, const std::string& path) {
        auto dataset = root_.open_dataset(path);
        Dataspace space;
        std::byte buffer[1024];
        DatatypeView type;
        if (!good(dataset.status(), path, "open") || !good(dataset->dataspace(space), path, "dataspace") ||
            !good(dataset->datatype({buffer, sizeof(buffer)}, type), path, "datatype")) {
            return;
        }
        node.dims.assign(space.dims().begin(), space.dims().end());
        node.element = dataset->element_size();
        std::uint64_t count = 0;
        if (!good(space.element_count(count), path, "count") || count * node.element > 1000000) {
            bad += path + ": " + std::to_string(count) + " elements; ";
            return;
        }
        if (type.is_variable_string()) {
            node.element = Tree::kTextWidth;
            node.data = texts(static_cast<std::size_t>(count), path,
                              [&](Bytes to) { return dataset->read(Selection::all(), kText.view(), to); });
            return;
        }
        node.data.resize(static_cast<std::size_t>(count) * node.element);
        good(dataset->read(Selection::all(), type, {node.data.data(), node.data.size()}), path, "read");
    }

    Library& library_;
    Group root_;
    Tree& tree_;
};

}  // namespace

std::string read_by_h5mote(Driver& driver, Tree& tree) {
    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters(), formats::all};
    FileAccess access;
    access.read_only = true;
    access.metadata_cache = 65536;
    access.chunk_cache = std::size_t{1} << 20;
    auto file = File::open(library, driver, access);
    if (!file) {
        return "open: " + say(library, file.status()) + "; ";
    }
    std::string bad;
    {
        Reader reader(library, *file, tree);
        reader.object("/");
        bad = reader.bad;
    }
    for (auto& [address, node] : tree.nodes) {
        const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
        std::stable_sort(node.attributes.begin(), node.attributes.end(), by_name);
    }
    return bad + problems_after_cut(*file);
}

}  // namespace h5mote_test
