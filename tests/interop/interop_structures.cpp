// Reads heaps and indexes that libhdf5 made, below the object model and with a metadata cache of 4 KiB, and compares
// them with the list of what they hold. Their addresses are found by searching the file for signatures.
//
// usage: interop_structures FOLDER (as make_structures.py made it)
#include "block_decoder.hpp"
#include "btree1.hpp"
#include "btree2.hpp"
#include "checked.hpp"
#include "fractal_heap.hpp"
#include "global_heap.hpp"
#include "local_heap.hpp"
#include "text.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/library.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace h5mote;

namespace {

constexpr const Filter* kFilters[] = {&deflate_filter};
constexpr std::size_t kCache = 4096;
constexpr std::size_t kArena = 24 * 1024;
constexpr std::size_t kFilteredArena = 512 * 1024;

unsigned failures = 0;
unsigned checks = 0;

#define CHECK(condition)                                                          \
    do {                                                                          \
        ++checks;                                                                 \
        if (!(condition) && ++failures <= 20) {                                   \
            std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
        }                                                                         \
    } while (0)

struct LinkLine {
    std::string name;
    Address address = 0;
};
struct ChunkLine {
    ChunkLocation location;
    std::vector<std::uint64_t> scaled;
};
struct AttributeLine {
    std::string name;
    std::size_t size = 0;
    std::uint32_t crc = 0;
};
struct ValueLine {
    Address collection = 0;
    std::uint32_t index = 0;
    std::size_t size = 0;
    std::uint32_t crc = 0;
};

struct Expected {
    explicit Expected(const std::string& path) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string kind;
            words >> kind;
            if (kind == "shape") {
                unsigned addr = 0, size = 0;
                words >> addr >> size;
                shape = {static_cast<std::uint8_t>(addr), static_cast<std::uint8_t>(size)};
            } else if (kind == "k") {
                words >> k.group_leaf >> k.group_internal >> k.chunk;
            } else if (kind == "link") {
                LinkLine link;
                std::string order;
                words >> link.name >> link.address >> order;
                ordered = order != "-";
                links.push_back(link);
            } else if (kind == "dims") {
                for (std::uint64_t dim = 0; words >> dim;) {
                    dims.push_back(dim);
                }
            } else if (kind == "chunk") {
                ChunkLine chunk;
                words >> chunk.location.address >> chunk.location.size >> chunk.location.mask;
                for (std::uint64_t at = 0; words >> at;) {
                    chunk.scaled.push_back(at);
                }
                chunks.push_back(chunk);
            } else if (kind == "attribute") {
                AttributeLine attribute;
                unsigned order = 0;
                words >> attribute.name >> order >> attribute.size >> attribute.crc;
                attributes.push_back(attribute);
            } else if (kind == "value") {
                ValueLine value;
                words >> value.collection >> value.index >> value.size >> value.crc;
                values.push_back(value);
            }
        }
    }

    FileShape shape;
    BTreeK k;
    bool ordered = false;
    std::vector<LinkLine> links;
    std::vector<std::uint64_t> dims;
    std::vector<ChunkLine> chunks;
    std::vector<AttributeLine> attributes;
    std::vector<ValueLine> values;
};

// A file in memory, opened by h5mote.
class Image {
public:
    Image(const std::string& path, const Expected& expected, std::size_t memory)
        : memory_(memory),
          arena_({memory_.data(), memory_.size()}),
          library_(arena_, port_, kFilters),
          bytes_(load(path)),
          driver_({bytes_.data(), bytes_.size()}, bytes_.size()),
          state_(library_, driver_) {
        FileAccess access;
        access.metadata_cache = kCache;
        access.chunk_cache = 0;
        access.read_only = true;
        CHECK(state_.open(access) == Status::ok);
        CHECK(state_.btree_k.group_leaf == expected.k.group_leaf && state_.btree_k.chunk == expected.k.chunk);
        CHECK(state_.btree_k.group_internal == expected.k.group_internal);
        state_.block_decoder = &pipeline_block_decoder;
    }
    ~Image() { state_.abandon(); }

