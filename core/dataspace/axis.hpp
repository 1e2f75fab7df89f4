// H5S - what a selection takes of one dimension, as a sorted sequence of coordinates that can be counted both ways.
#pragma once

#include <h5mote/dataspace.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// One dimension of a selection that was validated: `count` blocks of `block` coordinates, `stride` apart. Blocks that
/// touch are one: either count is 1, or stride > block.
struct Axis {
    std::uint64_t start;
    std::uint64_t stride;
    std::uint64_t count;
    std::uint64_t block;

    /// Number of coordinates selected.
    std::uint64_t selected() const noexcept { return count * block; }
    /// Number of selected coordinates below `coordinate`.
    std::uint64_t index_of(std::uint64_t coordinate) const noexcept;
    /// The `index`-th selected coordinate; index < selected().
    std::uint64_t coordinate_of(std::uint64_t index) const noexcept;
    /// How many selected coordinates follow each other without a gap from the `index`-th on, that one included.
    std::uint64_t contiguous_from(std::uint64_t index) const noexcept;
};

/// Whether a dimension of a hyperslab is without limit.
inline bool is_unlimited(const Hyperslab& slab, std::size_t d) noexcept {
    return slab.count[d] == kUnlimited || (!slab.block.empty() && slab.block[d] == kUnlimited);
}
/// The dimension of a selection that is, or -1.
int unlimited_dimension(const Selection& selection) noexcept;

/// Dimension `d` of a hyperslab as its numbers are.
Axis numbers_of(const Hyperslab& slab, std::size_t d) noexcept;

/// The coordinate of dimension `d` that the selection's offset takes to `coordinate`; the first or last of all where
/// there is none.
std::uint64_t without_offset(const Selection& selection, std::size_t d, std::uint64_t coordinate) noexcept;

/// Dimension `d` of a regular hyperslab, its offset included.
Axis slab_axis(const Selection& selection, std::size_t d) noexcept;

/// Dimension `d` of a valid selection within `space` that is a product of its dimensions.
Axis axis_of(const Selection& selection, const Dataspace& space, std::size_t d) noexcept;

}  // namespace h5mote
