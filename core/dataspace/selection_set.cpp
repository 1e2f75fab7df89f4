#include <h5mote/selection_set.hpp>

#include "checked.hpp"
#include "selection_editor.hpp"

#include <h5mote/library_lock.hpp>

#include <cstring>
#include <utility>

namespace h5mote {
namespace {

// Which elements of A (the set) and B (the other selection) an operation keeps.
unsigned kept_by(SelectionOp op) noexcept {
    switch (op) {
        case SelectionOp::or_:
            return kOnlyA | kOnlyB | kBoth;
        case SelectionOp::and_:
            return kBoth;
        case SelectionOp::xor_:
            return kOnlyA | kOnlyB;
        case SelectionOp::not_b:
            return kOnlyA;
        case SelectionOp::not_a:
            return kOnlyB;
        default:
            return kOnlyB | kBoth;
    }
}

bool is_empty(const Selection& selection) noexcept {
    return selection.type() == SelectionType::none ||
           (selection.type() == SelectionType::points && selection.point_count() == 0);
}

}  // namespace

int unlimited_dimension(const Selection& selection) noexcept {
    for (unsigned d = 0; selection.type() == SelectionType::hyperslabs && d < selection.hyperslab().start.size(); ++d) {
        if (is_unlimited(selection.hyperslab(), d)) {
            return static_cast<int>(d);
        }
    }
    return -1;
}

// ---- memory ------------------------------------------------------------------------------------------------------

SelectionSet::SelectionSet(SelectionSet&& other) noexcept : context_(other.context_) { *this = std::move(other); }

SelectionSet& SelectionSet::operator=(SelectionSet&& other) noexcept {
    if (this != &other) {
        clear();
        context_ = other.context_;
        adopt(other);
        offset_ = std::exchange(other.offset_, nullptr);
        other.clear();
    }
    return *this;
}

void SelectionSet::clear() noexcept {
    const LibraryLock lock(context_);
    context_->release(MemoryKind::other, numbers_, count_ * sizeof(std::uint64_t));
    context_->release(MemoryKind::other, nodes_, node_bytes_);
    context_->release(MemoryKind::other, offset_, rank_ * sizeof(std::int64_t));
    numbers_ = nullptr;
    nodes_ = nullptr;
    offset_ = nullptr;
    count_ = node_bytes_ = 0;
    rank_ = 0;
    type_ = SelectionType::all;
}

void SelectionSet::adopt(SelectionSet& other) noexcept {
    std::int64_t* const offset = rank_ == other.rank_ ? std::exchange(offset_, nullptr) : nullptr;
    clear();
    numbers_ = std::exchange(other.numbers_, nullptr);
    nodes_ = std::exchange(other.nodes_, nullptr);
    count_ = std::exchange(other.count_, 0);
    node_bytes_ = std::exchange(other.node_bytes_, 0);
    root_ = other.root_;
    rank_ = other.rank_;
    type_ = other.type_;
    offset_ = offset;
}

Selection SelectionSet::view() const noexcept {
    Selection selection;
    if (type_ == SelectionType::none) {
        selection = Selection::none();
    } else if (type_ == SelectionType::points) {
        selection = Selection::points(rank_, {numbers_, count_});
    } else if (nodes_ != nullptr) {
        selection = Selection::irregular(rank_, nodes_, root_);
    } else if (type_ == SelectionType::hyperslabs) {
        const std::size_t r = rank_;
        selection = Hyperslab{{numbers_, r}, {numbers_ + r, r}, {numbers_ + 2 * r, r}, {numbers_ + 3 * r, r}};
    }
    return offset_ == nullptr ? selection : selection.moved_by({offset_, rank_});
}

Status SelectionEditor::make(SelectionSet& set, SelectionType type, std::size_t rank, std::uint64_t count) noexcept {
    std::size_t bytes = 0;
    if (rank == 0 || rank > H5MOTE_MAX_RANK) {
        return Status::invalid_argument;
    }
    if (!to_size(count * sizeof(std::uint64_t), bytes)) {
        return Status::out_of_memory;
    }
    // A hyperslab always has numbers, but a list may have no points.
    if (type == SelectionType::hyperslabs || bytes != 0) {
        set.numbers_ = static_cast<std::uint64_t*>(set.context_->allocate(MemoryKind::other, bytes));
        if (set.numbers_ == nullptr) {
            return Status::out_of_memory;
        }
    }
    set.count_ = bytes / sizeof(std::uint64_t);
    set.rank_ = static_cast<std::uint8_t>(rank);
    set.type_ = type;
    return Status::ok;
}

Status SelectionEditor::copy(SelectionSet& set, const Selection& from) noexcept {
    const unsigned rank = from.rank();
    if (from.type() == SelectionType::all || from.type() == SelectionType::none) {
        set.type_ = from.type();
        return Status::ok;
    }
    if (from.spans() != nullptr) {
        SpanStore store(*set.context_);
        SpanBuilder builder(*set.context_, rank);
        H5MOTE_TRY(builder.combine(tree_of(from), {}, kOnlyA, store));
        H5MOTE_TRY(set_tree(set, rank, store));
    } else if (from.type() == SelectionType::points) {
        const Span<const std::uint64_t> list = from.point_list();
        H5MOTE_TRY(make(set, SelectionType::points, rank, list.size()));
        if (set.numbers_ != nullptr) {
            std::memcpy(set.numbers_, list.data(), list.size() * sizeof(std::uint64_t));
        }
    } else {
        H5MOTE_TRY(set_slab(set, from.hyperslab()));
    }
    return from.offset().empty() || set.rank_ == 0 ? Status::ok : set.set_offset(from.offset());
}

Status SelectionEditor::set_slab(SelectionSet& set, const Hyperslab& slab) noexcept {
    const std::size_t rank = slab.start.size();
    const bool sized = slab.count.size() == rank && (slab.stride.empty() || slab.stride.size() == rank) &&
                       (slab.block.empty() || slab.block.size() == rank);
    if (!sized) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(make(set, SelectionType::hyperslabs, rank, 4 * std::uint64_t{rank}));
    bool sound = true;
    bool empty = false;
    unsigned unlimited = 0;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t start = slab.start[d];
        const std::uint64_t count = slab.count[d];
        const std::uint64_t block = slab.block.empty() ? 1 : slab.block[d];
        std::uint64_t stride = slab.stride.empty() ? 1 : slab.stride[d];
        std::uint64_t end = 0;
        sound = sound && (count <= 1 || (stride >= block && stride != 0));
        stride = stride == 0 ? 1 : stride;
        if (count == 0 || block == 0) {
            empty = true;
        } else if (count == kUnlimited || block == kUnlimited) {
            sound = sound && count != block && (count == 1 || count == kUnlimited) && start != kUnlimited;
            ++unlimited;
        } else {
            sound = sound && checked_multiply(count - 1, stride, end) && checked_add(end, block, end) &&
                    checked_add(end, start, end) && end != kUnlimited;
        }
        const std::uint64_t numbers[] = {start, stride, count, block};
        for (std::size_t i = 0; i < 4; ++i) {
            set.numbers_[i * rank + d] = numbers[i];
        }
    }
    if (!sound || unlimited > 1) {
        set.clear();
        return Status::invalid_argument;
    }
    if (empty) {
        set.select_none();
    }
    return Status::ok;
}

