// H5B - version 1 B-trees are changed. Specification III.A.1.
//
// A search leads to an entry of a leaf, and the entry is changed: its child and keys are replaced, a second child is
// added beside it, or it is removed. Nodes are split, and empty ones removed, when and as libhdf5 does it. The root's
// address may change if the root does not lie in one atomic unit, and it is the caller's part to store it in the
// message that leads to the tree.
//
// Nothing that the storage knows is changed in place, because nodes have no checksum: the nodes on the way to a change
// are written beside the old ones, and the tree on the storage changes with one write: of the root, where that lies in
// one atomic unit, and else of the root's address. Nodes that the storage does not lead to yet are changed where they
// are; so are all nodes on storage where all between two commits appears at once, and an entry that lies in one atomic
// unit.
//
// Where nodes are changed in place, each step changes one node, and the tree has the same children after an error in
// any of them. What a change needs of memory beside the metadata cache, some numbers a level, it takes from the
// allocator. The cache has to hold one node at a time.
//
// The nodes of one level are linked with each other. No reader follows these links, only libhdf5 where it splits or
// removes nodes. The link of an old node to a new neighbour is changed in place, after everything else (Phase::links).
// A power cut in between leaves links to old nodes; a change of the node beside them makes them right, or reclaim().
#pragma once

#include "btree1_nodes.hpp"
#include "disposal.hpp"

namespace h5mote {

/// Changes of one tree, one at a time: find(), then one of the changing functions, then, if moved(), the caller stores
/// root() in the message that leads to the tree and calls apply(), or undo() if storing it has failed. After that comes
/// the next find(). What is changed is durable after the next commit.
///
/// All functions that return a Status return, besides what their comments say: corrupt_file; over_budget, the metadata
/// cache has no room for a node; unsupported (Feature::chunk_index), the tree has, or would get, more than kMostLevels
/// levels; no_space, out_of_memory, io_error. After an error the tree has the children that it had.
class BTree1Changes : public BTree1Nodes {
public:
    /// `tree`, which is open, is borrowed. It says which key is looked for, and reads the changed tree as soon as a
    /// changing function returns ok. `phase`: in which live blocks are written that are changed in place.
    explicit BTree1Changes(BTree1& tree, Phase phase = Phase::index) noexcept : BTree1Nodes(tree, phase) {}
    ~BTree1Changes() { undo(); }

    /// Makes a leaf without entries, the root of a new tree; nothing points to it yet. `type`: BTree1Node::kGroup or
    /// kChunks; `half_width`: of BTreeK.
    static Status create(FileState& file, std::uint8_t type, unsigned half_width, unsigned key_size,
                         Address& root) noexcept;
    /// Gives the file space of all nodes of an open tree to `disposal`, of a group's also that of the symbol table
    /// nodes. corrupt_file, io_error.
    static Status dispose(BTree1& tree, Disposal& disposal) noexcept;

    /// Finds the entry whose range holds the key that the tree looks for, or the first entry of the tree if all keys
    /// are greater, or the last if all are less. not_found: the tree is empty; then only change() may come next.
    Status find() noexcept;
    /// After find(): whether the key is less than the left key of the entry, and whether it lies behind its right key.
    bool before() const noexcept { return before_; }
    bool behind() const noexcept { return behind_; }
    /// Whether the key is the left key of the entry.
    bool equal() const noexcept { return equal_; }
    /// The child of the entry that was found.
    Status child(Address& address) noexcept;
    /// Copies the left key of the entry that was found, or its right key, to as many bytes as a key has.
    Status left_key(Bytes key) noexcept { return read_key(way_[0].node, 0, way_[0].index, key); }
    Status right_key(Bytes key) noexcept { return read_key(way_[0].node, 0, way_[0].index + 1U, key); }

    /// Changes the entry that was found. A tree without entries gets its first one; then left, child and right are set.
    Status change(const BTree1Edit& edit) noexcept;
    /// Removes the entry that was found. In a group's tree its right key goes with it, and its range becomes part of
    /// the next entry's, in a tree of chunks its left key and the previous entry's. The keys of the nodes beside it and
    /// above follow. The last entry leaves a leaf without entries.
    Status remove() noexcept;

    /// Whether the last change has given the tree another root, which waits for apply() or undo().
    bool moved() const noexcept { return pending_; }
    /// The address of the root.
    Address root() const noexcept { return tree_.root_; }
    /// Says that what leads to the tree leads to root() now: gives up the old nodes. Neither this function can fail nor
    /// undo(), which gives up the new ones instead, so that the tree is as it was. Without moved() both do nothing.
    void apply() noexcept;
    void undo() noexcept;

private:
    Status change_in_place(const BTree1Edit& edit, bool& done) noexcept;
    Status change_nodes(const BTree1Edit& edit) noexcept;
    Status insert_first(const BTree1Edit& edit) noexcept;
    Status split(unsigned level, const BTree1Edit& edit, BTree1Edit& above) noexcept;
    Status grow(const BTree1Edit& edit) noexcept;
    Status end_with_neighbour(BTree1Edit& edit) noexcept;
    Status remove_nodes() noexcept;
    Status make_empty() noexcept;
    Status own_way(unsigned level) noexcept;
    Status own_beside(bool right, unsigned common) noexcept;
    Status spread(bool right, unsigned from, unsigned common, ConstBytes key) noexcept;
    Status unlink(unsigned levels) noexcept;
    Status finish(Status status) noexcept;

    bool before_ = false;
    bool behind_ = false;
    bool equal_ = false;
};

}  // namespace h5mote
