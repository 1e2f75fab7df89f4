// H5B2 - new nodes of a version 2 B-tree are composed of the records and pointers of old ones.
//
// Every step of a change writes new nodes out of old ones, and touches no node to which the storage leads. One node is
// in memory as a whole at a time, the one that is written; old nodes are read through windows. So a change needs room
// for one node in the metadata cache, however many nodes it takes.
//
// Where the cache has room for much more, a fresh node, to which nothing on the storage leads, need not be copied to
// change one pointer in it, or to insert or remove one record of a leaf. The nodes from the root down that are fresh
// stay where they are, pinned, and what changes in them is noted. settle() makes these changes together with that of
// the header, which cannot fail any more. If the cache has committed in between, to make room, then these nodes are
// copied after all.
#pragma once

#include "btree2.hpp"

namespace h5mote {

/// What BTree2Changes is made of: one change at a time, between begin_change() and end_change(), with the lists of the
/// new nodes, which an error gives up, and of the old ones, which success gives up.
class BTree2Composer : public BTree2 {
protected:
    BTree2Composer() noexcept = default;
    BTree2Composer(const BTree2Composer&) = delete;
    BTree2Composer& operator=(const BTree2Composer&) = delete;
    ~BTree2Composer() = default;

    /// Where the pointer to a node is: pointer `index` of `holder`, a new node, or, if that has no address, the header.
    struct Slot {
        Node holder;
        unsigned index = 0;
        bool in_header() const noexcept { return holder.address == kUndefinedAddress; }
    };
    /// Neighbours below one node, and the records of that node between them: one sequence of records.
    struct Group {
        Node child[3];
        unsigned first = 0;  // number of the first one below the node
        unsigned count = 0;
        unsigned total() const noexcept;  // records in the sequence
    };
    /// A node that is being written.
    struct NewNode {
        Pinned block;
        Node node;
        unsigned records = 0;  // so many of node.records, and of the pointers, are written
        unsigned pointers = 0;
    };

    /// Starts a change of the tree: makes the lists, or makes them longer if changes are staged already, and next_ a
    /// copy of the header. out_of_memory; over_budget: the cache has no room for a node; unsupported: the header cannot
    /// be changed safely, or (Feature::chunk_index) nodes hold too few records to be changed.
    Status begin_change() noexcept;
    /// Ends it. If `status` is ok, the tree has the contents of next_ from now on, and, unless the change is only
    /// staged, settle(true) follows. Else, or if that fails, settle(false).
    Status end_change(Status status) noexcept;
    /// Ends all changes that were staged. If they are `good`, the header in the file becomes that of the tree, and the
    /// old nodes are given up. Else the new ones are, and the tree is as it was before. Cannot fail.
    void settle(bool good) noexcept;

    /// over_budget: the metadata cache has no room for a node beside what else a change needs.
    static Status check_budget(FileState& file, std::uint32_t node_size) noexcept;
    /// unsupported (Feature::chunk_index): nodes of a tree of that depth hold too few records to be changed.
    Status check_changeable(unsigned depth) noexcept;
    /// The root, as next_ describes it.
    Node new_root() const noexcept { return {next_.root, next_.records, 0, next_.root_records, next_.depth}; }
    Status locate(const Node& node, RecordCompare& compare, unsigned& index, bool& found) noexcept;
    /// Child `index` of a node.
    Status load_child(const Node& node, unsigned index, Node& below) noexcept;
    /// The child `index` of a node and the neighbours that it has.
    Status load_group(const Node& node, unsigned index, Group& group) noexcept;
    Status load_record(const Node& node, unsigned index, Bytes record) noexcept;

    /// Begins a new node with exactly so many records. corrupt_file: too many for its level.
    Status begin(unsigned depth, unsigned records, NewNode& to) noexcept;
    /// Appends the records, or the pointers, [first, end) of an old node.
    Status copy_records(const Node& from, unsigned first, unsigned end, NewNode& to) noexcept;
    Status copy_pointers(const Node& from, unsigned first, unsigned end, NewNode& to) noexcept;
    void add_record(ConstBytes record, NewNode& to) noexcept;
    void add_pointer(const Node& below, NewNode& to) noexcept;
    /// Completes the node; `total`: of records in it and below.
    void finish(std::uint64_t total, NewNode& to) noexcept;
    /// `node`, to which nothing new points any more, is given up, at once if it is new.
    Status retire(const Node& node) noexcept;

