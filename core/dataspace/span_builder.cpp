#include "span_builder.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

std::uint64_t hash_of(const SpanNode* spans, std::uint32_t count) noexcept {
    std::uint64_t hash = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        hash = mix(mix(mix(hash, spans[i].low), spans[i].high), spans[i].down);
    }
    return hash;
}

bool same(const SpanNode* a, const SpanNode* b, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (a[i].low != b[i].low || a[i].high != b[i].high || a[i].down != b[i].down) {
            return false;
        }
    }
    return true;
}

}  // namespace

void PoolBase::release() noexcept {
    context_->release(MemoryKind::other, data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
    size_ = capacity_ = 0;
}

void* PoolBase::take(std::size_t& bytes) noexcept {
    void* const data = data_;
    bytes = bytes_;
    data_ = nullptr;
    release();
    return data;
}

Status PoolBase::grow(std::size_t element, std::uint64_t more) noexcept {
    std::uint64_t wanted = std::uint64_t{size_} + more;
    const std::uint64_t room = std::uint64_t{capacity_} + capacity_ / 2;
    wanted = wanted < room ? room : wanted;
    std::size_t bytes = 0;
    if (wanted >= kNoSpans || !to_size(wanted * element, bytes)) {
        return Status::out_of_memory;
    }
    void* const data = context_->allocate(MemoryKind::other, bytes);
    if (data == nullptr) {
        return Status::out_of_memory;
    }
    if (size_ != 0) {
        std::memcpy(data, data_, size_ * element);
    }
    context_->release(MemoryKind::other, data_, bytes_);
    data_ = data;
    bytes_ = bytes;
    capacity_ = static_cast<std::uint32_t>(wanted);
    return Status::ok;
}

SpanBuilder::~SpanBuilder() {
    context_.release(MemoryKind::other, frames_, rank_ * sizeof(Frame));
    context_.release(MemoryKind::other, memos_, kMemos * sizeof(Memo));
}

// Element counts may overflow here: an operand may be larger than the result, whose counts combine() checks.
Status SpanBuilder::make(const Selection& slab, SpanStore& out) noexcept {
    out.nodes.resize(0);
    std::uint64_t nodes = rank_;
    for (unsigned d = 0; d < rank_; ++d) {
        if (!checked_add(nodes, slab_axis(slab, d).count + 1, nodes)) {
            return Status::out_of_memory;
        }
    }
    H5MOTE_TRY(out.nodes.reserve(nodes));
    for (unsigned d = 0; d < rank_; ++d) {
        const Axis axis = slab_axis(slab, d);
        out.nodes.push({axis.start, axis.coordinate_of(axis.selected() - 1), 0, 0, 0});
    }
    std::uint32_t down = kNoSpans;
    std::uint64_t below = 1;
    for (unsigned d = rank_; d-- > 0;) {
        const Axis axis = slab_axis(slab, d);
        const std::uint32_t list = out.nodes.size();
        out.nodes.push({axis.count, axis.selected() * below, 0, 0, 0});
        for (std::uint64_t i = 0; i < axis.count; ++i) {
            const std::uint64_t low = axis.start + i * axis.stride;
            out.nodes.push({low, low + axis.block - 1, i * axis.block * below, down, 0});
        }
        down = list;
        below *= axis.selected();
    }
    out.root = down;
    return Status::ok;
}

Status SpanBuilder::make_block(const std::uint64_t* low, const std::uint64_t* high, SpanStore& out) noexcept {
    out.nodes.resize(0);
    H5MOTE_TRY(out.nodes.reserve(3 * std::uint64_t{rank_}));
    for (unsigned d = 0; d < rank_; ++d) {
        out.nodes.push({low[d], high[d], 0, 0, 0});
    }
    out.root = kNoSpans;
    for (unsigned d = rank_; d-- > 0;) {
        const std::uint32_t list = out.nodes.size();
        out.nodes.push({1, 0, 0, 0, 0});
        out.nodes.push({low[d], high[d], 0, out.root, 0});
        out.root = list;
    }
    return Status::ok;
}

Status SpanBuilder::start(SpanStore& out) noexcept {
    if (frames_ == nullptr) {
        frames_ = static_cast<Frame*>(context_.allocate(MemoryKind::other, rank_ * sizeof(Frame)));
    }
    if (memos_ == nullptr) {
        memos_ = static_cast<Memo*>(context_.allocate(MemoryKind::other, kMemos * sizeof(Memo)));
    }
    if (frames_ == nullptr || memos_ == nullptr) {
        return Status::out_of_memory;
    }
    for (unsigned i = 0; i < kMemos; ++i) {
        memos_[i].depth = kNoSpans;
    }
    open_.resize(0);
    table_.resize(0);
    lists_ = 0;
    out.nodes.resize(0);
    out.root = kNoSpans;
    H5MOTE_TRY(out.nodes.reserve(3 * std::uint64_t{rank_}));
    for (unsigned d = 0; d < rank_; ++d) {
        out.nodes.push({~std::uint64_t{0}, 0, 0, 0, 0});
    }
    return Status::ok;
}

void SpanBuilder::enter(unsigned depth, std::uint32_t a, std::uint32_t b) noexcept {
    Frame& frame = frames_[depth];
    frame.at = 0;
    frame.a = a == kNoSpans ? 0 : a_.begin(a);
    frame.a_end = a == kNoSpans ? 0 : a_.end(a);
    frame.b = b == kNoSpans ? 0 : b_.begin(b);
    frame.b_end = b == kNoSpans ? 0 : b_.end(b);
    frame.open = open_.size();
}

// Goes to the next range of coordinates in which neither tree changes and one of them selects something.
bool SpanBuilder::advance(Frame& frame) const noexcept {
    while (frame.a != frame.a_end && a_.nodes[frame.a].high < frame.at) {
        ++frame.a;
    }
    while (frame.b != frame.b_end && b_.nodes[frame.b].high < frame.at) {
        ++frame.b;
    }
    const SpanNode* const a = frame.a == frame.a_end ? nullptr : a_.nodes + frame.a;
    const SpanNode* const b = frame.b == frame.b_end ? nullptr : b_.nodes + frame.b;
    if (a == nullptr && b == nullptr) {
        return false;
    }
    std::uint64_t first = a == nullptr ? b->low : b == nullptr || a->low < b->low ? a->low : b->low;
    first = first < frame.at ? frame.at : first;
    const bool in_a = a != nullptr && a->low <= first;
    const bool in_b = b != nullptr && b->low <= first;
    const std::uint64_t a_high = a == nullptr ? kUnlimited : in_a ? a->high : a->low - 1;
    const std::uint64_t b_high = b == nullptr ? kUnlimited : in_b ? b->high : b->low - 1;
    frame.low = first;
    frame.high = a_high < b_high ? a_high : b_high;
    frame.at = frame.high + 1;
    frame.in = in_a && in_b ? kBoth : in_a ? kOnlyA : kOnlyB;
    frame.a_down = in_a ? a->down : kNoSpans;
    frame.b_down = in_b ? b->down : kNoSpans;
    return true;
}

Status SpanBuilder::append(const Frame& frame, std::uint32_t down) noexcept {
    if (open_.size() > frame.open && open_.back().high + 1 == frame.low && open_.back().down == down) {
        open_.back().high = frame.high;
        return Status::ok;
    }
    H5MOTE_TRY(open_.reserve(1));
    open_.push({frame.low, frame.high, 0, down, 0});
    return Status::ok;
}

// Enters a finished list, the last of `out`, in the hash table.
Status SpanBuilder::remember(const SpanStore& out, std::uint32_t list) noexcept {
    std::uint32_t from = list;
    if (2 * lists_ >= table_.size()) {
        const std::uint32_t size = table_.size() == 0 ? 16 : 4 * table_.size();
        table_.resize(0);
        H5MOTE_TRY(table_.reserve(size));
        table_.resize(size);
        std::memset(table_.data(), 0xff, size * sizeof(std::uint32_t));
        from = rank_;  // all are entered again: they follow each other behind the bounds
    }
    const std::uint32_t mask = table_.size() - 1;
    for (; from <= list; from = out.view().end(from)) {
        std::uint32_t slot = static_cast<std::uint32_t>(out.nodes[from].before) & mask;
        while (table_[slot] != kNoSpans) {
            slot = (slot + 1) & mask;
        }
        table_[slot] = from;
    }
    ++lists_;
    return Status::ok;
}

// Ends the list under construction at `depth`: it becomes one of `out`, unless `out` has an equal one.
Status SpanBuilder::close(unsigned depth, SpanStore& out, std::uint32_t& list) noexcept {
    const std::uint32_t open = frames_[depth].open;
    const std::uint32_t count = open_.size() - open;
    list = kNoSpans;
    if (count == 0) {
        return Status::ok;
    }
    const SpanNode* const spans = open_.data() + open;
    const std::uint64_t hash = hash_of(spans, count);
    for (std::uint32_t i = static_cast<std::uint32_t>(hash), n = 0; n < table_.size(); ++i, ++n) {
        const std::uint32_t slot = table_[i & (table_.size() - 1)];
        if (slot == kNoSpans) {
            break;
        }
        if (out.nodes[slot].before == hash && out.nodes[slot].low == count &&
            same(out.nodes.data() + slot + 1, spans, count)) {
            list = slot;
            open_.resize(open);
            return Status::ok;
        }
    }
    H5MOTE_TRY(out.nodes.reserve(std::uint64_t{count} + 1));
    list = out.nodes.size();
    out.nodes.push({count, 0, hash, 0, 0});
    std::uint64_t total = 0;
    std::uint64_t blocks = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        SpanNode span = spans[i];
        std::uint64_t elements = 0;
        span.before = total;
        out.nodes.push(span);
        blocks = checked_add(blocks, out.view().blocks(span.down), blocks) ? blocks : ~std::uint64_t{0};
        if (!checked_multiply(span.size(), out.view().total(span.down), elements) ||
            !checked_add(total, elements, total)) {
            return Status::overflow;
        }
    }
    out.nodes[list].high = total;
    out.nodes[list].down = static_cast<std::uint32_t>(blocks);
    out.nodes[list].more = static_cast<std::uint32_t>(blocks >> 32);
    SpanNode& bounds = out.nodes[depth];
    bounds.low = spans[0].low < bounds.low ? spans[0].low : bounds.low;
    bounds.high = spans[count - 1].high > bounds.high ? spans[count - 1].high : bounds.high;
    open_.resize(open);
    return remember(out, list);
}

