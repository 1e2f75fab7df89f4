// What the random tests of single drivers share: numbers that a seed repeats, and the loop around their machines.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace h5mote_test {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t next() { return engine_(); }
    /// 0 if `limit` is.
    template <typename Number>
    std::uint32_t below(Number limit) {
        return limit == 0 ? 0 : static_cast<std::uint32_t>(engine_() % limit);
    }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    template <typename Each, std::size_t kCount>
    Each of(const Each (&values)[kCount]) {
        return values[below(kCount)];
    }

private:
    std::mt19937_64 engine_;
};

/// What was tried, over all machines.
struct Totals {
    std::uint64_t machines = 0;
    std::uint64_t calls = 0;
    std::uint64_t cuts = 0;
    std::uint64_t kept = 0;     ///< writes that room was kept for
    std::uint64_t refused = 0;  ///< writes that did not fit
};

/// Runs machines, one for each seed, until the time is over, and fails with the seeds of those in which something was
/// wrong. `run` returns what was. Fewer cuts than `floor` fail, too, but under sanitizers.
void play_at_random(const char* name, const std::function<std::string(std::uint64_t seed, Totals& totals)>& run,
                    std::uint64_t floor);

}  // namespace h5mote_test
