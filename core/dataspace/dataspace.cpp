#include <h5mote/dataspace.hpp>

#include "axis.hpp"
#include "checked.hpp"

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

std::uint64_t at_or_one(Span<const std::uint64_t> numbers, std::size_t d) noexcept {
    return numbers.empty() ? 1 : numbers[d];
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

Status Selection::validate(const Dataspace& space) const noexcept {
    if (!space.valid()) {
        return Status::invalid_argument;
    }
    if (type_ != SelectionType::hyperslabs) {
        return Status::ok;
    }
    const std::size_t rank = space.rank();
    const Hyperslab& slab = hyperslab_;
    if (rank == 0 || slab.start.size() != rank || slab.count.size() != rank ||
        (!slab.stride.empty() && slab.stride.size() != rank) || (!slab.block.empty() && slab.block.size() != rank)) {
        return Status::invalid_argument;
    }
    bool empty = false;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
        const Axis axis{slab.start[d], at_or_one(slab.stride, d), slab.count[d], at_or_one(slab.block, d)};
        if (axis.stride == 0) {
            return Status::invalid_argument;
        }
        if (axis.count == 0 || axis.block == 0) {
            empty = true;
        } else {
            inside = inside && fits(axis, space.dims()[d]);
        }
    }
    // Where nothing is selected, nothing lies outside.
    return empty || inside ? Status::ok : Status::invalid_argument;
}

Status Selection::element_count(const Dataspace& space, std::uint64_t& count) const noexcept {
    H5MOTE_TRY(validate(space));
    if (type_ == SelectionType::all) {
        return space.element_count(count);
    }
    count = 0;
    return type_ == SelectionType::none
               ? Status::ok
               : product(
                     space.rank(), [&](std::size_t d) { return axis_of(*this, space, d).selected(); }, count);
}

}  // namespace h5mote
