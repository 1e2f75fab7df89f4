// Lists objects, links and attributes that libhdf5 made, in every order, with a cache of 4 KiB, and compares the lists.
//
// usage: interop_objects FOLDER [ARENA] (FOLDER as make_objects.py made it)
#include <h5mote/h5mote.hpp>
#include <h5mote/port/posix.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace h5mote;

namespace {

using Lines = std::vector<std::string>;

std::uint64_t fnv(const void* data, std::size_t size, std::uint64_t value = 0xcbf29ce484222325U) {
    for (std::size_t i = 0; i < size; ++i) {
        value = (value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3U;
    }
    return value;
}

std::string hex(std::uint64_t value, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
    return text;
}

std::string escape(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto value = static_cast<unsigned char>(c);
        text += value >= 33 && value < 127 && value != 92 ? std::string(1, c) : "\\" + hex(value, "%02llx");
    }
    return text;
}

std::string number(std::uint64_t value) { return std::to_string(value); }

const char* kind(ObjectType type) {
    return type == ObjectType::group ? "group" : type == ObjectType::dataset ? "dataset" : "datatype";
}

// Adds an error to the list, which thereby differs from the expected one.
void complain(Lines& lines, const std::string& where, Status status) {
    if (status != Status::ok) {
        lines.push_back("error " + where + " " + to_string(status));
    }
}

std::string attribute_line(const std::string& path, const Attribute& attribute, Lines& lines) {
    std::string shape;
    for (const std::uint64_t dim : attribute.dataspace().dims()) {
        shape += (shape.empty() ? "" : "x") + number(dim);
    }
    std::uint64_t hash = fnv(nullptr, 0);
    for (std::uint64_t at = 0; at < attribute.data_size();) {
        std::byte piece[777];
        const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof piece, attribute.data_size() - at));
        complain(lines, path, attribute.read_stored(at, {piece, now}));
        hash = fnv(piece, now, hash);
        at += now;
    }
    return "attribute " + path + " " + escape(attribute.name()) + " class " +
           number(static_cast<unsigned>(attribute.type().type_class())) + " shape " + shape + " bytes " +
           number(attribute.data_size()) + " committed " +
           (attribute.type_object() != kUndefinedAddress ? "1 " : "0 ") + hex(hash, "%016llx");
}

class Describer final : public Visitor {
public:
    explicit Describer(Lines& lines) : lines_(lines) {}

    Status link(std::string_view path, const Link& link) noexcept override {
        std::string line = "link /" + escape(path) + " ";
        if (link.type() == LinkType::soft) {
            line += "soft " + escape(link.target());
        } else if (link.type() == LinkType::external) {
            line += "external " + escape(link.file_name()) + " " + escape(link.target());
        } else {
            line += "hard";
        }
        lines_.push_back(line);
        return Status::ok;
    }
    Status object(std::string_view where, Object& object) noexcept override {
        const std::string path = where == "." ? "/" : "/" + escape(where);
        facts(path, object);
        attributes(path, object);
        if (Result<Group> group = Group::from(object.duplicate())) {
            GroupInfo info;
            complain(lines_, path, group->group_info(info));
            order(path, *group, "name-down", IndexOrder::name, Direction::decreasing);
            if (info.tracks_order) {
                order(path, *group, "made", IndexOrder::creation, Direction::increasing);
                order(path, *group, "made-down", IndexOrder::creation, Direction::decreasing);
            }
        }
        return Status::ok;
    }

private:
    void facts(const std::string& path, const Object& object) {
        ObjectInfo info;
        complain(lines_, path, object.info(info));
        char comment[100];
        std::size_t length = 0;
        complain(lines_, path, object.comment(comment, length));
        const HeaderInfo& header = info.header;
        const bool group = info.type == ObjectType::group;
        lines_.push_back("object " + path + " " + kind(info.type) + " references " + number(info.reference_count) +
                         " attributes " + number(info.attributes) + " header " + number(header.version) + " " +
                         number(header.messages) + " " + number(header.blocks) + " " + number(header.total) + " " +
                         number(header.metadata) + " " + number(header.message_data) + " " + number(header.free) + " " +
                         hex(header.present, "%llx") + " storage " + number(group ? info.object_storage.index : 0) +
                         " " + number(info.object_storage.heap) + " " + number(info.attribute_storage.index) + " " +
                         number(info.attribute_storage.heap) + " comment " + escape(std::string_view(comment, length)));
    }
    void attributes(const std::string& path, const Object& object) {
        AttributeIterator iterator(object, IndexOrder::name);
        Attribute attribute;
        std::vector<std::string> names;
        Status status;
        while ((status = iterator.next(attribute)) == Status::ok) {
            lines_.push_back(attribute_line(path, attribute, lines_));
            names.emplace_back(attribute.name());
            complain(lines_, path, object.open_attribute(attribute.name()).status());
        }
        complain(lines_, path, status == Status::not_found ? Status::ok : status);
        AttributeIterator backwards(object, IndexOrder::name, Direction::decreasing);
        while ((status = backwards.next(attribute)) == Status::ok) {
            complain(lines_, path + " backwards",
                     names.empty() || names.back() != attribute.name() ? Status::corrupt_file : Status::ok);
            names.pop_back();
        }
        complain(lines_, path, status == Status::not_found && names.empty() ? Status::ok : Status::corrupt_file);
    }
    void order(const std::string& path, const Group& group, const char* label, IndexOrder order, Direction direction) {
        LinkIterator iterator(group, order, direction);
        Link link;
        std::string names;
        Status status;
        bool first = true;
        while ((status = iterator.next(link)) == Status::ok) {
            names += (first ? "" : "/") + std::string(link.name());
            first = false;
        }
        complain(lines_, path, status == Status::not_found ? Status::ok : status);
        lines_.push_back("order " + path + " " + label + " " + hex(fnv(names.data(), names.size()), "%016llx"));
    }

