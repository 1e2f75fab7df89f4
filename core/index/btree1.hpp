// H5B - the version 1 B-tree: links of old groups, chunks of old datasets. Specification III.A.1, III.B.
//
// The tree is only read. A search descends from the root; the level must fall by one at each step. An iteration follows
// the leaves' sibling pointers; each of them must be matched by one that points back, so that no file makes the walk
// endless. No block stays pinned between two calls: a cursor is a few numbers.
#pragma once

#include "block_visitor.hpp"
#include "btree1_node.hpp"
#include "chunk_element.hpp"
#include "file_state.hpp"
#include "symbol_entry.hpp"

namespace h5mote {

class BTree1 {
public:
    /// Shows every node of the tree (symbol table nodes as well). corrupt_file, io_error.
    Status walk(BlockVisitor& visitor) noexcept;
    /// Levels above the leaves.
    Status height(unsigned& levels) noexcept;

protected:
    BTree1(std::uint8_t type) noexcept : type_(type) {}

    void set(FileState& file, Address root, unsigned half_width, unsigned key_size) noexcept;
    // Opens the node at `address`. corrupt_file: its level is not `level`, unless that is kAnyLevel.
    static constexpr unsigned kAnyLevel = 256;
    Status open_node(Address address, unsigned level, MetadataWindow& window, BTree1Node& node) noexcept;
    Status child(MetadataWindow& window, unsigned i, Address& address) noexcept;
    Status key(MetadataWindow& window, unsigned i, ConstBytes& bytes) noexcept;
    // The first, or else the last, node of a level.
    Status edge(bool first, unsigned level, Address& address, std::uint32_t& entries) noexcept;
    // Replaces `address` by the node's right or left sibling. not_found: the node is the last one of its level.
    Status neighbour(bool right, Address& address, unsigned level, std::uint32_t& entries) noexcept;
    Status damaged(SourcePlace place, Address address) noexcept {
        return file_->context.fail(Module::index, place, Status::corrupt_file, 0, address);
    }
    // Opens the leaf that has a child whose key range holds the wanted key, and returns the child's index. The range of
    // chunks is key(i) <= wanted < key(i + 1), that of groups key(i) < wanted <= key(i + 1). not_found: there is none.
    Status descend(MetadataWindow& window, unsigned& index) noexcept;
    // Compares the key that the derived class looks for with `key`: the sign of (wanted - key).
    virtual Status compare_key(ConstBytes key, int& order) noexcept = 0;
    ~BTree1() = default;

    Status walk_leaf(Address leaf, unsigned entries, BlockVisitor& visitor) noexcept;
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
        Address leaf = kUndefinedAddress;
        Address node = kUndefinedAddress;  // symbol table node
        std::uint32_t child = 0;           // entries of the leaf before (backwards: from) this one were visited
        std::uint32_t entries = 0;         // number of entries of the leaf
        std::uint32_t symbol = 0;          // as `child`, but in the symbol table node
    };
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

    /// Where an iteration stands; starts before the first chunk.
    struct Cursor {
        bool started = false;
        Address leaf = kUndefinedAddress;
        std::uint32_t child = 0;
        std::uint32_t entries = 0;
    };
    /// The next chunk and its chunk coordinates, `rank` numbers. not_found at the end, corrupt_file, io_error.
    Status next(Cursor& cursor, std::uint64_t* scaled, ChunkLocation& location) noexcept;

private:
    Status compare_key(ConstBytes key, int& order) noexcept override;
    Status load(MetadataWindow& window, unsigned i, ChunkLocation& location) noexcept;

    const std::uint64_t* chunk_ = nullptr;
    const std::uint64_t* wanted_ = nullptr;
    unsigned rank_ = 0;
};

}  // namespace h5mote
