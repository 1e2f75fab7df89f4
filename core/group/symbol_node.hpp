// H5G (H5G__node) - one symbol table node: its entries are found, and it is changed where it is or written anew.
//
// A node that the metadata cache has no room for is read and written piece by piece.
#pragma once

#include "btree1.hpp"
#include "local_heap.hpp"

namespace h5mote {

/// What is made of the entries of a node: some of its first ones, an added one, and some later ones.
struct SymbolNodeChange {
    unsigned first = 0;                  ///< the entries from this one on ...
    unsigned cut = 0;                    ///< ... up to this one stay,
    const SymbolEntry* added = nullptr;  ///< then comes this one, if there is one,
    unsigned resume = 0;                 ///< and the entries from this one on ...
    unsigned end = 0;                    ///< ... up to this one.

    unsigned entries() const noexcept { return cut - first + (added == nullptr ? 0U : 1U) + end - resume; }
};

class SymbolNodeEditor {
public:
    /// `names`: those of the entries, borrowed.
    SymbolNodeEditor(FileState& file, LocalHeap& names) noexcept : file_(file), names_(names) {}

    /// Most entries of a node.
    unsigned most() const noexcept { return 2U * file_.foreign()->btree_k.group_leaf; }
    /// Bytes of a node.
    Address size() const noexcept { return static_cast<Address>(offset_of(most())); }

    /// corrupt_file, io_error.
    Status open(Address node) noexcept;
    Address address() const noexcept { return address_; }
    unsigned entries() const noexcept { return entries_; }
    Status entry(unsigned i, SymbolEntry& entry) noexcept;
    /// The number of the entry with that name, or of the one before which it would stand.
    Status find(ConstBytes name, unsigned& number, bool& found) noexcept;
    /// Unpins the node.
    void park() noexcept { window_.close(); }

    /// Whether the open node may be changed where it is: its change reaches the storage wholly or not at all, or
    /// nothing on the storage leads to it.
    bool can_change() noexcept;
    /// Changes the open node where it is, which cannot fail. `change` keeps the first entries, and can_change().
    void apply(const SymbolNodeChange& change) noexcept;
    /// Writes what `change` makes of the open node as a new node. no_space, out_of_memory, io_error.
    Status write(const SymbolNodeChange& change, Address& made) noexcept;
    /// Gives back a node that write() has made.
    void undo(Address made) noexcept { file_.give_up(made, size(), true); }

private:
    std::size_t offset_of(unsigned i) const noexcept {
        return SymbolNode::kPrefixSize + i * SymbolEntry::size(file_.shape());
    }
    Status copy(unsigned from, unsigned end, unsigned to, Pinned& block, Address node) noexcept;
    Status put(std::size_t offset, ConstBytes bytes, Pinned& block, Address node) noexcept;

    FileState& file_;
    LocalHeap& names_;
    MetadataWindow window_;
    Address address_ = kUndefinedAddress;
    unsigned entries_ = 0;
};

}  // namespace h5mote
