// What the random tests of single drivers share: the loop around their machines.
#pragma once

#include "random.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace h5mote_test {

/// Numbers of 32 bits, and of an empty range 0.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}
    std::uint64_t next() { return random_.next(); }
    std::uint32_t below(std::uint64_t count) {
        return count == 0 ? 0 : static_cast<std::uint32_t>(random_.below(static_cast<std::size_t>(count)));
    }
    bool one_in(std::uint32_t count) { return below(count) == 0; }
    template <typename Each, std::size_t kCount>
    Each of(const Each (&values)[kCount]) {
        return random_.of(values);
    }

private:
    Random random_;
};

/// What was tried, over all machines.
struct Totals {
    std::uint64_t machines = 0;
    std::uint64_t calls = 0;
    std::uint64_t cuts = 0;
    std::uint64_t kept = 0;     ///< writes that room was kept for
    std::uint64_t refused = 0;  ///< writes that did not fit
};

/// Runs so many machines, one for each seed, and fails with the seeds of those in which something was wrong. `run`
/// returns what was. Fewer cuts than `floor` fail, too. Under sanitizers a tenth of the machines run, without a floor;
/// H5MOTE_RANDOM_SECONDS says for how long they run instead, H5MOTE_RANDOM_SEED with which they begin. With
/// H5MOTE_EXPECT_LOSSES a machine in which nothing is wrong is the one that does not count: a rule was left out.
void play_at_random(const char* name, const std::function<std::string(std::uint64_t seed, Totals& totals)>& run,
                    std::uint64_t machines, std::uint64_t floor);

}  // namespace h5mote_test
