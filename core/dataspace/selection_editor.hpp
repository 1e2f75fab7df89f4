// H5S - access to the inside of a SelectionSet for the functions that make selections.
#pragma once

#include "span_builder.hpp"

#include <h5mote/selection_set.hpp>

namespace h5mote {

class SelectionEditor {
public:
    /// Makes a set that is `all` one of `type` and `rank`, with memory for `count` numbers.
    static Status make(SelectionSet& set, SelectionType type, std::size_t rank, std::uint64_t count) noexcept;
    static std::uint64_t* numbers(SelectionSet& set) noexcept { return set.numbers_; }
    static SpanNode* nodes(SelectionSet& set) noexcept { return set.nodes_; }
    static Context& context(SelectionSet& set) noexcept { return *set.context_; }
    /// Copies a selection with its offset into a set that is `all`.
    static Status copy(SelectionSet& set, const Selection& from) noexcept;
    /// Makes a set that is `all` a regular hyperslab with these numbers, checked as libhdf5 does; `none` if it is
    /// empty.
    static Status set_slab(SelectionSet& set, const Hyperslab& slab) noexcept;
    /// Makes a set that is `all` the selection of a tree: a regular hyperslab if the tree is one, `none` if it is
    /// empty.
    static Status set_tree(SelectionSet& set, unsigned rank, SpanStore& tree) noexcept;
    /// The span tree of a hyperslab. A regular one has none: it is made in `store`.
    static Status tree(const Selection& selection, SpanBuilder& builder, SpanStore& store, SpanTree& tree) noexcept;
    /// Moves the selection of `other` into `set`. The offset of `set` stays if the rank stays the same.
    static void adopt(SelectionSet& set, SelectionSet& other) noexcept { set.adopt(other); }
};

}  // namespace h5mote
