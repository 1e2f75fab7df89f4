#include "selection_runs.hpp"

namespace h5mote {

void BoxRuns::bind(const Selection& selection, const Dataspace& space, const std::uint64_t* pitch,
                   const std::uint64_t* scaled) noexcept {
    selection_ = selection;
    space_ = &space;
    pitch_ = pitch;
    scaled_ = scaled;
    run_unit_ = 0;
    done_ = true;
    order_ = nullptr;
    index_[0] = 0;  // points: none was visited
}

BoxRuns::Range BoxRuns::box(std::size_t d) const noexcept {
    const std::uint64_t size = space_->dims()[d];
    const std::uint64_t low = scaled_ == nullptr ? 0 : scaled_[d] * pitch_[d];
    return {low, pitch_[d] < size - low ? low + pitch_[d] : size};
}

// The coordinates that are selected in the box, as indices into the axis.
BoxRuns::Range BoxRuns::indices(std::size_t d, const Axis& axis) const noexcept {
    const Range range = box(d);
    return {axis.index_of(range.begin), axis.index_of(range.end)};
}

void BoxRuns::start() noexcept {
    skip_ = 0;
    run_unit_ = 0;
    done_ = true;
    row_dim_ = 0;
    if (const GatheredSelection* const gathered = selection_.gathered()) {
        start_gathered(*gathered);
        return;
    }
    std::uint64_t unit = 1;
    if (rank() == 0) {
        const bool one = space_->space_class() == DataspaceClass::scalar && selection_.type() == SelectionType::all;
        row_axis_ = {0, 1, 1, one ? 1U : 0U};
        row_ = {0, row_axis_.block};
    }
    bool whole = true;
    for (std::size_t d = rank(); d-- > 0;) {
        const Axis here = axis(d);
        const Range range = indices(d, here);
        const std::uint64_t taken = range.end - range.begin;
        if (taken == 0) {
            return;
        }
        index_[d] = range.begin;
        if (whole) {
            // Taken whole means: without a gap in the box, and without one in the packed sequence either.
            whole = d > 0 && taken == pitch_[d] && taken == here.selected();
            if (whole) {
                unit *= taken;
            } else {
                row_dim_ = static_cast<std::uint8_t>(d);
                row_axis_ = here;
                row_ = range;
            }
        } else if (d + 1 == row_dim_) {
            rows_axis_ = here;
            rows_end_ = range.end;
        }
    }
    if (row_.begin == row_.end) {
        return;
    }
    index_[row_dim_] = row_.begin;
    run_unit_ = unit;
    done_ = false;
    locate_row();
}

// The run that begins at the current position. Returns how many indices of the row it takes.
std::uint64_t BoxRuns::row_run(SelectionRun& run) const noexcept {
    const std::uint64_t index = index_[row_dim_];
    const std::uint64_t gapless = row_axis_.contiguous_from(index);
    const std::uint64_t left = row_.end - index;
    const std::uint64_t taken = gapless < left ? gapless : left;
    run.offset = (row_offset_ + row_axis_.coordinate_of(index)) * run_unit_ + skip_;
    run.packed = (row_packed_ + index) * run_unit_ + skip_;
    run.length = taken * run_unit_ - skip_;
    return taken;
}

bool BoxRuns::next(SelectionRun& run) noexcept {
    if (done_) {
        return false;
    }
    if (const GatheredSelection* const gathered = selection_.gathered()) {
        next_gathered(*gathered, run);
        return true;
    }
    pass(row_run(run));
    return true;
}

bool BoxRuns::next_stepped(SelectionRun& run, std::uint64_t& step) noexcept {
    step = 1;
    if (done_ || !selection_.is_regular() || run_unit_ != 1 || row_axis_.block != 1 || row_axis_.count == 1) {
        return next(run);
    }
    step = row_axis_.stride;
    (void)row_run(run);
    run.length = row_.end - index_[row_dim_];
    pass(run.length);
    return true;
}

// Moves on by `taken` indices of the row.
void BoxRuns::pass(std::uint64_t taken) noexcept {
    std::uint64_t& index = index_[row_dim_];
    index += taken;
    skip_ = 0;
    if (index == row_.end) {
        index = row_.begin;
        done_ = !count_on();
    }
}

bool BoxRuns::count_on() noexcept {
    // The usual case: the next row follows.
    if (row_dim_ != 0 && index_[row_dim_ - 1U] + 1 < rows_end_) {
        const std::uint64_t row = index_[row_dim_ - 1U]++;
        row_offset_ += (rows_axis_.coordinate_of(row + 1) - rows_axis_.coordinate_of(row)) * pitch_[row_dim_];
        row_packed_ += row_axis_.selected();
        return true;
    }
    for (std::size_t d = row_dim_; d-- > 0;) {
        const Range range = indices(d, axis(d));
        if (++index_[d] < range.end) {
            locate_row();
            return true;
        }
        index_[d] = range.begin;
    }
    return false;
}

void BoxRuns::locate_row() noexcept {
    row_offset_ = 0;
    row_packed_ = 0;
    if (rank() == 0) {
        return;
    }
    for (std::size_t d = 0; d < row_dim_; ++d) {
        const Axis here = axis(d);
        row_offset_ = row_offset_ * pitch_[d] + here.coordinate_of(index_[d]) - box(d).begin;
        row_packed_ = row_packed_ * here.selected() + index_[d];
    }
    row_offset_ = row_offset_ * pitch_[row_dim_] - box(row_dim_).begin;
    row_packed_ *= row_axis_.selected();
}

void BoxRuns::seek(std::uint64_t packed) noexcept {
    if (const GatheredSelection* const gathered = selection_.gathered()) {
        seek_gathered(*gathered, packed);
        return;
    }
    if (run_unit_ == 0) {
        return;
    }
    packed = divide(packed, run_unit_, skip_);
    for (std::size_t d = row_dim_; d > 0; --d) {
        packed = divide(packed, axis(d).selected(), index_[d]);
    }
    index_[0] = packed;
    done_ = packed >= (row_dim_ == 0 ? row_.end : axis(0).selected());
    if (!done_) {
        locate_row();
    }
}

bool BoxRuns::covers_box() const noexcept {
    if (!selection_.is_regular()) {
        return false;
    }
    for (std::size_t d = 0; d < rank(); ++d) {
        const Range range = box(d);
        const Axis here = axis(d);
        if (here.index_of(range.end) - here.index_of(range.begin) != range.end - range.begin) {
            return false;
        }
    }
    return run_unit_ != 0;
}

Status SelectionRuns::reset(const Selection& selection, const Dataspace& space) noexcept {
    std::uint64_t extent = 0;
    H5MOTE_TRY(selection.element_count(space, count_));
    H5MOTE_TRY(space.element_count(extent));
    bind(selection, space, space.dims().data(), nullptr);
    start();
    return Status::ok;
}

Status PairedRuns::reset(const Selection& selection, const Dataspace& space, std::uint64_t file_count) noexcept {
    H5MOTE_TRY(memory_.reset(selection, space));
    held_ = file_ = {0, 0, 0};
    packed_ = false;
    return memory_.element_count() == file_count ? Status::ok : Status::invalid_argument;
}

// Shortens a piece to what is contiguous in memory too.
bool PairedRuns::cut(PairedRun& piece) noexcept {
    // If the piece begins before the held run, this difference wraps around and is large.
    std::uint64_t passed = file_.packed - held_.packed;
    if (passed >= held_.length) {
        // Usually the piece begins with the run behind the held one; if not, seek() finds the run.
        if (passed != held_.length) {
            memory_.seek(file_.packed);
        }
        if (!memory_.next(held_)) {
            file_.length = 0;
            return false;
        }
        passed = file_.packed - held_.packed;
    }
    piece.memory = held_.offset + passed;
    const std::uint64_t left = held_.length - passed;
    piece.length = left < file_.length ? left : file_.length;
    file_.offset += piece.length * step_;
    file_.packed += piece.length;
    file_.length -= piece.length;
    return true;
}

}  // namespace h5mote
