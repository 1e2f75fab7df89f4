#include "btree1_changes.hpp"

#include "checked.hpp"
#include "disposing_visitor.hpp"

#include <cstring>

namespace h5mote {

Status BTree1Changes::create(FileState& file, std::uint8_t type, unsigned half_width, unsigned key_size,
                             Address& root) noexcept {
    const FileShape shape = file.shape();
    const std::size_t size = BTree1Node::size(shape, half_width, key_size);
    Pinned block;
    H5MOTE_TRY(check_budget(file, size));
    H5MOTE_TRY(file.create_block(Usage::btree, size, size, block, ChecksumPlace::none));
    BTree1Node node;
    node.type = type;
    Writer writer(block->image());
    node.encode(shape, writer);
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    root = block->address();
    return Status::ok;
}

Status BTree1Changes::dispose(BTree1& tree, Disposal& disposal) noexcept {
    DisposingVisitor visitor(disposal);
    return tree.walk(visitor);
}

// ---- finding -----------------------------------------------------------------------------------------------------

Status BTree1Changes::find() noexcept {
    undo();
    before_ = behind_ = equal_ = false;
    MetadataWindow window;
    BTree1Node node;
    Address address = tree_.root_;
    H5MOTE_TRY(tree_.open_node(address, BTree1::kAnyLevel, window, node));
    if (node.level >= kMostLevels) {
        return file().context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index, node.level);
    }
    H5MOTE_TRY(reserve(node.level));
    for (unsigned level = top_;; --level) {
        unsigned index = 0;
        H5MOTE_TRY(tree_.search(window, node.entries, index));
        behind_ = index == node.entries;
        if (behind_ && node.entries != 0) {
            --index;
        }
        way_[level] = {address, static_cast<std::uint16_t>(index), node.entries};
        if (level == 0) {
            break;
        }
        H5MOTE_TRY(node.entries == 0 ? tree_.damaged(H5MOTE_HERE, address) : tree_.child(window, index, address));
        H5MOTE_TRY(tree_.open_node(address, level - 1, window, node));
    }
    if (node.entries == 0) {
        return top_ == 0 ? Status::not_found : tree_.damaged(H5MOTE_HERE, address);
    }
    ConstBytes bytes;
    int order = 0;
    H5MOTE_TRY(tree_.key(window, way_[0].index, bytes));
    H5MOTE_TRY(tree_.compare_key(bytes, order));
    before_ = order < 0;
    equal_ = order == 0;
    return Status::ok;
}

Status BTree1Changes::child(Address& address) noexcept {
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(tree_.open_node(way_[0].node, 0, window, node));
    return tree_.child(window, way_[0].index, address);
}

// ---- changing an entry -------------------------------------------------------------------------------------------

Status BTree1Changes::change(const BTree1Edit& edit) noexcept {
    bool done = false;
    const Status in_place = change_in_place(edit, done);
    if (done || in_place != Status::ok) {
        return in_place;
    }
    // A key on the border of two nodes stands in both, and in a node above. What changes all of them, and so would
    // leave a symbol out if only a part of them was changed, is made in copies. Greater keys at the end of the tree
    // leave nothing out.
    const bool borders =
        !critical_left() && !edit.right.empty() && way_[0].index + 1U == way_[0].entries && way_[0].entries != 0;
    H5MOTE_TRY(begin(borders && top_ != 0));
    Status status = change_nodes(edit);
    if (status == kSettled) {
        // The way has other nodes by now: the same ones, or their copies.
        cancel();
        H5MOTE_TRY(find());
        H5MOTE_TRY(begin(true));
        status = change_nodes(edit);
    }
    return finish(status);
}