    Lines& lines_;
};

Lines describe(const std::string& path, std::size_t arena_size) {
    Lines lines;
    std::vector<std::byte> memory(arena_size);
    Arena arena(Bytes(memory.data(), memory.size()));
    NullPort port;
    Library library(arena, port);
    {
        PosixDriver driver;
        PosixOpener opener(library.allocator(), driver, path.c_str());
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 4096;
        access.chunk_cache = 1024;
        access.opener = &opener;
        complain(lines, path, driver.open(path.c_str(), PosixDriver::Mode::read_only));
        Result<File> file = File::open(library, driver, access);
        complain(lines, path, file.status());
        Describer describer(lines);
        Group root = file->root();
        complain(lines, "visit", root.visit(describer));
        for (const char* start : {"/a/b/c/up/b/c/self/self", "/hop/c/./up//b", "/a/b/c/elsewhere", "/a/b/c/lost",
                                  "/a/b/c/circle", "/hop", "/data/x", "/a/none", "//a///b/", "."}) {
            const Result<Object> object = root.open_object(start);
            ObjectType type = ObjectType::group;
            const bool found = object && (*object).type(type) == Status::ok;
            lines.push_back("path " + std::string(start) + " " + (found ? kind(type) : "none"));
        }
    }
    library.garbage_collect();
    if (arena.usage().now != 0) {
        lines.push_back("error memory is left over");
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        return 2;
    }
    const std::size_t arena = count > 2 ? std::strtoul(arguments[2], nullptr, 0) : 65536;
    unsigned files = 0;
    std::size_t compared = 0;
    unsigned failures = 0;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
        if (entry.path().extension() != ".txt") {
            continue;
        }
        Lines expected;
        std::ifstream text(entry.path());
        for (std::string line; std::getline(text, line);) {
            expected.push_back(line);
        }
        std::sort(expected.begin(), expected.end());
        const Lines found = describe(std::filesystem::path(entry.path()).replace_extension(".h5").string(), arena);
        Lines missing;
        Lines surplus;
        std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(), std::back_inserter(missing));
        std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(), std::back_inserter(surplus));
        std::stable_partition(surplus.begin(), surplus.end(),
                              [](const std::string& line) { return line.compare(0, 5, "error") == 0; });
        for (std::size_t i = 0; i < std::max(missing.size(), surplus.size()) && failures < 20; ++i, ++failures) {
            std::printf("%s\n  - %s\n  + %s\n", entry.path().c_str(), i < missing.size() ? missing[i].c_str() : "",
                        i < surplus.size() ? surplus[i].c_str() : "");
        }
        ++files;
        compared += expected.size();
    }
    std::printf("%u files, %zu lines compared, %u differ\n", files, compared, failures);
    return failures == 0 && files >= 9 && compared > 5000 ? 0 : 1;
}
