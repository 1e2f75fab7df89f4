// H5B H5P - how many entries the nodes of symbol tables and version 1 B-trees have.
#pragma once

#include <cstdint>

namespace h5mote {

/// Half of the most entries that a node holds (H5Pset_sym_k, H5Pset_istore_k). Specification II.A.
struct BTreeK {
    std::uint16_t group_leaf = 4;       ///< of a node of a symbol table, which holds links
    std::uint16_t group_internal = 16;  ///< of a node of the B-tree over those nodes
    std::uint16_t chunk = 32;           ///< of a node of the B-tree over the chunks of a dataset

    constexpr bool is_default() const noexcept { return group_leaf == 4 && group_internal == 16 && chunk == 32; }
};
/// Takes its place in builds without H5MOTE_ALL_FORMATS.
struct NoBTreeK {
    constexpr operator BTreeK() const noexcept { return {}; }
    static constexpr bool is_default() noexcept { return true; }
};

}  // namespace h5mote
