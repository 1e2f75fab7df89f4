// A model of a selection, element by element, that the iterators over selections are tested against.
#pragma once

#include <h5mote/dataspace.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote_test {

inline constexpr std::size_t kModelRank = H5MOTE_MAX_RANK < 4 ? H5MOTE_MAX_RANK : 4;
inline constexpr std::size_t kModelElements = 256;
inline constexpr std::uint16_t kNotSelected = 0xffff;

/// Pseudo-random numbers, the same on every machine.
class Random {
public:
    explicit Random(std::uint32_t seed) : state_(seed) {}
    /// Returns a number from 0 to limit - 1.
    std::uint32_t below(std::uint32_t limit) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_ % limit;
    }

private:
    std::uint32_t state_;
};

/// One random extent with one random selection.
struct Case {
    std::size_t rank = 1;
    std::uint64_t dims[kModelRank] = {};
    std::uint64_t start[kModelRank] = {}, stride[kModelRank] = {}, count[kModelRank] = {}, block[kModelRank] = {};
    bool whole = false;

    h5mote::Span<const std::uint64_t> view(const std::uint64_t* numbers) const { return {numbers, rank}; }
    h5mote::Dataspace space() const { return h5mote::Dataspace::simple(view(dims)); }
    h5mote::Selection selection() const {
        return whole ? h5mote::Selection::all()
                     : h5mote::Selection::hyperslab(view(start), view(count), view(stride), view(block));
    }

    void random_extent(Random& random, std::size_t rank_wanted) {
        rank = rank_wanted;
        const std::uint32_t largest[] = {200, 16, 6, 4};
        for (std::size_t d = 0; d < rank; ++d) {
            dims[d] = 1 + random.below(largest[rank - 1]);
        }
    }
    void random_selection(Random& random) {
        whole = random.below(12) == 0;
        for (std::size_t d = 0; d < rank; ++d) {
            random_axis(random, d);
        }
    }
    /// Whether the hyperslab contains coordinate `c` in dimension `d`.
    bool has(std::size_t d, std::uint64_t c) const {
        for (std::uint64_t i = 0; i < count[d]; ++i) {
            const std::uint64_t low = start[d] + i * stride[d];
            if (c >= low && c < low + block[d]) {
                return true;
            }
        }
        return false;
    }

private:
    void random_axis(Random& random, std::size_t d) {
        const auto size = static_cast<std::uint32_t>(dims[d]);
        const std::uint32_t kind = random.below(5);
        start[d] = kind == 0 ? 0 : random.below(size);
        const auto room = static_cast<std::uint32_t>(size - start[d]);
        block[d] = kind == 0 ? room : 1 + random.below(kind == 1 ? 1 : room);
        stride[d] = block[d] + (kind == 2 ? 0 : random.below(5));
        const auto most = static_cast<std::uint32_t>((room - block[d]) / stride[d] + 1);
        count[d] = 1 + random.below(most);
        if (random.below(60) == 0) {
            count[d] = 0;
        }
    }
};

/// For each element of the extent: its number among the selected elements, or kNotSelected.
class Model {
public:
    explicit Model(const Case& c) {
        size_ = 1;
        for (std::size_t d = 0; d < c.rank; ++d) {
            size_ *= static_cast<std::size_t>(c.dims[d]);
        }
        for (std::size_t i = 0; i < size_; ++i) {
            std::size_t rest = i;
            bool in = true;
            for (std::size_t d = c.rank; d-- > 0;) {
                const auto size = static_cast<std::size_t>(c.dims[d]);
                in = in && (c.whole || c.has(d, rest % size));
                rest /= size;
            }
            packed_[i] = in ? static_cast<std::uint16_t>(selected_++) : kNotSelected;
        }
    }
    std::size_t size() const { return size_; }
    std::size_t selected() const { return selected_; }
    std::uint16_t packed(std::size_t element) const { return packed_[element]; }

private:
    std::uint16_t packed_[kModelElements];
    std::size_t size_ = 0;
    std::size_t selected_ = 0;
};

}  // namespace h5mote_test
