// H5S - a selection carried over to another extent (H5S_select_construct_projection, H5S_select_project_intersection).
#pragma once

#include <h5mote/selection_set.hpp>

namespace h5mote {

/// Gives a selection another rank: leading dimensions of size 1 are added, or leading dimensions, in which it has one
/// coordinate only, are dropped. `projected_space` becomes the extent of `rank` dimensions; an element there stands
/// `element_offset` elements before the same one in `space` (0 when dimensions are added). invalid_argument: more than
/// one coordinate is selected in a dimension to drop; errors of Selection::bounds(), out_of_memory.
Status project_rank(const Selection& selection, const Dataspace& space, unsigned rank, SelectionSet& projected,
                    Dataspace& projected_space, std::uint64_t& element_offset) noexcept;

/// Selects those elements of `destination` whose counterparts in `source` are in `intersect` too. The n-th element of
/// `source`, in the order of the selection, is the counterpart of the n-th of `destination`. `source` and `intersect`
/// are selections of `source_space`. The result is a list of points if `source` or `destination` is one.
/// invalid_argument: source and destination do not select as many elements; errors of SelectionRuns::reset(),
/// out_of_memory.
Status project_intersection(const Selection& source, const Dataspace& source_space, const Selection& destination,
                            const Dataspace& destination_space, const Selection& intersect,
                            SelectionSet& projected) noexcept;

/// The same where `source` and `destination` need not select equally many elements, as long as each element of
/// `intersect` has a counterpart. invalid_argument: one has none.
Status project_counterparts(const Selection& source, const Dataspace& source_space, const Selection& destination,
                            const Dataspace& destination_space, const Selection& intersect,
                            SelectionSet& projected) noexcept;

}  // namespace h5mote