    /// Stores address and counts of `node` where the pointer to it is.
    Status set_pointer(const Slot& slot, const Node& node) noexcept;
    /// Makes sure that a pointer in `node` can be stored, and stores the pointer to it: it is new or stays where it is,
    /// or else is copied. `whole`: records in it can be stored, too, for which it has to be new.
    Status own(const Slot& slot, Node& node, bool whole = false) noexcept;
    /// Inserts a record into a leaf as number `index`, or removes that one if `record` is empty, and stores the pointer
    /// to the leaf. `leaf`: how it is now, but for the total, which counts the change already.
    Status change_leaf(const Slot& slot, const Node& leaf, unsigned index, ConstBytes record) noexcept;
    /// Overwrites a record of a new node.
    Status set_record(const Node& node, unsigned index, ConstBytes record) noexcept;
    /// A new node of `records` records of the sequence from number `first` on.
    Status compose(const Node& parent, const Group& group, unsigned first, unsigned records, Node& made) noexcept;
    /// Distributes the sequence anew over `count` nodes of `sizes` records each; together with the records between
    /// them, which go into a new parent, these are all. The pointer to the parent is stored.
    Status regroup(const Slot& slot, Node& parent, const Group& group, const unsigned* sizes, unsigned count) noexcept;

    /// What staged changes need before settle(true), if some nodes were to stay where they are: makes copies of them if
    /// they are not fresh any more. After an error the tree is as it was.
    Status prepare_steps() noexcept;
    /// Whether settle(true) may follow: it may not any more when the cache has committed since prepare_steps().
    bool is_prepared() const noexcept;

    bool staging_ = false;  // changes are only staged
    bool in_place_ = true;  // fresh nodes may stay where they are
    BTree2Header next_;
    Phase phase_ = Phase::index;

private:
    // The most nodes that one change makes, or takes away, on one level. The root's level and two more are counted in.
    static constexpr unsigned kMostOnLevel = 6;

    // Bytes that the cache needs beside one node: for its bookkeeping, the header of the tree, and a message that
    // points to that.
    static constexpr std::uint32_t kBeside = 512;
    // Nodes that stay where they are have at most this part of the cache.
    static constexpr std::size_t kPinnedShare = 8;

    // A change of nodes that stay where they are.
    struct Steps {
        // Deeper trees have more nodes than are worth to be pinned.
        static constexpr unsigned kMost = 6;
        struct Step {
            Pinned block;
            std::uint32_t records = 0;  // of the node, before the change
            unsigned index = 0;         // number of the pointer that is stored, or in a leaf of the record
            BTree2Pointer pointer;
        };
        Step steps[kMost];  // from the root down
        unsigned count = 0;
        std::uint16_t depth = 0;  // of the root
        bool inserts = false;     // the leaf gets `record`; else it loses one
        std::byte record[kMaxRecordSize];
    };

    std::size_t list_bytes() const noexcept { return 2 * capacity_ * sizeof(Address); }
    Status extend_lists() noexcept;
    Status pin_header() noexcept;
    Status protect_new(const Node& node, Pinned& block) noexcept;
    Status copy(const Node& from, std::size_t offset, std::size_t size, std::byte* to) noexcept;
    Status copy_from_group(const Node& parent, const Group& group, unsigned number, NewNode& to) noexcept;
    Status sum_totals(NewNode& to, std::uint64_t& total) noexcept;
    bool is_new(Address address) const noexcept;
    void give_up_node(Address address, bool is_new) noexcept;
    bool has_steps() const noexcept { return steps_ != nullptr && steps_->count != 0; }
    bool stays(const Slot& slot, const Node& node, std::size_t growth) noexcept;
    Status copy_node(const Node& node, NewNode& to) noexcept;
    Status make_leaf(const Node& leaf, unsigned index, ConstBytes record, NewNode& to) noexcept;
    Status copy_steps() noexcept;
    void apply_steps() noexcept;

    Pinned changed_header_;  // between end_change() and settle()
    BTree2Header stored_;    // the header as it was before the changes since settle()
    unsigned capacity_ = 0;
    Address* made_ = nullptr;     // capacity_ addresses of new nodes ...
    Address* retired_ = nullptr;  // ... and as many of old ones that are not needed any more
    unsigned made_count_ = 0;
    unsigned retired_count_ = 0;
    Steps* steps_ = nullptr;  // with has_steps(), next_ is what the header will be, and header_ what it is
};

}  // namespace h5mote
