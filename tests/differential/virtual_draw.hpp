// Random virtual datasets and their sources, and what is to be read of them.
#pragma once

#include "libhdf5.hpp"

#include <h5mote/dataset_info.hpp>

namespace differential {

/// What a selection takes in one dimension; count or block may be kUnlimited.
struct Steps {
    std::uint64_t start, stride, count, block;

    bool unlimited() const;
    /// Whether a coordinate is selected; `index` becomes its number among those that are.
    bool find(std::uint64_t coordinate, std::uint64_t& index) const;
    std::uint64_t coordinate(std::uint64_t index) const;
    /// Where the last of `count * block` coordinates ends.
    std::uint64_t reach() const { return coordinate(count * block - 1) + 1; }
};

struct Source {
    std::string file, dataset;
    std::int32_t base;  ///< value of the first element
    bool there;
    Sizes dims;
    hid_t type;

    /// Values depend on the coordinates only, so that they stay when the dataset becomes larger or smaller.
    std::int32_t value(const Sizes& at) const;
    /// Makes the dataset, or gives it the present dims and writes it anew; or removes it.
    void store(Random& random) const;
};

struct Mapping {
    enum class Kind { limited, endless, numbered } kind;
    bool whole;  ///< all of the source is selected, not `from`
    std::vector<Steps> from, to;
    std::string file, dataset;
    std::vector<Source> sources;

    /// Dims of a source of that number that hold all that is mapped, more or less.
    Sizes draw_dims(Random& random, std::size_t unlimited) const;
};

struct View {
    h5mote::VirtualView view;
    std::uint64_t gap;
};

/// Elements of a virtual dataset, in row-major order.
struct Expected {
    std::vector<std::int32_t> values;
    std::vector<bool> written;  ///< whether the element has a place in a source
    bool refused = false;       ///< a source that is mapped whole has too few elements
    bool beyond = false;        ///< elements are selected that lie beyond the extent of a source
    bool behind = false;        ///< sources are there behind so many missing ones that they do not count for the extent
};

struct VirtualDraw {
    Sizes dims;
    std::size_t unlimited = 0;  ///< the dimension that may be unlimited
    bool grows = false;         ///< whether it is
    std::vector<Mapping> mappings;

    explicit VirtualDraw(Random& random);
    /// Makes the file "main.h5" with the dataset "v", and all sources.
    void make(Random& random);
    /// Changes sources: some grow or shrink, appear or disappear.
    void change(Random& random);
    Expected expected(const Sizes& extent, const View& view) const;
    /// Whether sources are in the file of the virtual dataset.
    bool same_file() const;
    /// Whether libhdf5 stays within its own data if sources are smaller than what is mapped.
    bool regular() const;

private:
    void draw_mapping(Random& random, std::size_t number, bool single, std::uint64_t period, std::uint64_t& offset);
    void add_sources(Random& random, Mapping& mapping, std::size_t number);
};

inline constexpr std::int32_t kOwnFill = -7, kSourceFill = -3;

}  // namespace differential
