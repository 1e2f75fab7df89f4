#include "random.hpp"

#include <cstring>

namespace h5mote_test {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    return hash ^ hash >> 32;
}

}  // namespace

std::uint64_t hash_of(h5mote::ConstBytes bytes, std::uint64_t seed) noexcept {
    // Four sums side by side: each step of one waits for the step before.
    constexpr std::size_t kLanes = 4;
    std::uint64_t lanes[kLanes] = {seed * 0x9e3779b97f4a7c15U + bytes.size(), 1, 2, 3};
    std::size_t i = 0;
    for (; i + sizeof lanes <= bytes.size(); i += sizeof lanes) {
        std::uint64_t words[kLanes];
        std::memcpy(words, bytes.data() + i, sizeof words);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = mixed(lanes[lane], words[lane]);
        }
    }
    std::uint64_t hash = mixed(mixed(mixed(lanes[0], lanes[1]), lanes[2]), lanes[3]);
    for (; i < bytes.size(); ++i) {
        hash = mixed(hash, static_cast<std::uint64_t>(bytes[i]));
    }
    return hash ^ hash >> 29;
}

std::uint64_t Random::next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

}  // namespace h5mote_test
