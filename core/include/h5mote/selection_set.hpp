// H5S - selections that own their numbers: combined hyperslabs, point lists, and what files store encoded.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/dataspace.hpp>

namespace h5mote {

/// How a selection is combined with the one before (H5S_seloper_t, whose values these are).
enum class SelectionOp : std::uint8_t {
    set = 0,    ///< B alone
    or_ = 1,    ///< in A or in B
    and_ = 2,   ///< in both
    xor_ = 3,   ///< in one of them only
    not_b = 4,  ///< in A, not in B
    not_a = 5,  ///< in B, not in A
};

/// A selection with memory of its own, from a Library. It begins as `all`.
///
/// What is combined stays exact: a regular hyperslab where the result is one, else a list of spans for each dimension
/// (as H5S does), whose memory grows with how irregular it is. Every call that fails leaves the selection as it was.
class SelectionSet {
public:
    /// `context` is borrowed (a Library is one).
    explicit SelectionSet(Context& context) noexcept : context_(&context) {}
    SelectionSet(SelectionSet&& other) noexcept;
    SelectionSet& operator=(SelectionSet&& other) noexcept;
    ~SelectionSet() { clear(); }

    /// What is selected, to pass on. Its numbers live until this selection is changed or goes.
    Selection view() const noexcept;
    operator Selection() const noexcept { return view(); }

    SelectionType type() const noexcept { return type_; }
    /// Number of dimensions; 0 for all and none.
    unsigned rank() const noexcept { return rank_; }

    void select_all() noexcept { clear(); }
    void select_none() noexcept;
    /// The points of `coordinates`, `rank` numbers each. invalid_argument: rank 0 or above 32, or not a multiple of it.
    Status select_points(unsigned rank, Span<const std::uint64_t> coordinates) noexcept;
    /// Adds points behind (or before) those that are selected; to anything else than points it is select_points().
    Status add_points(unsigned rank, Span<const std::uint64_t> coordinates, bool before = false) noexcept;
    /// Combines with a regular hyperslab (H5Sselect_hyperslab). One count or block may be kUnlimited. `space` gives the
    /// extent where `all` is combined. invalid_argument: ranks differ, a stride is 0 or smaller than the block, more
    /// than one dimension is unlimited, coordinates exceed 64 bits, or the combination is not defined: with points,
    /// with unlimited selections other than `set`, and `and` and `not_a`, `not_b`.
    Status select_hyperslab(SelectionOp op, const Hyperslab& slab, const Dataspace& space) noexcept;
    /// Combines with any selection that is not of points (H5Smodify_select); `set` takes any. Errors as above.
    Status combine(SelectionOp op, const Selection& other, const Dataspace& space) noexcept;
    /// All blocks of `corners`: rank first coordinates, rank last ones, for each block; they may overlap.
    Status select_blocks(unsigned rank, Span<const std::uint64_t> corners) noexcept;

    /// Moves the selection when it is used (H5Soffset_simple): rank() numbers, none for no offset.
    Status set_offset(Span<const std::int64_t> offset) noexcept;
    /// Moves the selection itself towards the origin (H5Sselect_adjust): rank() numbers. invalid_argument: a coordinate
    /// would leave the range of 0 to kUnlimited - 1.
    Status adjust(Span<const std::int64_t> offset) noexcept;

    /// Whether one regular hyperslab says the same (H5Sis_regular_hyperslab). Its numbers are view().hyperslab().
    bool is_regular() const noexcept { return type_ == SelectionType::hyperslabs && nodes_ == nullptr; }
    /// The dimension without limit, or -1.
    int unlimited_dimension() const noexcept;
    /// Ends an unlimited selection at `size` in that dimension (H5S_hyper_clip_unlim); what is not unlimited stays.
    Status clip_unlimited(std::uint64_t size) noexcept;

private:
    friend class SelectionEditor;

    void clear() noexcept;
    void adopt(SelectionSet& other) noexcept;
    Status combine_slabs(unsigned keep, const Selection& other, const Dataspace& space) noexcept;
    static Status limit(SelectionSet& a, SelectionSet& b, unsigned keep) noexcept;
    Status select_extent(const Dataspace& space) noexcept;
    Status cut(std::size_t d, std::uint64_t size) noexcept;
    // Of a hyperslab that is not unlimited there, without the offset.
    std::uint64_t last_coordinate(std::size_t d) const noexcept;

    Context* context_;
    std::uint64_t* numbers_ = nullptr;  // points: coordinates; regular: start, stride, count, block
    std::int64_t* offset_ = nullptr;    // rank numbers
    SpanNode* nodes_ = nullptr;         // irregular
    std::size_t count_ = 0;             // of numbers_
    std::size_t node_bytes_ = 0;
    std::uint32_t root_ = 0;
    std::uint8_t rank_ = 0;
    SelectionType type_ = SelectionType::all;
};

/// The blocks of a selection in the order in which H5Sget_select_hyper_blocklist tells them; points are blocks of one
/// element, `all` is one block. A regular hyperslab is told in the blocks it was made of or, `merged`, with those put
/// together that touch.
class SelectionBlocks {
public:
    /// Starts before the first block. `selection` and `space` are borrowed. Errors of Selection::validate().
    Status reset(const Selection& selection, const Dataspace& space, bool merged = false) noexcept;
    /// The next block: rank first and last coordinates, the selection's offset not included. False at the end.
    bool next(std::uint64_t* low, std::uint64_t* high) noexcept;
    /// Number of blocks; overflow: more than 64 bits hold.
    Status count(std::uint64_t& count) const noexcept;

private:
    struct Blocks {
        std::uint64_t start, stride, count, block;
    };
    Blocks along(std::size_t d) const noexcept;
    std::uint32_t list(std::size_t d) const noexcept;
    bool next_point(std::uint64_t* low, std::uint64_t* high) noexcept;

    Selection selection_;
    const Dataspace* space_ = nullptr;
    bool merged_ = false;
    bool fresh_ = true;
    bool ended_ = true;
    std::uint64_t at_[H5MOTE_MAX_RANK];  // block of a regular hyperslab; span; point
};

/// Whether two selections have the same shape: equal but for their place, and for leading dimensions in which the one
/// of higher rank has one coordinate only (H5Sselect_shape_same). Errors of Selection::element_count(); work memory
/// comes from `context`.
Status select_shape_same(Context& context, const Selection& a, const Dataspace& a_space, const Selection& b,
                         const Dataspace& b_space, bool& same) noexcept;

/// Whether the block from `low` to `high`, inclusive, holds a selected element (H5Sselect_intersect_block). Errors of
/// Selection::validate().
Status select_intersect_block(const Selection& selection, const Dataspace& space, const std::uint64_t* low,
                              const std::uint64_t* high, bool& intersects) noexcept;

}  // namespace h5mote
