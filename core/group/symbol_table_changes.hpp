// H5G (H5G__stab, H5G__node) - symbol tables are changed: what programs have that name formats::symbol_table_changes.
//
// A link is an entry in a symbol table node, which has its name in the group's local heap; a B-tree finds the node by
// that name. The addresses of tree and heap are in the group's symbol table message.
//
// Where only a sector is atomic, an entry appears and goes by one write: of its node, if the node lies in one sector
// and the tree stays as it is, and otherwise of the message, when the changed node and all nodes above it are complete
// beside the old ones. The name is in the heap before (LocalHeapChanges).
//
// The entries of groups may repeat the addresses of the group's own tree and heap. libhdf5 writes them, and since
// version 1.8 reads none of them. As the root of a tree may get another place, what is written here repeats nothing,
// which the format allows.
#pragma once

#include "disposal.hpp"
#include "symbol_entry.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

struct LinkMessage;

struct SymbolTableChangesFormat {
    /// Adds a link whose name is free. For one that is neither hard nor soft, which a symbol table cannot have, the
    /// group gets the storage of newer groups first, as in libhdf5.
    Status (*insert_link)(FileState& file, Address group, const LinkMessage& link);
    /// not_found.
    Status (*remove_link)(FileState& file, Address group, ConstBytes name);
    /// Whether a group with that symbol table has no link.
    Status (*is_empty)(FileState& file, const SymbolTableMessage& symbols, bool& empty);
    /// Gives all space of a symbol table without links to `disposal`.
    Status (*dispose)(FileState& file, const SymbolTableMessage& symbols, Disposal& disposal);
    /// Makes a symbol table without links, to which nothing leads.
    Status (*create)(FileState& file, SymbolTableMessage& symbols);
    /// Gives a group that has a symbol table the storage of newer groups, with the same links: messages of its header
    /// or, if there are many links, dense storage. Readers older than libhdf5 1.8 cannot read such a group. Durable
    /// after the next commit; after an error the group is as it was. Groups without a symbol table stay as they are.
    Status (*convert)(FileState& file, Address group);
};

/// Call before the addresses of a symbol table are read whose group will change: see AnyPlacementFormat::lengthen.
Status prepare_table(FileState& file, Address group) noexcept;

Status convert_symbol_table(FileState& file, Address group) noexcept;

}  // namespace h5mote
