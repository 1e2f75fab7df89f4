#include "next_pairs.hpp"

namespace h5mote {

void NextPairs::offer(const NumberPair& pair) noexcept {
    if ((any_ && !(last_ < pair)) || (count_ == kMost && !(pair < pairs_[kMost - 1]))) {
        return;
    }
    std::size_t at = count_ < kMost ? count_++ : kMost - 1;
    for (; at > 0 && pair < pairs_[at - 1]; --at) {
        pairs_[at] = pairs_[at - 1];
    }
    pairs_[at] = pair;
}

}  // namespace h5mote
