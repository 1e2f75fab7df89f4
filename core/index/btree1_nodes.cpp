#include "btree1_nodes.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The rules that keep a power cut from losing chunks and symbols. A test build leaves one of them out
// (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    keep_nodes,  // nodes to which the storage leads are not used again before a commit
    copy_nodes,  // nor are they changed in place
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

// Bytes that the cache needs beside one node: for its bookkeeping, and the message that leads to the tree.
constexpr std::uint32_t kBeside = 512;

}  // namespace

// ---- one change --------------------------------------------------------------------------------------------------

Status BTree1Nodes::check_budget(FileState& file, std::size_t node_size) noexcept {
    const std::uint64_t need = std::uint64_t{node_size} + kBeside;
    return need <= file.cache.budget() ? Status::ok
                                       : file.context.fail(Module::index, H5MOTE_HERE, Status::over_budget, 0, need);
}

Status BTree1Nodes::reserve(unsigned top) noexcept {
    H5MOTE_TRY(check_budget(file(), tree_.node_size()));
    if (memory_ != nullptr && top == top_) {
        return Status::ok;
    }
    release();
    top_ = top;
    const std::size_t ways = 2 * levels() * sizeof(Step);
    const std::size_t links = levels() * kLinks * sizeof(Link);
    const std::size_t nodes = levels() * (kMade + kRetired) * sizeof(Address);
    memory_size_ = ways + links + nodes + std::size_t{kKeys} * tree_.key_size_;
    memory_ = static_cast<std::byte*>(file().context.allocate(MemoryKind::other, memory_size_));
    if (memory_ == nullptr) {
        return Status::out_of_memory;
    }
    std::byte* at = memory_;
    way_ = reinterpret_cast<Step*>(at);
    beside_ = way_ + levels();
    links_ = reinterpret_cast<Link*>(at += ways);
    made_ = reinterpret_cast<Address*>(at += links);
    retired_ = made_ + levels() * kMade;
    keys_ = at + nodes;
    return Status::ok;
}

void BTree1Nodes::release() noexcept {
    if (memory_ != nullptr) {
        file().context.release(MemoryKind::other, memory_, memory_size_);
        memory_ = nullptr;
    }
}

Status BTree1Nodes::begin(bool copies) noexcept {
    made_count_ = retired_count_ = link_count_ = 0;
    root_ = tree_.root_;
    copying_ = false;
    Pinned block;
    const Status status = hold(root_, top_, block);
    copying_ = copies || status == kSettled;
    return status == kSettled ? Status::ok : status;
}

// Links get back what they were in reverse order: one may have been replaced twice. That the link of a node is not as
// it was harms no reader, so that errors are ignored.
void BTree1Nodes::cancel() noexcept {
    while (link_count_ > 0) {
        const Link& last = links_[--link_count_];
        Pinned block;
        if (!is_made(last.node) && open(last.node, last.level, block) == Status::ok) {
            const FileShape shape = file().shape();
            shape.store_addr(block->at(BTree1Node::link_offset(shape, last.right)), last.old);
            mark_link(block, last.right);
        }
    }
    while (made_count_ > 0) {
        give_up_node(made_[--made_count_], false);
    }
    retired_count_ = 0;
}

void BTree1Nodes::give_up_retired() noexcept {
    while (retired_count_ > 0) {
        give_up_node(retired_[--retired_count_], false);
    }
    made_count_ = link_count_ = 0;
}

Status BTree1Nodes::keep_root() noexcept {
    const Address root = tree_.root_;
    const std::size_t size = tree_.node_size();
    if (root_ == root || !file().one_write(root, std::uint64_t{root} + size)) {
        return Status::ok;
    }
    {
        // The cache makes room most easily while nothing is pinned: the root is there before its copy is held.
        Pinned block;
        H5MOTE_TRY(open(root, top_, block));
        block.reset();
        Pinned copy;
        Status status = file().cache.protect(Usage::btree, root_, size, copy, ChecksumPlace::none);
        status = status == Status::ok ? open(root, top_, block) : status;
        if (status != Status::ok) {
            return status == Status::over_budget ? Status::ok : status;
        }
        if (block->dirty() && block->phase() > phase_) {
            return Status::ok;
        }
        std::memcpy(block->at(0), copy->at(0), size);
        MetadataCache::mark_dirty(*block, 0, phase_);
    }
    unsigned i = 0;
    while (retired_[i] != root) {
        ++i;
    }
    retired_[i] = retired_[--retired_count_];
    const Address copied = root_;
    root_ = root;
    return retire(copied);
}

