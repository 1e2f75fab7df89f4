#include "btree1.hpp"

#include "checked.hpp"

namespace h5mote {

void BTree1::set(FileState& file, Address root, unsigned half_width, unsigned key_size) noexcept {
    file_ = &file;
    root_ = root;
    width_ = 2 * half_width;
    key_size_ = static_cast<std::uint16_t>(key_size);
}

std::size_t BTree1::entry_offset(unsigned i) const noexcept {
    return BTree1Node::prefix_size(file_->shape()) + std::size_t{i} * (key_size_ + file_->shape().sizeof_addr);
}

// A node has one more key than children.
std::size_t BTree1::node_size() const noexcept { return entry_offset(width_) + key_size_; }

Status BTree1::open_node(Address address, unsigned level, MetadataWindow& window, BTree1Node& node) noexcept {
    H5MOTE_TRY(file_->window(Usage::btree, address, node_size(), false, window));
    ConstBytes prefix;
    H5MOTE_TRY(window.view(0, BTree1Node::prefix_size(file_->shape()), prefix));
    const bool sound = node.decode(file_->shape(), prefix) && node.type == type_ && node.entries <= width_ &&
                       (level == kAnyLevel || node.level == level);
    return sound ? Status::ok : damaged(H5MOTE_HERE, address);
}

Status BTree1::child(MetadataWindow& window, unsigned i, Address& address) noexcept {
    ConstBytes bytes;
    H5MOTE_TRY(window.view(entry_offset(i) + key_size_, file_->shape().sizeof_addr, bytes));
    address = file_->shape().load_addr(bytes.data());
    return Status::ok;
}

Status BTree1::key(MetadataWindow& window, unsigned i, ConstBytes& bytes) noexcept {
    return window.view(entry_offset(i), key_size_, bytes);
}

// A range of names includes its end, a range of chunks does not.
Status BTree1::search(MetadataWindow& window, unsigned entries, unsigned& index) noexcept {
    index = 0;
    for (unsigned to = entries; index < to;) {
        const unsigned middle = (index + to) / 2;
        ConstBytes bytes;
        int order = 0;
        H5MOTE_TRY(key(window, middle + 1, bytes));
        H5MOTE_TRY(compare_key(bytes, order));
        if (order > 0 || (order == 0 && type_ == BTree1Node::kChunks)) {
            index = middle + 1;
        } else {
            to = middle;
        }
    }
    return Status::ok;
}

Status BTree1::descend(MetadataWindow& window, unsigned& index) noexcept {
    Address address = root_;
    unsigned level = kAnyLevel;
    for (;;) {
        BTree1Node node;
        H5MOTE_TRY(open_node(address, level, window, node));
        unsigned from = 0;
        H5MOTE_TRY(search(window, node.entries, from));
        if (from == node.entries) {
            return Status::not_found;
        }
        if (node.level == 0) {
            index = from;
            return Status::ok;
        }
        level = node.level - 1U;
        H5MOTE_TRY(child(window, from, address));
    }
}

// What a step among the children of a node counts in Place::digits, `levels` above the node that the place is of.
Status BTree1::unit(unsigned levels, std::uint64_t& weight) noexcept {
    weight = 1;
    if (width_ == 0) {
        return damaged(H5MOTE_HERE, root_);
    }
    bool fits = true;
    for (unsigned i = 0; fits && i < levels; ++i) {
        fits = checked_multiply<std::uint64_t>(weight, width_, weight);
    }
    return fits ? Status::ok : file_->context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index, levels);
}

