#include "selection_project.hpp"

#include "checked.hpp"
#include "selection_editor.hpp"
#include "selection_runs.hpp"

#include <cstring>
#include <utility>

namespace h5mote {
namespace {

// Coordinates of the element at `offset` in the row-major extent.
void coordinates_of(const Dataspace& space, std::uint64_t offset, std::uint64_t* coordinates) noexcept {
    for (std::size_t d = space.rank(); d-- > 0;) {
        offset = divide(offset, space.dims()[d], coordinates[d]);
    }
}

// The work of project_intersection(), which allocates it: iterators are too large for a small stack.
class Intersection {
public:
    Intersection(Context& context, const Dataspace& destination_space) noexcept
        : space_(destination_space),
          blocks_(context, static_cast<unsigned>(destination_space.rank())),
          points_(context) {}

    Status hyperslabs(const Selection& source, const Dataspace& source_space, const Selection& destination,
                      const Selection& intersect) noexcept;
    Status points(const Selection& source, const Dataspace& source_space, const Selection& destination,
                  const Selection& intersect) noexcept;
    Status finish(SelectionSet& set) noexcept { return blocks_.finish(set); }
    Status finish_points(SelectionSet& set) noexcept;

private:
    Status take(std::uint64_t packed, std::uint64_t length) noexcept;
    Status add_run(std::uint64_t offset, std::uint64_t length) noexcept;

