// H5FS - putting any number of free sections in order with a fixed amount of memory.
#pragma once

#include <h5mote/address.hpp>

#include <cstddef>

namespace h5mote {

struct NumberPair {
    Address first;
    Address second;

    bool operator<(const NumberPair& other) const noexcept {
        return first != other.first ? first < other.first : second < other.second;
    }
};

/// The next few of a sequence of pairs of numbers in their order. The caller offers the whole sequence, in whatever
/// order it comes, once for every few.
class NextPairs {
public:
    /// Begins a new pass. The pairs of the pass before, and all that come before them, are left out from now on.
    void begin_pass() noexcept {
        if (count_ != 0) {
            last_ = pairs_[count_ - 1];
            any_ = true;
        }
        count_ = 0;
    }
    void offer(const NumberPair& pair) noexcept;

    /// What the pass has found, in order. Fewer than kMost: there are no more.
    std::size_t count() const noexcept { return count_; }
    const NumberPair& operator[](std::size_t i) const noexcept { return pairs_[i]; }

    static constexpr std::size_t kMost = 16;

private:
    NumberPair pairs_[kMost];
    NumberPair last_{0, 0};
    std::size_t count_ = 0;
    bool any_ = false;
};

}  // namespace h5mote
