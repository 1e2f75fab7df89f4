// H5B - nodes of a version 1 B-tree are copied, changed in place, linked with each other and given up.
//
// What BTree1Changes is made of. A change has one of two modes. If the root can be changed where it is, the nodes on
// the way that cannot are copied one after the other, and the node above each leads to the copy at once. Otherwise the
// whole way is copied, up to a new root, to which nothing leads before the caller has stored its address; until then
// all of it can be taken back.
#pragma once

#include "btree1.hpp"

namespace h5mote {

/// What becomes of one entry of a node: its left key, its child, and its right key. What is not set stays as it is. The
/// keys are in their file bytes, as many as the tree's keys have, borrowed.
struct BTree1Edit {
    Address child = kUndefinedAddress;  ///< the entry's new child
    ConstBytes left;                    ///< its new left key
    /// One more child, with an entry of its own behind this one. To put a child before the first entry, make it the
    /// child of that entry, with its left key, and add the entry's old child with its old left key.
    Address added = kUndefinedAddress;
    ConstBytes middle;  ///< the key between the two
    /// The new right key of the entry, or of the added one. The right key of an entry is the left key of the next, also
    /// if that is in another node: it is changed there as well.
    ConstBytes right;

    bool adds() const noexcept { return added != kUndefinedAddress; }
};

class BTree1Nodes {
public:
    static constexpr unsigned kMostLevels = 32;

    BTree1Nodes(const BTree1Nodes&) = delete;
    BTree1Nodes& operator=(const BTree1Nodes&) = delete;

protected:
    BTree1Nodes(BTree1& tree, Phase phase) noexcept : tree_(tree), phase_(phase) {}
    ~BTree1Nodes() { release(); }

    /// One node of a way from the root to a leaf, and which of its entries leads on.
    struct Step {
        Address node;
        std::uint16_t index;
        std::uint16_t entries;
    };
    /// A change in place cannot be made any more, because the storage leads to the node by now: the cache has committed
    /// to make room. Then the whole way is copied. No caller of a public function sees this.
    static constexpr Status kSettled = Status::busy;

    FileState& file() const noexcept { return *tree_.file_; }
    /// over_budget: the metadata cache has no room for a node of that size beside what else a change needs.
    static Status check_budget(FileState& file, std::size_t node_size) noexcept;
    /// Makes room for the way through a tree whose root is `top` levels above the leaves, and for the lists of a
    /// change. out_of_memory.
    Status reserve(unsigned top) noexcept;
    void release() noexcept;

    /// Chooses the mode of a change: `copies`, the whole way is copied in any case.
    Status begin(bool copies) noexcept;
    /// Takes everything back that is not part of the tree for good.
    void cancel() noexcept;
    /// Gives up the old nodes.
    void give_up_retired() noexcept;
    /// After a change that has copied the root: where the old root lies in one atomic unit, it gets the contents of its
    /// copy with one write, and the tree keeps its address. That is what other programs expect that remember it.
    Status keep_root() noexcept;

    /// Pins a node to be changed in place. kSettled: it cannot be.
    Status hold(Address node, unsigned level, Pinned& block) noexcept;
    /// Says that the bytes from `from` on of a block that hold() has pinned were changed.
    void changed(Pinned& block, std::size_t from) noexcept;
    /// Makes sure that the node of a way can be changed in place. The node above it can be already.
    Status own(Step* way, unsigned level) noexcept;
    /// The node right or left of that of a way, or undefined.
    Status sibling(const Step* way, unsigned level, bool right, Address& address) noexcept;
    /// The lowest level above `level` in which the way has a neighbour on that side; top_ + 1: there is none.
    unsigned turn(const Step* way, unsigned level, bool right) const noexcept;
    /// Makes the link of a node to its right or left neighbour lead to `to`. Without the node there is nothing to do.
    Status link(Address node, unsigned level, bool right, Address to) noexcept;
    /// Makes a new node of `count` entries of a node, from entry `first` on.
    Status part(const Step& from, unsigned level, unsigned first, unsigned count, Address& made) noexcept;
    /// `node`, to which nothing new leads any more, is given up: when the change succeeds, or, if it is new, now.
    Status retire(Address node) noexcept;

    /// Changes in place. The node has room for one more entry if one is added.
    Status edit(const Step& step, unsigned level, const BTree1Edit& edit) noexcept;
    Status set_key(const Step& step, unsigned level, unsigned position, ConstBytes key) noexcept;
    Status remove_entry(const Step& step, unsigned level) noexcept;
    /// Copies a key of a node.
    Status read_key(Address node, unsigned level, unsigned position, Bytes key) noexcept;

    bool critical_left() const noexcept { return tree_.type_ == BTree1Node::kChunks; }
    bool is_fresh(const CacheEntry& block) const noexcept;
    /// Memory for some keys. Number 0 is that of the key between two halves; the others are for derived classes.
    static constexpr unsigned kKeys = 4;
    Bytes key_room(unsigned i = 0) noexcept { return {keys_ + i * tree_.key_size_, tree_.key_size_}; }

    BTree1& tree_;
    Phase phase_;
    bool copying_ = false;  // the whole way is copied
    bool pending_ = false;
    unsigned top_ = 0;
    Address root_ = kUndefinedAddress;
    Step* way_ = nullptr;     // top_ + 1 steps; number 0 is the leaf
    Step* beside_ = nullptr;  // the same, of the way to a neighbour of that leaf

private:
    struct Link {
        Address node;
        Address old;
        std::uint8_t level;
        bool right;
    };
    // The most links of old nodes that one change replaces on one level, the most nodes that it makes, and the most
    // that it takes away.
    static constexpr unsigned kLinks = 6;
    static constexpr unsigned kMade = 4;
    static constexpr unsigned kRetired = 3;

    unsigned levels() const noexcept { return top_ + 1; }
    Status open(Address node, unsigned level, Pinned& block) noexcept;
    bool is_made(Address node) const noexcept;
    Status add_made(Address node) noexcept;
    Status copy(Step* way, unsigned level) noexcept;
    Status lead_to(Step* way, unsigned level, Address node) noexcept;
    void mark_link(Pinned& block, bool right) noexcept;
    void give_up_node(Address node, bool unlinked) noexcept;

    std::byte* memory_ = nullptr;
    std::size_t memory_size_ = 0;
    std::byte* keys_ = nullptr;
    Address* made_ = nullptr;
    Address* retired_ = nullptr;
    Link* links_ = nullptr;
    unsigned made_count_ = 0;
    unsigned retired_count_ = 0;
    unsigned link_count_ = 0;
};

}  // namespace h5mote
