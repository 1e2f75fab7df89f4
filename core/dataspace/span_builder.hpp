// H5S - makes trees of spans and combines them: or, and, xor, not-b, not-a (H5S__hyper_clip_spans and what follows).
#pragma once

#include "span_tree.hpp"

#include <h5mote/context.hpp>
#include <h5mote/selection_set.hpp>

namespace h5mote {

/// A growing array in a Context's memory: the part that does not depend on the type of its elements.
class PoolBase {
public:
    explicit PoolBase(Context& context) noexcept : context_(&context) {}
    PoolBase(const PoolBase&) = delete;
    PoolBase& operator=(const PoolBase&) = delete;
    ~PoolBase() { release(); }

    void release() noexcept;
    std::uint32_t size() const noexcept { return size_; }
    void resize(std::uint32_t size) noexcept { size_ = size; }
    /// Hands over the memory, of `bytes` bytes, which then belongs to the caller.
    void* take(std::size_t& bytes) noexcept;

protected:
    Status grow(std::size_t element, std::uint64_t more) noexcept;

    Context* context_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

template <typename T>
class Pool : public PoolBase {
public:
    using PoolBase::PoolBase;
    T* data() const noexcept { return static_cast<T*>(data_); }
    T& operator[](std::uint32_t i) const noexcept { return data()[i]; }
    T& back() const noexcept { return data()[size_ - 1]; }
    /// Makes room for `more` elements. out_of_memory: nothing is changed.
    Status reserve(std::uint64_t more) noexcept {
        return more <= capacity_ - size_ ? Status::ok : grow(sizeof(T), more);
    }
    /// Appends where there is room.
    void push(const T& value) noexcept { data()[size_++] = value; }
};

/// A tree that owns its nodes.
struct SpanStore {
    explicit SpanStore(Context& context) noexcept : nodes(context) {}
    SpanTree view() const noexcept { return {nodes.data(), root}; }

    Pool<SpanNode> nodes;
    std::uint32_t root = kNoSpans;
};

/// Bits that say which elements of two selections A and B a combination keeps.
enum : unsigned { kOnlyA = 1, kOnlyB = 2, kBoth = 4 };

class SpanBuilder {
public:
    SpanBuilder(Context& context, unsigned rank) noexcept
        : context_(context), rank_(rank), open_(context), table_(context) {}
    SpanBuilder(const SpanBuilder&) = delete;
    SpanBuilder& operator=(const SpanBuilder&) = delete;
    ~SpanBuilder();

    /// The tree of a regular hyperslab, `axis(d)` in each dimension, into `out`.
    Status make(const Selection& slab, SpanStore& out) noexcept;
    /// The tree of the block from `low` to `high`, inclusive, into `out`.
    Status make_block(const std::uint64_t* low, const std::uint64_t* high, SpanStore& out) noexcept;
    /// Combines `a` and `b` into `out`, which is neither; root kNoSpans: nothing is selected. overflow: more elements
    /// than 64 bits hold.
    Status combine(const SpanTree& a, const SpanTree& b, unsigned keep, SpanStore& out) noexcept;

private:
    // A list under construction: the positions in both trees, and the range of coordinates that is combined.
    struct Frame {
        std::uint64_t low, high, at;
        std::uint32_t a, a_end, b, b_end;
        std::uint32_t a_down, b_down;
        std::uint32_t open;  // first of its spans in open_
        std::uint32_t in;    // kOnlyA, kOnlyB or kBoth
    };
    // The list that a pair of lists was combined to: the same pair may occur again.
    struct Memo {
        std::uint32_t depth, a, b, result;
    };
    static constexpr unsigned kMemos = 64;

    Status start(SpanStore& out) noexcept;
    void enter(unsigned depth, std::uint32_t a, std::uint32_t b) noexcept;
    bool advance(Frame& frame) const noexcept;
    Status append(const Frame& frame, std::uint32_t down) noexcept;
    Status close(unsigned depth, SpanStore& out, std::uint32_t& list) noexcept;
    Status remember(const SpanStore& out, std::uint32_t list) noexcept;
    Memo& memo(unsigned depth, const Frame& frame) noexcept;

    Context& context_;
    unsigned rank_;
    SpanTree a_, b_;
    Frame* frames_ = nullptr;
    Memo* memos_ = nullptr;
    Pool<SpanNode> open_;        // spans of the lists under construction, outermost first
    Pool<std::uint32_t> table_;  // finished lists by hash, open addressing
    std::uint32_t lists_ = 0;    // number of finished lists
};

/// The union of many blocks: pairs of equal size are combined, as in a merge sort, so that n blocks cost n log n where
/// the union is no more complicated than they are.
class UnionOfBlocks {
public:
    UnionOfBlocks(Context& context, unsigned rank) noexcept
        : context_(context), rank_(rank), builder_(context, rank), trees_(context) {}
    UnionOfBlocks(const UnionOfBlocks&) = delete;
    UnionOfBlocks& operator=(const UnionOfBlocks&) = delete;
    ~UnionOfBlocks();

    /// Adds the block from `low` to `high`, inclusive.
    Status add(const std::uint64_t* low, const std::uint64_t* high) noexcept;
    /// Makes a set that is `all` the union. It can be done once.
    Status finish(SelectionSet& set) noexcept;

private:
    struct Tree {
        SpanStore* store;
        unsigned level;  // made of 2 to the power of `level` blocks
    };
    Status join() noexcept;
    Status new_store(SpanStore*& store) noexcept;

    Context& context_;
    unsigned rank_;
    SpanBuilder builder_;
    Pool<Tree> trees_;            // largest first
    SpanStore* spare_ = nullptr;  // memory for the next result
};

}  // namespace h5mote
