// H5D (H5D_COPS_BTREE) - chunks are entered in version 1 B-trees and removed. Specification III.A.1.
#pragma once

#include "btree1_changes.hpp"

namespace h5mote {

/// Changes of a tree of chunks. Functions that return a Status return what those of BTree1Changes do; what moved(),
/// apply() and undo() are for is said there.
class ChunkBTree1Changes final : public BTree1Changes {
public:
    /// `tree` is borrowed. `element_size`: bytes of an element, which libhdf5 counts as one more dimension of a chunk.
    ChunkBTree1Changes(ChunkBTree1& tree, Address element_size, Phase phase = Phase::index) noexcept
        : BTree1Changes(tree, phase), chunks_(tree), element_size_(element_size) {}

    /// Makes a tree without chunks for a dataset of that rank.
    static Status create(FileState& file, unsigned rank, Address& root) noexcept {
        return BTree1Changes::create(file, BTree1Node::kChunks, file.foreign()->btree_k.chunk,
                                     ChunkBTree1Key::size(rank), root);
    }
    /// Whether the metadata cache has room for the changes of such a tree. over_budget.
    static Status check_room(FileState& file, unsigned rank) noexcept {
        return BTree1Nodes::check_budget(
            file, BTree1Node::size(file.shape(), file.foreign()->btree_k.chunk, ChunkBTree1Key::size(rank)));
    }
    /// Enters the chunk with those chunk coordinates, or its new location. invalid_argument: the size has more than 32
    /// bits.
    Status set(const std::uint64_t* scaled, const ChunkLocation& location) noexcept;
    /// Removes it. not_found: it does not exist.
    Status remove(const std::uint64_t* scaled) noexcept;

private:
    Bytes make_key(unsigned number, const std::uint64_t* scaled, bool behind) noexcept;

    ChunkBTree1& chunks_;
    Address element_size_;
};

}  // namespace h5mote
