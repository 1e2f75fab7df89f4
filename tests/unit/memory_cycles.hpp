// What tests of memory go round with: an arena of exactly what the formula says.
#pragma once

#include "storage_bench.hpp"

#include <h5mote/limits.hpp>

namespace h5mote_test {

constexpr unsigned kCycles = 10000;

// What the arena has is what the formula says, to the byte.
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