// Where the bytes of the entry lie in one atomic unit, or nothing on the storage leads to the leaf, one write changes
// the entry.
Status BTree1Changes::change_in_place(const BTree1Edit& edit, bool& done) noexcept {
    const Step& leaf = way_[0];
    if (edit.adds() || !edit.right.empty() || leaf.entries == 0) {
        return Status::ok;
    }
    Pinned block;
    copying_ = false;
    const Status held = hold(leaf.node, 0, block);
    if (held != Status::ok && held != kSettled) {
        return held;
    }
    const std::size_t entry = tree_.entry_offset(leaf.index);
    const std::size_t child = entry + tree_.key_size_;
    const std::size_t from = edit.left.empty() ? child : entry;
    const std::size_t to = edit.child == kUndefinedAddress ? child : tree_.entry_offset(leaf.index + 1U);
    const bool waits = block->dirty() && block->phase() > phase_;
    if (held == kSettled &&
        (waits || !file().one_write(std::uint64_t{leaf.node} + from, std::uint64_t{leaf.node} + to))) {
        return Status::ok;
    }
    if (!edit.left.empty()) {
        std::memcpy(block->at(entry), edit.left.data(), tree_.key_size_);
    }
    if (edit.child != kUndefinedAddress) {
        file().shape().store_addr(block->at(child), edit.child);
    }
    changed(block, from);
    done = true;
    return Status::ok;
}

Status BTree1Changes::finish(Status status) noexcept {
    status = status == Status::ok ? keep_root() : status;
    if (status != Status::ok) {
        cancel();
        return status;
    }
    if (root_ == tree_.root_) {
        give_up_retired();
        return status;
    }
    pending_ = true;
    const Address old = tree_.root_;
    tree_.root_ = root_;
    root_ = old;
    return status;
}

void BTree1Changes::apply() noexcept {
    if (pending_) {
        pending_ = false;
        give_up_retired();
    }
}

void BTree1Changes::undo() noexcept {
    if (pending_) {
        pending_ = false;
        tree_.root_ = root_;
        cancel();
    }
}

Status BTree1Changes::own_way(unsigned level) noexcept {
    for (unsigned each = top_ + 1; each-- > level;) {
        H5MOTE_TRY(own(way_, each));
    }
    return Status::ok;
}

// Finds the way to the leaf beside that of the way, which turns off in the node at level `common`, and makes sure that
// its nodes below that one can be changed.
Status BTree1Changes::own_beside(bool right, unsigned common) noexcept {
    if (common > top_) {
        return Status::ok;
    }
    for (unsigned level = common; level <= top_; ++level) {
        beside_[level] = way_[level];
    }
    Step& turning = beside_[common];
    turning.index = static_cast<std::uint16_t>(right ? turning.index + 1U : turning.index - 1U);
    for (unsigned level = common; level-- > 0;) {
        {
            MetadataWindow window;
            BTree1Node node;
            Address address = 0;
            H5MOTE_TRY(tree_.open_node(beside_[level + 1].node, level + 1, window, node));
            H5MOTE_TRY(tree_.child(window, beside_[level + 1].index, address));
            H5MOTE_TRY(tree_.open_node(address, level, window, node));
            if (node.entries == 0) {
                return tree_.damaged(H5MOTE_HERE, address);
            }
            const unsigned index = right ? 0 : node.entries - 1U;
            beside_[level] = {address, static_cast<std::uint16_t>(index), node.entries};
        }
        H5MOTE_TRY(own(beside_, level));
    }
    return Status::ok;
}

// Gives the border right or left of the way its new key: in the nodes of the way above level `from`, up to the one at
// level `common` in which there is a neighbour on that side, or the root, and in those of the way beside.
Status BTree1Changes::spread(bool right, unsigned from, unsigned common, ConstBytes key) noexcept {
    for (unsigned level = common < top_ ? common : top_; level > from; --level) {
        H5MOTE_TRY(set_key(way_[level], level, way_[level].index + (right ? 1U : 0U), key));
    }
    for (unsigned level = common > top_ ? 0 : common; level-- > 0;) {
        H5MOTE_TRY(set_key(beside_[level], level, right ? 0 : beside_[level].entries, key));
    }
    return Status::ok;
}

// In a tree of chunks a right key is given only for a chunk behind all others. If there is a leaf behind, whose border
// then lies before the first key of that leaf, the border becomes that key.
Status BTree1Changes::end_with_neighbour(BTree1Edit& edit) noexcept {
    const unsigned common = turn(way_, 0, true);
    if (!critical_left() || edit.right.empty() || common > top_) {
        return Status::ok;
    }
    H5MOTE_TRY(read_key(way_[common].node, common, way_[common].index + 1U, key_room()));
    edit.right = key_room();
    return Status::ok;
}

