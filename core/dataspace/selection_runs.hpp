// H5S - a selection as contiguous runs of elements (H5S_sel_iter_t), and two of them walked side by side.
//
// A regular selection is a product of sorted coordinate sequences, one a dimension (axis.hpp). The position of an
// iterator in a dimension is one number, the index into that sequence, so that it takes 8 bytes a dimension. The last
// dimensions, as far as they are taken whole, make one run; runs lie along the dimension before them (the row), and the
// dimensions before the row are counted through. Irregular hyperslabs are walked along their tree of spans
// (span_tree.hpp), points along their list; runs that happen to follow each other are joined.
#pragma once

#include <h5mote/dataspace.hpp>

#include "axis.hpp"
#include "checked.hpp"
#include "span_tree.hpp"

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Elements that lie next to each other in the extent (or chunk) and in the selection's packed sequence.
struct SelectionRun {
    std::uint64_t offset;  ///< of the first element in the row-major extent or chunk
    std::uint64_t packed;  ///< of the first element among all selected ones, in the order of the selection
    std::uint64_t length;
};

/// The runs of a selection within a box of the extent: the part that SelectionRuns and ChunkedRuns share.
class BoxRuns {
public:
    BoxRuns() = default;
    BoxRuns(const BoxRuns&) = delete;
    BoxRuns& operator=(const BoxRuns&) = delete;

    /// The next run into `run`; false at the end. Runs come in row-major order, those of points in the order of their
    /// list; none is empty.
    bool next(SelectionRun& run) noexcept;
    /// The same, but single elements in equal steps along a row come as one: `length` of them, the first at `offset`,
    /// `step` apart. Of all other runs `step` is 1.
    bool next_stepped(SelectionRun& run, std::uint64_t& step) noexcept;
    /// The run that next() gives, without going on; false at the end, and for points and irregular hyperslabs.
    bool peek(SelectionRun& run) const noexcept { return !done_ && selection_.is_regular() && row_run(run) != 0; }

protected:
    struct Range {
        std::uint64_t begin, end;
    };

    ~BoxRuns() = default;

    /// Sets what is walked: a selection that was validated, and a grid of boxes of `pitch` elements. `scaled` is the
    /// number of the box in each dimension (nullptr: the first box). `space`, `pitch`, `scaled` are borrowed.
    void bind(const Selection& selection, const Dataspace& space, const std::uint64_t* pitch,
              const std::uint64_t* scaled) noexcept;
    /// Goes to the first run of the box, as far as that lies in the extent.
    void start() noexcept;
    /// Goes to the selected element with the number `packed`, in a box that holds the whole selection. A number beyond
    /// the last element goes to the end.
    void seek(std::uint64_t packed) noexcept;
    /// Whether each element that lies both in the box and in the extent is selected. Points and irregular hyperslabs
    /// are not examined: false.
    bool covers_box() const noexcept;

    Axis axis(std::size_t d) const noexcept { return axis_of(selection_, *space_, d); }
    /// Coordinates of the box, cut off at the extent.
    Range box(std::size_t d) const noexcept;
    std::size_t rank() const noexcept { return space_->rank(); }

    const Dataspace& space() const noexcept { return *space_; }
    const Selection& selection() const noexcept { return selection_; }

    /// Irregular: the first coordinate from `coordinate` on that is selected in dimension `d`, given that the first d
    /// dimensions lie in the box; kUnlimited if there is none.
    std::uint64_t first_coordinate(std::size_t d, std::uint64_t coordinate) noexcept;
    /// Points: visits them in the order of `keys`, which ascend, instead of that of the list. A key is the number of
    /// the chunk times the number of points, plus the number of the point.
    void set_order(const std::uint64_t* keys) noexcept { order_ = keys; }
    /// Points: the coordinates of the next one to visit, without the offset; nullptr at the end. start() goes on there.
    const std::uint64_t* next_point() const noexcept;
    /// Points: skips those that follow in the same box.
    void finish_box() noexcept;

private:
    friend struct GatheredSelection;

    Range indices(std::size_t d, const Axis& axis) const noexcept;
    std::uint64_t row_run(SelectionRun& run) const noexcept;
    void pass(std::uint64_t taken) noexcept;
    bool count_on() noexcept;
    void locate_row() noexcept;

    // Points and irregular hyperslabs: by way of the functions for their kind.
    void start_gathered(const GatheredSelection& gathered) noexcept;
    void seek_gathered(const GatheredSelection& gathered, std::uint64_t packed) noexcept;
    void next_gathered(const GatheredSelection& gathered, SelectionRun& run) noexcept;

