// H5S - an irregular hyperslab selection as a tree of spans (H5S_hyper_span_info_t), in one block of memory.
//
// A list holds the spans of one dimension: sorted, disjoint ranges of coordinates, each with the list of the next
// dimension that is selected there. Spans that touch have different lists below them, so that a selection has one tree
// only, and its blocks from left to right are those that H5Sget_select_hyper_blocklist returns. Equal lists are stored
// once, so that a tree is no larger than the selection is irregular.
//
//     nodes: bounds of dimension 0 | ... of the last dimension | head, spans | head, spans | ...
#pragma once

#include <h5mote/dataspace.hpp>

#include "axis.hpp"

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Stands for a list that selects nothing, and for the list below a span of the last dimension.
inline constexpr std::uint32_t kNoSpans = 0xffffffff;

/// A span, the head of a list of them, or the bounds of a dimension.
struct SpanNode {
    std::uint64_t low;     ///< first coordinate; head: number of spans, which follow it
    std::uint64_t high;    ///< last coordinate; head: elements selected by the list
    std::uint64_t before;  ///< elements selected by the spans before this one; head: hash of the spans
    std::uint32_t down;    ///< list of the next dimension; kNoSpans in the last one; head: low half of ...
    std::uint32_t more;    ///< head: ... the number of blocks, high half

    std::uint64_t size() const noexcept { return high - low + 1; }
};

/// A view of a tree. A list is identified by the index of its head among the nodes.
struct SpanTree {
    const SpanNode* nodes = nullptr;
    std::uint32_t root = kNoSpans;

    std::uint32_t count(std::uint32_t list) const noexcept { return static_cast<std::uint32_t>(nodes[list].low); }
    /// Elements that a list selects; 1 below the last dimension.
    std::uint64_t total(std::uint32_t list) const noexcept { return list == kNoSpans ? 1 : nodes[list].high; }
    /// Number of blocks in a list; all ones: more than 64 bits hold.
    std::uint64_t blocks(std::uint32_t list) const noexcept {
        return list == kNoSpans ? 1 : nodes[list].down | std::uint64_t{nodes[list].more} << 32;
    }
    /// Indices of the first span of a list and of the node behind its last one.
    std::uint32_t begin(std::uint32_t list) const noexcept { return list + 1; }
    std::uint32_t end(std::uint32_t list) const noexcept { return list + 1 + count(list); }
    /// The first span of a list that reaches `coordinate` or lies beyond it; end() if none.
    std::uint32_t find(std::uint32_t list, std::uint64_t coordinate) const noexcept;
    /// The span of a list that holds its `index`-th element; index < total().
    std::uint32_t find_element(std::uint32_t list, std::uint64_t index) const noexcept;
    /// Whether a list is regular: `axis.count` equal blocks at equal distances with the same list below them, which
    /// `list` becomes.
    bool regular(std::uint32_t& list, Axis& axis) const noexcept;
};

/// The tree of an irregular selection.
inline SpanTree tree_of(const Selection& selection) noexcept { return {selection.spans(), selection.span_root()}; }

}  // namespace h5mote
