#include "random.hpp"

#include <cstring>

namespace h5mote_test {

std::uint64_t hash_of(h5mote::ConstBytes bytes, std::uint64_t seed) noexcept {
    std::uint64_t hash = seed * 0x9e3779b97f4a7c15U + bytes.size();
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdU;
        hash ^= hash >> 32;
    }
    for (; i < bytes.size(); ++i) {
        hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0xff51afd7ed558ccdU;
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
