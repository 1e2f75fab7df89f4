// H5B - the version 1 B-tree: links of old groups, chunks of old datasets. Specification III.A.1, III.B.
//
// A search descends from the root; the level must fall by one at each step. An iteration descends as well, from leaf to
// leaf, and does not follow the nodes' sibling pointers: libhdf5 does not, either, and after a power cut one of them
// may still name a node that was moved (BTree1Changes). So that no file makes the walk endless, it ends when it has met
// more nodes than the file has room for. No block stays pinned between two calls: a cursor is a few numbers.
#pragma once

#include "block_visitor.hpp"
#include "btree1_node.hpp"
#include "chunk_element.hpp"
#include "file_state.hpp"
#include "symbol_entry.hpp"

namespace h5mote {

class BTree1Changes;
class BTree1Nodes;

class BTree1 {
public:
    /// The place of a node: which of the children on the way from the root lead to it, as the digits of one number.
    struct Place {
        std::uint64_t digits = 0;
        Address left = kUndefinedAddress;  ///< how many nodes of that level may still follow; undefined: not known yet
    };

    /// Shows every node of the tree (symbol table nodes as well). corrupt_file, io_error; unsupported: the tree is too
    /// deep for Place, as trees of two children in a node can be.
    Status walk(BlockVisitor& visitor) noexcept;
    /// Levels above the leaves.
    Status height(unsigned& levels) noexcept;
    /// unsupported: the tree has `most` levels above the leaves or more, or is too deep for walk() and iterations.
    Status check_height(unsigned most) noexcept;

protected:
    BTree1(std::uint8_t type) noexcept : type_(type) {}

    void set(FileState& file, Address root, unsigned half_width, unsigned key_size) noexcept;
    // Opens the node at `address`. corrupt_file: its level is not `level`, unless that is kAnyLevel.
    static constexpr unsigned kAnyLevel = 256;
    Status open_node(Address address, unsigned level, MetadataWindow& window, BTree1Node& node) noexcept;
    Status child(MetadataWindow& window, unsigned i, Address& address) noexcept;
    Status key(MetadataWindow& window, unsigned i, ConstBytes& bytes) noexcept;
    // The first, or else the last, node of a level. corrupt_file: the tree has no such level. unsupported: it is too
    // deep for Place.
    Status edge(bool first, unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept;
    // The node after the one at `place`, or the one before it. not_found: that is the last one, or the first one, of
    // its level.
    Status neighbour(bool right, unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept;
    // The node at `place`, which was found before, or if nodes were removed since the one that follows. not_found: none
    // follows.
    Status revisit(unsigned level, Place& place, Address& address, std::uint32_t& entries) noexcept;
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::index, place, Status::corrupt_file, 0, address);
    }
    // Opens the leaf that has a child whose key range holds the wanted key, and returns the child's index. The range of
    // chunks is key(i) <= wanted < key(i + 1), that of groups key(i) < wanted <= key(i + 1). not_found: there is none.
    Status descend(MetadataWindow& window, unsigned& index) noexcept;
    // The first child of an open node whose range does not end before the wanted key; the number of children: all do.
    Status search(MetadataWindow& window, unsigned entries, unsigned& index) noexcept;
    // Compares the key that the derived class looks for with `key`: the sign of (wanted - key).
    virtual Status compare_key(ConstBytes key, int& order) noexcept = 0;
    ~BTree1() = default;

    friend class BTree1Changes;
    friend class BTree1Nodes;

    Status walk_leaf(Address leaf, unsigned entries, BlockVisitor& visitor) noexcept;
    Status unit(unsigned levels, std::uint64_t& weight) noexcept;
    Status go_to(unsigned level, unsigned last_below, Place& place, Address& address, std::uint32_t& entries) noexcept;
    std::size_t node_size() const noexcept;
    std::size_t entry_offset(unsigned i) const noexcept;