// Descends to a node of `level`. Nodes of levels up to `last_below` above it are left by their last child, and the
// place is made to say so.
Status BTree1::go_to(unsigned level, unsigned last_below, Place& place, Address& address,
                     std::uint32_t& entries) noexcept {
    MetadataWindow window;
    BTree1Node node;
    address = root_;
    H5MOTE_TRY(open_node(address, kAnyLevel, window, node));
    if (node.level < level) {
        return damaged(H5MOTE_HERE, address);
    }
    std::uint64_t digits = place.digits;
    while (node.level > level) {
        std::uint64_t weight = 0;
        H5MOTE_TRY(unit(node.level - level - 1U, weight));
        std::uint64_t index = divide(digits, weight, digits);
        if (node.level <= last_below && node.entries != 0) {
            place.digits += (node.entries - 1U - index) * weight;
            index = node.entries - 1U;
        }
        if (index >= node.entries) {
            return node.entries == 0 ? damaged(H5MOTE_HERE, address) : Status::not_found;
        }
        H5MOTE_TRY(child(window, static_cast<unsigned>(index), address));
        H5MOTE_TRY(open_node(address, node.level - 1U, window, node));
    }
    entries = node.entries;
    return Status::ok;
}

Status BTree1::edge(bool first, unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept {
    place.digits = 0;
    place.left = static_cast<Address>(quotient_of(file_->space.end(), node_size()));
    return go_to(level, first ? 0 : kAnyLevel, place, address, entries);
}

// Where nodes were removed since, the next ones have their places, or the one behind the last child of a node has moved
// to the next node above.
Status BTree1::revisit(unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept {
    const Status status = go_to(level, 0, place, address, entries);
    return status == Status::not_found ? neighbour(true, level, place, address, entries) : status;
}

Status BTree1::neighbour(bool right, unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept {
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(open_node(root_, kAnyLevel, window, node));
    // The lowest node on the way that has a further child, and where that one leads.
    unsigned turn = kAnyLevel;
    std::uint64_t begin = 0;
    std::uint64_t digits = place.digits;
    Address at = root_;
    while (node.level > level) {
        std::uint64_t weight = 0;
        H5MOTE_TRY(unit(node.level - level - 1U, weight));
        const std::uint64_t index = divide(digits, weight, digits);
        if (index >= node.entries) {
            break;
        }
        if (right ? index + 1 < node.entries : index > 0) {
            turn = node.level;
            begin = place.digits - digits + (right ? weight : 0) - (right ? 0 : weight);
        }
        H5MOTE_TRY(child(window, static_cast<unsigned>(index), at));
        H5MOTE_TRY(open_node(at, node.level - 1U, window, node));
    }
    if (turn == kAnyLevel) {
        return Status::not_found;
    }
    if (place.left == 0) {
        return damaged(H5MOTE_HERE, at);
    }
    --place.left;
    place.digits = begin;
    return go_to(level, right ? 0 : turn - 1, place, address, entries);
}

Status BTree1::height(unsigned& levels) noexcept {
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(open_node(root_, kAnyLevel, window, node));
    levels = node.level;
    return Status::ok;
}

Status BTree1::check_height(unsigned most) noexcept {
    unsigned levels = 0;
    H5MOTE_TRY(height(levels));
    if (levels >= most) {
        return file_->context.unsupported(Module::index, H5MOTE_HERE, Feature::chunk_index, levels);
    }
    std::uint64_t weight = 0;
    return unit(levels, weight);
}

Status BTree1::walk_leaf(Address leaf, unsigned entries, BlockVisitor& visitor) noexcept {
    const Address size =
        SymbolNode::kPrefixSize + Address{2} * file_->foreign()->btree_k.group_leaf * SymbolEntry::size(file_->shape());
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(open_node(leaf, 0, window, node));
    for (unsigned i = 0; i < entries; ++i) {
        Address address = 0;
        H5MOTE_TRY(child(window, i, address));
        H5MOTE_TRY(visitor.block(BlockKind::symbol_node, address, size));
    }
    return Status::ok;
}

// Nodes are shown after what is found through them, so that a visitor may give them up.
Status BTree1::walk(BlockVisitor& visitor) noexcept {
    unsigned top = 0;
    H5MOTE_TRY(height(top));
    for (unsigned level = 0; level <= top; ++level) {
        Place place;
        Address address = 0;
        std::uint32_t entries = 0;
        H5MOTE_TRY(edge(true, level, place, address, entries));
        Status status = Status::ok;
        while (status == Status::ok) {
            const Address node = address;
            if (level == 0 && type_ == BTree1Node::kGroup) {
                H5MOTE_TRY(walk_leaf(node, entries, visitor));
            }
            // The next one is found while the visitor has not given up this one.
            status = neighbour(true, level, place, address, entries);
            H5MOTE_TRY(visitor.block(BlockKind::btree1_node, node, node_size()));
        }
        if (status != Status::not_found) {
            return status;
        }
    }
    return Status::ok;
}

void GroupBTree1::open(FileState& file, Address root, SymbolNames& names) noexcept {
    set(file, root, file.foreign()->btree_k.group_internal, file.shape().sizeof_size);
    names_ = &names;
}

Status GroupBTree1::compare_key(ConstBytes key, int& order) noexcept {
    return names_->compare(narrow(load_uint(key.data(), file_->shape().sizeof_size)), wanted_, order);
}

Status GroupBTree1::open_symbols(Address address, MetadataWindow& window, std::uint16_t& symbols) noexcept {
    const Address size =
        SymbolNode::kPrefixSize + Address{2} * file_->foreign()->btree_k.group_leaf * SymbolEntry::size(file_->shape());
    H5MOTE_TRY(file_->window(Usage::btree, address, size, false, window));
    ConstBytes prefix;
    H5MOTE_TRY(window.view(0, SymbolNode::kPrefixSize, prefix));
    return SymbolNode::decode(prefix, symbols) ? Status::ok : damaged(H5MOTE_HERE, address);
}

Status GroupBTree1::symbol_at(MetadataWindow& window, unsigned i, SymbolEntry& symbol) noexcept {
    const std::size_t size = SymbolEntry::size(file_->shape());
    ConstBytes bytes;
    H5MOTE_TRY(window.view(SymbolNode::kPrefixSize + i * size, size, bytes));
    return symbol.decode(file_->shape(), bytes) ? Status::ok : damaged(H5MOTE_HERE, window.address());
}

Status GroupBTree1::find(ConstBytes name, SymbolEntry& symbol) noexcept {
    wanted_ = name;
    MetadataWindow window;
    unsigned index = 0;
    Address address = 0;
    H5MOTE_TRY(descend(window, index));
    H5MOTE_TRY(child(window, index, address));
    std::uint16_t to = 0;
    H5MOTE_TRY(open_symbols(address, window, to));
    for (unsigned from = 0; from < to;) {
        const unsigned middle = (from + to) / 2;
        int order = 0;
        H5MOTE_TRY(symbol_at(window, middle, symbol));
        H5MOTE_TRY(names_->compare(symbol.name, name, order));
        if (order == 0) {
            return Status::ok;
        }
        if (order > 0) {
            from = middle + 1;
        } else {
            to = static_cast<std::uint16_t>(middle);
        }
    }
    return Status::not_found;
}

Status GroupBTree1::next(Cursor& cursor, SymbolEntry& symbol) noexcept {
    if (!cursor.started) {
        H5MOTE_TRY(edge(!cursor.backwards, 0, cursor.place, cursor.leaf, cursor.entries));
        cursor.child = cursor.backwards ? cursor.entries : 0;
        cursor.started = true;
    }
    for (;;) {
        MetadataWindow window;
        std::uint16_t symbols = 0;
        if (cursor.node != kUndefinedAddress) {
            H5MOTE_TRY(open_symbols(cursor.node, window, symbols));
            if (cursor.backwards ? cursor.symbol > 0 : cursor.symbol < symbols) {
                return symbol_at(window, cursor.backwards ? --cursor.symbol : cursor.symbol++, symbol);
            }
            cursor.node = kUndefinedAddress;
        }
        if (cursor.child == (cursor.backwards ? 0 : cursor.entries)) {
            H5MOTE_TRY(neighbour(!cursor.backwards, 0, cursor.place, cursor.leaf, cursor.entries));
            cursor.child = cursor.backwards ? cursor.entries : 0;
            continue;
        }
        BTree1Node node;
        H5MOTE_TRY(open_node(cursor.leaf, 0, window, node));
        H5MOTE_TRY(child(window, cursor.backwards ? --cursor.child : cursor.child++, cursor.node));
        H5MOTE_TRY(open_symbols(cursor.node, window, symbols));
        cursor.symbol = cursor.backwards ? symbols : 0;
    }
}

void ChunkBTree1::open(FileState& file, Address root, unsigned rank, const std::uint64_t* chunk) noexcept {
    set(file, root, file.foreign()->btree_k.chunk, ChunkBTree1Key::size(rank));
    rank_ = static_cast<std::uint8_t>(rank);
    chunk_ = chunk;
}

// A key has one coordinate more than the dataset has dimensions, which is 0 in the key of a chunk. In the key that ends
// the last node it may be the only one that differs from the last chunk's key, so that it is compared as well.
Status ChunkBTree1::compare_key(ConstBytes key, int& order) noexcept {
    order = 0;
    for (unsigned i = 0; i <= rank_ && order == 0; ++i) {
        const std::uint64_t mine = i == rank_ ? 0 : wanted_[i] * chunk_[i];
        const std::uint64_t its = ChunkBTree1Key::offset(key, i);
        order = mine < its ? -1 : mine > its ? 1 : 0;
    }
    return Status::ok;
}

Status ChunkBTree1::load(MetadataWindow& window, unsigned i, ChunkLocation& location) noexcept {
    ConstBytes bytes;
    H5MOTE_TRY(key(window, i, bytes));
    location.size = ChunkBTree1Key::bytes(bytes);
    location.mask = ChunkBTree1Key::mask(bytes);
    return child(window, i, location.address);
}

Status ChunkBTree1::find(const std::uint64_t* scaled, ChunkLocation& location) noexcept {
    wanted_ = scaled;
    location = ChunkLocation{};
    MetadataWindow window;
    unsigned index = 0;
    const Status status = descend(window, index);
    if (status != Status::ok) {
        return status == Status::not_found ? Status::ok : status;
    }
    ConstBytes bytes;
    int order = 0;
    H5MOTE_TRY(key(window, index, bytes));
    H5MOTE_TRY(compare_key(bytes, order));
    return order == 0 ? load(window, index, location) : Status::ok;
}

Status ChunkBTree1::next(Cursor& cursor, std::uint64_t* scaled, ChunkLocation& location) noexcept {
    if (!cursor.started) {
        H5MOTE_TRY(edge(true, 0, cursor.place, cursor.leaf, cursor.entries));
        cursor.started = true;
    } else if (cursor.leaf == kUndefinedAddress) {
        H5MOTE_TRY(revisit(0, cursor.place, cursor.leaf, cursor.entries));
    }
    while (cursor.child >= cursor.entries) {
        H5MOTE_TRY(neighbour(true, 0, cursor.place, cursor.leaf, cursor.entries));
        cursor.child = 0;
    }
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(open_node(cursor.leaf, 0, window, node));
    ConstBytes bytes;
    H5MOTE_TRY(key(window, cursor.child, bytes));
    for (unsigned i = 0; i < rank_; ++i) {
        std::uint64_t rest = 0;
        scaled[i] = divide(ChunkBTree1Key::offset(bytes, i), chunk_[i], rest);
        if (rest != 0) {
            return damaged(H5MOTE_HERE, cursor.leaf);
        }
    }
    return load(window, cursor.child++, location);
}

}  // namespace h5mote