    // The addresses of all places that have the signature, where a structure may begin.
    std::vector<Address> find(const char* signature) const {
        std::vector<Address> found;
        for (std::size_t at = 0; at + 64 <= bytes_.size(); ++at) {
            if (std::memcmp(&bytes_[at], signature, 4) == 0) {
                found.push_back(at);
            }
        }
        return found;
    }
    const std::byte* at(Address address) const { return &bytes_[static_cast<std::size_t>(address)]; }
    FileState& state() { return state_; }
    Arena& arena() { return arena_; }

private:
    static std::vector<std::byte> load(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        return {bytes, bytes + text.size()};
    }

    std::vector<std::byte> memory_;
    Arena arena_;
    NullPort port_;
    Library library_;
    std::vector<std::byte> bytes_;
    MemoryDriver driver_;
    FileState state_;
};

// The same as zlib's crc32().
std::uint32_t crc_of(const std::vector<std::byte>& bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (unsigned bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
        }
    }
    return ~crc;
}

std::vector<std::byte> all_of(MetadataWindow& window) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(window.size()));
    CHECK(window.read(0, {bytes.data(), bytes.size()}) == Status::ok);
    return bytes;
}

std::string name_of(LocalHeap& heap, Address offset) {
    std::vector<std::byte> bytes(5000);
    std::size_t length = 0;
    CHECK(heap.copy(offset, {bytes.data(), bytes.size()}, length) == Status::ok);
    std::size_t again = 0;
    CHECK(heap.length(offset, again) == Status::ok && again == length);
    return {reinterpret_cast<const char*>(bytes.data()), std::min(length, bytes.size())};
}

// The node of the highest level among the version 1 B-tree nodes of that type. It is taken as the root: the others are
// nodes below it, or of deleted trees.
Address root_of(const Image& image, unsigned type) {
    Address root = kUndefinedAddress;
    int level = -1;
    for (const Address at : image.find("TREE")) {
        const int its = std::to_integer<int>(image.at(at)[5]);
        if (std::to_integer<unsigned>(image.at(at)[4]) == type && its > level) {
            root = at;
            level = its;
        }
    }
    return root;
}

void old_group(Image& image, const Expected& expected) {
    // If all trees have one node only, take the first in the file: the root group was created first.
    Address root = root_of(image, BTree1Node::kGroup);
    if (std::to_integer<int>(image.at(root)[5]) == 0) {
        root = image.find("TREE")[0];
    }
    LocalHeap heap;
    CHECK(heap.open(image.state(), image.find("HEAP")[0]) == Status::ok);
    GroupBTree1 tree;
    tree.open(image.state(), root, heap);
    std::vector<LinkLine> names = expected.links;
    std::sort(names.begin(), names.end(), [](const LinkLine& a, const LinkLine& b) { return a.name < b.name; });
    SymbolEntry symbol;
    for (const bool backwards : {false, true}) {
        GroupBTree1::Cursor cursor;
        cursor.backwards = backwards;
        for (const LinkLine& link : names) {
            CHECK(tree.next(cursor, symbol) == Status::ok);
            CHECK(name_of(heap, symbol.name) == link.name);
            CHECK(symbol.header == link.address);
        }
        CHECK(tree.next(cursor, symbol) == Status::not_found);
        CHECK(tree.next(cursor, symbol) == Status::not_found);
        std::reverse(names.begin(), names.end());
    }
    for (const LinkLine& link : names) {
        CHECK(tree.find(bytes_of(link.name), symbol) == Status::ok);
        CHECK(symbol.header == link.address && name_of(heap, symbol.name) == link.name);
        for (const char* const more : {"!", "~"}) {
            CHECK(tree.find(bytes_of(link.name + more), symbol) == Status::not_found);
        }
        CHECK(tree.find(bytes_of(std::string_view(link.name).substr(0, link.name.size() / 2)), symbol) ==
              Status::not_found);
    }
    for (const char* const none : {"", "~", "!"}) {
        CHECK(tree.find(bytes_of(none), symbol) == Status::not_found);
    }
    BlockSum sum;
    Address free_space = 0;
    CHECK(tree.walk(sum) == Status::ok && sum.blocks >= 1);
    CHECK(heap.walk(sum) == Status::ok);
    CHECK(heap.free_space(free_space) == Status::ok && free_space < heap.data_size());
}

