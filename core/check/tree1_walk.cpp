#include "tree1_walk.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

Tree1Walk::~Tree1Walk() {
    if (levels_ != nullptr) {
        file_->context.release(MemoryKind::other, levels_, (top_ + 1) * sizeof(Level));
    }
}

// The root says how many levels there are.
Status Tree1Walk::start() noexcept {
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(checker_.judge(open_node(root_, kAnyLevel, window, node), part_, root_));
    top_ = node.level;
    levels_ = static_cast<Level*>(file_->context.allocate(MemoryKind::other, (top_ + 1) * sizeof(Level)));
    if (levels_ == nullptr) {
        return Status::out_of_memory;
    }
    for (unsigned i = 0; i <= top_; ++i) {
        levels_[i] = Level{};
    }
    window.close();
    room_ = file_->space.end();
    return enter(root_, top_);
}

Status Tree1Walk::enter(Address address, unsigned level) noexcept {
    const bool root = level == top_;
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(checker_.judge(open_node(address, level, window, node), part_, address));
    H5MOTE_TRY(checker_.use(part_, address, node_size()));
    if (node_size() > room_) {
        return checker_.bad(ProblemKind::endless, part_, address);
    }
    room_ -= node_size();
    Level& at = levels_[level];
    window.close();
    if (root && node.right != kUndefinedAddress) {
        (void)checker_.bad(ProblemKind::siblings, part_, address);
    } else if (!at.gap) {
        H5MOTE_TRY(check_siblings(level, address, node.left));
    }
    // Only a tree that is a single leaf may be empty.
    if (node.entries == 0 && top_ != 0) {
        (void)checker_.bad(ProblemKind::count, part_, address);
    }
    at.gap = false;
    at.address = at.last = address;
    at.right = node.right;
    at.next = 0;
    at.entries = node.entries;
    return Status::ok;
}

// Each node of a level names the one before it and the one behind it. A power cut may have ended the move of a node,
// its addition or its removal, when the one above already led to its new place, and those beside it still to the old
// one, or the other way round: that harms no reader, and the next change of the tree makes them lead there, too. So
// does reclaim(), before what they lead to is used again: libhdf5 would take it for a node when it changes the tree.
Status Tree1Walk::check_siblings(unsigned level, Address address, Address left) noexcept {
    const Level& at = levels_[level];
    const bool is_first = at.last == kUndefinedAddress;
    const bool before = left == at.last;
    const bool behind = is_first || at.right == address;
    if (before && behind) {
        return Status::ok;
    }
    if ((!before && !harmless(left, address)) || (!behind && !harmless(at.right, at.last))) {
        (void)checker_.bad(ProblemKind::siblings, part_, address);
        return Status::ok;
    }
    (void)checker_.note(ProblemKind::siblings, part_, address);
    H5MOTE_TRY(before ? Status::ok : mend(address, false, at.last));
    return behind ? Status::ok : mend(at.last, true, address);
}

// Makes the link of a node to a neighbour right, in reclaim(), which has committed all changes before. One that cannot
// be written at once stays as it is.
Status Tree1Walk::mend(Address node, bool right, Address to) noexcept {
    if constexpr (H5MOTE_WRITE != 0) {
        const FileShape shape = file_->shape();
        const Address at = node + static_cast<Address>(BTree1Node::link_offset(shape, right));
        std::byte bytes[8];
        if (!checker_.only_space() || !file_->one_write(at, std::uint64_t{at} + shape.sizeof_addr)) {
            return Status::ok;
        }
        shape.store_addr(bytes, to);
        file_->cache.discard(node);
        file_->unsynced = true;
        return told(file_->context, file_->driver, H5MOTE_HERE,
                    file_->driver.write(Usage::btree, at, {bytes, shape.sizeof_addr}), at);
    }
    return Status::ok;
}

// Whether a power cut can have left what `node` names as its neighbour: a node that the tree no longer has, or not yet,
// or the place of one, which may lie behind the end of the file, or across it, if that was lowered since.
bool Tree1Walk::harmless(Address named, Address node) const noexcept {
    return named == kUndefinedAddress || named >= file_->space.end() || node_size() > file_->space.end() - named ||
           (named != node && file_->contains(named, node_size()));
}

// Takes the next child of a node. In a leaf it is given to entry(), otherwise `below` becomes its address.
Status Tree1Walk::step(unsigned level, Address& below) noexcept {
    Level& at = levels_[level];
    const unsigned i = at.next++;  // goes on even if the node, which was read before, cannot be read again
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(checker_.judge(open_node(at.address, level, window, node), part_, at.address));
    ConstBytes bytes;
    H5MOTE_TRY(checker_.judge(key(window, i, bytes), part_, at.address));
    std::memcpy(key_, bytes.data(), bytes.size());
    H5MOTE_TRY(checker_.judge(key(window, i + 1, bytes), part_, at.address));
    std::memcpy(next_, bytes.data(), bytes.size());
    H5MOTE_TRY(checker_.judge(child(window, i, below), part_, at.address));
    const ConstBytes first(key_, key_size_);
    const ConstBytes second(next_, key_size_);
    if (checker_.verifying()) {
        int order = 0;
        H5MOTE_TRY(checker_.judge(order_of(first, second, order), part_, at.address));
        if (order >= 0) {
            return checker_.bad(ProblemKind::order, part_, at.address);
        }
    }
    window.close();
    return level == 0 ? entry(first, second, below) : Status::ok;
}

// Checks that the last node met on a level names no further one. A power cut may end the addition of a node when its
// neighbour already names it, and no node above does: that harms nobody, and the next addition names another. It may
// name a neighbour that was removed.
Status Tree1Walk::leave(unsigned level) noexcept {
    const Level& at = levels_[level];
    if (level == top_ || at.right == kUndefinedAddress) {
        return Status::ok;
    }
    if (!harmless(at.right, at.address)) {
        return checker_.bad(ProblemKind::siblings, part_, at.address);
    }
    (void)checker_.note(ProblemKind::siblings, part_, at.address);
    return mend(at.address, true, kUndefinedAddress);
}

Status Tree1Walk::run() noexcept {
    if (root_ == kUndefinedAddress) {
        return Status::ok;
    }
    H5MOTE_TRY(start());
    bool whole = true;
    unsigned level = top_;
    for (;;) {
        Level& at = levels_[level];
        if (at.next == at.entries) {
            if (level == top_) {
                break;
            }
            ++level;
            continue;
        }
        Address below = kUndefinedAddress;
        Status status = step(level, below);
        if (status == Status::ok && level != 0) {
            status = enter(below, level - 1);
            level -= status == Status::ok ? 1 : 0;
        }
        // The siblings of a damaged child can be checked all the same, but not how nodes are linked on its level and
        // below, where some were not seen.
        if (status == kReported) {
            whole = false;
            if (room_ < node_size()) {
                return kReported;
            }
            for (unsigned i = 0; i < level; ++i) {
                levels_[i].gap = true;
            }
            continue;
        }
        H5MOTE_TRY(status);
    }
    for (level = 0; whole && level < top_; ++level) {
        H5MOTE_TRY(leave(level));
    }
    return Status::ok;
}

}  // namespace h5mote

#endif
