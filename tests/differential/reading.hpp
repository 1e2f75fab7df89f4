// The case "reading": libhdf5 makes files of all kinds, and h5mote reads them with random budgets, selections and
// memory types.
#pragma once

#include "writing.hpp"

namespace differential {

std::vector<Step> random_reading_steps(std::uint64_t seed);
/// Throws Difference. `options.storage` is not used: the file is read from memory.
WritingCounts run_reading(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options);

}  // namespace differential
