// How closely the sweeps of unit tests look that take seconds.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace h5mote_test {

/// Of how many points of a sweep (bytes that are damaged, calls that fail, cuts) a test tries one: all of them, or as
/// H5MOTE_SWEEP_ONE_IN says. It is set where the same points are all tried in another build as well: in emulators, and
/// in the second run of each sanitizer. Boards, which have no such variable, try one in seven.
inline std::size_t sweep_step() {
#ifdef H5MOTE_BARE_TESTS
    return 7;
#else
    static const char* const text = std::getenv("H5MOTE_SWEEP_ONE_IN");
    static const std::size_t step = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
    return step == 0 ? 1 : step;
#endif
}

}  // namespace h5mote_test
