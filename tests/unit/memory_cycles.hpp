// A library in an arena of exactly the size that the published formulas give, for tests that repeat one cycle.
#pragma once

#include "storage_bench.hpp"

#include <h5mote/limits.hpp>

namespace h5mote_test {

constexpr unsigned kCycles = 10000;

// The arena has exactly `kSize` bytes, so that a formula that is one byte short makes the test fail.
template <std::size_t kSize>
class Exact {
public:
    Exact() noexcept : arena({memory_, kSize}), library(arena, port, bench_filters()) {
        library.set_free_list_limits(kBenchLists);
    }
    h5mote::Arena arena;
    h5mote::NullPort port;
    h5mote::Library library;

private:
    alignas(8) std::byte memory_[kSize];
};

}  // namespace h5mote_test
