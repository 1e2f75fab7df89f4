// Shared by the random tests of single drivers: the loop over random machines, and the random numbers.
#pragma once

#include "random.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace h5mote_test {

/// Random numbers of 32 bits; unlike Random::below(), below(0) is allowed and returns 0.
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

/// Counts what was tried on all machines together.
struct Totals {
    std::uint64_t machines = 0;
    std::uint64_t calls = 0;
    std::uint64_t cuts = 0;
    std::uint64_t kept = 0;     ///< writes for which keep_room() had reserved room
    std::uint64_t refused = 0;  ///< writes that did not fit
};

/// Calls `run` for `machines` consecutive seeds; it returns what was wrong on the machine of a seed. Every such seed is
/// a failure, and so are fewer cuts than `floor`. With H5MOTE_POWERCUT_ONE_IN (sanitizers) a tenth of the machines run,
/// without a floor. H5MOTE_RANDOM_SECONDS says for how long machines run, without a floor; H5MOTE_RANDOM_SEED is the
/// first seed. With H5MOTE_EXPECT_LOSSES, for a build that leaves out a rule, something must be wrong on some machine.
void play_at_random(const char* name, const std::function<std::string(std::uint64_t seed, Totals& totals)>& run,
                    std::uint64_t machines, std::uint64_t floor);

}  // namespace h5mote_test
