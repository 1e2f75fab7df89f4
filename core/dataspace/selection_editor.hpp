// H5S - what the calls that make selections share.
#pragma once

#include "span_builder.hpp"

#include <h5mote/selection_set.hpp>

namespace h5mote {

class SelectionEditor {
public:
    /// Gives a set that is `all` room for `count` numbers and makes it one of `type` and `rank`.
    static Status make(SelectionSet& set, SelectionType type, std::size_t rank, std::uint64_t count) noexcept;
    static std::uint64_t* numbers(SelectionSet& set) noexcept { return set.numbers_; }
    static SpanNode* nodes(SelectionSet& set) noexcept { return set.nodes_; }
    static Context& context(SelectionSet& set) noexcept { return *set.context_; }
    /// Copies a selection with its offset into a set that is `all`.
    static Status copy(SelectionSet& set, const Selection& from) noexcept;
    /// A regular hyperslab from its numbers, checked as libhdf5 does it; none if it is empty.
    static Status set_slab(SelectionSet& set, const Hyperslab& slab) noexcept;
    /// Makes a set that is `all` the selection of a tree: a regular hyperslab if it can, none if there is nothing.
    static Status set_tree(SelectionSet& set, unsigned rank, SpanStore& tree) noexcept;
    /// The tree of a hyperslab, made in `store` if it has none.
    static Status tree(const Selection& selection, SpanBuilder& builder, SpanStore& store, SpanTree& tree) noexcept;
    /// Replaces what is selected by what `other` selects; the offset stays where the rank does.
    static void adopt(SelectionSet& set, SelectionSet& other) noexcept { set.adopt(other); }
};

}  // namespace h5mote
