// H5S - dataspaces: the extent of a dataset or attribute, and which of its elements a transfer touches.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace h5mote {

/// Maximum size of a dimension that may grow without limit (H5S_UNLIMITED).
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

/// What an extent is (H5S_class_t); the values are those of the dataspace message, version 2.
enum class DataspaceClass : std::uint8_t {
    scalar = 0,  ///< one element, rank 0
    simple = 1,  ///< an array of rank 1 to 32
    null = 2,    ///< no element at all
};

/// The extent of a dataset or attribute: a value that can be built at compile time and kept in read-only memory. One
/// that was built from sizes which do not fit each other is not valid(), and every call that takes it refuses it.
///
/// Lists of numbers are taken by reference, because compilers for ARM otherwise remark on a changed calling convention.
class Dataspace {
public:
    /// A scalar.
    constexpr Dataspace() noexcept = default;

    /// One element without dimensions (H5S_SCALAR).
    static constexpr Dataspace scalar() noexcept { return {}; }

    /// No element (H5S_NULL).
    static constexpr Dataspace null() noexcept {
        Dataspace space;
        space.class_ = DataspaceClass::null;
        return space;
    }

    /// An array of fixed size; the last dimension changes fastest. Rank 0 gives a scalar, as H5Screate_simple does.
    static constexpr Dataspace simple(const std::initializer_list<std::uint64_t>& dims) noexcept {
        return simple(Span<const std::uint64_t>(dims.begin(), dims.size()));
    }
    /// An array whose dimensions may grow to `max_dims` (kUnlimited: without limit). Not valid when the two lists
    /// differ in length, the rank exceeds H5MOTE_MAX_RANK, or a dimension exceeds its maximum.
    static constexpr Dataspace simple(const std::initializer_list<std::uint64_t>& dims,
                                      const std::initializer_list<std::uint64_t>& max_dims) noexcept {
        return simple(Span<const std::uint64_t>(dims.begin(), dims.size()),
                      Span<const std::uint64_t>(max_dims.begin(), max_dims.size()));
    }
    static constexpr Dataspace simple(Span<const std::uint64_t> dims) noexcept { return simple(dims, dims); }
    static constexpr Dataspace simple(Span<const std::uint64_t> dims, Span<const std::uint64_t> max_dims) noexcept {
        Dataspace space;
        space.valid_ = dims.size() == max_dims.size() && dims.size() <= H5MOTE_MAX_RANK;
        if (!space.valid_ || dims.empty()) {
            return space;
        }
        space.class_ = DataspaceClass::simple;
        space.rank_ = static_cast<std::uint8_t>(dims.size());
        for (std::size_t i = 0; i < dims.size(); ++i) {
            space.dims_[i] = dims[i];
            space.max_dims_[i] = max_dims[i];
            // kUnlimited is the largest number, so that one comparison serves bounded and unbounded maxima.
            space.valid_ = space.valid_ && dims[i] != kUnlimited && dims[i] <= max_dims[i];
        }
        return space;
    }

    /// One dimension that has `rows` elements now and grows without limit: the extent of a log.
    static constexpr Dataspace unlimited(std::uint64_t rows = 0) noexcept { return simple({rows}, {kUnlimited}); }

    /// Whether the sizes given fit each other.
    constexpr bool valid() const noexcept { return valid_; }
    constexpr DataspaceClass space_class() const noexcept { return class_; }
    /// Number of dimensions; 0 for scalar and null.
    constexpr std::size_t rank() const noexcept { return rank_; }
    /// Sizes in elements, slowest dimension first; lives as long as this value.
    constexpr Span<const std::uint64_t> dims() const noexcept { return {dims_, rank_}; }
    constexpr Span<const std::uint64_t> max_dims() const noexcept { return {max_dims_, rank_}; }
    /// Number of dimensions without limit.
    constexpr std::size_t unlimited_count() const noexcept {
        std::size_t count = 0;
        for (std::size_t i = 0; i < rank_; ++i) {
            count += max_dims_[i] == kUnlimited ? 1U : 0U;
        }
        return count;
    }
    /// Whether any dimension may grow.
    constexpr bool extensible() const noexcept {
        bool any = false;
        for (std::size_t i = 0; i < rank_; ++i) {
            any = any || max_dims_[i] > dims_[i];
        }
        return any;
    }

    /// Number of elements in the current extent (H5Sget_simple_extent_npoints). overflow: the number needs more than 64
    /// bits.
    Status element_count(std::uint64_t& count) const noexcept;

    /// Changes the current sizes and keeps the maxima (H5Sset_extent_simple). invalid_argument: another rank, not
    /// simple, or a size beyond its maximum; nothing is changed then.
    Status set_extent(Span<const std::uint64_t> dims) noexcept;

    /// Whether class, rank, sizes and maxima are the same.
    bool operator==(const Dataspace& other) const noexcept;
    bool operator!=(const Dataspace& other) const noexcept { return !(*this == other); }

private:
    friend struct DataspaceEditor;

