// Random numbers that are the same on every machine, and the exceptions that end a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace differential {

using Blob = std::vector<std::byte>;
using Sizes = std::vector<std::uint64_t>;

/// Thrown where the two libraries, or a library and the model, do not agree. The text before the first colon is the
/// kind of difference: when a failing run is shrunk, it has to fail with the same kind.
struct Difference {
    std::string text;
};

[[noreturn]] inline void differ(const std::string& text) { throw Difference{text}; }

/// Thrown when a known fault of libhdf5 has made its file useless. The run then ends without a difference.
struct Spoiled {};

/// The generator splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// 0 to `end` - 1; 0 when `end` is 0.
    std::uint64_t below(std::uint64_t end) noexcept { return end == 0 ? 0 : next() % end; }
    /// `low` to `high`, both included.
    std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept { return low + next() % (high - low + 1); }
    /// True once in `n` times.
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
    template <typename T>
    T pick(std::initializer_list<T> values) noexcept {
        return values.begin()[below(values.size())];
    }
    /// 0 to `most`; small numbers are more frequent than numbers near `most`.
    std::uint64_t small(std::uint64_t most) noexcept { return below(1 + below(1 + below(most + 1))); }

private:
    std::uint64_t state_;
};

}  // namespace differential
