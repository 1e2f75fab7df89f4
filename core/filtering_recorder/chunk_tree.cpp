// The chunk index of a dataset with filters: a version 1 B-tree (specification III.A.1), to which chunks are added at
// its right end.
//
// Its nodes have no checksum, and each lies in one sector. So a chunk is added or changed by one write of a leaf. Where
// the leaf is full, a new node is written for it and for every full node above, before one write of the first node
// that is not full leads there. A full root is copied first, because the object header has its address.
//
// Nodes that another program added may lie in two sectors. Before one of them is changed, it gets another place.
//
// The last key of a node says where the chunks after its last child begin. It would change in all nodes above with
// every chunk. So it is as large as a key can be wherever the tree ends, at the latest before a chunk is added there.
#include "checked.hpp"
#include "file_shape.hpp"
#include "filtering.hpp"
#include "recorder_rule.hpp"

#include <cstring>

namespace h5mote {

using Parameters = blueprint::ChunkTreeParameters;

namespace {

constexpr std::uint32_t kSignature = 0x45455254;  // "TREE"
constexpr unsigned kLevelOffset = 5;
constexpr unsigned kCountOffset = 6;
constexpr unsigned kSiblingsOffset = 8;
constexpr unsigned kRowOffset = 8;  // of the first row in a key
// Trees of 2^32 chunks are lower, if they are filled at all.
constexpr unsigned kMaxLevels = 12;

}  // namespace

struct FilteringRecorderBase::Node {
    explicit Node(unsigned the_width) noexcept : width(the_width) {}

    unsigned level() const noexcept { return static_cast<unsigned>(bytes[kLevelOffset]); }
    unsigned children() const noexcept { return load_le<std::uint16_t>(bytes + kCountOffset); }
    bool is_full() const noexcept { return children() >= Parameters::most_children(width); }
    std::byte* key(unsigned i) noexcept {
        return bytes + Parameters::prefix(width) + i * (Parameters::kKeySize + width);
    }
    std::byte* child(unsigned i) noexcept { return key(i) + Parameters::kKeySize; }
    std::uint64_t row(unsigned i) noexcept { return load_le<std::uint64_t>(key(i) + kRowOffset); }
    // How many children have keys that are not above `row`.
    unsigned count_up_to(std::uint64_t row_number) noexcept {
        unsigned i = children();
        while (i > 0 && row(i - 1) > row_number) {
            --i;
        }
        return i;
    }

