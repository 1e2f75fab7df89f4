// H5S - unlimited hyperslabs, as the mappings of virtual datasets use them (H5S_hyper_get_clip_extent and others).
#pragma once

#include <h5mote/selection_set.hpp>

namespace h5mote {

/// Elements that one coordinate of the unlimited dimension selects: the product of the other dimensions. Modulo 2^64.
std::uint64_t slice_elements(const Selection& selection) noexcept;

/// How many coordinates of the unlimited dimension are selected below `size`.
std::uint64_t slices_below(const Selection& selection, std::uint64_t size) noexcept;

/// The same, but as H5S_hyper_get_clip_extent_match counts for the extent of a virtual dataset: the first block of an
/// unlimited count is whole as soon as it has begun, until the second one begins.
std::uint64_t slices_shown(const Selection& selection, std::uint64_t size) noexcept;

/// The size at which to clip so that `slices` coordinates of the unlimited dimension stay selected. `trailing`:
/// including the coordinates behind them that are not selected. kUnlimited when it does not fit.
std::uint64_t clip_extent(const Selection& selection, std::uint64_t slices, bool trailing) noexcept;

/// For an unlimited count: makes `block` the `index`-th block of the unlimited dimension, with the other dimensions as
/// they are (H5S_hyper_get_unlim_block). invalid_argument: the count is not unlimited; overflow.
Status unlimited_block(const Selection& selection, std::uint64_t index, SelectionSet& block) noexcept;

/// For an unlimited count: the number of the first block that does not lie wholly below `size`; `partial`: a part of it
/// does (H5S_hyper_get_first_inc_block).
std::uint64_t first_incomplete_block(const Selection& selection, std::uint64_t size, bool& partial) noexcept;

}  // namespace h5mote