Status BTree1Changes::change_nodes(const BTree1Edit& wanted) noexcept {
    if (way_[0].entries == 0) {
        return insert_first(wanted);
    }
    BTree1Edit next = wanted;
    H5MOTE_TRY(end_with_neighbour(next));
    const unsigned turn_right = turn(way_, 0, true);
    const unsigned turn_left = turn(way_, 0, false);
    const bool at_end = !next.right.empty() && way_[0].index + 1U == way_[0].entries;
    const bool spreads_right = at_end && (!critical_left() || turn_right > top_);
    const bool spreads_left = next.adds() && !next.left.empty() && way_[0].index == 0 && turn_left > top_;
    // The nodes below level `room` are full and are split.
    unsigned room = 0;
    while (next.adds() && room <= top_ && way_[room].entries == tree_.width_) {
        ++room;
    }
    const bool grows = room > top_;
    if (grows && top_ + 1 == kMostLevels) {
        return file().context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index, top_ + 1);
    }
    const unsigned above = grows ? top_ : room;
    H5MOTE_TRY(own_way(spreads_right && turn_right < above ? turn_right : above));
    if (spreads_right) {
        H5MOTE_TRY(own_beside(true, turn_right));
        H5MOTE_TRY(spread(true, above, turn_right, wanted.right));
    }
    if (spreads_left) {
        H5MOTE_TRY(spread(false, above, top_ + 1, wanted.left));
    }
    for (unsigned level = 0; level < room; ++level) {
        BTree1Edit split_off;
        H5MOTE_TRY(split(level, next, split_off));
        split_off.left = spreads_left ? wanted.left : ConstBytes();
        split_off.right = spreads_right && level < turn_right ? wanted.right : ConstBytes();
        next = split_off;
    }
    return grows ? grow(next) : edit(way_[above], above, next);
}

Status BTree1Changes::insert_first(const BTree1Edit& first) noexcept {
    H5MOTE_TRY(own_way(0));
    Pinned block;
    H5MOTE_TRY(hold(way_[0].node, 0, block));
    const std::size_t key_size = tree_.key_size_;
    std::memcpy(block->at(tree_.entry_offset(0)), first.left.data(), key_size);
    file().shape().store_addr(block->at(tree_.entry_offset(0) + key_size), first.child);
    std::memcpy(block->at(tree_.entry_offset(1)), first.right.data(), key_size);
    store_le(block->at(BTree1Node::kEntries), std::uint16_t{1});
    changed(block, BTree1Node::kEntries);
    return Status::ok;
}

// Makes two nodes of a full one, with the sizes that libhdf5 gives them by default: behind the last node of a level the
// new one has few entries, before the first one the old one has. The entry that was found and what is added beside it
// stay together.
Status BTree1Changes::split(unsigned level, const BTree1Edit& wanted, BTree1Edit& above) noexcept {
    const Step full = way_[level];
    Address left = 0;
    Address right = 0;
    H5MOTE_TRY(sibling(way_, level, false, left));
    H5MOTE_TRY(sibling(way_, level, true, right));
    const unsigned width = full.entries;
    unsigned first = right == kUndefinedAddress ? width * 9 / 10 : left == kUndefinedAddress ? width / 10 : width / 2;
    first = full.index >= first && first == 0 ? 1 : full.index < first && first == width ? width - 1 : first;
    H5MOTE_TRY(part(full, level, 0, first, above.child));
    H5MOTE_TRY(part(full, level, first, width - first, above.added));
    H5MOTE_TRY(link(above.child, level, false, left));
    H5MOTE_TRY(link(above.child, level, true, above.added));
    H5MOTE_TRY(link(above.added, level, false, above.child));
    H5MOTE_TRY(link(above.added, level, true, right));
    const bool in_first = full.index < first;
    const Step changed_part{in_first ? above.child : above.added,
                            static_cast<std::uint16_t>(in_first ? full.index : full.index - first),
                            static_cast<std::uint16_t>(in_first ? first : width - first)};
    H5MOTE_TRY(edit(changed_part, level, wanted));
    H5MOTE_TRY(link(left, level, true, above.child));
    H5MOTE_TRY(link(right, level, false, above.added));
    // `wanted` may hold the key that is replaced here, and is not needed any more.
    H5MOTE_TRY(read_key(above.added, level, 0, key_room()));
    above.middle = key_room();
    // The root's place is taken by the node above the two.
    return level == top_ ? Status::ok : retire(full.node);
}

