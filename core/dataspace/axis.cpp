#include "axis.hpp"

#include "checked.hpp"

namespace h5mote {

Axis numbers_of(const Hyperslab& slab, std::size_t d) noexcept {
    return {slab.start[d], slab.stride.empty() ? 1 : slab.stride[d], slab.count[d],
            slab.block.empty() ? 1 : slab.block[d]};
}

std::uint64_t without_offset(const Selection& selection, std::size_t d, std::uint64_t coordinate) noexcept {
    const std::uint64_t moved = selection.offset(d);
    const std::uint64_t from = coordinate - moved;
    if (moved >> 63 != 0) {
        return from < coordinate ? kUnlimited : from;
    }
    return from > coordinate ? 0 : from;
}

Axis slab_axis(const Selection& selection, std::size_t d) noexcept {
    Axis axis = numbers_of(selection.hyperslab(), d);
    axis.start += selection.offset(d);
    if (axis.count == 0 || axis.block == 0) {
        return {0, 1, 0, 0};
    }
    if (axis.stride == axis.block) {
        axis.block *= axis.count;
        axis.count = 1;
    }
    return axis;
}

Axis axis_of(const Selection& selection, const Dataspace& space, std::size_t d) noexcept {
    if (selection.type() == SelectionType::all) {
        return {0, 1, 1, space.dims()[d]};
    }
    return selection.type() == SelectionType::none ? Axis{0, 1, 0, 0} : slab_axis(selection, d);
}

// In the functions below, the common cases of one block and of single elements avoid divisions where they can: a 64-bit
// division is a library call on a Cortex-M.
std::uint64_t Axis::index_of(std::uint64_t coordinate) const noexcept {
    if (coordinate <= start) {
        return 0;
    }
    const std::uint64_t beyond = coordinate - start;
    const std::uint64_t whole = count == 1 ? 0 : quotient_of(beyond, stride);
    if (whole >= count) {
        return selected();
    }
    const std::uint64_t rest = beyond - whole * stride;
    return whole * block + (rest < block ? rest : block);
}

std::uint64_t Axis::coordinate_of(std::uint64_t index) const noexcept {
    if (count == 1) {
        return start + index;
    }
    if (block == 1) {
        return start + index * stride;
    }
    return start + index + quotient_of(index, block) * (stride - block);
}

std::uint64_t Axis::contiguous_from(std::uint64_t index) const noexcept {
    if (count == 1) {
        return block - index;
    }
    return block == 1 ? 1 : block - remainder_of(index, block);
}

}  // namespace h5mote