void old_chunks(Image& image, const Expected& expected) {
    ChunkBTree1 tree;
    const auto rank = static_cast<unsigned>(expected.dims.size());
    tree.open(image.state(), root_of(image, BTree1Node::kChunks), rank, expected.dims.data());
    ChunkBTree1::Cursor cursor;
    std::vector<std::uint64_t> scaled(rank);
    ChunkLocation location;
    for (const ChunkLine& chunk : expected.chunks) {
        CHECK(tree.next(cursor, scaled.data(), location) == Status::ok);
        CHECK(scaled == chunk.scaled && location.address == chunk.location.address);
        CHECK(location.size == chunk.location.size && location.mask == chunk.location.mask);
    }
    CHECK(tree.next(cursor, scaled.data(), location) == Status::not_found);
    std::map<std::vector<std::uint64_t>, Address> known;
    std::vector<std::uint64_t> most(rank);
    for (const ChunkLine& chunk : expected.chunks) {
        known[chunk.scaled] = chunk.location.address;
        for (unsigned i = 0; i < rank; ++i) {
            most[i] = std::max(most[i], chunk.scaled[i] + 2);
        }
    }
    // Look up all chunk coordinates, including those without a chunk and some beyond the extent.
    std::vector<std::uint64_t> at(rank);
    for (bool more = true; more;) {
        CHECK(tree.find(at.data(), location) == Status::ok);
        const auto found = known.find(at);
        CHECK(location.address == (found == known.end() ? kUndefinedAddress : found->second));
        more = false;
        for (unsigned i = rank; i-- > 0 && !more;) {
            more = ++at[i] < most[i];
            at[i] = more ? at[i] : 0;
        }
    }
    BlockSum sum;
    unsigned levels = 0;
    CHECK(tree.walk(sum) == Status::ok && tree.height(levels) == Status::ok && sum.blocks > levels);
}

class WantedChunk final : public RecordCompare {
public:
    explicit WantedChunk(const std::vector<std::uint64_t>& scaled) : scaled_(scaled) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        const auto rank = static_cast<unsigned>(scaled_.size());
        order = 0;
        for (unsigned i = 0; i < rank && order == 0; ++i) {
            const std::uint64_t its = ChunkRecord::coordinate(record, rank, i);
            order = scaled_[i] < its ? -1 : scaled_[i] > its ? 1 : 0;
        }
        return Status::ok;
    }

private:
    const std::vector<std::uint64_t>& scaled_;
};

// Opens the first version 2 B-tree that has the type `type` or `other`.
bool open_tree(Image& image, BTree2Type type, BTree2Type other, BTree2& tree) {
    for (const Address at : image.find("BTHD")) {
        if (tree.open(image.state(), at) == Status::ok && (tree.type() == type || tree.type() == other)) {
            return true;
        }
    }
    return false;
}

void new_chunks(Image& image, const Expected& expected) {
    BTree2 tree;
    CHECK(open_tree(image, BTree2Type::chunk, BTree2Type::chunk_filtered, tree));
    CHECK(tree.size() == expected.chunks.size());
    const auto rank = static_cast<unsigned>(expected.dims.size());
    std::byte record[BTree2::kMaxRecordSize];
    std::vector<std::uint64_t> scaled(rank);
    for (std::uint64_t i = 0; i < tree.size(); ++i) {
        const ChunkLine& chunk = expected.chunks[static_cast<std::size_t>(i)];
        for (const bool by_position : {false, true}) {
            std::uint64_t index = i;
            WantedChunk wanted(chunk.scaled);
            CHECK((by_position ? tree.record(i, record) : tree.find(wanted, record, &index)) == Status::ok);
            ChunkLocation location;
            CHECK(ChunkRecord::decode(image.state().shape(), tree.type(), rank, {record, tree.record_size()}, location,
                                      scaled.data()));
            CHECK(index == i && scaled == chunk.scaled && location.address == chunk.location.address);
            CHECK(tree.type() == BTree2Type::chunk || location.size == chunk.location.size);
            CHECK(location.mask == chunk.location.mask);
        }
    }
    CHECK(tree.record(tree.size(), record) == Status::not_found);
    std::vector<std::uint64_t> none = expected.chunks.back().scaled;
    ++none[0];
    WantedChunk wanted(none);
    CHECK(tree.find(wanted, record) == Status::not_found);
    BlockSum sum;
    CHECK(tree.walk(sum) == Status::ok && sum.blocks >= 2 && sum.blocks >= tree.depth() + 2U);
}

