// H5G (H5G__stab) - groups as libhdf5 writes them by default: names in a local heap, in the order of a version 1
// B-tree.
//
// Programs link them only if they name formats::symbol_tables: everything here goes through SymbolTableReader.
#pragma once

#include "block_visitor.hpp"
#include "stored_link.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// Reads one symbol table. A link that a function returns views bytes in its own windows.
class SymbolTableReader {
public:
    /// Opens the table and goes to its first link, or, with `backwards`, to its last.
    virtual Status open(FileState& file, Address btree, Address heap, bool backwards) noexcept = 0;
    /// not_found.
    virtual Status find(ConstBytes name, StoredLink& link) noexcept = 0;
    /// not_found at the end.
    virtual Status next(StoredLink& link) noexcept = 0;
    /// Counts the links from the current one on, and passes them.
    virtual Status count(std::uint64_t& links) noexcept = 0;
    virtual Status walk(BlockVisitor& index, BlockVisitor& heap) noexcept = 0;
    virtual void destroy(Context& context) noexcept = 0;

protected:
    ~SymbolTableReader() = default;
};

struct SymbolTableFormat {
    /// nullptr: out of memory. The caller destroys the reader.
    SymbolTableReader* (*make)(Context& context);
};

}  // namespace h5mote