// A node whose block is fresh is one that the storage does not lead to yet, and so is one behind the end of file that
// the superblock on the storage has.
bool BTree1Nodes::is_fresh(const CacheEntry& block) const noexcept {
    return block.fresh() || (!file().is_atomic() && file().is_unrecorded(block.address()));
}

// A node is used again at once if nothing on the storage leads to it, not even the link of a neighbour: the cache may
// have committed during a change, with such a link to a node that was new. What is behind the end of file that the
// superblock on the storage has was made since the last commit.
void BTree1Nodes::give_up_node(Address node, bool unlinked) noexcept {
    Pinned block = file().cache.find(node);
    const bool unwritten = block && block->fresh() && block->dirty();
    const bool fresh = file().is_atomic() ? block && block->fresh() : file().is_unrecorded(node);
    block.reset();
    if (unwritten) {
        file().space.unkeep_metadata(tree_.node_size());
    }
    file().cache.discard(node);
    file().space.release(node, tree_.node_size(), unlinked || fresh || !keep(Rule::keep_nodes));
}

bool BTree1Nodes::is_made(Address node) const noexcept {
    unsigned i = 0;
    while (i < made_count_ && made_[i] != node) {
        ++i;
    }
    return i < made_count_;
}

Status BTree1Nodes::add_made(Address node) noexcept {
    if (made_count_ == levels() * kMade) {
        give_up_node(node, true);
        return tree_.damaged(H5MOTE_HERE, node);
    }
    made_[made_count_++] = node;
    return Status::ok;
}

Status BTree1Nodes::retire(Address node) noexcept {
    for (unsigned i = 0; i < made_count_; ++i) {
        if (made_[i] == node) {
            made_[i] = made_[--made_count_];
            give_up_node(node, false);
            return Status::ok;
        }
    }
    if (retired_count_ == levels() * kRetired) {
        return tree_.damaged(H5MOTE_HERE, node);
    }
    retired_[retired_count_++] = node;
    return Status::ok;
}

// ---- nodes -------------------------------------------------------------------------------------------------------

Status BTree1Nodes::open(Address node, unsigned level, Pinned& block) noexcept {
    if (!file().contains(node, tree_.node_size())) {
        return tree_.damaged(H5MOTE_HERE, node);
    }
    H5MOTE_TRY(file().cache.protect(Usage::btree, node, tree_.node_size(), block, ChecksumPlace::none));
    BTree1Node prefix;
    const bool sound = prefix.decode(file().shape(), block->image()) && prefix.type == tree_.type_ &&
                       prefix.level == level && prefix.entries <= tree_.width_;
    return sound ? Status::ok : tree_.damaged(H5MOTE_HERE, node);
}

Status BTree1Nodes::hold(Address node, unsigned level, Pinned& block) noexcept {
    H5MOTE_TRY(open(node, level, block));
    const bool free = !copying_ && (file().is_atomic() || is_fresh(*block) || !keep(Rule::copy_nodes));
    return free || is_made(node) ? Status::ok : kSettled;
}

// A node that is new stays fresh even if the cache has committed since it was made.
void BTree1Nodes::changed(Pinned& block, std::size_t from) noexcept {
    if (is_made(block->address()) || is_fresh(*block)) {
        MetadataCache::set_fresh(*block);
    }
    MetadataCache::mark_dirty(*block, from, phase_);
}

unsigned BTree1Nodes::turn(const Step* way, unsigned level, bool right) const noexcept {
    unsigned above = level + 1;
    while (above <= top_ && (right ? way[above].index + 1U == way[above].entries : way[above].index == 0)) {
        ++above;
    }
    return above;
}

