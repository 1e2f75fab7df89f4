// How many points the long sweeps of tests try: the sweeps that take seconds.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace h5mote_test {

/// The number in an environment variable that says of how many points a test tries one; 1, which is all of them, when
/// there is no such variable or no number in it.
inline std::size_t one_in(const char* variable) {
    const char* const text = std::getenv(variable);
    const std::size_t number = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
    return number == 0 ? 1 : number;
}

/// A test tries one in this many points of a sweep (bytes to damage, calls that fail, places of a power cut). 1, all
/// points, unless the environment variable H5MOTE_SWEEP_ONE_IN says otherwise. The variable is set in the quick run,
/// and in emulators and the second run of each sanitizer, because another build tries all of the same points. Boards
/// have no environment and try one in seven.
inline std::size_t sweep_step() {
#ifdef H5MOTE_BARE_TESTS
    return 7;
#else
    static const std::size_t step = one_in("H5MOTE_SWEEP_ONE_IN");
    return step;
#endif
}

}  // namespace h5mote_test
