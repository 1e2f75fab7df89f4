// Random selections. What they select is worked out here, element by element: libhdf5 1.10 is wrong about some.
#pragma once

#include "libhdf5.hpp"

#include <h5mote/selection_set.hpp>

namespace differential {

struct Slab {
    Sizes start, stride, count, block;
};

/// A selection as a list of what it was made of.
class Pick {
public:
    enum class Kind { all, none, slab, points, set };

    /// Of an extent of `dims`, none of them 0 unless nothing can be selected. `repeat`: points may stand there twice.
    static Pick random(Random& random, const Sizes& dims, bool repeat);
    /// `count` elements of an extent of one dimension, in order: a slab or points.
    static Pick random_line(Random& random, std::uint64_t size, std::uint64_t count);

    Kind kind() const noexcept { return kind_; }
    /// The elements in the order in which they are transferred: row-major numbers in an extent of `dims`.
    Sizes elements(const Sizes& dims) const;
    /// As h5mote has it; `set` holds what a combination needs.
    h5mote::Selection view(h5mote::SelectionSet& set, const h5mote::Dataspace& space) const;
    std::string text() const;

private:
    static Slab random_slab(Random& random, const Sizes& dims);

    Kind kind_ = Kind::all;
    Slab slab_;
    Sizes points_;  // coordinates
    std::size_t rank_ = 0;
    std::vector<std::pair<h5mote::SelectionOp, Slab>> steps_;
};

/// A dataspace of libhdf5 in which `elements` of an extent are selected, in their order.
Id select_elements(const Sizes& dims, const Sizes& elements);

std::uint64_t volume(const Sizes& dims) noexcept;
std::string text_of(const Sizes& numbers);

}  // namespace differential
