// H5B2 - the version 2 B-tree: records of any kind in order. Specification III.A.2.
//
// A record is found by comparing, or by its position with the counts beside the pointers: a cursor is therefore one
// number, and goes both ways. Trees are changed in btree2_changes.hpp.
#pragma once

#include "block_visitor.hpp"
#include "btree2_node.hpp"
#include "file_state.hpp"

namespace h5mote {

/// Compares the records of a tree with the one that a search looks for.
class RecordCompare {
public:
    /// `order`: the sign of (the wanted record - `record`), negative when the wanted one comes before `record`.
    virtual Status compare(ConstBytes record, int& order) noexcept = 0;

protected:
    RecordCompare() = default;
    ~RecordCompare() = default;
};

class BTree2 {
public:
    static constexpr std::size_t kMaxRecordSize = BTree2Header::kMaxRecordSize;

    /// Reads the header. corrupt_file (also: records longer than any that are defined), io_error.
    Status open(FileState& file, Address header) noexcept;
    /// Address of the header.
    Address address() const noexcept { return address_; }
    BTree2Type type() const noexcept { return header_.type; }
    /// Bytes of a record, at most kMaxRecordSize.
    std::size_t record_size() const noexcept { return header_.record_size; }
    /// Records in the tree.
    std::uint64_t size() const noexcept { return header_.records; }
    /// Levels of internal nodes.
    unsigned depth() const noexcept { return header_.depth; }

    /// The record for which `compare` says 0: its bytes, and its position if asked for. `record` has room for
    /// record_size() bytes, or is empty. not_found, corrupt_file, io_error, or what `compare` returned.
    Status find(RecordCompare& compare, Bytes record, std::uint64_t* index = nullptr) noexcept;
    /// The record at a position, 0 to size() - 1, in the order of the tree. The leaf of the last call is remembered, so
    /// that its other records are found fast. not_found beyond the end, corrupt_file, io_error.
    Status record(std::uint64_t index, Bytes record) noexcept;

    /// Shows the header and all nodes to `visitor`.
    Status walk(BlockVisitor& visitor) noexcept;

protected:
    // A node as the pointer to it, in its parent or in the header, describes it.
    struct Node {
        Address address = kUndefinedAddress;
        std::uint64_t total = 0;    // records in it and below
        std::uint64_t first = 0;    // position in the tree of the first record in it or below
        std::uint32_t records = 0;  // in the node itself
        std::uint16_t depth = 0;    // 0 for leaves
    };
    // The limits of nodes of that depth, at most that of the root. They depend on nothing that a change of the tree
    // changes.
    const BTree2Level& level(unsigned depth) noexcept;
    // Bytes of a node up to the end of its checksum.
    Address used_size(const Node& node) noexcept;
    // Where the first pointer to a child begins in a node with so many records.
    std::size_t pointers_at(unsigned records) const noexcept {
        return BTree2Node::kPrefixSize + std::size_t{records} * header_.record_size;
    }
    Status open_node(const Node& node, MetadataWindow& window) noexcept;
    Status record_at(MetadataWindow& window, unsigned i, ConstBytes& record) noexcept;
    Status child(const Node& node, MetadataWindow& window, unsigned i, Node& child) noexcept;
    // Searches the node's own records. `index` is that of the record found, or else of the first one that comes after
    // the wanted record, which is also the number of the child that may have it.
    Status search(const Node& node, MetadataWindow& window, RecordCompare& compare, unsigned& index,
                  bool& found) noexcept;
    // One step down to the record at position `index`. Either `below` is the child that has it and `own` is kNone, or
    // `own` is the record's number in `node` itself.
    static constexpr unsigned kNone = ~0U;
    Status step(const Node& node, MetadataWindow& window, std::uint64_t index, Node& below, unsigned& own) noexcept;
    Node root() const noexcept { return {header_.root, header_.records, 0, header_.root_records, header_.depth}; }
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::index, place, Status::corrupt_file, 0, address);
    }

    FileState* file_ = nullptr;
    Address address_ = kUndefinedAddress;
    BTree2Header header_;
    Node leaf_;  // the leaf that record() read last

private:
    static constexpr unsigned kNoDepth = ~0U;

    // What level() has computed last for even depths and for odd ones: a step down asks for two levels in turns.
    BTree2Level levels_[2];
    unsigned depths_[2] = {kNoDepth, kNoDepth};
};

}  // namespace h5mote
