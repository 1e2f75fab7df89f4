#include <h5mote/dataspace.hpp>

#include "checked.hpp"
#include "gathered_selection.hpp"

namespace h5mote {
namespace {

// Product of the numbers that `number(d)` gives for d < rank. A zero makes it zero, whatever the others are.
template <typename Number>
Status product(std::size_t rank, Number number, std::uint64_t& result) noexcept {
    std::uint64_t count = 1;
    bool fits = true;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t factor = number(d);
        if (factor == 0) {
            result = 0;
            return Status::ok;
        }
        fits = fits && checked_multiply(count, factor, count);
    }
    result = count;
    return fits ? Status::ok : Status::overflow;
}

// Whether one dimension of a hyperslab lies within `size`.
bool fits(const Axis& axis, std::uint64_t size) noexcept {
    std::uint64_t reach = 0;
    return (axis.count == 1 || axis.stride >= axis.block) && checked_multiply(axis.count - 1, axis.stride, reach) &&
           checked_add(reach, axis.block, reach) && within(axis.start, reach, size);
}

}  // namespace

Status Dataspace::element_count(std::uint64_t& count) const noexcept {
    if (!valid_) {
        return Status::invalid_argument;
    }
    count = 0;
    return class_ == DataspaceClass::null ? Status::ok
                                          : product(
                                                rank_, [this](std::size_t d) { return dims_[d]; }, count);
}

Status Dataspace::set_extent(Span<const std::uint64_t> dims) noexcept {
    if (!valid_ || class_ != DataspaceClass::simple || dims.size() != rank_) {
        return Status::invalid_argument;
    }
    for (std::size_t d = 0; d < rank_; ++d) {
        if (dims[d] == kUnlimited || dims[d] > max_dims_[d]) {
            return Status::invalid_argument;
        }
    }
    for (std::size_t d = 0; d < rank_; ++d) {
        dims_[d] = dims[d];
    }
    return Status::ok;
}

bool Dataspace::operator==(const Dataspace& other) const noexcept {
    bool same = class_ == other.class_ && rank_ == other.rank_ && valid_ == other.valid_;
    for (std::size_t d = 0; d < rank_ && same; ++d) {
        same = dims_[d] == other.dims_[d] && max_dims_[d] == other.max_dims_[d];
    }
    return same;
}

Status Selection::validate_slab(const Dataspace& space) const noexcept {
    const std::size_t rank = space.rank();
    const Hyperslab& slab = hyperslab_;
    if (slab.count.size() != rank || (!slab.stride.empty() && slab.stride.size() != rank) ||
        (!slab.block.empty() && slab.block.size() != rank)) {
        return Status::invalid_argument;
    }
    bool empty = false;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
        Axis axis = numbers_of(slab, d);
        if (axis.stride == 0) {
            return Status::invalid_argument;
        }
        if (axis.count == 0 || axis.block == 0) {
            empty = true;
        } else {
            inside = inside && move(axis.start, d) && fits(axis, space.dims()[d]);
        }
    }
    // A hyperslab that selects nothing has nothing outside of the extent, wherever it starts.
    return empty || inside ? Status::ok : Status::invalid_argument;
}

bool Selection::move(std::uint64_t& coordinate, std::size_t d) const noexcept {
    if (d >= offset_.size()) {
        return true;
    }
    const bool down = offset_[d] < 0;
    const std::uint64_t before = coordinate;
    coordinate += offset(d);
    return down ? coordinate < before : coordinate >= before;
}

Status Selection::validate(const Dataspace& space) const noexcept {
    if (!space.valid()) {
        return Status::invalid_argument;
    }
    if (type_ == SelectionType::all || type_ == SelectionType::none) {
        return Status::ok;
    }
    if (rank_ != space.rank() || rank_ == 0 || (!offset_.empty() && offset_.size() != rank_)) {
        return Status::invalid_argument;
    }
    if (gathered_ == nullptr) {
        return validate_slab(space);
    }
    return gathered_->inside(*this, space) ? Status::ok : Status::invalid_argument;
}

Status Selection::element_count(const Dataspace& space, std::uint64_t& count) const noexcept {
    H5MOTE_TRY(validate(space));
    count = 0;
    if (type_ == SelectionType::all) {
        return space.element_count(count);
    }
    if (type_ == SelectionType::none) {
        return Status::ok;
    }
    if (gathered_ != nullptr) {
        count = gathered_->count(*this);
        return Status::ok;
    }
    return product(
        space.rank(), [&](std::size_t d) { return slab_axis(*this, d).selected(); }, count);
}

Status Selection::bounds(const Dataspace& space, std::uint64_t* low, std::uint64_t* high) const noexcept {
    H5MOTE_TRY(validate(space));
    bool empty = type_ == SelectionType::none || space.space_class() == DataspaceClass::null ||
                 (type_ == SelectionType::points && point_count() == 0);
    for (std::size_t d = 0; d < space.rank() && !empty; ++d) {
        if (type_ == SelectionType::points) {
            low[d] = high[d] = point_list()[d] + offset(d);
            for (std::size_t i = d; i < point_list().size(); i += rank_) {
                const std::uint64_t coordinate = point_list()[i] + offset(d);
                low[d] = coordinate < low[d] ? coordinate : low[d];
                high[d] = coordinate > high[d] ? coordinate : high[d];
            }
        } else if (spans_ != nullptr) {
            low[d] = spans_[d].low + offset(d);
            high[d] = spans_[d].high + offset(d);
        } else {
            const Axis axis = axis_of(*this, space, d);
            empty = axis.selected() == 0;
            low[d] = axis.start;
            high[d] = empty ? 0 : axis.coordinate_of(axis.selected() - 1);
        }
    }
    return empty ? Status::not_found : Status::ok;
}

}  // namespace h5mote
