// Blocks of a selection one by one; comparing the shapes of two selections; whether a selection meets a block.

#include "checked.hpp"
#include "span_tree.hpp"

#include <h5mote/library_lock.hpp>
#include <h5mote/selection_set.hpp>

namespace h5mote {

Status SelectionBlocks::reset(const Selection& selection, const Dataspace& space, bool merged) noexcept {
    std::uint64_t count = 0;
    fresh_ = ended_ = true;
    const Status status = selection.element_count(space, count);
    if (status != Status::ok && status != Status::overflow) {
        return status;
    }
    selection_ = selection;
    space_ = &space;
    merged_ = merged;
    ended_ = status == Status::ok && count == 0;
    return Status::ok;
}

// A dimension of a regular selection, without its offset.
SelectionBlocks::Blocks SelectionBlocks::along(std::size_t d) const noexcept {
    Axis axis = axis_of(selection_, *space_, d);
    if (selection_.type() == SelectionType::hyperslabs) {
        axis.start -= selection_.offset(d);
        axis = merged_ ? axis : numbers_of(selection_.hyperslab(), d);
    }
    return {axis.start, axis.stride, axis.count, axis.block};
}

// The list of spans in dimension `d` at the current position.
std::uint32_t SelectionBlocks::list(std::size_t d) const noexcept {
    return d == 0 ? selection_.span_root() : selection_.spans()[at_[d - 1]].down;
}

Status SelectionBlocks::count(std::uint64_t& count) const noexcept {
    count = ended_ && fresh_ ? 0 : 1;
    bool fits = true;
    if (count == 0) {
        return Status::ok;
    }
    if (selection_.type() == SelectionType::points) {
        count = selection_.point_count();
    } else if (selection_.spans() != nullptr) {
        count = tree_of(selection_).blocks(selection_.span_root());
        fits = count != ~std::uint64_t{0};
    } else {
        for (std::size_t d = 0; d < space_->rank(); ++d) {
            fits = checked_multiply(count, along(d).count, count) && fits;
        }
    }
    return fits ? Status::ok : Status::overflow;
}

bool SelectionBlocks::next_point(std::uint64_t* low, std::uint64_t* high) noexcept {
    const std::size_t rank = space_->rank();
    at_[0] = fresh_ ? 0 : at_[0] + 1;
    fresh_ = false;
    ended_ = at_[0] >= selection_.point_count();
    for (std::size_t d = 0; d < rank && !ended_; ++d) {
        low[d] = high[d] = selection_.point_list()[static_cast<std::size_t>(at_[0]) * rank + d];
    }
    return !ended_;
}

bool SelectionBlocks::next(std::uint64_t* low, std::uint64_t* high) noexcept {
    if (ended_) {
        return false;
    }
    if (selection_.type() == SelectionType::points) {
        return next_point(low, high);
    }
    const std::size_t rank = space_->rank();
    const SpanTree tree = tree_of(selection_);
    const bool spans = tree.nodes != nullptr;
    // Advance in the last dimension that has another block, and begin anew in the dimensions behind it.
    std::size_t d = fresh_ ? 0 : rank;
    bool found = fresh_;
    while (!found && d-- > 0) {
        found = ++at_[d] < (spans ? tree.end(list(d)) : along(d).count);
    }
    ended_ = !found || rank == 0;
    for (std::size_t i = fresh_ ? 0 : d + 1; i < rank && found; ++i) {
        at_[i] = spans ? tree.begin(list(i)) : 0;
    }
    fresh_ = false;
    for (std::size_t i = 0; i < rank && found; ++i) {
        if (spans) {
            low[i] = tree.nodes[at_[i]].low;
            high[i] = tree.nodes[at_[i]].high;
        } else {
            const Blocks blocks = along(i);
            low[i] = blocks.start + at_[i] * blocks.stride;
            high[i] = low[i] + blocks.block - 1;
        }
    }
    return found;
}

// ---- shape -------------------------------------------------------------------------------------------------------

namespace {

// Two selections walked block by block. In memory of its own: too large for a small stack.
struct ShapeComparison {
    SelectionBlocks a_blocks, b_blocks;
    std::uint64_t a_low[H5MOTE_MAX_RANK], a_high[H5MOTE_MAX_RANK];
    std::uint64_t b_low[H5MOTE_MAX_RANK], b_high[H5MOTE_MAX_RANK];
    std::uint64_t moved[H5MOTE_MAX_RANK];  // from a to b

