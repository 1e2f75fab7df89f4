// H5S - what walking needs to know of a kind of selection that is not a product of its dimensions.
#pragma once

#include "chunked_runs.hpp"

namespace h5mote {

/// The functions for one kind: points (point_runs.cpp) or irregular hyperslabs (span_runs.cpp). Those of BoxRuns and
/// ChunkedRuns are called for a selection of the kind only.
struct GatheredSelection {
    /// Whether all of the selection lies in the extent, which has its rank.
    bool (*inside)(const Selection& selection, const Dataspace& space);
    /// Elements selected.
    std::uint64_t (*count)(const Selection& selection);
    /// Goes to the first element of the box; false: there is none.
    bool (BoxRuns::*enter)() noexcept;
    /// Goes to the next run of the box; false: there is none.
    bool (BoxRuns::*step)() noexcept;
    /// Goes to the selected element with that number; false: there is none.
    bool (BoxRuns::*seek)(std::uint64_t packed) noexcept;
    /// The run that begins at the current position.
    SelectionRun (BoxRuns::*run)() const noexcept;
    /// Goes to the next chunk with selected elements; false: there is none.
    bool (ChunkedRuns::*next_chunk)() noexcept;
    /// ChunkedRuns::sort_points(); only points have it.
    void (ChunkedRuns::*sort)(std::uint64_t* keys) noexcept;

    static constexpr GatheredSelection points() noexcept;
    static constexpr GatheredSelection spans() noexcept;
};

}  // namespace h5mote
