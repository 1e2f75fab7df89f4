#include "random_play.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace h5mote_test {

namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

void play_at_random(const char* name, const std::function<std::string(std::uint64_t seed, Totals& totals)>& run,
                    std::uint64_t machines, std::uint64_t floor) {
    // Set in builds that are not Release (those with sanitizers), which are slower.
    const bool sampled = std::getenv("H5MOTE_POWERCUT_ONE_IN") != nullptr;
    const bool losses = std::getenv("H5MOTE_EXPECT_LOSSES") != nullptr;
    const bool timed = std::getenv("H5MOTE_RANDOM_SECONDS") != nullptr;
    const std::uint64_t first = number("H5MOTE_RANDOM_SEED", 1);
    const std::chrono::seconds time(number("H5MOTE_RANDOM_SECONDS", 0));
    const std::uint64_t last = first + (sampled ? machines / 10 : machines);
    const auto begun = std::chrono::steady_clock::now();
    Totals totals;
    unsigned failures = 0;
    std::uint64_t seed = first;
    for (; timed ? std::chrono::steady_clock::now() - begun < time : seed < last; ++seed) {
        const std::string wrong = run(seed, totals);
        if (!wrong.empty()) {
            ++failures;
            if (losses) {
                std::printf("H5MOTE_RANDOM_SEED=%llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
            } else {
                ADD_FAILURE() << "H5MOTE_RANDOM_SEED=" << seed << ": " << wrong;
            }
        }
        if (failures == (losses ? 1 : 20)) {
            break;
        }
    }
    std::printf("%s: seeds from %llu on, %llu machines, %llu calls, %llu cuts, %llu kept writes, %llu refused\n", name,
                static_cast<unsigned long long>(first), static_cast<unsigned long long>(totals.machines),
                static_cast<unsigned long long>(totals.calls), static_cast<unsigned long long>(totals.cuts),
                static_cast<unsigned long long>(totals.kept), static_cast<unsigned long long>(totals.refused));
    if (losses) {
        EXPECT_GT(failures, 0U);
    } else if (!sampled && !timed && failures == 0) {
        EXPECT_GE(totals.cuts, floor);
    }
}

}  // namespace h5mote_test