Status BTree1Nodes::sibling(const Step* way, unsigned level, bool right, Address& address) noexcept {
    address = kUndefinedAddress;
    unsigned above = turn(way, level, right);
    if (above > top_) {
        return Status::ok;
    }
    MetadataWindow window;
    BTree1Node node;
    H5MOTE_TRY(tree_.open_node(way[above].node, above, window, node));
    H5MOTE_TRY(tree_.child(window, right ? way[above].index + 1U : way[above].index - 1U, address));
    while (--above > level) {
        H5MOTE_TRY(tree_.open_node(address, above, window, node));
        if (node.entries == 0) {
            return tree_.damaged(H5MOTE_HERE, address);
        }
        H5MOTE_TRY(tree_.child(window, right ? 0 : node.entries - 1U, address));
    }
    return Status::ok;
}

Status BTree1Nodes::own(Step* way, unsigned level) noexcept {
    {
        Pinned block;
        const Status status = hold(way[level].node, level, block);
        if (status != kSettled) {
            return status;
        }
    }
    // Where the root is changed in place, the copy is part of the tree for good as soon as the node above leads to it.
    const unsigned links = link_count_;
    const Address old = way[level].node;
    H5MOTE_TRY(copy(way, level));
    if (copying_) {
        return retire(old);
    }
    --made_count_;
    link_count_ = links;
    give_up_node(old, false);
    return Status::ok;
}

Status BTree1Nodes::copy(Step* way, unsigned level) noexcept {
    const FileShape shape = file().shape();
    const std::size_t size = tree_.node_size();
    Address left = 0;
    Address right = 0;
    H5MOTE_TRY(sibling(way, level, false, left));
    H5MOTE_TRY(sibling(way, level, true, right));
    Address to = 0;
    H5MOTE_TRY(file().space.allocate(Usage::btree, size, to));
    {
        Pinned block;
        const Status status = file().cache.copy(Usage::btree, way[level].node, to, size, block, ChecksumPlace::none);
        if (status != Status::ok) {
            file().space.release(to, size, true);
            return status;
        }
        shape.store_addr(block->at(BTree1Node::link_offset(shape, false)), left);
        shape.store_addr(block->at(BTree1Node::link_offset(shape, true)), right);
        MetadataCache::set_fresh(*block);
        MetadataCache::mark_dirty(*block, 0, phase_);
    }
    H5MOTE_TRY(add_made(to));
    H5MOTE_TRY(link(left, level, true, to));
    H5MOTE_TRY(link(right, level, false, to));
    return lead_to(way, level, to);
}

Status BTree1Nodes::lead_to(Step* way, unsigned level, Address node) noexcept {
    if (level == top_) {
        root_ = node;
    } else {
        const Step& above = way[level + 1];
        Pinned block;
        H5MOTE_TRY(hold(above.node, level + 1, block));
        const std::size_t offset = tree_.entry_offset(above.index) + tree_.key_size_;
        file().shape().store_addr(block->at(offset), node);
        changed(block, offset);
    }
    way[level].node = node;
    return Status::ok;
}

// The link of a live node is changed where it is, after all that leads to the new neighbour. If other changes of the
// node wait to be written, they must not wait for that.
void BTree1Nodes::mark_link(Pinned& block, bool right) noexcept {
    const std::size_t offset = BTree1Node::link_offset(file().shape(), right);
    if (is_made(block->address()) || is_fresh(*block) || file().is_atomic()) {
        changed(block, offset);
    } else {
        MetadataCache::mark_dirty(*block, offset, block->dirty() ? block->phase() : Phase::links);
    }
}

Status BTree1Nodes::link(Address node, unsigned level, bool right, Address to) noexcept {
    if (node == kUndefinedAddress) {
        return Status::ok;
    }
    Pinned block;
    H5MOTE_TRY(open(node, level, block));
    const FileShape shape = file().shape();
    std::byte* const at = block->at(BTree1Node::link_offset(shape, right));
    const Address old = shape.load_addr(at);
    if (old == to) {
        return Status::ok;
    }
    if (!is_made(node)) {
        if (link_count_ == levels() * kLinks) {
            return tree_.damaged(H5MOTE_HERE, node);
        }
        links_[link_count_++] = {node, old, static_cast<std::uint8_t>(level), right};
    }
    shape.store_addr(at, to);
    mark_link(block, right);
    return Status::ok;
}