// The root becomes the node above the two that were made of it.
Status BTree1Changes::grow(const BTree1Edit& halves) noexcept {
    Pinned block;
    H5MOTE_TRY(hold(way_[top_].node, top_, block));
    const std::size_t key_size = tree_.key_size_;
    std::byte* const second = block->at(tree_.entry_offset(1));
    std::byte* const last = block->at(tree_.entry_offset(2));
    std::memmove(last, block->at(tree_.entry_offset(way_[top_].entries)), key_size);
    std::memcpy(second, halves.middle.data(), key_size);
    if (!halves.left.empty()) {
        std::memcpy(block->at(tree_.entry_offset(0)), halves.left.data(), key_size);
    }
    if (!halves.right.empty()) {
        std::memcpy(last, halves.right.data(), key_size);
    }
    file().shape().store_addr(block->at(tree_.entry_offset(0) + key_size), halves.child);
    file().shape().store_addr(second + key_size, halves.added);
    *block->at(BTree1Node::kLevel) = static_cast<std::byte>(top_ + 1);
    store_le(block->at(BTree1Node::kEntries), std::uint16_t{2});
    changed(block, BTree1Node::kLevel);
    return Status::ok;
}

// ---- removing an entry -------------------------------------------------------------------------------------------

Status BTree1Changes::remove() noexcept {
    const Step& leaf = way_[0];
    const bool at_border = critical_left() ? leaf.index == 0 : leaf.index + 1U == leaf.entries;
    H5MOTE_TRY(begin(top_ != 0 && (at_border || leaf.entries == 1)));
    Status status = remove_nodes();
    if (status == kSettled) {
        cancel();
        H5MOTE_TRY(find());
        H5MOTE_TRY(begin(true));
        status = remove_nodes();
    }
    return finish(status);
}

// Nodes below level `rest` lose their only entry and are removed.
Status BTree1Changes::remove_nodes() noexcept {
    unsigned rest = 0;
    while (rest < top_ && way_[rest].entries == 1) {
        ++rest;
    }
    H5MOTE_TRY(own_way(rest));
    if (way_[rest].entries == 1) {
        H5MOTE_TRY(make_empty());
    } else {
        // The border at which the removed range begins, or for groups ends, goes to its other end.
        const bool right = !critical_left();
        const Step& step = way_[rest];
        const bool at_border = right ? step.index + 1U == step.entries : step.index == 0;
        if (rest > 0 || at_border) {
            const unsigned common = turn(way_, 0, right);
            H5MOTE_TRY(own_beside(right, common));
            H5MOTE_TRY(read_key(step.node, rest, right ? step.index : step.index + 1U, key_room()));
            H5MOTE_TRY(spread(right, rest, common, key_room()));
        }
        H5MOTE_TRY(unlink(rest));
        H5MOTE_TRY(remove_entry(step, rest));
    }
    for (unsigned level = 0; level < rest; ++level) {
        H5MOTE_TRY(retire(way_[level].node));
    }
    return Status::ok;
}

// Links the neighbours of the nodes of the way below a level with each other.
Status BTree1Changes::unlink(unsigned levels) noexcept {
    for (unsigned level = 0; level < levels; ++level) {
        Address left = 0;
        Address right = 0;
        H5MOTE_TRY(sibling(way_, level, false, left));
        H5MOTE_TRY(sibling(way_, level, true, right));
        H5MOTE_TRY(link(left, level, true, right));
        H5MOTE_TRY(link(right, level, false, left));
    }
    return Status::ok;
}

Status BTree1Changes::make_empty() noexcept {
    Pinned block;
    H5MOTE_TRY(hold(way_[top_].node, top_, block));
    *block->at(BTree1Node::kLevel) = std::byte{0};
    store_le(block->at(BTree1Node::kEntries), std::uint16_t{0});
    changed(block, BTree1Node::kLevel);
    return Status::ok;
}

}  // namespace h5mote
