#include "btree2.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kHeader = 0x44485442U;    // "BTHD"
constexpr std::uint32_t kLeaf = 0x464c5442U;      // "BTLF"
constexpr std::uint32_t kInternal = 0x4e495442U;  // "BTIN"
constexpr std::size_t kPrefix = 6;                // signature, version, type
constexpr std::size_t kChecksum = 4;

}  // namespace

bool BTree2::level(unsigned depth, Level& of) const noexcept {
    of = {leaf_records_, leaf_records_, 0};
    for (unsigned i = 1; i <= depth; ++i) {
        const std::size_t pointer = pointer_size(of);
        const std::size_t least = kPrefix + kChecksum + 2 * pointer + record_size_;
        if (node_size_ < least) {
            return false;
        }
        of.most = static_cast<std::uint32_t>((node_size_ - kPrefix - kChecksum - pointer) / (record_size_ + pointer));
        std::uint64_t below = 0;
        if (!checked_multiply(std::uint64_t{of.most} + 1, of.most_below, below) ||
            !checked_add(below, std::uint64_t{of.most}, of.most_below)) {
            return false;
        }
        of.total_width = static_cast<std::uint8_t>(uint_width(of.most_below));
    }
    return true;
}

// Bytes of a pointer to a node of that level.
std::size_t BTree2::pointer_size(const Level& child) const noexcept {
    return std::size_t{file_->shape().sizeof_addr} + uint_width(leaf_records_) + child.total_width;
}

Status BTree2::open(FileState& file, Address header) noexcept {
    file_ = &file;
    address_ = header;
    leaf_ = Node{};
    const FileShape shape = file.shape();
    const std::size_t size = kPrefix + 10 + shape.sizeof_addr + 2 + shape.sizeof_size + kChecksum;
    MetadataWindow window;
    H5MOTE_TRY(file.window(Usage::btree, header, size, true, window));
    ConstBytes bytes;
    H5MOTE_TRY(window.view(0, size, bytes));
    Reader reader(bytes);
    const bool signature = reader.u32() == kHeader && reader.u8() == 0;
    type_ = static_cast<BTree2Type>(reader.u8());
    node_size_ = reader.u32();
    record_size_ = reader.u16();
    depth_ = reader.u16();
    reader.skip(2);
    root_ = shape.read_addr(reader);
    root_records_ = reader.u16();
    records_ = shape.read_size(reader);
    if (!signature || record_size_ == 0 || record_size_ > kMaxRecordSize ||
        node_size_ < kPrefix + kChecksum + record_size_) {
        return damaged(H5MOTE_HERE, header);
    }
    leaf_records_ = static_cast<std::uint32_t>((node_size_ - kPrefix - kChecksum) / record_size_);
    Level top;
    if (!level(depth_, top) || root_records_ > top.most) {
        return damaged(H5MOTE_HERE, header);
    }
    // More records than the file has room for would make an iteration over positions practically endless.
    if (records_ > file.space.end() / record_size_ || (depth_ == 0 && records_ != root_records_)) {
        return damaged(H5MOTE_HERE, header);
    }
    return Status::ok;
}

Status BTree2::open_node(const Node& node, MetadataWindow& window) noexcept {
    Address size = kPrefix + Address{node.records} * record_size_ + kChecksum;
    if (node.depth != 0) {
        Level below;
        (void)level(node.depth - 1U, below);
        size += (Address{node.records} + 1) * pointer_size(below);
    }
    H5MOTE_TRY(file_->window(Usage::btree, node.address, size, true, window));
    ConstBytes prefix;
    H5MOTE_TRY(window.view(0, kPrefix, prefix));
    Reader reader(prefix);
    const bool sound = reader.u32() == (node.depth == 0 ? kLeaf : kInternal) && reader.u8() == 0 &&
                       reader.u8() == static_cast<std::uint8_t>(type_);
    return sound ? Status::ok : damaged(H5MOTE_HERE, node.address);
}

Status BTree2::record_at(MetadataWindow& window, unsigned i, ConstBytes& record) noexcept {
    return window.view(kPrefix + Address{i} * record_size_, record_size_, record);
}

Status BTree2::child(const Node& node, MetadataWindow& window, unsigned i, Node& child) noexcept {
    Level below;
    (void)level(node.depth - 1U, below);
    const std::size_t size = pointer_size(below);
    ConstBytes bytes;
    H5MOTE_TRY(window.view(kPrefix + Address{node.records} * record_size_ + Address{i} * size, size, bytes));
    Reader reader(bytes);
    child.address = file_->shape().read_addr(reader);
    child.records = static_cast<std::uint32_t>(reader.uint(uint_width(leaf_records_)));
    child.total = below.total_width == 0 ? child.records : reader.uint(below.total_width);
    child.depth = static_cast<std::uint16_t>(node.depth - 1);
    const bool sound = child.records <= below.most && child.total >= child.records && child.total <= node.total;
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

Status BTree2::find(RecordCompare& compare, Bytes record, std::uint64_t* index) noexcept {
    Node node = root();
    for (; node.total != 0;) {
        MetadataWindow window;
        H5MOTE_TRY(open_node(node, window));
        unsigned from = 0;
        unsigned to = node.records;
        bool found = false;
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
            std::memcpy(record.data(), bytes.data(), bytes.size());
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
    if (index >= records_) {
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
    const std::size_t header = kPrefix + 12U + file_->shape().sizeof_addr + file_->shape().sizeof_size + kChecksum;
    H5MOTE_TRY(visitor.block(BlockKind::btree2_header, address_, header));
    Address room = file_->space.end();
    for (unsigned level = 0; level <= depth_ && records_ != 0; ++level) {
        for (std::uint64_t index = 0; index < records_;) {
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
            if (node_size_ > room) {
                return damaged(H5MOTE_HERE, node.address);
            }
            room -= node_size_;
            H5MOTE_TRY(visitor.block(BlockKind::btree2_node, node.address, node_size_));
            index = node.first + node.total + 1;
        }
    }
    return Status::ok;
}

}  // namespace h5mote
