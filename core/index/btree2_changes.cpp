#include "btree2_changes.hpp"

#include "checked.hpp"
#include "disposing_visitor.hpp"

#include <cstring>

namespace h5mote {
namespace {

// How often records are moved between the children of one node before a split or merge: after the first time the search
// may lead into a neighbour that is as full, or as empty.
constexpr unsigned kRetries = 2;

}  // namespace

Status BTree2Changes::create(FileState& file, const BTree2Create& create, Address& header) noexcept {
    const FileShape shape = file.shape();
    BTree2Header fields;
    fields.type = create.type;
    fields.node_size = create.node_size;
    fields.record_size = create.record_size;
    fields.split_percent = create.split_percent;
    fields.merge_percent = create.merge_percent;
    BTree2Level leaves;
    if (create.record_size == 0 || create.record_size > kMaxRecordSize ||
        create.node_size < BTree2Node::kPrefixSize + BTree2Node::kChecksumSize + create.record_size ||
        !leaves.compute(shape, fields, 1) || !leaves.can_change(fields)) {
        return file.context.fail(Module::index, H5MOTE_HERE, Status::invalid_argument, 0, create.node_size);
    }
    H5MOTE_TRY(check_budget(file, create.node_size));
    const std::size_t size = BTree2Header::size(shape);
    Pinned block;
    if (header == kUndefinedAddress) {
        H5MOTE_TRY(file.create_block(Usage::btree, size, narrow(size), block));
    } else {
        H5MOTE_TRY(file.cache.create(Usage::btree, header, size, block));
    }
    Writer writer(block->image());
    fields.encode(shape, writer);
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    header = block->address();
    return Status::ok;
}

Status BTree2Changes::open(FileState& file, Address header, Phase phase) noexcept {
    phase_ = phase;
    return BTree2::open(file, header);
}

bool BTree2Changes::switches_at_once() const noexcept {
    return file_->one_write(std::uint64_t{address_} + BTree2Header::kChanging,
                            std::uint64_t{address_} + BTree2Header::size(file_->shape()));
}

Status BTree2Changes::copy_header(Address& header) noexcept {
    Pinned block;
    const std::size_t size = BTree2Header::size(file_->shape());
    H5MOTE_TRY(file_->create_block(Usage::btree, size, narrow(size), block));
    Writer writer(block->image());
    header_.encode(file_->shape(), writer);
    MetadataCache::mark_dirty(*block, 0, phase_);
    header = block->address();
    return Status::ok;
}

void BTree2Changes::use_header(Address used, Address unused) noexcept {
    // Nothing on the storage leads to the copy when it is the one that is given up.
    const bool fresh = unused != address_;
    address_ = used;
    file_->give_up(unused, narrow(BTree2Header::size(file_->shape())), fresh);
}

Status BTree2Changes::move_header(Address& header) noexcept {
    H5MOTE_TRY(copy_header(header));
    address_ = header;
    return Status::ok;
}

// ---- inserting ---------------------------------------------------------------------------------------------------

Status BTree2Changes::insert(RecordCompare& compare, ConstBytes record) noexcept {
    return insert_from(compare, record, header_.depth + 1U);
}

// Nodes of at most `top` levels above the leaves may be split or filled up; one more than the tree has: also the root.
Status BTree2Changes::insert_from(RecordCompare& compare, ConstBytes record, unsigned top) noexcept {
    Status status = begin_change();
    if (status == Status::ok) {
        status = insert_below(compare, record, top);
    }
    return end_change(status);
}

Status BTree2Changes::split_root() noexcept {
    H5MOTE_TRY(check_changeable(header_.depth + 1U));
    Group group;
    group.count = 1;
    group.child[0] = new_root();
    Node parent;
    parent.depth = static_cast<std::uint16_t>(header_.depth + 1);
    parent.total = next_.records;
    return split(Slot{}, parent, group.child[0], 0);
}

// Splits a child around its middle record, which the parent gets.
Status BTree2Changes::split(const Slot& slot, Node& parent, const Node& full, unsigned index) noexcept {
    Group group;
    group.count = 1;
    group.first = index;
    group.child[0] = full;
    const unsigned half = full.records / 2;
    const unsigned sizes[] = {half, full.records - half - 1};
    return regroup(slot, parent, group, sizes, 2);
}

// The sizes that libhdf5 gives two or three neighbours.
Status BTree2Changes::redistribute(const Slot& slot, Node& parent, const Group& group) noexcept {
    const unsigned all = group.total() - (group.count - 1);
    unsigned sizes[3];
    if (group.count == 2) {
        const bool left_is_smaller = group.child[0].records < group.child[1].records;
        sizes[0] = left_is_smaller ? all - all / 2 : all / 2;
        sizes[1] = all - sizes[0];
    } else {
        sizes[1] = all / 3;
        sizes[0] = (all - sizes[1]) / 2;
        sizes[2] = all - sizes[0] - sizes[1];
    }
    return regroup(slot, parent, group, sizes, group.count);
}

// Makes two nodes of three, or one of two.
Status BTree2Changes::merge(const Slot& slot, Node& parent, const Group& group) noexcept {
    const unsigned all = group.total();
    const unsigned first = group.count == 2 ? all : (all - 1) / 2;
    const unsigned sizes[] = {first, all - 1 - first};
    return regroup(slot, parent, group, sizes, group.count - 1);
}

// Finds `below`, the child of `node` for the new record, and makes sure that it is not full.
Status BTree2Changes::make_room(RecordCompare& compare, const Slot& slot, Node& node, unsigned& index,
                                Node& below) noexcept {
    const unsigned full = level(node.depth - 1U).split(header_);
    for (unsigned retries = kRetries;; retries -= retries == 0 ? 0 : 1) {
        bool found = false;
        H5MOTE_TRY(locate(node, compare, index, found));
        if (found) {
            return Status::already_exists;
        }
        H5MOTE_TRY(load_child(node, index, below));
        if (below.records < full) {
            return Status::ok;
        }
        Group group;
        H5MOTE_TRY(load_group(node, index, group));
        bool room = false;
        for (unsigned i = 0; i < group.count; ++i) {
            room = room || group.child[i].records < full;
        }
        if (retries != 0 && room) {
            H5MOTE_TRY(redistribute(slot, node, group));
        } else {
            H5MOTE_TRY(split(slot, node, below, index));
        }
    }
}

Status BTree2Changes::insert_below(RecordCompare& compare, ConstBytes record, unsigned top) noexcept {
    if (top > header_.depth && header_.records != 0 && header_.root_records >= level(header_.depth).split(header_)) {
        H5MOTE_TRY(split_root());
    }
    Slot slot;
    Node node = new_root();
    for (;;) {
        unsigned index = 0;
        Node below;
        ++node.total;
        if (node.depth != 0 && node.depth <= top) {
            H5MOTE_TRY(make_room(compare, slot, node, index, below));
        } else if (node.address != kUndefinedAddress) {
            bool found = false;
            H5MOTE_TRY(locate(node, compare, index, found));
            if (found) {
                return Status::already_exists;
            }
            if (node.depth != 0) {
                H5MOTE_TRY(load_child(node, index, below));
            }
        }
        if (node.depth == 0) {
            return change_leaf(slot, node, index, record);
        }
        H5MOTE_TRY(own(slot, node));
        slot = Slot{node, index};
        node = below;
    }
}

// Finds out whether the record exists, and if not, how far up nodes have to be split to insert it: not at all if its
// leaf has room, else up to the lowest node that has room or whose child needs none because a neighbour has some.
Status BTree2Changes::find_top(RecordCompare& compare, unsigned& top, bool& exists) noexcept {
    top = header_.depth + 1U;
    exists = false;
    for (Node node = root(); node.total != 0;) {
        const unsigned full = level(node.depth).split(header_);
        unsigned index = 0;
        H5MOTE_TRY(locate(node, compare, index, exists));
        if (exists || node.depth == 0) {
            top = node.records < full ? 0 : top;
            return Status::ok;
        }
        Group group;
        H5MOTE_TRY(load_group(node, index, group));
        const unsigned below = level(node.depth - 1U).split(header_);
        const unsigned own = index - group.first;
        bool neighbours_full = false;
        for (unsigned i = 0; i < group.count; ++i) {
            neighbours_full =
                neighbours_full || (i != own && group.child[i].records + group.child[own].records >= 2 * below - 1);
        }
        if (node.records < full || !neighbours_full) {
            top = node.depth;
        }
        node = group.child[own];
    }
    return Status::ok;
}

Status BTree2Changes::set(RecordCompare& compare, ConstBytes record) noexcept {
    unsigned top = 0;
    bool exists = false;
    H5MOTE_TRY(find_top(compare, top, exists));
    return exists ? update(compare, record) : insert_from(compare, record, top);
}

// ---- updating ----------------------------------------------------------------------------------------------------

Status BTree2Changes::update(RecordCompare& compare, ConstBytes record) noexcept {
    for (Node node = root(); !staging_ && node.total != 0;) {
        unsigned index = 0;
        bool found = false;
        H5MOTE_TRY(locate(node, compare, index, found));
        if (found) {
            Pinned block;
            H5MOTE_TRY(
                file_->cache.protect(Usage::btree, node.address, static_cast<std::size_t>(used_size(node)), block));
            const std::size_t offset = pointers_at(index);
            if (block->fresh() || file_->is_atomic()) {
                std::memcpy(block->at(offset), record.data(), header_.record_size);
                MetadataCache::mark_dirty(*block, offset, phase_);
                return Status::ok;
            }
            break;
        }
        if (node.depth == 0) {
            return Status::not_found;
        }
        H5MOTE_TRY(load_child(Node(node), index, node));
    }
    if (header_.records == 0) {
        return Status::not_found;
    }
    Status status = begin_change();
    if (status == Status::ok) {
        status = replace(compare, record);
    }
    return end_change(status);
}

// Copies the nodes on the way to the record, and stores the new one in the last of them.
Status BTree2Changes::replace(RecordCompare& compare, ConstBytes record) noexcept {
    Slot slot;
    for (Node node = new_root();;) {
        unsigned index = 0;
        bool found = false;
        H5MOTE_TRY(locate(node, compare, index, found));
        H5MOTE_TRY(own(slot, node, found));
        if (found) {
            return set_record(node, index, record);
        }
        if (node.depth == 0) {
            return Status::not_found;
        }
        slot = Slot{node, index};
        H5MOTE_TRY(load_child(slot.holder, index, node));
    }
}

// ---- removing ----------------------------------------------------------------------------------------------------

Status BTree2Changes::remove(RecordCompare& compare, Bytes removed) noexcept {
    if (header_.records == 0) {
        return Status::not_found;
    }
    Status status = begin_change();
    if (status == Status::ok) {
        status = remove_below(compare, removed);
    }
    return end_change(status);
}

// If the root has two children that together fit in one node, that node becomes the root.
Status BTree2Changes::shrink(Node& node, bool& shrunk) noexcept {
    shrunk = false;
    Group group;
    H5MOTE_TRY(load_group(node, 0, group));
    if (group.count != 2 || group.total() > 2 * level(node.depth - 1U).merge(header_) + 2) {
        return Status::ok;
    }
    Node merged;
    H5MOTE_TRY(compose(node, group, 0, group.total(), merged));
    H5MOTE_TRY(retire(group.child[0]));
    H5MOTE_TRY(retire(group.child[1]));
    H5MOTE_TRY(retire(node));
    node = merged;
    shrunk = true;
    return Status::ok;
}

// Finds the child of `node` below which a record is removed, and makes sure that it has one to spare. `compare`: what
// is removed, nullptr: the first record. `found`: it is in the node itself, number `index`; then the child is the next
// one.
Status BTree2Changes::fill_up(RecordCompare* compare, const Slot& slot, Node& node, unsigned& index,
                              bool& found) noexcept {
    const unsigned few = level(node.depth - 1U).merge(header_);
    for (unsigned retries = kRetries;; retries -= retries == 0 ? 0 : 1) {
        index = 0;
        found = false;
        if (compare != nullptr) {
            H5MOTE_TRY(locate(node, *compare, index, found));
        }
        Group group;
        H5MOTE_TRY(load_group(node, index + (found ? 1U : 0U), group));
        const unsigned own = index + (found ? 1U : 0U) - group.first;
        if (group.child[own].records > few) {
            return Status::ok;
        }
        if (group.count == 1) {
            return damaged(H5MOTE_HERE, node.address);
        }
        bool spare = false;
        for (unsigned i = 0; i < group.count; ++i) {
            spare = spare || group.child[i].records > few;
        }
        if (retries != 0 && spare) {
            H5MOTE_TRY(redistribute(slot, node, group));
        } else {
            H5MOTE_TRY(merge(slot, node, group));
        }
    }
}

// A record in an internal node is not taken out of it: the next one in the order, which is the first one of a leaf,
// takes its place.
Status BTree2Changes::remove_below(RecordCompare& compare, Bytes removed) noexcept {
    RecordCompare* wanted = &compare;
    Slot slot;
    Slot swap;
    Node node = new_root();
    while (node.depth != 0) {
        if (slot.in_header() && node.records == 1) {
            bool shrunk = false;
            H5MOTE_TRY(shrink(node, shrunk));
            if (shrunk) {
                continue;
            }
        }
        --node.total;
        unsigned index = 0;
        bool found = false;
        H5MOTE_TRY(fill_up(wanted, slot, node, index, found));
        H5MOTE_TRY(own(slot, node, found));
        if (found) {
            H5MOTE_TRY(load_record(node, index, removed));
            swap = Slot{node, index};
            wanted = nullptr;
            ++index;
        }
        slot = Slot{node, index};
        H5MOTE_TRY(load_child(slot.holder, index, node));
        if (node.total == 0) {
            return damaged(H5MOTE_HERE, node.address);
        }
    }
    return remove_from_leaf(wanted, slot, node, swap, removed);
}

// `swap`: where the leaf's first record goes, if that is what is taken.
Status BTree2Changes::remove_from_leaf(RecordCompare* compare, const Slot& slot, const Node& leaf, const Slot& swap,
                                       Bytes removed) noexcept {
    unsigned index = 0;
    if (compare != nullptr) {
        bool found = false;
        H5MOTE_TRY(locate(leaf, *compare, index, found));
        if (!found) {
            return Status::not_found;
        }
        H5MOTE_TRY(load_record(leaf, index, removed));
    } else {
        std::byte first[kMaxRecordSize];
        H5MOTE_TRY(load_record(leaf, 0, {first, header_.record_size}));
        H5MOTE_TRY(set_record(swap.holder, swap.index, {first, header_.record_size}));
    }
    if (slot.in_header() && leaf.records == 1) {
        Node none;
        none.depth = 0;
        H5MOTE_TRY(retire(leaf));
        return set_pointer(slot, none);
    }
    Node left = leaf;
    --left.total;
    return change_leaf(slot, left, index, {});
}

// ---- giving up the tree ------------------------------------------------------------------------------------------

Status BTree2Changes::dispose(FileState& file, Address header, Disposal& disposal) noexcept {
    BTree2 tree;
    H5MOTE_TRY(tree.open(file, header));
    DisposingVisitor visitor(disposal);
    return tree.walk(visitor);
}

}  // namespace h5mote