    // `a` has the higher rank, or the same.
    Status run(const Selection& a, const Dataspace& a_space, const Selection& b, const Dataspace& b_space,
               bool& same) noexcept;
};

Status ShapeComparison::run(const Selection& a, const Dataspace& a_space, const Selection& b, const Dataspace& b_space,
                            bool& same) noexcept {
    const std::size_t more = a_space.rank() - b_space.rank();
    H5MOTE_TRY(a_blocks.reset(a, a_space, true));
    H5MOTE_TRY(b_blocks.reset(b, b_space, true));
    bool first = true;
    same = true;
    for (;;) {
        const bool has_a = a_blocks.next(a_low, a_high);
        const bool has_b = b_blocks.next(b_low, b_high);
        same = same && has_a == has_b;
        if (!has_a || !same) {
            return Status::ok;
        }
        for (std::size_t d = 0; d < a_space.rank(); ++d) {
            const std::uint64_t low = d < more ? 0 : b_low[d - more];
            const std::uint64_t high = d < more ? 0 : b_high[d - more];
            moved[d] = first ? low - a_low[d] : moved[d];
            same = same && a_low[d] + moved[d] == low && a_high[d] + moved[d] == high;
        }
        first = false;
    }
}

// Compares two regular selections by their numbers, without walking their blocks.
bool same_axes(const Selection& a, const Dataspace& a_space, const Selection& b, const Dataspace& b_space) noexcept {
    const std::size_t more = a_space.rank() - b_space.rank();
    for (std::size_t d = 0; d < a_space.rank(); ++d) {
        const Axis x = axis_of(a, a_space, d);
        const Axis y = d < more ? Axis{0, 1, 1, 1} : axis_of(b, b_space, d - more);
        if (x.count != y.count || x.block != y.block || (x.count > 1 && x.stride != y.stride)) {
            return false;
        }
    }
    return true;
}

}  // namespace

Status select_shape_same(Context& context, const Selection& a, const Dataspace& a_space, const Selection& b,
                         const Dataspace& b_space, bool& same) noexcept {
    const LibraryLock lock(context);
    std::uint64_t a_count = 0;
    std::uint64_t b_count = 0;
    H5MOTE_TRY(a.element_count(a_space, a_count));
    H5MOTE_TRY(b.element_count(b_space, b_count));
    // With a scalar on either side the number of elements decides.
    same = a_count == b_count;
    if (!same || a_count == 0 || a_space.rank() == 0 || b_space.rank() == 0) {
        return Status::ok;
    }
    const bool swap = a_space.rank() < b_space.rank();
    const Selection& x = swap ? b : a;
    const Selection& y = swap ? a : b;
    const Dataspace& x_space = swap ? b_space : a_space;
    const Dataspace& y_space = swap ? a_space : b_space;
    if (x.is_regular() && y.is_regular()) {
        same = same_axes(x, x_space, y, y_space);
        return Status::ok;
    }
    auto* work = context.create<ShapeComparison>(MemoryKind::other);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = work->run(x, x_space, y, y_space, same);
    context.destroy(MemoryKind::other, work);
    return status;
}

namespace {

bool tree_intersects(const Selection& selection, const std::uint64_t* low, const std::uint64_t* high) noexcept {
    const SpanTree tree = tree_of(selection);
    const std::size_t rank = selection.rank();
    std::uint32_t path[H5MOTE_MAX_RANK];
    std::uint32_t list = tree.root;
    for (std::size_t d = 0;;) {
        path[d] = tree.find(list, without_offset(selection, d, low[d]));
        // If no span here reaches the block, go up to a dimension that has a next span.
        while (path[d] == tree.end(list) || tree.nodes[path[d]].low + selection.offset(d) > high[d]) {
            if (d == 0) {
                return false;
            }
            --d;
            ++path[d];
            list = d == 0 ? tree.root : tree.nodes[path[d - 1]].down;
        }
        if (d + 1 == rank) {
            return true;
        }
        list = tree.nodes[path[d]].down;
        ++d;
    }
}

}  // namespace

Status select_intersect_block(const Selection& selection, const Dataspace& space, const std::uint64_t* low,
                              const std::uint64_t* high, bool& intersects) noexcept {
    const std::size_t rank = space.rank();
    intersects = false;
    H5MOTE_TRY(selection.validate(space));
    if (selection.spans() != nullptr) {
        intersects = tree_intersects(selection, low, high);
    } else if (selection.type() == SelectionType::points) {
        const Span<const std::uint64_t> list = selection.point_list();
        for (std::size_t i = 0; i < list.size() && !intersects; i += rank) {
            intersects = true;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::uint64_t coordinate = list[i + d] + selection.offset(d);
                intersects = intersects && coordinate >= low[d] && coordinate <= high[d];
            }
        }
    } else {
        intersects = selection.type() != SelectionType::none && space.space_class() != DataspaceClass::null;
        for (std::size_t d = 0; d < rank; ++d) {
            const Axis axis = axis_of(selection, space, d);
            const std::uint64_t behind = high[d] == kUnlimited ? axis.selected() : axis.index_of(high[d] + 1);
            intersects = intersects && behind > axis.index_of(low[d]);
        }
    }
    return Status::ok;
}

}  // namespace h5mote
