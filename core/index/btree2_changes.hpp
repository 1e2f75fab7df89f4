// H5B2 - version 2 B-trees are changed. Specification III.A.2.
//
// No node to which the storage leads is changed by an insertion or removal: new nodes are written beside the old ones,
// from the leaf up to the root, and at last the header, which is in memory during the change, gets the new root. After
// an error the new nodes are given up, and the tree is as it was. On the storage the tree changes with the one write of
// its header, before which all new nodes are there. The places of old nodes that the storage does not know yet are used
// again at once, those of others after the next commit. With a large enough cache most changes need no new nodes where
// the storage does not know the old ones (BTree2Composer).
//
// Nodes are split, filled up from their neighbours and merged when and as libhdf5 does it (BTree2Composer), so that the
// same insertions and removals make the same tree.
#pragma once

#include "btree2_composer.hpp"
#include "disposal.hpp"

namespace h5mote {

/// How a new tree is to be. The defaults are libhdf5's; its nodes have 512 bytes, those of chunk indexes 2048.
struct BTree2Create {
    BTree2Type type = BTree2Type::testing;
    std::uint32_t node_size = 512;
    std::uint16_t record_size = 0;
    std::uint8_t split_percent = 100;
    std::uint8_t merge_percent = 40;
};

/// A tree that is open for changes, and for reading as any other. After a change through one object no other object of
/// the same tree may be used without being opened again.
///
/// The changing functions return, besides what their comments say: corrupt_file; over_budget, the metadata cache has no
/// room for a node beside what is in use; no_space, out_of_memory, io_error; unsupported (Feature::ordered_writing),
/// another writer placed the header across a sector (see copy_header()). After an error the tree is as it was. What is
/// changed is durable after the next commit.
class BTree2Changes : public BTree2Composer {
public:
    /// Makes a new, empty tree; nothing points to its header yet. `header`: where the header is to lie if the caller
    /// has allocated the place, BTree2Header::size() bytes; else kUndefinedAddress, and a place within one sector is
    /// allocated. invalid_argument: nodes of that size hold too few records of that size. over_budget: the metadata
    /// cache has no room for such a node.
    static Status create(FileState& file, const BTree2Create& create, Address& header) noexcept;
    /// `phase`: in which the changed header is written.
    Status open(FileState& file, Address header, Phase phase) noexcept;
    using BTree2::open;
    void set_phase(Phase phase) noexcept { phase_ = phase; }

    /// Inserts the record_size() bytes of `record`; `compare` compares the tree's records with it. already_exists.
    Status insert(RecordCompare& compare, ConstBytes record) noexcept;
    /// Replaces the record for which `compare` says 0 by `record`, which has its place in the order. A node that
    /// nothing on the storage leads to yet is changed where it is, and takes no file space; on storage where all
    /// between two commits appears at once, any node. not_found.
    Status update(RecordCompare& compare, ConstBytes record) noexcept;
    /// update() if the record exists, else inserts it, but splits no node as long as the record's leaf has room, which
    /// insert() does: libhdf5 enters chunks in this way, links and attributes by insert().
    Status set(RecordCompare& compare, ConstBytes record) noexcept;
    /// Removes the record for which `compare` says 0. `removed`, unless it is empty, gets its record_size() bytes.
    /// not_found.
    Status remove(RecordCompare& compare, Bytes removed = {}) noexcept;

    /// From now on changes make new nodes only, which this object finds, and the tree in the file stays as it is: then
    /// apply() makes the changes since the last call, which cannot fail, or undo() takes them back. Whoever changes
    /// several structures together can so apply all changes when none can fail any more. One of both has to be called
    /// before the tree is destroyed. An error of a change takes back those that were staged before, too.
    ///
    /// `in_place`: nodes to which nothing on the storage leads may stay where they are. Until apply(), or another
    /// change, this object may then find the tree as it was. Before apply(), call prepare() until is_prepared() is true
    /// without that anything else has used the metadata cache since.
    void stage(bool in_place = false) noexcept {
        staging_ = true;
        in_place_ = in_place;
    }
    Status prepare() noexcept { return prepare_steps(); }
    using BTree2Composer::is_prepared;
    void apply() noexcept { settle(true); }
    void undo() noexcept { settle(false); }

    /// Whether the metadata cache has room for changes. over_budget.
    Status check_room() noexcept { return check_budget(*file_, header_.node_size); }
    /// Whether every change of the header is one atomic write.
    bool switches_at_once() const noexcept;
    /// Copies the header to a place within one sector, `header`, for whoever can change what points to it; nodes do not
    /// point to it. use_header() comes next.
    Status copy_header(Address& header) noexcept;
    /// The tree has the header at `used` from now on, and the other one, at `unused`, is given up: the old one if what
    /// points to it was changed, or else the copy.
    void use_header(Address used, Address unused) noexcept;
    /// copy_header(), and the tree has its header there from now on. The caller gives the old one up.
    Status move_header(Address& header) noexcept;

    /// Gives the file space of the header and of all nodes to `disposal`. corrupt_file, io_error.
    static Status dispose(FileState& file, Address header, Disposal& disposal) noexcept;

private:
    Status insert_from(RecordCompare& compare, ConstBytes record, unsigned top) noexcept;
    Status insert_below(RecordCompare& compare, ConstBytes record, unsigned top) noexcept;
    Status split_root() noexcept;
    Status split(const Slot& slot, Node& parent, const Node& full, unsigned index) noexcept;
    Status redistribute(const Slot& slot, Node& parent, const Group& group) noexcept;
    Status merge(const Slot& slot, Node& parent, const Group& group) noexcept;
    Status shrink(Node& node, bool& shrunk) noexcept;
    Status make_room(RecordCompare& compare, const Slot& slot, Node& node, unsigned& index, Node& below) noexcept;
    Status remove_below(RecordCompare& compare, Bytes removed) noexcept;
    Status fill_up(RecordCompare* compare, const Slot& slot, Node& node, unsigned& index, bool& found) noexcept;
    Status remove_from_leaf(RecordCompare* compare, const Slot& slot, const Node& leaf, const Slot& swap,
                            Bytes removed) noexcept;
    Status find_top(RecordCompare& compare, unsigned& top, bool& exists) noexcept;
    Status replace(RecordCompare& compare, ConstBytes record) noexcept;
};

}  // namespace h5mote