Status SelectionEditor::set_tree(SelectionSet& set, unsigned rank, SpanStore& tree) noexcept {
    if (tree.root == kNoSpans) {
        set.select_none();
        return Status::ok;
    }
    std::uint32_t list = tree.root;
    Axis axis{};
    unsigned d = 0;
    while (d < rank && tree.view().regular(list, axis)) {
        ++d;
    }
    if (d < rank) {
        set.rank_ = static_cast<std::uint8_t>(rank);
        set.type_ = SelectionType::hyperslabs;
        set.root_ = tree.root;
        set.nodes_ = static_cast<SpanNode*>(tree.nodes.take(set.node_bytes_));
        return Status::ok;
    }
    H5MOTE_TRY(make(set, SelectionType::hyperslabs, rank, 4 * std::uint64_t{rank}));
    list = tree.root;
    for (d = 0; d < rank; ++d) {
        (void)tree.view().regular(list, axis);
        const std::uint64_t numbers[] = {axis.start, axis.stride, axis.count, axis.block};
        for (std::size_t i = 0; i < 4; ++i) {
            set.numbers_[i * rank + d] = numbers[i];
        }
    }
    return Status::ok;
}

Status SelectionEditor::tree(const Selection& selection, SpanBuilder& builder, SpanStore& store,
                             SpanTree& tree) noexcept {
    if (selection.spans() != nullptr) {
        tree = tree_of(selection);
        return Status::ok;
    }
    H5MOTE_TRY(builder.make(selection, store));
    tree = store.view();
    return Status::ok;
}

// ---- selecting ---------------------------------------------------------------------------------------------------

void SelectionSet::select_none() noexcept {
    clear();
    type_ = SelectionType::none;
}

