// H5O - object headers whose first block begins so near the end of an atomic unit that no single write can switch it.
//
// The first block has to stay where links point to. Where its size, a continuation message and the checksum behind that
// do not lie in one unit, secure_change() (header.hpp) cannot cut it. Two writes can, each of them within one unit:
//
//   as found    | prefix | A | B  C  D ...              | checksum |
//   prepared    | prefix | A | continuation to B C D    | null message [ continuation to A B C D | checksum | ... ] |
//   switched    | prefix | null message ...                          [ continuation to A B C D | checksum ]
//                        ^ the unit ends in or behind the head of A, the first message
//
// Before the first write, all messages are copied to a new block, and the messages B C D ... that begin behind the end
// of the unit to another one. The first write changes only the second unit: the block still has A and continues in the
// copy of the others. The rest of the block is a null message, in whose body the end of the shorter block is prepared.
// The second write changes only the first unit: the size of the block, and the head of A, which becomes a null message
// up to the prepared end. The copy of B C D is not needed any more.
//
// Where only null messages follow A, nothing has to continue elsewhere before the second write, and the prepared end is
// directly behind A.
//
// A unit that ends in the prefix or directly behind it leaves no message in place. Then the first write alone does: the
// block keeps its size, and continues, by way of a small block that can always be changed, in the copy of all messages.
// The same is done where the unit ends between the type and the size of A, so that no write in the first unit can make
// a null message of A: A keeps its place, and only the others move. If the block ends in the second unit, one write
// there can still change the body of A.
//
// If the block does not end in the second unit, the first write must leave its checksum as it is. Twelve free bytes in
// the null message achieve that: lookup3 adds twelve bytes at a time to its state and mixes in a way that can be
// reversed, so that these bytes can bring any state to the one that the old bytes had led to.
//
// Headers of version 1 have no checksum, and no gap behind their messages. The steps are the same.
//
// A first block of version 1 that one message fills has no room for these steps, unless the space behind it is free.
// Then a null message is written there, and a write of the block's size, in the first unit, adds it to the block. From
// there on the steps are those above. libhdf5 makes such headers for groups with a symbol table, and places the root of
// the group's B-tree directly behind them. That node is moved before: its copy is on the storage before the message
// leads to the copy, which takes one write of the address. If a cut ends the steps there, the space behind the block is
// lost until File::reclaim() finds it, and the block cannot change before.
#pragma once

#include "header.hpp"

namespace h5mote {

/// What programs have that name formats::any_placement.
struct AnyPlacementFormat {
    /// Called at the start of secure_change(), with its parameters. Where the change takes a switch of the first block
    /// that one write cannot make, all messages of that block are moved into continuation blocks that lie well. This
    /// commits the metadata changed so far, and every step is durable when the next one begins. Afterwards `block` is
    /// the block, a live one, in which the byte at offset `from` now is, and `from` is its offset there.
    ///
    /// A first block that one message fills, across the end of a unit, stays as it is, unless it is the header of a
    /// group with the root of its B-tree directly behind: each of its two parts has bytes that would have to change at
    /// the same time. So does the first message, if the unit ends between its type and its size, of a block that
    /// reaches into a third unit. busy: somebody else holds the first block. no_space, io_error, out_of_memory,
    /// over_budget: the object is as it was, but `block` may be empty.
    Status (*place)(FileState& file, Address header, Pinned& block, std::size_t& from);
    /// Called before the addresses in a symbol table message are read by somebody who will change the header: place()
    /// moves the root of the group's B-tree, if it lies directly behind a header that the message fills across the end
    /// of a unit. Here it is moved at once, and the header is longer afterwards. The errors are those of place().
    Status (*lengthen)(FileState& file, Address header);
};

}  // namespace h5mote
