#include "unlimited.hpp"

#include "axis.hpp"
#include "checked.hpp"
#include "selection_editor.hpp"

namespace h5mote {
namespace {

// The unlimited dimension with its numbers as they were given.
Axis endless_axis(const Selection& selection) noexcept {
    return numbers_of(selection.hyperslab(), static_cast<std::size_t>(unlimited_dimension(selection)));
}

// Whether everything from the start on is selected.
bool is_solid(const Axis& axis) noexcept { return axis.block == kUnlimited || axis.block == axis.stride; }

}  // namespace

std::uint64_t slice_elements(const Selection& selection) noexcept {
    std::uint64_t elements = 1;
    for (unsigned d = 0; d < selection.rank(); ++d) {
        if (!is_unlimited(selection.hyperslab(), d)) {
            elements *= slab_axis(selection.moved_by({}), d).selected();
        }
    }
    return elements;
}

std::uint64_t slices_below(const Selection& selection, std::uint64_t size) noexcept {
    const Axis axis = endless_axis(selection);
    if (size <= axis.start) {
        return 0;
    }
    return is_solid(axis) ? size - axis.start : axis.index_of(size);
}

std::uint64_t slices_shown(const Selection& selection, std::uint64_t size) noexcept {
    const Axis axis = endless_axis(selection);
    const bool first = size > axis.start && size - axis.start <= axis.stride;
    return first && !is_solid(axis) ? axis.block : slices_below(selection, size);
}

std::uint64_t clip_extent(const Selection& selection, std::uint64_t slices, bool trailing) noexcept {
    const Axis axis = endless_axis(selection);
    std::uint64_t extent = 0;
    if (slices == 0) {
        return trailing ? axis.start : 0;
    }
    if (is_solid(axis)) {
        return checked_add(axis.start, slices, extent) ? extent : kUnlimited;
    }
    // The extent ends behind the last slice in its block or, if that block is full and `trailing`, where the next one
    // begins.
    const std::uint64_t last = quotient_of(slices - 1, axis.block);
    const std::uint64_t in_block = slices - last * axis.block;
    bool fits = checked_multiply(last, axis.stride, extent) && checked_add(extent, axis.start, extent);
    fits = fits && checked_add(extent, trailing && in_block == axis.block ? axis.stride : in_block, extent);
    return fits ? extent : kUnlimited;
}

Status unlimited_block(const Selection& selection, std::uint64_t index, SelectionSet& block) noexcept {
    const int unlimited = unlimited_dimension(selection);
    const std::size_t r = selection.rank();
    if (unlimited < 0 || endless_axis(selection).count != kUnlimited) {
        return Status::invalid_argument;
    }
    SelectionSet made(SelectionEditor::context(block));
    SelectionSet checked(SelectionEditor::context(block));
    H5MOTE_TRY(SelectionEditor::copy(made, selection.moved_by({})));
    std::uint64_t* const numbers = SelectionEditor::numbers(made) + static_cast<std::size_t>(unlimited);
    std::uint64_t passed = 0;
    if (!checked_multiply(index, numbers[r], passed) || !checked_add(numbers[0], passed, numbers[0])) {
        return Status::overflow;
    }
    numbers[2 * r] = 1;
    const Status status = SelectionEditor::set_slab(checked, made.view().hyperslab());
    if (status != Status::ok) {
        return status == Status::invalid_argument ? Status::overflow : status;
    }
    SelectionEditor::adopt(block, checked);
    return Status::ok;
}

std::uint64_t first_incomplete_block(const Selection& selection, std::uint64_t size, bool& partial) noexcept {
    const Axis axis = endless_axis(selection);
    partial = false;
    if (size <= axis.start) {
        return 0;
    }
    const std::uint64_t room = size - axis.start;
    const std::uint64_t whole = room < axis.block ? 0 : quotient_of(room - axis.block, axis.stride) + 1;
    partial = whole <= quotient_of(room, axis.stride) && whole * axis.stride < room;
    return whole;
}

}  // namespace h5mote
