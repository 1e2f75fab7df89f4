// Random selections. The selected elements are computed here one by one, because libhdf5 1.10 gets some selections
// wrong.
#pragma once

#include "libhdf5.hpp"

#include <h5mote/selection_set.hpp>

namespace differential {

struct Slab {
    Sizes start, stride, count, block;
};

/// A selection, stored as the hyperslabs or points that it was made from.
class Pick {
public:
    enum class Kind { all, none, slab, points, set };

    /// A random selection in an extent of `dims`; it selects all or nothing if a dimension is 0. `repeat`: the same
    /// point may be selected more than once.
    static Pick random(Random& random, const Sizes& dims, bool repeat);
    /// `count` different elements of a one-dimensional extent: a slab, or points in random order.
    static Pick random_line(Random& random, std::uint64_t size, std::uint64_t count);

    Kind kind() const noexcept { return kind_; }
    /// The selected elements, as row-major numbers in an extent of `dims`, in the order in which a read or write
    /// transfers them.
    Sizes elements(const Sizes& dims) const;
    /// The selection for h5mote; `set` holds the data of a combination of hyperslabs.
    h5mote::Selection view(h5mote::SelectionSet& set, const h5mote::Dataspace& space) const;
    /// The selection for libhdf5: all or one slab.
    Id select(const Sizes& dims) const;
    std::string text() const;

private:
    static Slab random_slab(Random& random, const Sizes& dims);

    Kind kind_ = Kind::all;
    Slab slab_;
    Sizes points_;  // coordinates, rank_ for each point
    std::size_t rank_ = 0;
    std::vector<std::pair<h5mote::SelectionOp, Slab>> steps_;
};

/// A dataspace of libhdf5 in which the given elements are selected, in the order of `elements`.
Id select_elements(const Sizes& dims, const Sizes& elements);

std::uint64_t volume(const Sizes& dims) noexcept;
std::string text_of(const Sizes& numbers);

}  // namespace differential
