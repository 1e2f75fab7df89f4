// H5S - the coordinates that a selection takes in one dimension: a sorted sequence, from index to coordinate and back.
#pragma once

#include <h5mote/dataspace.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// One dimension of a selection that was validated: `count` blocks of `block` coordinates, `stride` apart. Blocks that
/// touch are merged, so that either count is 1, or stride > block (not in numbers_of()).
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

/// Whether a dimension of a hyperslab is unlimited.
inline bool is_unlimited(const Hyperslab& slab, std::size_t d) noexcept {
    return slab.count[d] == kUnlimited || (!slab.block.empty() && slab.block[d] == kUnlimited);
}
/// The unlimited dimension of a selection, or -1.
int unlimited_dimension(const Selection& selection) noexcept;

/// Dimension `d` of a hyperslab with the numbers as they were given; blocks that touch are not merged.
Axis numbers_of(const Hyperslab& slab, std::size_t d) noexcept;

/// `coordinate` of dimension `d` less the selection's offset; 0 or kUnlimited where that is not a coordinate.
std::uint64_t without_offset(const Selection& selection, std::size_t d, std::uint64_t coordinate) noexcept;

/// Dimension `d` of a regular hyperslab, its offset included.
Axis slab_axis(const Selection& selection, std::size_t d) noexcept;

/// Dimension `d` of a valid selection within `space` that is a product of its dimensions: all, none, regular
/// hyperslabs.
Axis axis_of(const Selection& selection, const Dataspace& space, std::size_t d) noexcept;

}  // namespace h5mote