Status SelectionSet::select_points(unsigned rank, Span<const std::uint64_t> coordinates) noexcept {
    const LibraryLock lock(context_);
    if (rank == 0 || coordinates.size() % rank != 0) {
        return Status::invalid_argument;
    }
    SelectionSet made(*context_);
    H5MOTE_TRY(SelectionEditor::copy(made, Selection::points(rank, coordinates)));
    adopt(made);
    return Status::ok;
}

Status SelectionSet::add_points(unsigned rank, Span<const std::uint64_t> coordinates, bool before) noexcept {
    const LibraryLock lock(context_);
    if (type_ != SelectionType::points) {
        return select_points(rank, coordinates);
    }
    if (rank != rank_ || coordinates.size() % rank != 0) {
        return Status::invalid_argument;
    }
    SelectionSet made(*context_);
    H5MOTE_TRY(SelectionEditor::make(made, SelectionType::points, rank, std::uint64_t{count_} + coordinates.size()));
    const Span<const std::uint64_t> old{numbers_, count_};
    std::uint64_t* to = made.numbers_;
    for (const Span<const std::uint64_t> part : {before ? coordinates : old, before ? old : coordinates}) {
        if (!part.empty()) {
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is room for all of both parts.
            std::memcpy(to, part.data(), part.size() * sizeof(std::uint64_t));
            to += part.size();
        }
    }
    adopt(made);
    return Status::ok;
}

Status SelectionSet::select_hyperslab(SelectionOp op, const Hyperslab& slab, const Dataspace& space) noexcept {
    const LibraryLock lock(context_);
    SelectionSet made(*context_);
    H5MOTE_TRY(SelectionEditor::set_slab(made, slab));
    if (op != SelectionOp::set) {
        return combine(op, made.view(), space);
    }
    adopt(made);
    return Status::ok;
}

Status SelectionSet::combine(SelectionOp op, const Selection& other, const Dataspace& space) noexcept {
    const LibraryLock lock(context_);
    SelectionSet made(*context_);
    const unsigned keep = kept_by(op);
    if (op == SelectionOp::set || (type_ == SelectionType::none && (keep & kOnlyB) != 0) ||
        (type_ == SelectionType::all && op == SelectionOp::and_)) {
        H5MOTE_TRY(SelectionEditor::copy(made, other.moved_by({})));
        adopt(made);
        return Status::ok;
    }
    if (type_ == SelectionType::none || is_empty(other)) {
        if ((keep & kOnlyA) == 0) {
            select_none();
        }
        return Status::ok;
    }
    if (type_ == SelectionType::points || other.type() == SelectionType::points) {
        return Status::invalid_argument;
    }
    if (type_ == SelectionType::all && (keep & kOnlyA) == 0) {
        select_none();
        return Status::ok;
    }
    if (type_ == SelectionType::all && op == SelectionOp::or_) {
        return Status::ok;
    }
    return combine_slabs(keep, other.moved_by({}), space);
}

// Combines two selections, hyperslabs or `all`, as span trees.
Status SelectionSet::combine_slabs(unsigned keep, const Selection& other, const Dataspace& space) noexcept {
    SelectionSet a(*context_);
    SelectionSet b(*context_);
    H5MOTE_TRY(type_ == SelectionType::all ? a.select_extent(space) : SelectionEditor::copy(a, view().moved_by({})));
    H5MOTE_TRY(other.type() == SelectionType::all ? b.select_extent(space) : SelectionEditor::copy(b, other));
    if (a.type_ == SelectionType::hyperslabs && b.type_ == SelectionType::hyperslabs) {
        if (a.rank_ != b.rank_) {
            return Status::invalid_argument;
        }
        H5MOTE_TRY(limit(a, b, keep));
    }
    // If one side selects nothing, the result is the other side or nothing. That is decided here without trees, because
    // the other side may be unlimited, which a tree cannot be.
    if (a.type_ == SelectionType::none || b.type_ == SelectionType::none) {
        const bool is_b = a.type_ == SelectionType::none;
        if ((keep & (is_b ? kOnlyB : kOnlyA)) != 0) {
            adopt(is_b ? b : a);
        } else {
            select_none();
        }
        return Status::ok;
    }
    const unsigned rank = a.rank_;
    SelectionSet made(*context_);
    SpanStore a_store(*context_);
    SpanStore b_store(*context_);
    SpanStore result(*context_);
    SpanBuilder builder(*context_, rank);
    SpanTree a_tree;
    SpanTree b_tree;
    H5MOTE_TRY(SelectionEditor::tree(a.view(), builder, a_store, a_tree));
    H5MOTE_TRY(SelectionEditor::tree(b.view(), builder, b_store, b_tree));
    H5MOTE_TRY(builder.combine(a_tree, b_tree, keep, result));
    if (keep == (kOnlyA | kOnlyB | kBoth) && result.view().total(result.root) == a_tree.total(a_tree.root)) {
        return Status::ok;  // B adds nothing: a regular hyperslab keeps the blocks it was made of
    }
    H5MOTE_TRY(SelectionEditor::set_tree(made, rank, result));
    adopt(made);
    return Status::ok;
}