    FileState* file_ = nullptr;
    Address root_ = kUndefinedAddress;
    std::uint32_t width_ = 0;  // most children of a node
    std::uint16_t key_size_ = 0;
    std::uint8_t type_;
};

/// The names of symbols. A symbol holds only an offset: its name is in the group's local heap (LocalHeap).
class SymbolNames {
public:
    /// The sign of `name` minus the name at `offset`, both compared as bytes.
    virtual Status compare(Address offset, ConstBytes name, int& order) noexcept = 0;

protected:
    SymbolNames() = default;
    ~SymbolNames() = default;
};

/// Links of a group, in the order of their names.
class GroupBTree1 final : public BTree1 {
public:
    GroupBTree1() noexcept : BTree1(BTree1Node::kGroup) {}

    /// Reads nothing yet. `names` are borrowed.
    void open(FileState& file, Address root, SymbolNames& names) noexcept;
    /// The symbol of that name. not_found, corrupt_file, io_error.
    Status find(ConstBytes name, SymbolEntry& symbol) noexcept;

    /// Where an iteration stands; starts before the first (or, backwards, after the last) symbol.
    struct Cursor {
        bool backwards = false;
        bool started = false;
        Place place;
        Address leaf = kUndefinedAddress;
        Address node = kUndefinedAddress;  // symbol table node
        std::uint32_t child = 0;           // entries of the leaf before (backwards: from) this one were visited
        std::uint32_t entries = 0;         // number of entries of the leaf
        std::uint32_t symbol = 0;          // as `child`, but in the symbol table node
    };
    /// From now on the tree looks for this name, which is borrowed. For whoever changes the tree.
    void look_for(ConstBytes name) noexcept { wanted_ = name; }
    /// The next symbol. not_found at the end, corrupt_file, io_error.
    Status next(Cursor& cursor, SymbolEntry& symbol) noexcept;

private:
    Status compare_key(ConstBytes key, int& order) noexcept override;
    Status open_symbols(Address address, MetadataWindow& window, std::uint16_t& symbols) noexcept;
    Status symbol_at(MetadataWindow& window, unsigned i, SymbolEntry& symbol) noexcept;

    SymbolNames* names_ = nullptr;
    ConstBytes wanted_;
};

/// Chunks of a dataset, in the order of their coordinates.
class ChunkBTree1 final : public BTree1 {
public:
    ChunkBTree1() noexcept : BTree1(BTree1Node::kChunks) {}

    /// Reads nothing yet. `chunk`: the dimensions of a chunk in elements, `rank` numbers, borrowed.
    void open(FileState& file, Address root, unsigned rank, const std::uint64_t* chunk) noexcept;
    /// The location of the chunk with the chunk coordinates `scaled`: its offset in elements divided by the dimensions
    /// of a chunk, `rank` numbers. The address is undefined when the chunk does not exist. corrupt_file, io_error.
    Status find(const std::uint64_t* scaled, ChunkLocation& location) noexcept;

    /// Where an iteration stands; starts before the first chunk. Whoever has changed the tree since makes `leaf`
    /// undefined, and `child` one less if the chunk that next() gave last was removed.
    struct Cursor {
        bool started = false;
        Place place;
        Address leaf = kUndefinedAddress;
        std::uint32_t child = 0;
        std::uint32_t entries = 0;
    };
    /// From now on the tree looks for the chunk with these chunk coordinates, which are borrowed. For whoever changes
    /// the tree.
    void look_for(const std::uint64_t* scaled) noexcept { wanted_ = scaled; }
    /// The next chunk and its chunk coordinates, `rank` numbers. not_found at the end, corrupt_file, io_error.
    Status next(Cursor& cursor, std::uint64_t* scaled, ChunkLocation& location) noexcept;

private:
    friend class ChunkBTree1Changes;

    Status compare_key(ConstBytes key, int& order) noexcept override;
    Status load(MetadataWindow& window, unsigned i, ChunkLocation& location) noexcept;

    std::uint8_t rank_ = 0;
    const std::uint64_t* chunk_ = nullptr;
    const std::uint64_t* wanted_ = nullptr;
};

}  // namespace h5mote