    const Dataspace& space_;
    SelectionRuns source_, intersect_, destination_;
    SelectionRun held_{0, 0, 0};  // the current run of destination_
    UnionOfBlocks blocks_;
    Pool<std::uint64_t> points_;
    std::uint64_t low_[H5MOTE_MAX_RANK], high_[H5MOTE_MAX_RANK];
};

// The runs of both selections come in the order of the extent, so that one pass finds what they have in common.
Status Intersection::hyperslabs(const Selection& source, const Dataspace& source_space, const Selection& destination,
                                const Selection& intersect) noexcept {
    H5MOTE_TRY(source_.reset(source, source_space));
    H5MOTE_TRY(intersect_.reset(intersect, source_space));
    H5MOTE_TRY(destination_.reset(destination, space_));
    SelectionRun a{0, 0, 0};
    SelectionRun b{0, 0, 0};
    bool more = source_.next(a) && intersect_.next(b);
    while (more) {
        const std::uint64_t begin = a.offset > b.offset ? a.offset : b.offset;
        const std::uint64_t a_end = a.offset + a.length;
        const std::uint64_t b_end = b.offset + b.length;
        const std::uint64_t end = a_end < b_end ? a_end : b_end;
        if (begin < end) {
            H5MOTE_TRY(take(a.packed + (begin - a.offset), end - begin));
        }
        more = a_end <= b_end ? source_.next(a) : intersect_.next(b);
    }
    return Status::ok;
}

// Adds `length` elements of the destination, from the one with number `packed` in its order on.
Status Intersection::take(std::uint64_t packed, std::uint64_t length) noexcept {
    while (length != 0) {
        if (packed - held_.packed >= held_.length) {
            if (packed != held_.packed + held_.length || held_.length == 0) {
                destination_.seek(packed);
            }
            if (!destination_.next(held_)) {
                return Status::invalid_argument;
            }
        }
        const std::uint64_t passed = packed - held_.packed;
        const std::uint64_t left = held_.length - passed;
        const std::uint64_t now = left < length ? left : length;
        H5MOTE_TRY(add_run(held_.offset + passed, now));
        packed += now;
        length -= now;
    }
    return Status::ok;
}

// Adds elements that follow each other in the extent as blocks: the rest of a row, whole rows, the beginning of a row,
// and the same in the slower dimensions.
Status Intersection::add_run(std::uint64_t offset, std::uint64_t length) noexcept {
    while (length != 0) {
        coordinates_of(space_, offset, low_);
        // d: the slowest dimension of which the run has a whole coordinate.
        std::size_t d = space_.rank() - 1;
        std::uint64_t below = 1;
        while (d > 0 && low_[d] == 0 && quotient_of(length, below) >= space_.dims()[d]) {
            below *= space_.dims()[d];
            --d;
        }
        const std::uint64_t room = space_.dims()[d] - low_[d];
        const std::uint64_t most = quotient_of(length, below);
        const std::uint64_t whole = most < room ? most : room;
        for (std::size_t i = 0; i < space_.rank(); ++i) {
            high_[i] = i < d ? low_[i] : i == d ? low_[d] + whole - 1 : space_.dims()[i] - 1;
        }
        H5MOTE_TRY(blocks_.add(low_, high_));
        offset += whole * below;
        length -= whole * below;
    }
    return Status::ok;
}

Status Intersection::points(const Selection& source, const Dataspace& source_space, const Selection& destination,
                            const Selection& intersect) noexcept {
    H5MOTE_TRY(source_.reset(source, source_space));
    H5MOTE_TRY(destination_.reset(destination, space_));
    SelectionRun a{0, 0, 0};
    std::uint64_t element = 0;
    while (source_.next(a)) {
        for (std::uint64_t i = 0; i < a.length; ++i, ++element) {
            bool intersects = false;
            coordinates_of(source_space, a.offset + i, low_);
            H5MOTE_TRY(select_intersect_block(intersect, source_space, low_, low_, intersects));
            while (element - held_.packed >= held_.length && destination_.next(held_)) {
            }
            if (intersects) {
                if (element - held_.packed >= held_.length) {
                    return Status::invalid_argument;
                }
                H5MOTE_TRY(points_.reserve(space_.rank()));
                coordinates_of(space_, held_.offset + (element - held_.packed), low_);
                for (std::size_t d = 0; d < space_.rank(); ++d) {
                    points_.push(low_[d]);
                }
            }
        }
    }
    return Status::ok;
}

Status Intersection::finish_points(SelectionSet& set) noexcept {
    if (points_.size() == 0) {
        set.select_none();
        return Status::ok;
    }
    return set.select_points(static_cast<unsigned>(space_.rank()), {points_.data(), points_.size()});
}

// Makes a hyperslab selection of points. Their order is lost, which does not matter for `intersect`.
Status slabs_of_points(const Selection& points, SelectionSet& slabs) noexcept {
    const std::size_t rank = points.rank();
    UnionOfBlocks blocks(SelectionEditor::context(slabs), points.rank());
    for (std::size_t i = 0; i < points.point_list().size(); i += rank) {
        H5MOTE_TRY(blocks.add(points.point_list().data() + i, points.point_list().data() + i));
    }
    H5MOTE_TRY(blocks.finish(slabs));
    return slabs.set_offset(slabs.rank() == 0 ? Span<const std::int64_t>() : points.offset());
}

Status project(Intersection& work, const Selection& source, const Dataspace& source_space, const Selection& destination,
               const Selection& intersect, SelectionSet& made) noexcept {
    if (source.type() == SelectionType::points || destination.type() == SelectionType::points) {
        H5MOTE_TRY(work.points(source, source_space, destination, intersect));
        return work.finish_points(made);
    }
    H5MOTE_TRY(work.hyperslabs(source, source_space, destination, intersect));
    return work.finish(made);
}

}  // namespace

namespace {

// Finds the element offset when leading dimensions are dropped, in each of which all selected elements have to have the
// same coordinate.
Status first_coordinates(Context& context, const Selection& selection, const Dataspace& space, unsigned dropped,
                         std::uint64_t& element_offset) noexcept {
    const std::size_t rank = space.rank();
    const std::size_t bytes = 2 * rank * sizeof(std::uint64_t);
    auto* const low = static_cast<std::uint64_t*>(context.allocate(MemoryKind::other, bytes));
    if (low == nullptr) {
        return Status::out_of_memory;
    }
    Status status = selection.bounds(space, low, low + rank);
    element_offset = 0;
    for (std::size_t d = 0; d < rank && status == Status::ok; ++d) {
        if (d < dropped && low[d] != low[rank + d]) {
            status = Status::invalid_argument;
        }
        if (!checked_multiply(element_offset, space.dims()[d], element_offset) ||
            !checked_add(element_offset, d < dropped ? low[d] : 0, element_offset)) {
            status = Status::overflow;
        }
    }
    context.release(MemoryKind::other, low, bytes);
    return status;
}

// Copies `lines` lines of one number a dimension (points, or the four lines of a regular hyperslab) without the dropped
// dimensions and with the added ones. Those have `fill_first` in the first line and `fill` in the others.
void project_numbers(const std::uint64_t* from, std::size_t lines, unsigned rank, unsigned dropped, unsigned added,
                     std::uint64_t fill_first, std::uint64_t fill, std::uint64_t* to) noexcept {
    for (std::size_t line = 0; line < lines; ++line) {
        for (unsigned d = 0; d < added; ++d) {
            *to++ = line == 0 ? fill_first : fill;
        }
        std::memcpy(to, from + dropped, (rank - added) * sizeof(std::uint64_t));
        to += rank - added;
        from += rank - added + dropped;
    }
}

// Takes the dropped dimensions off the top of a span tree, or puts added ones, with coordinate 0 only, on top.
Status project_tree(const Selection& selection, unsigned rank, unsigned dropped, unsigned added,
                    SelectionSet& made) noexcept {
    Context& context = SelectionEditor::context(made);
    SpanTree tree = tree_of(selection);
    SpanStore below(context);
    SpanBuilder builder(context, rank - added);
    for (unsigned d = 0; d < dropped; ++d) {
        tree.root = tree.nodes[tree.begin(tree.root)].down;
    }
    H5MOTE_TRY(builder.combine(tree, {}, kOnlyA, below));
    if (added == 0) {
        return SelectionEditor::set_tree(made, rank, below);
    }
    SpanStore raised(context);
    const std::uint32_t old = below.nodes.size();
    H5MOTE_TRY(raised.nodes.reserve(std::uint64_t{old} + 3 * std::uint64_t{added}));
    for (unsigned d = 0; d < added; ++d) {
        raised.nodes.push({0, 0, 0, 0, 0});
    }
    // Copy the old bounds and lists. They all move by `added` nodes, because the bounds of the added dimensions come
    // first.
    for (std::uint32_t i = 0; i < old; ++i) {
        raised.nodes.push(below.nodes[i]);
    }
    const SpanTree view = below.view();
    for (std::uint32_t list = rank - added; list < old; list = view.end(list)) {
        for (std::uint32_t i = view.begin(list); i < view.end(list); ++i) {
            std::uint32_t& down = raised.nodes[i + added].down;
            down = down == kNoSpans ? kNoSpans : down + added;
        }
    }
    raised.root = below.root + added;
    const std::uint64_t total = raised.view().total(raised.root);
    for (unsigned d = 0; d < added; ++d) {
        const std::uint32_t down = raised.root;
        raised.root = raised.nodes.size();
        raised.nodes.push({1, total, 0, raised.nodes[down].down, raised.nodes[down].more});
        raised.nodes.push({0, 0, 0, down, 0});
    }
    return SelectionEditor::set_tree(made, rank, raised);
}

Status project_elements(const Selection& given, const Dataspace& space, unsigned rank, SelectionSet& made,
                        std::uint64_t& element_offset) noexcept {
    const auto old_rank = static_cast<unsigned>(space.rank());
    const unsigned dropped = old_rank > rank ? old_rank - rank : 0;
    const unsigned added = rank > old_rank ? rank - old_rank : 0;
    const Selection selection = given.moved_by({});
    if (dropped != 0) {
        H5MOTE_TRY(first_coordinates(SelectionEditor::context(made), given, space, dropped, element_offset));
    }
    if (rank == 0 || selection.type() == SelectionType::all) {
        return Status::ok;  // `made` selects all from the start
    }
    if (selection.spans() != nullptr) {
        H5MOTE_TRY(project_tree(selection, rank, dropped, added, made));
    } else if (selection.type() == SelectionType::points) {
        const std::size_t count = selection.point_count();
        H5MOTE_TRY(SelectionEditor::make(made, SelectionType::points, rank, std::uint64_t{count} * rank));
        project_numbers(selection.point_list().data(), count, rank, dropped, added, 0, 0,
                        SelectionEditor::numbers(made));
    } else {
        SelectionSet whole(SelectionEditor::context(made));
        H5MOTE_TRY(SelectionEditor::copy(whole, selection));
        H5MOTE_TRY(SelectionEditor::make(made, SelectionType::hyperslabs, rank, 4 * std::uint64_t{rank}));
        project_numbers(SelectionEditor::numbers(whole), 4, rank, dropped, added, 0, 1, SelectionEditor::numbers(made));
    }
    if (given.offset().empty()) {
        return Status::ok;
    }
    std::int64_t offset[H5MOTE_MAX_RANK];
    for (unsigned d = 0; d < rank; ++d) {
        offset[d] = d < added ? 0 : given.offset()[d - added + dropped];
    }
    return made.set_offset({offset, rank});
}

}  // namespace

Status project_rank(const Selection& selection, const Dataspace& space, unsigned rank, SelectionSet& projected,
                    Dataspace& projected_space, std::uint64_t& element_offset) noexcept {
    const auto old_rank = static_cast<unsigned>(space.rank());
    const unsigned dropped = old_rank > rank ? old_rank - rank : 0;
    const unsigned added = rank > old_rank ? rank - old_rank : 0;
    if (rank > H5MOTE_MAX_RANK) {
        return Status::invalid_argument;
    }
    std::uint64_t sizes[H5MOTE_MAX_RANK];
    element_offset = 0;
    for (unsigned d = 0; d < rank; ++d) {
        sizes[d] = d < added ? 1 : space.dims()[d - added + dropped];
    }
    projected_space = Dataspace::simple(Span<const std::uint64_t>(sizes, rank));
    SelectionSet made(SelectionEditor::context(projected));
    std::uint64_t count = 0;
    H5MOTE_TRY(selection.element_count(space, count));
    if (count == 0) {
        made.select_none();
    } else {
        H5MOTE_TRY(project_elements(selection, space, rank, made, element_offset));
    }
    projected = std::move(made);
    return Status::ok;
}

Status project_intersection(const Selection& source, const Dataspace& source_space, const Selection& destination,
                            const Dataspace& destination_space, const Selection& intersect,
                            SelectionSet& projected) noexcept {
    std::uint64_t count = 0;
    std::uint64_t destination_count = 0;
    H5MOTE_TRY(source.element_count(source_space, count));
    H5MOTE_TRY(destination.element_count(destination_space, destination_count));
    return count == destination_count
               ? project_counterparts(source, source_space, destination, destination_space, intersect, projected)
               : Status::invalid_argument;
}

Status project_counterparts(const Selection& source, const Dataspace& source_space, const Selection& destination,
                            const Dataspace& destination_space, const Selection& intersect,
                            SelectionSet& projected) noexcept {
    Context& context = SelectionEditor::context(projected);
    std::uint64_t count = 0;
    std::uint64_t destination_count = 0;
    H5MOTE_TRY(source.element_count(source_space, count));
    H5MOTE_TRY(destination.element_count(destination_space, destination_count));
    H5MOTE_TRY(intersect.validate(source_space));
    SelectionSet made(context);
    if (intersect.type() == SelectionType::all && count == destination_count) {
        H5MOTE_TRY(SelectionEditor::copy(made, destination));
    } else if (count == 0 || intersect.type() == SelectionType::none) {
        made.select_none();
    } else {
        SelectionSet slabs(context);
        const bool points = intersect.type() == SelectionType::points;
        H5MOTE_TRY(points ? slabs_of_points(intersect, slabs) : Status::ok);
        // A scalar destination has one element, and so has the source: intersect within the source, then take all or
        // nothing.
        const bool scalar = destination_space.rank() == 0;
        if (scalar && count != destination_count) {
            return Status::invalid_argument;
        }
        auto* work =
            context.create<Intersection>(MemoryKind::other, context, scalar ? source_space : destination_space);
        if (work == nullptr) {
            return Status::out_of_memory;
        }
        const Status status = project(*work, source, source_space, scalar ? source : destination,
                                      points ? slabs.view() : intersect, made);
        context.destroy(MemoryKind::other, work);
        H5MOTE_TRY(status);
        if (scalar && made.type() != SelectionType::none) {
            made.select_all();
        }
    }
    projected = std::move(made);
    return Status::ok;
}

}  // namespace h5mote
