// H5S - selections that own their numbers: combined hyperslabs, point lists, and what files store encoded.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/dataspace.hpp>

namespace h5mote {

/// How the present selection A is combined with another one, B (H5S_seloper_t, whose values these are).
enum class SelectionOp : std::uint8_t {
    set = 0,    ///< B alone
    or_ = 1,    ///< in A or in B
    and_ = 2,   ///< in both
    xor_ = 3,   ///< in one of them only
    not_b = 4,  ///< in A, not in B
    not_a = 5,  ///< in B, not in A
};

/// A selection with memory of its own, which comes from a Library. It begins as `all`.
///
/// The result of combining selections is exact: a regular hyperslab where that suffices, else a list of spans for each
/// dimension (as H5S does it), whose memory grows with how irregular the result is. A call that fails leaves the
/// selection as it was.
class SelectionSet {
public:
    /// `context` is borrowed (a Library is one).
    explicit SelectionSet(Context& context) noexcept : context_(&context) {}
    SelectionSet(SelectionSet&& other) noexcept;
    SelectionSet& operator=(SelectionSet&& other) noexcept;
    ~SelectionSet() { clear(); }

    /// The selection, to be passed to other functions. Its numbers live until this selection is changed or destroyed.
    Selection view() const noexcept;
    operator Selection() const noexcept { return view(); }

    SelectionType type() const noexcept { return type_; }
    /// Number of dimensions; 0 for all and none.
    unsigned rank() const noexcept { return rank_; }

    void select_all() noexcept { clear(); }
    void select_none() noexcept;
    /// Selects the points of `coordinates`, `rank` numbers each. invalid_argument: rank 0 or above H5MOTE_MAX_RANK, or
    /// the number of coordinates is no multiple of it.
    Status select_points(unsigned rank, Span<const std::uint64_t> coordinates) noexcept;
    /// Adds points behind (or before) the points that are selected. If the selection is not one of points, this is
    /// select_points().
    Status add_points(unsigned rank, Span<const std::uint64_t> coordinates, bool before = false) noexcept;
    /// Combines the selection with a regular hyperslab (H5Sselect_hyperslab). One count or block may be kUnlimited.
    /// `space` gives the extent where `all` is combined. invalid_argument: the ranks differ, a stride is 0 or smaller
    /// than the block, more than one dimension is unlimited, coordinates exceed 64 bits, or the combination is not
    /// defined. That is so with points, and with unlimited selections, except that `set` takes any, and that one of the
    /// two selections may be unlimited if the other one is not and the operation is `and_`, or takes the unlimited one
    /// away from the other (`not_a`, `not_b`).
    Status select_hyperslab(SelectionOp op, const Hyperslab& slab, const Dataspace& space) noexcept;
    /// Combines the selection with another one that is not of points (H5Smodify_select); `set` takes any. Errors as
    /// above.
    Status combine(SelectionOp op, const Selection& other, const Dataspace& space) noexcept;
    /// Selects blocks, which may overlap. `corners`: for each block `rank` coordinates of its first element, then
    /// `rank` coordinates of its last one.
    Status select_blocks(unsigned rank, Span<const std::uint64_t> corners) noexcept;

    /// Moves the selection by an offset whenever it is used (H5Soffset_simple). `offset`: rank() numbers, or none for
    /// no offset.
    Status set_offset(Span<const std::int64_t> offset) noexcept;
    /// Moves the selection itself towards the origin (H5Sselect_adjust): rank() numbers. invalid_argument: a coordinate
    /// would leave the range of 0 to kUnlimited - 1.
    Status adjust(Span<const std::int64_t> offset) noexcept;

    /// Whether the selection is one regular hyperslab (H5Sis_regular_hyperslab). Its numbers are view().hyperslab().
    bool is_regular() const noexcept { return type_ == SelectionType::hyperslabs && nodes_ == nullptr; }
    /// The unlimited dimension, or -1.
    int unlimited_dimension() const noexcept;
    /// Ends an unlimited selection at `size` in its unlimited dimension (H5S_hyper_clip_unlim); any other selection
    /// stays as it is.
    Status clip_unlimited(std::uint64_t size) noexcept;

private:
    friend class SelectionEditor;

    void clear() noexcept;
    void adopt(SelectionSet& other) noexcept;
    Status combine_slabs(unsigned keep, const Selection& other, const Dataspace& space) noexcept;
    static Status limit(SelectionSet& a, SelectionSet& b, unsigned keep) noexcept;
    Status select_extent(const Dataspace& space) noexcept;
    Status cut(std::size_t d, std::uint64_t size) noexcept;
    // Last coordinate in dimension `d` of a hyperslab that is not unlimited there, without the offset.
    std::uint64_t last_coordinate(std::size_t d) const noexcept;

    Context* context_;
    std::uint64_t* numbers_ = nullptr;  // points: coordinates; regular: start, stride, count, block
    std::int64_t* offset_ = nullptr;    // rank numbers
    SpanNode* nodes_ = nullptr;         // spans of an irregular hyperslab
    std::size_t count_ = 0;             // how many numbers_
    std::size_t node_bytes_ = 0;
    std::uint32_t root_ = 0;
    std::uint8_t rank_ = 0;
    SelectionType type_ = SelectionType::all;
};

/// Walks over the blocks of a selection in the order in which H5Sget_select_hyper_blocklist lists them. Points are
/// blocks of one element, and `all` is one block. A regular hyperslab is given in the blocks that it was made of or,
/// with `merged`, with touching blocks joined.
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
    std::uint64_t at_[H5MOTE_MAX_RANK];  // the current block of a regular hyperslab, span or point
};

/// Whether two selections have the same shape: they are equal except for their position, and except for the first
/// dimensions of the one with higher rank, if it has only one coordinate there (H5Sselect_shape_same). Errors of
/// Selection::element_count(); work memory comes from `context`.
Status select_shape_same(Context& context, const Selection& a, const Dataspace& a_space, const Selection& b,
                         const Dataspace& b_space, bool& same) noexcept;

/// Whether a selected element lies in the block from `low` to `high`, both inclusive (H5Sselect_intersect_block).
/// Errors of Selection::validate().
Status select_intersect_block(const Selection& selection, const Dataspace& space, const std::uint64_t* low,
                              const std::uint64_t* high, bool& intersects) noexcept;

}  // namespace h5mote
