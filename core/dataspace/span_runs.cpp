// Runs of irregular hyperslabs, along their tree of spans.

#include "gathered_selection.hpp"

namespace h5mote {

bool BoxRuns::enter_box_of_spans() noexcept {
    depth_ = proven_ = 0;
    return enter_spans();
}

SelectionRun BoxRuns::span_run() const noexcept {
    const std::size_t last = rank() - 1;
    const SpanNode& span = tree().nodes[entry_[last]];
    const Range range = span_box(last);
    const std::uint64_t end = span.high < range.end ? span.high + 1 : range.end;
    return {row_offset_ + index_[last], row_packed_ + span.before + (index_[last] - span.low), end - index_[last]};
}

bool BoxRuns::step_spans() noexcept {
    const std::size_t last = rank() - 1;
    return next_span(last) || (next_branch(last) && enter_spans());
}

// Goes to the next coordinate of a dimension before `d` that may have selected elements in the box.
bool BoxRuns::next_branch(std::size_t d) noexcept {
    while (d-- > 0) {
        // All coordinates of a span have the same list below them: if one has no element in the box, none has.
        const std::uint64_t next = index_[d] + 1;
        const bool along = d < proven_ && next <= tree().nodes[entry_[d]].high && next < span_box(d).end;
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
    if (next == tree().end(span_list(d)) || tree().nodes[next].low >= span_box(d).end) {
        return false;
    }
    entry_[d] = next;
    index_[d] = tree().nodes[next].low;
    return true;
}

// Goes to the first selected element in the box that has the current first `depth_` coordinates or, if there is none,
// to the next one behind these.
bool BoxRuns::enter_spans() noexcept {
    std::size_t d = depth_;
    while (d < rank()) {
        const std::uint32_t list = span_list(d);
        const Range range = span_box(d);
        const std::uint32_t found = tree().find(list, range.begin);
        if (found != tree().end(list) && tree().nodes[found].low < range.end) {
            const std::uint64_t low = tree().nodes[found].low;
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
        const SpanNode& span = tree().nodes[entry_[d]];
        row_offset_ = row_offset_ * pitch_[d] + index_[d] + selection_.offset(d) - box(d).begin;
        row_packed_ += span.before + (index_[d] - span.low) * tree().total(span.down);
    }
    const std::size_t last = rank() - 1;
    row_offset_ = row_offset_ * pitch_[last] + selection_.offset(last) - box(last).begin;
}

bool BoxRuns::seek_span(std::uint64_t packed) noexcept {
    if (packed >= tree().total(tree().root)) {
        return false;
    }
    for (std::size_t d = 0; d < rank(); ++d) {
        entry_[d] = tree().find_element(span_list(d), packed);
        const SpanNode& span = tree().nodes[entry_[d]];
        const std::uint64_t below = tree().total(span.down);
        packed -= span.before;
        index_[d] = span.low + divide(packed, below, packed);
    }
    proven_ = rank();
    locate_spans();
    return true;
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
                const std::uint32_t found = tree().find(list, from);
                if (found != tree().end(list)) {
                    const std::uint64_t low = tree().nodes[found].low < from ? from : tree().nodes[found].low;
                    least = low < least ? low : least;
                }
                asked = list;
            }
            descend = false;
        }
        if (descend) {
            entry_[depth] = tree().find(list, span_box(depth).begin);
            if (entry_[depth] != tree().end(list) && tree().nodes[entry_[depth]].low < span_box(depth).end) {
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

// Finds the next chunk dimension by dimension. A coordinate that is selected in one dimension always has elements in
// the dimensions behind it, so that the way down never fails.
bool ChunkedRuns::next_span_chunk() noexcept {
    std::size_t d = fresh_ ? 0 : chunk_.size();
    while (!fresh_ && d-- > 0) {
        const std::uint64_t next = first_coordinate(d, box(d).end);
        if (next != kUnlimited) {
            scaled_[d] = quotient_of(next, chunk_[d]);
            ++d;
            break;
        }
        if (d == 0) {
            return false;
        }
    }
    for (; d < chunk_.size(); ++d) {
        scaled_[d] = quotient_of(first_coordinate(d, 0), chunk_[d]);
    }
    return true;
}

constexpr GatheredSelection GatheredSelection::spans() noexcept {
    return {[](const Selection& selection, const Dataspace& space) {
                bool inside = true;
                for (std::size_t d = 0; d < space.rank(); ++d) {
                    std::uint64_t low = selection.spans()[d].low;
                    std::uint64_t high = selection.spans()[d].high;
                    inside = inside && selection.move(low, d) && selection.move(high, d) && high < space.dims()[d];
                }
                return inside;
            },
            [](const Selection& selection) { return tree_of(selection).total(selection.span_root()); },
            &BoxRuns::enter_box_of_spans,
            &BoxRuns::step_spans,
            &BoxRuns::seek_span,
            &BoxRuns::span_run,
            &ChunkedRuns::next_span_chunk,
            nullptr};
}

const GatheredSelection gathered_spans = GatheredSelection::spans();

}  // namespace h5mote
