// Random numbers of a seed, the same on every machine, and hashes that tell images apart.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote_test {

/// A hash by which images are told apart.
std::uint64_t hash_of(h5mote::ConstBytes bytes, std::uint64_t seed) noexcept;

class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t next() noexcept;
    /// 0 to count - 1.
    std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(next() % count); }
    /// True in one of `count` cases on average.
    bool one_in(std::size_t count) noexcept { return below(count) == 0; }
    /// One of a list of values.
    template <typename T, std::size_t N>
    T of(const T (&values)[N]) noexcept {
        return values[below(N)];
    }

private:
    std::uint64_t state_;
};

}  // namespace h5mote_test