    Address address = 0;
    unsigned width;
    std::byte bytes[512];
};

Status FilteringRecorderBase::read_node(Address address, Node& node) noexcept {
    const unsigned size = Parameters::node_size(node.width);
    if (!within(address, Address{size}, end_)) {
        return Status::corrupt_file;
    }
    node.address = address;
    H5MOTE_TRY(read(address, node.bytes, size));
    return load_le<std::uint32_t>(node.bytes) == kSignature && node.bytes[4] == std::byte{1} &&
                   node.children() <= Parameters::most_children(node.width)
               ? Status::ok
               : Status::corrupt_file;
}

// Writes a node from offset `from` on.
Status FilteringRecorderBase::write_node(Node& node, unsigned from) noexcept {
    const auto end = static_cast<unsigned>(node.key(node.children()) + Parameters::kKeySize - node.bytes);
    return write(node.address + from, node.bytes + from, end - from);
}

// Makes a node of no children, which follows the node `left` at its level.
void FilteringRecorderBase::clear_node(Node& node, Address address, unsigned level, Address left) noexcept {
    std::memset(node.bytes, 0, sizeof node.bytes);
    store_le(node.bytes, kSignature);
    node.bytes[4] = std::byte{1};
    node.bytes[kLevelOffset] = static_cast<std::byte>(level);
    store_field(node.bytes + kSiblingsOffset, node.width, left);
    store_field(node.bytes + kSiblingsOffset + node.width, node.width, kUndefinedAddress);
    node.address = address;
}

std::uint64_t FilteringRecorderBase::first_row(const Slot& slot, const Chunk& chunk) const noexcept {
    return std::uint64_t{chunk.number} * dataset_of(slot).chunk;
}

void FilteringRecorderBase::set_key(const Slot& slot, std::byte* key, const Chunk& chunk) noexcept {
    store_le(key, chunk.size);
    store_le(key + 4, chunk.filter_mask);
    store_le(key + kRowOffset, first_row(slot, chunk));
    store_le(key + kRowOffset + 8, std::uint64_t{0});
}

// Adds a child behind the last one of a node that is not full.
void FilteringRecorderBase::add_child(const Slot& slot, Node& node, Address child, const Chunk& chunk) noexcept {
    const unsigned last = node.children();
    set_key(slot, node.key(last), chunk);
    store_field(node.child(last), node.width, child);
    store_le(node.bytes + kCountOffset, static_cast<std::uint16_t>(last + 1));
    set_end(slot, node);
}

// Makes the last key of a node the largest multiple of the chunk's rows that is a power of two times these.
void FilteringRecorderBase::set_end(const Slot& slot, Node& node) noexcept {
    std::uint64_t end = dataset_of(slot).chunk;
    while (end >> 62 == 0) {
        end <<= 1;
    }
    std::byte* const key = node.key(node.children());
    std::memset(key, 0, Parameters::kKeySize);
    store_le(key + kRowOffset, end);
}

Address FilteringRecorderBase::child_of(Node& node, unsigned i) noexcept {
    return narrow(load_uint(node.child(i), node.width));
}

// Reads the leaf in which a chunk is or would be. `path`: the addresses of the nodes that lead there, by level; nullptr
// if none of them is going to be changed. `i`: the chunk's place in the leaf. `found`: it is there.
Status FilteringRecorderBase::descend(const Slot& slot, const Chunk& chunk, Address* path, Node& node, unsigned& i,
                                      bool& found) noexcept {
    const std::uint64_t row = first_row(slot, chunk);
    H5MOTE_TRY(read_node(dataset_of(slot).index_block, node));
    unsigned level = node.level();
    if (level >= kMaxLevels) {
        return Status::corrupt_file;
    }
    for (;; --level) {
        if (path != nullptr) {
            path[level] = node.address;
        }
        i = node.count_up_to(row);
        if (level == 0) {
            found = i != 0 && node.row(i - 1) == row;
            i -= found ? 1 : 0;
            return Status::ok;
        }
        if (node.children() == 0) {
            return Status::corrupt_file;
        }
        if (path != nullptr && i == node.children() && node.row(i) <= row && keep(RecorderRule::end_open)) {
            // Another program made the tree as long as its chunks.
            set_end(slot, node);
            H5MOTE_TRY(write_node(node, static_cast<unsigned>(node.key(i) - node.bytes)));
            H5MOTE_TRY(barrier());
        }
        const unsigned child = i == 0 ? 0 : i - 1;
        const Address pointer = node.address + static_cast<Address>(node.child(child) - node.bytes);
        H5MOTE_TRY(read_node(child_of(node, child), node));
        if (node.level() + 1 != level) {
            return Status::corrupt_file;
        }
        if (path != nullptr) {
            H5MOTE_TRY(settle(slot, pointer, node));
        }
    }
}

// Moves a node into one sector, if it is not in one, and makes its siblings lead to it, if a power cut came before they
// did. `pointer`: where the node above has its address.
Status FilteringRecorderBase::settle(const Slot& slot, Address pointer, Node& node) noexcept {
    const unsigned width = node.width;
    const FileShape shape{table_->sizeof_addr, 8};
    const Address size = Parameters::node_size(width);
    if (node.address / kSector != (node.address + size - 1) / kSector && keep(RecorderRule::one_sector)) {
        H5MOTE_TRY(allocate(slot, size, true, node.address));
        H5MOTE_TRY(write_node(node, 0));
        if (keep(RecorderRule::nodes_first)) {
            H5MOTE_TRY(barrier());
        }
        H5MOTE_TRY(point_to(node, pointer));
    }
    for (unsigned side = 0; side < 2; ++side) {
        const Address sibling = shape.load_addr(node.bytes + kSiblingsOffset + side * width);
        if (sibling == kUndefinedAddress) {
            continue;
        }
        Address signature = 0;
        H5MOTE_TRY(within(sibling, size, end_) ? read_field(sibling, 4, signature) : Status::corrupt_file);
        H5MOTE_TRY(signature == kSignature ? point_to(node, sibling + kSiblingsOffset + (1 - side) * width)
                                           : Status::corrupt_file);
    }
    return Status::ok;
}

// Makes an address in a node that of another one, unless it is.
Status FilteringRecorderBase::point_to(const Node& node, Address pointer) noexcept {
    Address address = 0;
    H5MOTE_TRY(read_address(pointer, address));
    if (address == node.address) {
        return Status::ok;
    }
    std::byte bytes[8];
    store_field(bytes, node.width, node.address);
    H5MOTE_TRY(write(pointer, bytes, node.width));
    return barrier();
}

// Finds the chunk of this number.
Status FilteringRecorderBase::find(const Slot& slot, Chunk& chunk) noexcept {
    Node node(table_->sizeof_addr);
    unsigned i = 0;
    bool found = false;
    H5MOTE_TRY(descend(slot, chunk, nullptr, node, i, found));
    chunk.address = kUndefinedAddress;
    if (found) {
        chunk.size = load_le<std::uint32_t>(node.key(i));
        chunk.filter_mask = load_le<std::uint32_t>(node.key(i) + 4);
        chunk.address = child_of(node, i);
    }
    return Status::ok;
}

// Adds a chunk behind all others, or changes what the index says of one.
Status FilteringRecorderBase::put(const Slot& slot, const Chunk& chunk) noexcept {
    if (index_changed_ && keep(RecorderRule::one_change)) {
        H5MOTE_TRY(barrier());
    }
    index_changed_ = true;
    Node node(table_->sizeof_addr);
    Address path[kMaxLevels];
    unsigned i = 0;
    bool found = false;
    H5MOTE_TRY(descend(slot, chunk, path, node, i, found));
    if (found) {
        set_key(slot, node.key(i), chunk);
        store_field(node.child(i), node.width, chunk.address);
        return write_node(node, static_cast<unsigned>(node.key(i) - node.bytes));
    }
    if (i != node.children()) {
        return Status::corrupt_file;  // chunks follow that no recorder made
    }
    if (node.is_full()) {
        return add_nodes(slot, path, node, chunk);
    }
    add_child(slot, node, chunk.address, chunk);
    return write_node(node, kCountOffset);
}

// Adds a chunk where the leaf `node` is full.
Status FilteringRecorderBase::add_nodes(const Slot& slot, const Address* path, Node& node,
                                        const Chunk& chunk) noexcept {
    const Address root = dataset_of(slot).index_block;
    const Address size = Parameters::node_size(node.width);
    Address added[kMaxLevels];
    Address copy = kUndefinedAddress;  // of the root
    Address child = chunk.address;
    unsigned level = 0;
    do {
        Address left = path[level];
        H5MOTE_TRY(allocate(slot, size, true, added[level]));
        if (left == root) {
            if (level + 1 == kMaxLevels) {
                return Status::no_space;
            }
            H5MOTE_TRY(allocate(slot, size, true, copy));
            left = node.address = copy;
            end_node(slot, node, added[level], chunk);
            H5MOTE_TRY(write_node(node, 0));
        }
        clear_node(node, added[level], level, left);
        add_child(slot, node, child, chunk);
        H5MOTE_TRY(write_node(node, 0));
        child = added[level++];
        if (copy == kUndefinedAddress) {
            H5MOTE_TRY(read_node(path[level], node));
        }
    } while (copy == kUndefinedAddress && node.is_full());
    if (keep(RecorderRule::nodes_first)) {
        H5MOTE_TRY(barrier());
    }
    // `level` is now that of the node which will lead to the new ones.
    for (unsigned i = 0; i < level && path[i] != root; ++i) {
        H5MOTE_TRY(read_node(path[i], node));
        end_node(slot, node, added[i], chunk);
        H5MOTE_TRY(write_node(node, kSiblingsOffset));
    }
    H5MOTE_TRY(barrier());
    H5MOTE_TRY(read_node(copy == kUndefinedAddress ? path[level] : root, node));
    if (copy != kUndefinedAddress) {
        // The first key stays.
        node.bytes[kLevelOffset] = static_cast<std::byte>(level);
        store_le(node.bytes + kCountOffset, std::uint16_t{1});
        store_field(node.child(0), node.width, copy);
    }
    add_child(slot, node, child, chunk);
    return write_node(node, kLevelOffset);
}

// Says in a full node that the node `right` follows, which begins with a chunk.
void FilteringRecorderBase::end_node(const Slot& slot, Node& node, Address right, const Chunk& chunk) noexcept {
    store_field(node.bytes + kSiblingsOffset + node.width, node.width, right);
    set_key(slot, node.key(node.children()), chunk);
}

}  // namespace h5mote
