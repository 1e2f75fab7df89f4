// What the random comparisons are told on the command line.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace differential {

struct RunOptions {
    std::uint64_t seed = 1;  ///< of the first run; each later one has the next number
    std::uint64_t runs;
    unsigned least = 0;  ///< fewer comparisons than this are a failure
};

/// Reads "--seed N --count N --least N", in any order; without --count there are `runs` runs.
inline RunOptions run_options(int count, char** arguments, std::uint64_t runs) {
    RunOptions options{1, runs};
    for (int i = 1; i + 1 < count; i += 2) {
        const std::uint64_t number = std::strtoull(arguments[i + 1], nullptr, 10);
        if (std::strcmp(arguments[i], "--seed") == 0) {
            options.seed = number;
        } else if (std::strcmp(arguments[i], "--count") == 0) {
            options.runs = number;
        } else if (std::strcmp(arguments[i], "--least") == 0) {
            options.least = static_cast<unsigned>(number);
        }
    }
    return options;
}

}  // namespace differential