// Parses the name and the address from the link message of a hard link in dense storage.
LinkLine parse_link(const std::vector<std::byte>& message, FileShape shape) {
    LinkLine link;
    if (message.size() < 12) {
        return link;
    }
    const unsigned flags = std::to_integer<unsigned>(message[1]);
    std::size_t at = 2 + ((flags & 8) != 0 ? 1 : 0) + ((flags & 4) != 0 ? 8 : 0) + ((flags & 16) != 0 ? 1 : 0);
    const unsigned width = 1U << (flags & 3);
    const auto length = static_cast<std::size_t>(load_uint(&message[at], width));
    at += width;
    if (at + length + shape.sizeof_addr > message.size()) {
        return link;
    }
    link.name.assign(reinterpret_cast<const char*>(&message[at]), length);
    link.address = shape.load_addr(&message[at + length]);
    return link;
}

class WantedName final : public RecordCompare {
public:
    WantedName(FractalHeap& heap, const std::string& name, FileShape shape)
        : heap_(heap), name_(name), shape_(shape), hash_(name_hash(bytes_of(name))) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        LinkNameRecord link;
        CHECK(link.decode(record));
        order = hash_ < link.hash ? -1 : hash_ > link.hash ? 1 : 0;
        if (order == 0) {
            MetadataWindow message;
            H5MOTE_TRY(heap_.object(link.heap_id, message));
            order = name_.compare(parse_link(all_of(message), shape_).name);
        }
        return Status::ok;
    }

private:
    FractalHeap& heap_;
    const std::string& name_;
    FileShape shape_;
    std::uint32_t hash_;
};

// Checks a group with dense link storage. Its fractal heap is the only one in the file.
void dense_links(Image& image, const Expected& expected) {
    const FileShape shape = image.state().shape();
    FractalHeap heap;
    CHECK(heap.open(image.state(), image.find("FRHP")[0]) == Status::ok);
    BTree2 names;
    CHECK(open_tree(image, BTree2Type::link_name, BTree2Type::link_name, names));
    CHECK(names.size() == expected.links.size());
    std::byte record[BTree2::kMaxRecordSize];
    std::map<std::string, Address> known;
    for (const LinkLine& link : expected.links) {
        WantedName wanted(heap, link.name, shape);
        CHECK(names.find(wanted, record) == Status::ok);
        LinkNameRecord found;
        CHECK(found.decode({record, names.record_size()}));
        MetadataWindow message;
        CHECK(heap.object(found.heap_id, message) == Status::ok);
        CHECK(parse_link(all_of(message), shape).address == link.address);
        known[link.name] = link.address;
        const std::string none = link.name + "z";
        WantedName other(heap, none, shape);
        CHECK(names.find(other, record) == Status::not_found);
    }
    for (std::uint64_t i = names.size(); i-- > 0;) {
        CHECK(names.record(i, record) == Status::ok);
        LinkNameRecord found;
        CHECK(found.decode({record, names.record_size()}));
        MetadataWindow message;
        CHECK(heap.object(found.heap_id, message) == Status::ok);
        const LinkLine link = parse_link(all_of(message), shape);
        const auto at = known.find(link.name);
        CHECK(at != known.end() && at->second == link.address);
        if (at != known.end()) {
            known.erase(at);
        }
    }
    CHECK(known.empty());
    BTree2 orders;
    if (expected.ordered) {
        CHECK(open_tree(image, BTree2Type::link_order, BTree2Type::link_order, orders));
        for (std::uint64_t i = 0; i < orders.size(); ++i) {
            CHECK(orders.record(i, record) == Status::ok);
            LinkOrderRecord found;
            CHECK(found.decode({record, orders.record_size()}) && found.order == i);
            MetadataWindow message;
            CHECK(heap.object(found.heap_id, message) == Status::ok);
            CHECK(parse_link(all_of(message), shape).name == expected.links[static_cast<std::size_t>(i)].name);
        }
    }
    FractalHeapHeader header;
    BlockSum sum;
    CHECK(heap.read_header(header) == Status::ok && header.managed + header.huge == expected.links.size());
    CHECK(heap.walk(sum) == Status::ok && sum.bytes > 0);
}

