// H5S - a selection of a chunked dataset, chunk by chunk, each chunk once.
#pragma once

#include "checked.hpp"
#include "selection_runs.hpp"

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Number of elements of a chunk. invalid_argument: rank 0, another rank than the extent's, or a zero dimension;
/// overflow: more than 64 bits hold.
Status chunk_element_count(const Dataspace& space, Span<const std::uint64_t> chunk, std::uint64_t& count) noexcept;

/// The chunks that a selection touches, in row-major order, each once (points: see sort_points()), and within each
/// chunk its contiguous runs. A run's offset counts from the first element of the chunk, its `packed` within the whole
/// selection:
///
///     ChunkedRuns runs;
///     H5MOTE_TRY(runs.reset(selection, space, chunk));
///     while (runs.next_chunk()) {
///         ... find the chunk runs.scaled() ...
///         while (runs.next(run)) { ... }
///     }
class ChunkedRuns : public BoxRuns {
public:
    ChunkedRuns() = default;

    /// Starts before the first chunk. `space`, `chunk` and a hyperslab's numbers are borrowed until the last call.
    /// Errors of Selection::element_count() and chunk_element_count().
    Status reset(const Selection& selection, const Dataspace& space, Span<const std::uint64_t> chunk) noexcept;
    /// Points: sorts them so that each chunk is visited once, its points in the order of the list. `keys`: memory for
    /// point_count() numbers, borrowed until the last call. Call after reset(). Without it, or when the numbers of
    /// chunks do not fit in 64 bits, points come in the order of their list, and a chunk is visited again whenever they
    /// return to it.
    void sort_points(std::uint64_t* keys) noexcept;
    /// Goes to the next chunk that holds a selected element, whether or not the runs of the last were used up.
    H5MOTE_STEP bool next_chunk() noexcept;
    /// Chunk coordinates: those of its first element divided by the chunk dimensions.
    Span<const std::uint64_t> scaled() const noexcept { return {scaled_, rank()}; }
    /// Whether every element of this chunk that lies in the extent is selected, so that a write need not read it first.
    /// Elements of the chunk beyond the extent are never selected: they have to be filled. Always false for irregular
    /// hyperslabs and points.
    bool covers_chunk() const noexcept { return covers_box(); }
    /// Number of elements selected in all chunks together.
    std::uint64_t element_count() const noexcept { return count_; }

private:
    friend struct GatheredSelection;

    bool next_span_chunk() noexcept;
    bool next_point_chunk() noexcept;
    void sort_by_chunk(std::uint64_t* keys) noexcept;

    std::uint64_t count_ = 0;
    Span<const std::uint64_t> chunk_;
    bool fresh_ = true;
    bool ended_ = true;
    std::uint64_t scaled_[H5MOTE_MAX_RANK];
};

}  // namespace h5mote