    // Irregular hyperslabs.
    SpanTree tree() const noexcept { return tree_of(selection_); }
    bool enter_box_of_spans() noexcept;
    bool step_spans() noexcept;
    bool seek_span(std::uint64_t packed) noexcept;
    SelectionRun span_run() const noexcept;
    // The box in the coordinates of the tree, to which the selection's offset is not added.
    Range span_box(std::size_t d) const noexcept;
    std::uint32_t span_list(std::size_t d) const noexcept {
        return d == 0 ? tree().root : tree().nodes[entry_[d - 1]].down;
    }
    bool enter_spans() noexcept;
    bool next_branch(std::size_t d) noexcept;
    bool next_span(std::size_t d) noexcept;
    void locate_spans() noexcept;

    // Points.
    bool step_points() noexcept;
    bool seek_point(std::uint64_t packed) noexcept;
    SelectionRun point_run() const noexcept;
    bool point_in_box() noexcept;
    std::uint64_t point_number() const noexcept {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the point that is asked for is one of the selection.
        return order_ == nullptr ? index_[0] : remainder_of(order_[index_[0]], selection_.point_count());
    }

    Selection selection_;
    const Dataspace* space_ = nullptr;
    const std::uint64_t* pitch_ = nullptr;
    const std::uint64_t* scaled_ = nullptr;
    Axis row_axis_;
    Range row_;                     // what the box has of row_axis_, as indices
    Axis rows_axis_;                // the dimension before the row's, if there is one ...
    std::uint64_t rows_end_ = 0;    // ... and where the box ends in it, as an index
    std::uint64_t run_unit_ = 0;    // elements of the dimensions taken whole; 0: nothing is selected in the box
    std::uint64_t skip_ = 0;        // elements of the next run that seek() passed over
    std::uint64_t row_offset_ = 0;  // of coordinate 0 of the row in the box, in run units, modulo 2^64 ...
    std::uint64_t row_packed_ = 0;  // ... and of index 0 of the row in the packed sequence
    std::uint8_t row_dim_ = 0;
    bool done_ = true;
    const std::uint64_t* order_ = nullptr;
    std::size_t depth_ = 0;                 // spans: leading dimensions whose coordinate is chosen ...
    std::size_t proven_ = 0;                // ... and those whose span is known to have elements in the box
    SelectionRun held_{0, 0, 0};            // not a product: the run that next() begins with
    std::uint64_t index_[H5MOTE_MAX_RANK];  // product: place in each dimension up to the row; spans: coordinate;
                                            // points: how many were visited
    std::uint32_t entry_[H5MOTE_MAX_RANK];  // spans: the current span of each dimension
};

/// All runs of a selection in an extent.
class SelectionRuns : public BoxRuns {
public:
    /// Starts at the first run. `space` and a hyperslab's numbers are borrowed until the last call. Errors of
    /// Selection::element_count(); overflow also when the extent has more elements than 64 bits hold, so that offsets
    /// cannot be told.
    Status reset(const Selection& selection, const Dataspace& space) noexcept;
    /// Number of elements that all runs hold together.
    std::uint64_t element_count() const noexcept { return count_; }
    /// Continues at the `packed`-th selected element; the next run may then be the rest of one.
    using BoxRuns::seek;

private:
    std::uint64_t count_ = 0;
};

/// A piece of a transfer, in elements: where it is in the file and in memory.
struct PairedRun {
    std::uint64_t file;    ///< offset in the extent or chunk that the outer runs belong to
    std::uint64_t memory;  ///< offset in the caller's buffer
    std::uint64_t length;
    std::uint64_t step = 1;  ///< from one element to the next on the file's side
};

/// The memory side of a transfer: a packed buffer in selection order, or a selection of a memory dataspace. Each run
/// of the file's side is cut into pieces that are contiguous in memory too.
class PairedRuns {
public:
    /// A packed buffer until reset() says otherwise.
    PairedRuns() = default;

    /// Uses a selection of a memory dataspace, both borrowed. Errors of SelectionRuns::reset(); invalid_argument: it
    /// does not select `file_count` elements, the number that the file's side has.
    Status reset(const Selection& selection, const Dataspace& space, std::uint64_t file_count) noexcept;
    /// Takes the next run of the file's side. Runs may come in any order; ascending ones cost least.
    void take(const SelectionRun& file) noexcept {
        file_ = file;
        step_ = 1;
    }
    /// Takes the next run of `runs`, or elements in equal steps; false at their end.
    bool take_next(BoxRuns& runs) noexcept { return runs.next_stepped(file_, step_); }
    /// The next piece of that run; false when it is used up.
    bool next(PairedRun& piece) noexcept {
        piece.file = file_.offset;
        piece.memory = file_.packed;
        piece.length = file_.length;
        piece.step = step_;
        file_.length = packed_ ? 0 : file_.length;
        return piece.length != 0 && (packed_ || cut(piece));
    }

private:
    bool cut(PairedRun& piece) noexcept;

    SelectionRuns memory_;
    SelectionRun held_{0, 0, 0};  // the current run of memory_
    SelectionRun file_{0, 0, 0};  // what is left of the run taken from the file's side
    std::uint64_t step_ = 1;      // between its elements
    bool packed_ = true;
};

}  // namespace h5mote