    std::uint64_t dims_[H5MOTE_MAX_RANK] = {};
    std::uint64_t max_dims_[H5MOTE_MAX_RANK] = {};
    DataspaceClass class_ = DataspaceClass::scalar;
    std::uint8_t rank_ = 0;
    bool valid_ = true;
};

/// A regular hyperslab: from `start` on, in each dimension `count` blocks of `block` elements that begin `stride`
/// apart. All four are in elements, one number for each dimension, slowest first. An empty stride or block means 1 in
/// every dimension. The numbers are borrowed, and must stay as they are while the hyperslab is used.
struct Hyperslab {
    Span<const std::uint64_t> start;
    Span<const std::uint64_t> stride;
    Span<const std::uint64_t> count;
    Span<const std::uint64_t> block;
};

/// The kinds of selection (H5S_sel_type, whose values these are).
enum class SelectionType : std::uint8_t { none = 0, points = 1, hyperslabs = 2, all = 3 };

struct SpanNode;  // core/dataspace/span_tree.hpp

/// How selections are walked that are not all combinations of certain coordinates in each dimension: points and
/// irregular hyperslabs. A selection leads to the functions for its own kind, so that a program links those of the
/// kinds that it makes. (Internal: core/dataspace/gathered_selection.hpp.)
struct GatheredSelection;
extern const GatheredSelection gathered_points;
extern const GatheredSelection gathered_spans;
template <std::size_t Numbers>
class OwnHyperslab;

/// Which elements of an extent a transfer touches: hyperslabs in row-major order, points in the order of their list. A
/// selection is a view: all its numbers are borrowed. It belongs to no dataspace until it is used with one; validate()
/// says whether it fits. An irregular hyperslab comes from a SelectionSet (selection_set.hpp), which holds its memory;
/// an OwnHyperslab is a hyperslab with numbers written in place, and holds them itself.
class Selection {
public:
    /// The whole extent.
    constexpr Selection() noexcept = default;
    constexpr Selection(const Hyperslab& hyperslab) noexcept { set_hyperslab(hyperslab); }

    static constexpr Selection all() noexcept { return {}; }
    static constexpr Selection none() noexcept {
        Selection selection;
        selection.type_ = SelectionType::none;
        return selection;
    }
    /// Selects `count` elements in each dimension or, with stride and block, blocks of elements; see Hyperslab.
    static constexpr Selection hyperslab(Span<const std::uint64_t> start, Span<const std::uint64_t> count,
                                         Span<const std::uint64_t> stride = {},
                                         Span<const std::uint64_t> block = {}) noexcept {
        return Selection(Hyperslab{start, stride, count, block});
    }
    /// The same from numbers written in place: `hyperslab({0, 4}, {10, 1})` gives start and count; stride and block can
    /// follow. The result holds copies of the numbers. Pass it straight to a call, or keep it in a variable of type
    /// `auto`.
    template <std::size_t... N>
    static constexpr OwnHyperslab<(N + ... + 0)> hyperslab(const std::uint64_t (&&... lists)[N]) noexcept;

    /// Deleted, because a Selection borrows its numbers, and those of a temporary would be gone with it. Keep the
    /// temporary itself, in a variable of type `auto` in place of `Selection`.
    template <std::size_t Numbers>
    Selection(const OwnHyperslab<Numbers>&& temporary) = delete;
    template <std::size_t Numbers>
    Selection& operator=(const OwnHyperslab<Numbers>&& temporary) = delete;

    /// Selects single elements: `rank` coordinates each, one element after the other. They are visited in this order,
    /// and as often as they occur in the list (H5Sselect_elements).
    static constexpr Selection points(unsigned rank, Span<const std::uint64_t> coordinates) noexcept {
        Selection selection;
        selection.type_ = SelectionType::points;
        selection.gathered_ = &gathered_points;
        selection.rank_ = rank;
        selection.hyperslab_.start = coordinates;
        return selection;
    }
    /// Deleted, because coordinates written in place would be gone at the end of the expression: give them a name.
    template <std::size_t N>
    static Selection points(unsigned rank, const std::uint64_t (&&coordinates)[N]) = delete;
    /// An irregular hyperslab: a tree of spans as SelectionSet builds it.
    static constexpr Selection irregular(unsigned rank, const SpanNode* spans, std::uint32_t root) noexcept {
        Selection selection;
        selection.type_ = SelectionType::hyperslabs;
        selection.rank_ = rank;
        selection.gathered_ = &gathered_spans;
        selection.spans_ = spans;
        selection.span_root_ = root;
        return selection;
    }
    /// This selection, but moved by `offset` elements in each dimension when it is used (H5Soffset_simple). `all` and
    /// `none` do not move. The offset is borrowed.
    constexpr Selection moved_by(Span<const std::int64_t> offset) const noexcept {
        Selection selection = *this;
        selection.offset_ = offset;
        return selection;
    }
    /// Deleted, because an offset written in place would be gone at the end of the expression: give it a name.
    template <std::size_t N>
    Selection moved_by(const std::int64_t (&&offset)[N]) const = delete;

