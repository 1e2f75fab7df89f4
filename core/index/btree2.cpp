#include "btree2.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {

const BTree2Level& BTree2::level(unsigned depth) noexcept {
    BTree2Level& level = levels_[depth % 2];
    if (depths_[depth % 2] != depth) {
        (void)level.compute(file_->shape(), header_, depth);  // cannot fail: open() has computed it for the root
        depths_[depth % 2] = depth;
    }
    return level;
}

Status BTree2::open(FileState& file, Address header) noexcept {
    file_ = &file;
    address_ = header;
    leaf_ = Node{};
    depths_[0] = depths_[1] = kNoDepth;
    const FileShape shape = file.shape();
    const std::size_t size = BTree2Header::size(shape);
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::btree, header, size, true, window));
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, size, bytes));
    BTree2Level top;
    const bool sound = header_.decode(shape, bytes) && header_.record_size <= kMaxRecordSize &&
                       top.compute(shape, header_, header_.depth) && header_.root_records <= top.most &&
                       // More records than the file has room for would make an iteration practically endless.
                       header_.records <= file.space.end() / header_.record_size &&
                       (header_.depth != 0 || header_.records == header_.root_records);
    return sound ? Status::ok : damaged(H5MOTE_HERE, header);
}

Address BTree2::used_size(const Node& node) noexcept {
    const Address size = narrow(pointers_at(node.records) + BTree2Node::kChecksumSize);
    return node.depth == 0 ? size
                           : size + (Address{node.records} + 1) * level(node.depth - 1U).pointer_size(file_->shape());
}

Status BTree2::open_node(const Node& node, MetadataWindow& window) noexcept {
    H5MOTE_TRY(file_->window(Usage::btree, node.address, used_size(node), true, window));
    ConstBytes prefix;
    H5MOTE_TRY(window.view(0, BTree2Node::kPrefixSize, prefix));
    return BTree2Node::is_node(header_.type, node.depth, prefix) ? Status::ok : damaged(H5MOTE_HERE, node.address);
}

Status BTree2::record_at(MetadataWindow& window, unsigned i, ConstBytes& record) noexcept {
    return window.view(BTree2Node::kPrefixSize + Address{i} * header_.record_size, header_.record_size, record);
}

Status BTree2::child(const Node& node, MetadataWindow& window, unsigned i, Node& child) noexcept {
    const FileShape shape = file_->shape();
    const BTree2Level& below = level(node.depth - 1U);
    const std::size_t size = below.pointer_size(shape);
    ConstBytes bytes;
    H5MOTE_TRY(window.view(pointers_at(node.records) + Address{i} * size, size, bytes));
    BTree2Pointer pointer;
    const bool sound = pointer.decode(shape, below, bytes) && pointer.total <= node.total;
    child.address = pointer.address;
    child.records = pointer.records;
    child.total = pointer.total;
    child.depth = static_cast<std::uint16_t>(node.depth - 1);
    return sound ? Status::ok : damaged(H5MOTE_HERE, node.address);
}

Status BTree2::step(const Node& node, MetadataWindow& window, std::uint64_t index, Node& below,
                    unsigned& own) noexcept {
    std::uint64_t at = node.first;
    for (unsigned i = 0; i <= node.records; ++i) {
        H5MOTE_TRY(child(node, window, i, below));
        below.first = at;
        if (index - at < below.total) {
            own = kNone;
            return Status::ok;
        }
        at += below.total;
        if (index == at) {
            own = i;
            return i < node.records ? Status::ok : damaged(H5MOTE_HERE, node.address);
        }
        ++at;
    }
    return damaged(H5MOTE_HERE, node.address);
}

Status BTree2::search(const Node& node, MetadataWindow& window, RecordCompare& compare, unsigned& index,
                      bool& found) noexcept {
    unsigned from = 0;
    unsigned to = node.records;
    found = false;
    while (from < to && !found) {
        const unsigned middle = (from + to) / 2;
        ConstBytes bytes;
        int order = 0;
        H5MOTE_TRY(record_at(window, middle, bytes));
        H5MOTE_TRY(compare.compare(bytes, order));
        if (order > 0) {
            from = middle + 1;
        } else {
            to = middle;
            found = order == 0;
        }
    }
    index = to;
    return Status::ok;
}

Status BTree2::find(RecordCompare& compare, Bytes record, std::uint64_t* index) noexcept {
    Node node = root();
    for (; node.total != 0;) {
        MetadataWindow window;
        H5MOTE_TRY(open_node(node, window));
        unsigned to = 0;
        bool found = false;
        H5MOTE_TRY(search(node, window, compare, to, found));
        // The records that come before: those below the children passed, and this node's own between the children.
        Node below;
        for (unsigned i = 0; index != nullptr && node.depth != 0 && i < to + (found ? 1U : 0U); ++i) {
            H5MOTE_TRY(child(node, window, i, below));
            node.first += below.total;
        }
        node.first += to;
        if (found) {
            ConstBytes bytes;
            H5MOTE_TRY(record_at(window, to, bytes));
            if (!record.empty()) {
                std::memcpy(record.data(), bytes.data(), bytes.size());
            }
            if (index != nullptr) {
                *index = node.first;
            }
            return Status::ok;
        }
        if (node.depth == 0) {
            break;
        }
        H5MOTE_TRY(child(node, window, to, below));
        below.first = node.first;
        node = below;
    }
    return Status::not_found;
}

Status BTree2::record(std::uint64_t index, Bytes record) noexcept {
    if (index >= header_.records) {
        return Status::not_found;
    }
    MetadataWindow window;
    Node node = index - leaf_.first < leaf_.records ? leaf_ : root();
    unsigned own = kNone;
    H5MOTE_TRY(open_node(node, window));
    while (node.depth != 0 && own == kNone) {
        Node below;
        H5MOTE_TRY(step(node, window, index, below, own));
        if (own == kNone) {
            node = below;
            H5MOTE_TRY(open_node(node, window));
        }
    }
    if (own == kNone) {
        own = static_cast<unsigned>(index - node.first);
        leaf_ = node;
    }
    ConstBytes bytes;
    H5MOTE_TRY(record_at(window, own, bytes));
    std::memcpy(record.data(), bytes.data(), bytes.size());
    return Status::ok;
}

// Walks level by level, the leaves first. The nodes of a level are found by the positions of their records: between two
// neighbours lies exactly one record, which belongs to a level above.
Status BTree2::walk(BlockVisitor& visitor) noexcept {
    H5MOTE_TRY(visitor.block(BlockKind::btree2_header, address_, BTree2Header::size(file_->shape())));
    Address room = file_->space.end();
    for (unsigned level = 0; level <= header_.depth && header_.records != 0; ++level) {
        for (std::uint64_t index = 0; index < header_.records;) {
            Node node = root();
            while (node.depth > level) {
                MetadataWindow window;
                Node below;
                unsigned own = kNone;
                H5MOTE_TRY(open_node(node, window));
                H5MOTE_TRY(step(node, window, index, below, own));
                if (own != kNone) {
                    return damaged(H5MOTE_HERE, node.address);
                }
                node = below;
            }
            // Nodes do not overlap: more than the file has room for can only be nodes that are met again.
            if (header_.node_size > room) {
                return damaged(H5MOTE_HERE, node.address);
            }
            room -= header_.node_size;
            H5MOTE_TRY(visitor.block(BlockKind::btree2_node, node.address, header_.node_size));
            index = node.first + node.total + 1;
        }
    }
    return Status::ok;
}

}  // namespace h5mote