void dense_attributes(Image& image, const Expected& expected) {
    FractalHeap heap;
    CHECK(heap.open(image.state(), image.find("FRHP")[0]) == Status::ok);
    BTree2 orders;
    CHECK(open_tree(image, BTree2Type::attribute_order, BTree2Type::attribute_order, orders));
    CHECK(orders.size() == expected.attributes.size());
    std::byte record[BTree2::kMaxRecordSize];
    for (std::uint64_t i = 0; i < orders.size(); ++i) {
        CHECK(orders.record(i, record) == Status::ok);
        AttributeRecord found;
        CHECK(found.decode(orders.type(), {record, orders.record_size()}) && found.order == i);
        MetadataWindow message;
        CHECK(heap.object(found.heap_id, message) == Status::ok);
        const AttributeLine& line = expected.attributes[static_cast<std::size_t>(i)];
        CHECK(message.size() > line.size);
        std::vector<std::byte> data(line.size);
        CHECK(message.read(message.size() - line.size, {data.data(), data.size()}) == Status::ok);
        CHECK(crc_of(data) == line.crc);
        std::string name(line.name.size(), ' ');
        CHECK(message.read(9, {reinterpret_cast<std::byte*>(name.data()), name.size()}) == Status::ok);
        CHECK(name == line.name);
    }
    FractalHeapHeader header;
    BlockSum sum;
    CHECK(heap.read_header(header) == Status::ok && header.managed + header.huge == expected.attributes.size());
    CHECK(heap.walk(sum) == Status::ok && sum.bytes > 0);
}

void global_values(Image& image, const Expected& expected) {
    GlobalHeap heap(image.state());
    std::vector<ValueLine> values = expected.values;
    for (const bool backwards : {false, true}) {
        for (const ValueLine& value : values) {
            if (value.size == 0) {
                continue;
            }
            MetadataWindow window;
            CHECK(heap.object(value.collection, value.index, window) == Status::ok);
            CHECK(window.size() == value.size && crc_of(all_of(window)) == value.crc);
        }
        std::reverse(values.begin(), values.end());
        CHECK(backwards || !values.empty());
    }
    MetadataWindow window;
    CHECK(heap.object(values[0].collection, 60000, window) == Status::corrupt_file);
    Address size = 0, free_space = 0;
    CHECK(heap.facts(values[0].collection, size, free_space) == Status::ok && size >= 4096 && free_space < size);
}

void check_file(const std::filesystem::path& path) {
    const Expected expected(std::filesystem::path(path).replace_extension(".list").string());
    const std::string name = path.stem().string();
    const unsigned before = failures;
    const unsigned checked = checks;
    const bool filtered = name.find("filtered") != std::string::npos && name.compare(0, 5, "dense") == 0;
    std::size_t peak = 0;
    {
        Image image(path.string(), expected, filtered ? kFilteredArena : kArena);
        CHECK(image.state().shape().sizeof_addr == expected.shape.sizeof_addr);
        CHECK(image.state().shape().sizeof_size == expected.shape.sizeof_size);
        if (name.compare(0, 5, "group") == 0) {
            old_group(image, expected);
        } else if (name.compare(0, 12, "chunk_btree2") == 0) {
            new_chunks(image, expected);
        } else if (name.compare(0, 5, "chunk") == 0) {
            old_chunks(image, expected);
        } else if (name.compare(0, 5, "dense") == 0) {
            dense_links(image, expected);
        } else if (name.compare(0, 9, "attribute") == 0) {
            dense_attributes(image, expected);
        } else {
            global_values(image, expected);
        }
        peak = image.arena().usage().peak;
    }
    std::printf("%-24s %8u checks, %u failed, peak %zu bytes of memory\n", name.c_str(), checks - checked,
                failures - before, peak);
}

}  // namespace

int main(int count, char** arguments) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (count < 2) {
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
        if (entry.path().extension() == ".h5" &&
            (count < 3 || entry.path().stem().string().find(arguments[2]) != std::string::npos)) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        check_file(file);
    }
    std::printf("%zu files, %u checks, %u failed\n", files.size(), checks, failures);
    return failures == 0 && !files.empty() ? 0 : 1;
}