    constexpr SelectionType type() const noexcept { return type_; }
    /// Number of dimensions; 0 when the selection fits any extent.
    constexpr unsigned rank() const noexcept { return rank_; }
    /// Whether the selected elements are all combinations of certain coordinates in each dimension: true for all types
    /// but points and irregular hyperslabs.
    constexpr bool is_regular() const noexcept { return gathered_ == nullptr; }
    /// How the selection is walked if not is_regular(), else nullptr. (Internal.)
    constexpr const GatheredSelection* gathered() const noexcept { return gathered_; }
    /// The numbers of a regular hyperslab; empty spans for the other types.
    constexpr const Hyperslab& hyperslab() const noexcept { return hyperslab_; }
    constexpr Span<const std::uint64_t> point_list() const noexcept {
        return type_ == SelectionType::points ? hyperslab_.start : Span<const std::uint64_t>();
    }
    constexpr std::size_t point_count() const noexcept { return rank_ == 0 ? 0 : point_list().size() / rank_; }
    constexpr const SpanNode* spans() const noexcept { return spans_; }
    constexpr std::uint32_t span_root() const noexcept { return span_root_; }
    constexpr Span<const std::int64_t> offset() const noexcept { return offset_; }
    /// The offset that is added to coordinates of dimension `d`, modulo 2^64.
    constexpr std::uint64_t offset(std::size_t d) const noexcept {
        return d < offset_.size() ? static_cast<std::uint64_t>(offset_[d]) : 0;
    }

    /// Whether this selection fits `space`. invalid_argument: `space` is not valid, the ranks differ, a stride is 0,
    /// blocks overlap, or an element, moved by the offset, lies beyond the extent. A count or block of 0 selects
    /// nothing and is valid. Unlimited counts or blocks must be clipped first (SelectionSet::clip_unlimited).
    Status validate(const Dataspace& space) const noexcept;

    /// Number of elements selected in `space`. Errors of validate(); overflow: the number needs more than 64 bits.
    Status element_count(const Dataspace& space, std::uint64_t& count) const noexcept;

    /// The smallest block that holds the selection, offset included: `low` and `high` get rank() of `space` coordinates
    /// of its first and last element (H5Sget_select_bounds). Errors of validate(); not_found: nothing is selected.
    Status bounds(const Dataspace& space, std::uint64_t* low, std::uint64_t* high) const noexcept;

protected:
    constexpr void set_hyperslab(const Hyperslab& hyperslab) noexcept {
        hyperslab_ = hyperslab;
        rank_ = static_cast<std::uint32_t>(hyperslab.start.size());
        type_ = SelectionType::hyperslabs;
    }

private:
    friend struct GatheredSelection;

    Status validate_slab(const Dataspace& space) const noexcept;
    // Adds the offset of dimension `d`; false when that leaves the range of coordinates.
    bool move(std::uint64_t& coordinate, std::size_t d) const noexcept;

    Hyperslab hyperslab_;  // for points, `start` has their coordinates
    Span<const std::int64_t> offset_;
    const GatheredSelection* gathered_ = nullptr;
    const SpanNode* spans_ = nullptr;
    std::uint32_t span_root_ = 0;
    std::uint32_t rank_ = 0;
    SelectionType type_ = SelectionType::all;
};

/// A hyperslab that holds its numbers, `Numbers` of them in two to four lists: the result of Selection::hyperslab() for
/// numbers written in place. It takes 8 bytes for each number more than a Selection. It can be neither copied nor
/// moved; a Selection copied from it borrows its numbers.
template <std::size_t Numbers>
class OwnHyperslab final : public Selection {
public:
    template <std::size_t... N>
    constexpr explicit OwnHyperslab(const std::uint64_t (&... lists)[N]) noexcept : Selection(Hyperslab{}) {
        static_assert(sizeof...(N) >= 2 && sizeof...(N) <= 4, "h5mote: a hyperslab is start, count, stride, block");
        std::size_t at = 0;
        Span<const std::uint64_t> parts[4];
        std::size_t part = 0;
        ((parts[part++] = take(lists, N, at)), ...);
        set_hyperslab({parts[0], parts[2], parts[1], parts[3]});
    }
    OwnHyperslab(const OwnHyperslab&) = delete;
    OwnHyperslab& operator=(const OwnHyperslab&) = delete;

    constexpr Selection moved_by(Span<const std::int64_t> offset) const& noexcept {
        return Selection::moved_by(offset);
    }
    Selection moved_by(Span<const std::int64_t> offset) const&& = delete;
    template <std::size_t N>
    Selection moved_by(const std::int64_t (&&offset)[N]) const = delete;

private:
    constexpr Span<const std::uint64_t> take(const std::uint64_t* list, std::size_t count, std::size_t& at) noexcept {
        const std::size_t from = at;
        for (std::size_t i = 0; i < count; ++i) {
            numbers_[at++] = list[i];
        }
        return {numbers_ + from, count};
    }

    std::uint64_t numbers_[Numbers] = {};
};

template <std::size_t... N>
constexpr OwnHyperslab<(N + ... + 0)> Selection::hyperslab(const std::uint64_t (&&... lists)[N]) noexcept {
    return OwnHyperslab<(N + ... + 0)>(lists...);
}

}  // namespace h5mote
