// Runs of selections that are not a product of their dimensions: irregular hyperslabs and points.

#include "selection_runs.hpp"

namespace h5mote {

// Joins runs that follow each other without a gap, in the extent and in the packed sequence.
bool BoxRuns::next_gathered(SelectionRun& run) noexcept {
    run = held_;
    for (;;) {
        done_ = !step();
        if (done_) {
            break;
        }
        held_ = held_run();
        if (held_.offset != run.offset + run.length || held_.packed != run.packed + run.length) {
            break;
        }
        run.length += held_.length;
    }
    return true;
}

// The run that begins at the current position.
SelectionRun BoxRuns::held_run() const noexcept {
    if (kind_ == Kind::points) {
        const std::uint64_t number = point_number();
        const std::uint64_t* const point = selection_.point_list().data() + static_cast<std::size_t>(number) * rank();
        std::uint64_t offset = 0;
        for (std::size_t d = 0; d < rank(); ++d) {
            offset = offset * pitch_[d] + point[d] + selection_.offset(d) - box(d).begin;
        }
        return {offset, number, 1};
    }
    const std::size_t last = rank() - 1;
    const SpanNode& span = tree_.nodes[entry_[last]];
    const Range range = span_box(last);
    const std::uint64_t end = span.high < range.end ? span.high + 1 : range.end;
    return {row_offset_ + index_[last], row_packed_ + span.before + (index_[last] - span.low), end - index_[last]};
}

bool BoxRuns::step() noexcept {
    if (kind_ == Kind::points) {
        ++index_[0];
        return point_in_box();
    }
    const std::size_t last = rank() - 1;
    return next_span(last) || (next_branch(last) && enter_spans());
}

// Goes to the next coordinate of a dimension before `d` that may have selected elements in the box.
bool BoxRuns::next_branch(std::size_t d) noexcept {
    while (d-- > 0) {
        // All coordinates of a span have the same list below them: if one has no element in the box, none has.
        const std::uint64_t next = index_[d] + 1;
        const bool along = d < proven_ && next <= tree_.nodes[entry_[d]].high && next < span_box(d).end;
        if (along) {
            index_[d] = next;
        }
        if (along || next_span(d)) {
            proven_ = along ? d + 1 : d;
            depth_ = d + 1;
            return true;
        }
    }
    return false;
}

BoxRuns::Range BoxRuns::span_box(std::size_t d) const noexcept {
    const Range range = box(d);
    return {without_offset(selection_, d, range.begin), without_offset(selection_, d, range.end)};
}

// Goes to the next span in the list of dimension `d`; false if there is none that reaches into the box.
bool BoxRuns::next_span(std::size_t d) noexcept {
    const std::uint32_t next = entry_[d] + 1;
    if (next == tree_.end(span_list(d)) || tree_.nodes[next].low >= span_box(d).end) {
        return false;
    }
    entry_[d] = next;
    index_[d] = tree_.nodes[next].low;
    return true;
}

// Goes to the first selected element in the box that has the current first `depth_` coordinates or, if there is none,
// to the next one behind these.
bool BoxRuns::enter_spans() noexcept {
    std::size_t d = depth_;
    while (d < rank()) {
        const std::uint32_t list = span_list(d);
        const Range range = span_box(d);
        const std::uint32_t found = tree_.find(list, range.begin);
        if (found != tree_.end(list) && tree_.nodes[found].low < range.end) {
            const std::uint64_t low = tree_.nodes[found].low;
            entry_[d] = found;
            index_[d] = low < range.begin ? range.begin : low;
            ++d;
        } else if (next_branch(d)) {
            d = depth_;
        } else {
            return false;
        }
    }
    proven_ = rank();
    locate_spans();
    return true;
}

void BoxRuns::locate_spans() noexcept {
    row_offset_ = 0;
    row_packed_ = 0;
    for (std::size_t d = 0; d + 1 < rank(); ++d) {
        const SpanNode& span = tree_.nodes[entry_[d]];
        row_offset_ = row_offset_ * pitch_[d] + index_[d] + selection_.offset(d) - box(d).begin;
        row_packed_ += span.before + (index_[d] - span.low) * tree_.total(span.down);
    }
    const std::size_t last = rank() - 1;
    row_offset_ = row_offset_ * pitch_[last] + selection_.offset(last) - box(last).begin;
}

void BoxRuns::seek_gathered(std::uint64_t packed) noexcept {
    if (kind_ == Kind::points) {
        index_[0] = packed;
        done_ = !point_in_box();
    } else {
        done_ = packed >= tree_.total(tree_.root);
        for (std::size_t d = 0; d < rank() && !done_; ++d) {
            entry_[d] = tree_.find_element(span_list(d), packed);
            const SpanNode& span = tree_.nodes[entry_[d]];
            const std::uint64_t below = tree_.total(span.down);
            packed -= span.before;
            index_[d] = span.low + packed / below;
            packed %= below;
        }
    }
    if (!done_) {
        if (kind_ == Kind::spans) {
            proven_ = rank();
            locate_spans();
        }
        held_ = held_run();
    }
}

// Walks the spans of the first d dimensions that reach into the box, and searches the lists of dimension d below them.
// Consecutive spans with the same list below them search it once.
std::uint64_t BoxRuns::first_coordinate(std::size_t d, std::uint64_t coordinate) noexcept {
    const std::uint64_t from = without_offset(selection_, d, coordinate);
    std::uint64_t least = kUnlimited;
    std::uint32_t asked = kNoSpans;
    std::size_t depth = 0;
    bool descend = true;
    for (;;) {
        const std::uint32_t list = span_list(depth);
        if (depth == d) {
            if (list != asked) {
                const std::uint32_t found = tree_.find(list, from);
                if (found != tree_.end(list)) {
                    const std::uint64_t low = tree_.nodes[found].low < from ? from : tree_.nodes[found].low;
                    least = low < least ? low : least;
                }
                asked = list;
            }
            descend = false;
        }
        if (descend) {
            entry_[depth] = tree_.find(list, span_box(depth).begin);
            if (entry_[depth] != tree_.end(list) && tree_.nodes[entry_[depth]].low < span_box(depth).end) {
                ++depth;
                continue;
            }
        }
        do {
            if (depth == 0) {
                return least == kUnlimited ? kUnlimited : least + selection_.offset(d);
            }
        } while (!next_span(--depth));
        ++depth;
        descend = true;
    }
}

bool BoxRuns::point_in_box() const noexcept {
    const std::uint64_t* const point = next_point();
    if (point == nullptr) {
        return false;
    }
    for (std::size_t d = 0; d < rank() && scaled_ != nullptr; ++d) {
        if (point[d] + selection_.offset(d) - scaled_[d] * pitch_[d] >= pitch_[d]) {
            return false;
        }
    }
    return true;
}

const std::uint64_t* BoxRuns::next_point() const noexcept {
    return index_[0] < selection_.point_count()
               ? selection_.point_list().data() + static_cast<std::size_t>(point_number()) * rank()
               : nullptr;
}

void BoxRuns::finish_box() noexcept {
    while (!done_) {
        done_ = !step();
    }
}

}  // namespace h5mote
