#include "span_tree.hpp"

namespace h5mote {

std::uint32_t SpanTree::find(std::uint32_t list, std::uint64_t coordinate) const noexcept {
    std::uint32_t low = begin(list);
    std::uint32_t high = end(list);
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (nodes[middle].high < coordinate) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

std::uint32_t SpanTree::find_element(std::uint32_t list, std::uint64_t index) const noexcept {
    std::uint32_t low = begin(list);
    std::uint32_t high = end(list);
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (nodes[middle].before <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool SpanTree::regular(std::uint32_t& list, Axis& axis) const noexcept {
    const SpanNode* const spans = nodes + begin(list);
    axis = {spans[0].low, 1, count(list), spans[0].size()};
    if (axis.count > 1) {
        axis.stride = spans[1].low - spans[0].low;
    }
    for (std::uint32_t i = 1; i < axis.count; ++i) {
        if (spans[i].low - spans[i - 1].low != axis.stride || spans[i].size() != axis.block ||
            spans[i].down != spans[0].down) {
            return false;
        }
    }
    list = spans[0].down;
    return true;
}

}  // namespace h5mote