Status BTree1Nodes::part(const Step& from, unsigned level, unsigned first, unsigned count, Address& made) noexcept {
    {
        Pinned block;
        const std::size_t size = tree_.node_size();
        H5MOTE_TRY(file().create_block(Usage::btree, size, size, block, ChecksumPlace::none));
        made = block->address();
        BTree1Node prefix;
        prefix.type = tree_.type_;
        prefix.level = static_cast<std::uint8_t>(level);
        prefix.entries = static_cast<std::uint16_t>(count);
        Writer writer(block->image());
        prefix.encode(file().shape(), writer);
        MetadataWindow window;
        BTree1Node old;
        Status status = tree_.open_node(from.node, level, window, old);
        const std::size_t begin = tree_.entry_offset(first);
        const std::size_t bytes = tree_.entry_offset(first + count) + tree_.key_size_ - begin;
        status = status == Status::ok ? window.read(begin, {block->at(tree_.entry_offset(0)), bytes}) : status;
        MetadataCache::set_fresh(*block);
        MetadataCache::mark_dirty(*block, 0, phase_);
        if (status != Status::ok) {
            block.reset();
            give_up_node(made, true);
            return status;
        }
    }
    return add_made(made);
}

// ---- entries -----------------------------------------------------------------------------------------------------

Status BTree1Nodes::edit(const Step& step, unsigned level, const BTree1Edit& edit) noexcept {
    Pinned block;
    H5MOTE_TRY(hold(step.node, level, block));
    const FileShape shape = file().shape();
    const std::size_t key_size = tree_.key_size_;
    const std::size_t entry = tree_.entry_offset(step.index);
    const std::size_t next = tree_.entry_offset(step.index + 1U);
    std::size_t last = next;  // of the right key
    if (edit.adds()) {
        last = tree_.entry_offset(step.index + 2U);
        std::memmove(block->at(last), block->at(next), tree_.entry_offset(step.entries) + key_size - next);
        std::memcpy(block->at(next), edit.middle.data(), key_size);
        shape.store_addr(block->at(next + key_size), edit.added);
        store_le(block->at(BTree1Node::kEntries), static_cast<std::uint16_t>(step.entries + 1));
    }
    if (!edit.left.empty()) {
        std::memcpy(block->at(entry), edit.left.data(), key_size);
    }
    if (edit.child != kUndefinedAddress) {
        shape.store_addr(block->at(entry + key_size), edit.child);
    }
    if (!edit.right.empty()) {
        std::memcpy(block->at(last), edit.right.data(), key_size);
    }
    changed(block, edit.adds() ? BTree1Node::kEntries : entry);
    return Status::ok;
}

Status BTree1Nodes::set_key(const Step& step, unsigned level, unsigned position, ConstBytes key) noexcept {
    Pinned block;
    H5MOTE_TRY(hold(step.node, level, block));
    const std::size_t offset = tree_.entry_offset(position);
    std::memcpy(block->at(offset), key.data(), key.size());
    changed(block, offset);
    return Status::ok;
}

// With the child goes its left key in a tree of chunks, its right key in that of a group.
Status BTree1Nodes::remove_entry(const Step& step, unsigned level) noexcept {
    Pinned block;
    H5MOTE_TRY(hold(step.node, level, block));
    const std::size_t shift = critical_left() ? 0 : tree_.key_size_;
    const std::size_t to = tree_.entry_offset(step.index) + shift;
    const std::size_t from = tree_.entry_offset(step.index + 1U) + shift;
    std::memmove(block->at(to), block->at(from), tree_.entry_offset(step.entries) + tree_.key_size_ - from);
    store_le(block->at(BTree1Node::kEntries), static_cast<std::uint16_t>(step.entries - 1));
    changed(block, BTree1Node::kEntries);
    return Status::ok;
}

Status BTree1Nodes::read_key(Address node, unsigned level, unsigned position, Bytes key) noexcept {
    MetadataWindow window;
    BTree1Node prefix;
    H5MOTE_TRY(tree_.open_node(node, level, window, prefix));
    return window.read(tree_.entry_offset(position), key);
}

}  // namespace h5mote