// Clips the unlimited side behind the last coordinate of the other. What lies beyond changes nothing in `and`, and
// nothing when the unlimited side is taken away.
Status SelectionSet::limit(SelectionSet& a, SelectionSet& b, unsigned keep) noexcept {
    const int a_endless = a.unlimited_dimension();
    const int b_endless = b.unlimited_dimension();
    if (a_endless < 0 && b_endless < 0) {
        return Status::ok;
    }
    if ((a_endless >= 0 && b_endless >= 0) || (keep & (a_endless >= 0 ? kOnlyA : kOnlyB)) != 0) {
        return Status::invalid_argument;
    }
    return a_endless >= 0 ? a.clip_unlimited(b.last_coordinate(static_cast<std::size_t>(a_endless)) + 1)
                          : b.clip_unlimited(a.last_coordinate(static_cast<std::size_t>(b_endless)) + 1);
}

Status SelectionSet::select_blocks(unsigned rank, Span<const std::uint64_t> corners) noexcept {
    const LibraryLock lock(context_);
    const std::size_t step = 2 * std::size_t{rank};
    if (rank == 0 || rank > H5MOTE_MAX_RANK || corners.size() % step != 0) {
        return Status::invalid_argument;
    }
    for (std::size_t i = 0; i < corners.size(); ++i) {
        if (corners[i] == kUnlimited || (i % step < rank && corners[i + rank] < corners[i])) {
            return Status::invalid_argument;
        }
    }
    UnionOfBlocks all(*context_, rank);
    for (std::size_t i = 0; i < corners.size(); i += step) {
        H5MOTE_TRY(all.add(corners.data() + i, corners.data() + i + rank));
    }
    SelectionSet made(*context_);
    H5MOTE_TRY(all.finish(made));
    adopt(made);
    return Status::ok;
}

// ---- moving and clipping -----------------------------------------------------------------------------------------

Status SelectionSet::set_offset(Span<const std::int64_t> offset) noexcept {
    const LibraryLock lock(context_);
    if (!offset.empty() && offset.size() != rank_) {
        return Status::invalid_argument;
    }
    if (!offset.empty() && offset_ == nullptr) {
        offset_ = static_cast<std::int64_t*>(context_->allocate(MemoryKind::other, rank_ * sizeof(std::int64_t)));
        if (offset_ == nullptr) {
            return Status::out_of_memory;
        }
    }
    for (std::size_t d = 0; d < rank_ && offset_ != nullptr; ++d) {
        offset_[d] = offset.empty() ? 0 : offset[d];
    }
    return Status::ok;
}

namespace {

// Whether `coordinate` - `by` is a coordinate.
bool can_move(std::uint64_t coordinate, std::int64_t by) noexcept {
    const std::uint64_t moved = coordinate - static_cast<std::uint64_t>(by);
    return by < 0 ? moved > coordinate && moved != kUnlimited : moved <= coordinate;
}

}  // namespace