SpanBuilder::Memo& SpanBuilder::memo(unsigned depth, const Frame& frame) noexcept {
    const std::uint64_t hash = mix(mix(depth, frame.a_down), frame.b_down);
    return memos_[hash % kMemos];
}

Status SpanBuilder::combine(const SpanTree& a, const SpanTree& b, unsigned keep, SpanStore& out) noexcept {
    H5MOTE_TRY(start(out));
    a_ = a;
    b_ = b;
    unsigned depth = 0;
    enter(0, a.root, b.root);
    for (;;) {
        Frame& frame = frames_[depth];
        if (!advance(frame)) {
            std::uint32_t list = kNoSpans;
            H5MOTE_TRY(close(depth, out, list));
            if (depth == 0) {
                out.root = list;
                return Status::ok;
            }
            --depth;
            const Frame& outer = frames_[depth];
            memo(depth, outer) = {depth, outer.a_down, outer.b_down, list};
            if (list != kNoSpans) {
                H5MOTE_TRY(append(outer, list));
            }
        } else if ((frame.in & keep) == 0 && (frame.in != kBoth || depth + 1 == rank_)) {
            // The operation keeps nothing of this range.
        } else if (depth + 1 == rank_) {
            H5MOTE_TRY(append(frame, kNoSpans));
        } else {
            const Memo& known = memo(depth, frame);
            if (known.depth != depth || known.a != frame.a_down || known.b != frame.b_down) {
                ++depth;
                enter(depth, frame.a_down, frame.b_down);
            } else if (known.result != kNoSpans) {
                H5MOTE_TRY(append(frame, known.result));
            }
        }
    }
}

}  // namespace h5mote