Status SelectionSet::adjust(Span<const std::int64_t> offset) noexcept {
    const LibraryLock lock(context_);
    if (type_ != SelectionType::points && type_ != SelectionType::hyperslabs) {
        return Status::ok;
    }
    if (offset.size() != rank_) {
        return Status::invalid_argument;
    }
    // The first `rank` numbers of a hyperslab are its start.
    const std::size_t moved = nodes_ != nullptr ? 0 : type_ == SelectionType::points ? count_ : rank_;
    bool sound = true;
    for (std::size_t i = 0; i < moved; ++i) {
        sound = sound && can_move(numbers_[i], offset[i % rank_]);
    }
    for (std::size_t d = 0; d < rank_; ++d) {
        if (nodes_ != nullptr) {
            sound = sound && can_move(nodes_[d].low, offset[d]) && can_move(nodes_[d].high, offset[d]);
        } else if (type_ == SelectionType::hyperslabs && !is_unlimited(view().hyperslab(), d)) {
            sound = sound && can_move(last_coordinate(d), offset[d]);
        }
    }
    if (!sound) {
        return Status::invalid_argument;
    }
    for (std::size_t i = 0; i < moved; ++i) {
        numbers_[i] -= static_cast<std::uint64_t>(offset[i % rank_]);
    }
    for (std::size_t d = 0; d < rank_ && nodes_ != nullptr; ++d) {
        nodes_[d].low -= static_cast<std::uint64_t>(offset[d]);
        nodes_[d].high -= static_cast<std::uint64_t>(offset[d]);
    }
    // The lists follow each other behind the bounds, the root last. The first span of each leads to the list below, and
    // the number of these steps down to the last dimension tells the list's own.
    const SpanTree tree{nodes_, root_};
    for (std::uint32_t list = rank_; nodes_ != nullptr && list <= root_; list = tree.end(list)) {
        std::size_t d = rank_;
        for (std::uint32_t at = list; at != kNoSpans; at = nodes_[tree.begin(at)].down) {
            --d;
        }
        for (std::uint32_t i = tree.begin(list); i < tree.end(list); ++i) {
            nodes_[i].low -= static_cast<std::uint64_t>(offset[d]);
            nodes_[i].high -= static_cast<std::uint64_t>(offset[d]);
        }
    }
    return Status::ok;
}

int SelectionSet::unlimited_dimension() const noexcept { return h5mote::unlimited_dimension(view()); }

std::uint64_t SelectionSet::last_coordinate(std::size_t d) const noexcept {
    if (nodes_ != nullptr) {
        return nodes_[d].high;
    }
    const Axis axis = slab_axis(view().moved_by({}), d);
    return axis.coordinate_of(axis.selected() - 1);
}

// Selects the whole of `space` as a hyperslab.
Status SelectionSet::select_extent(const Dataspace& space) noexcept {
    const std::size_t rank = space.rank();
    std::uint64_t elements = 0;
    if (!space.valid()) {
        return Status::invalid_argument;
    }
    if (space.element_count(elements) == Status::ok && elements == 0) {
        select_none();
        return Status::ok;
    }
    SelectionSet made(*context_);
    H5MOTE_TRY(SelectionEditor::make(made, SelectionType::hyperslabs, rank, 4 * std::uint64_t{rank}));
    for (std::size_t d = 0; d < rank; ++d) {
        made.numbers_[d] = 0;
        made.numbers_[rank + d] = made.numbers_[2 * rank + d] = 1;
        made.numbers_[3 * rank + d] = space.dims()[d];
    }
    adopt(made);
    return Status::ok;
}

Status SelectionSet::clip_unlimited(std::uint64_t size) noexcept {
    const LibraryLock lock(context_);
    const int unlimited = unlimited_dimension();
    if (unlimited < 0) {
        return Status::ok;
    }
    SelectionSet made(*context_);
    H5MOTE_TRY(SelectionEditor::copy(made, view().moved_by({})));
    const std::size_t r = rank_;
    std::uint64_t* const numbers = made.numbers_ + static_cast<std::size_t>(unlimited);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what is unlimited is a hyperslab, and so is its copy.
    const std::uint64_t start = numbers[0];
    const std::uint64_t stride = numbers[r];
    std::uint64_t& count = numbers[2 * r];
    std::uint64_t& block = numbers[3 * r];
    if (size == kUnlimited) {
        return Status::invalid_argument;
    }
    if (start >= size) {
        made.select_none();
    } else if (block == kUnlimited || block == stride) {
        block = size - start;
        count = 1;
    } else {
        count = quotient_of(size - start - 1, stride) + 1;
        const std::uint64_t last = start + (count - 1) * stride;
        if (size - last < block) {
            H5MOTE_TRY(made.cut(static_cast<std::size_t>(unlimited), size));
        }
    }
    adopt(made);
    return Status::ok;
}

// Removes everything from coordinate `size` on in dimension `d`.
Status SelectionSet::cut(std::size_t d, std::uint64_t size) noexcept {
    SelectionSet box(*context_);
    H5MOTE_TRY(SelectionEditor::make(box, SelectionType::hyperslabs, rank_, 4 * std::uint64_t{rank_}));
    for (std::size_t i = 0; i < rank_; ++i) {
        box.numbers_[i] = 0;
        box.numbers_[rank_ + i] = box.numbers_[2 * std::size_t{rank_} + i] = 1;
        box.numbers_[3 * std::size_t{rank_} + i] = i == d ? size : last_coordinate(i) + 1;
    }
    return combine_slabs(kBoth, box.view(), Dataspace::scalar());
}

}  // namespace h5mote
