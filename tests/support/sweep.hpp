// How many points the long sweeps of the unit tests try: the sweeps that take seconds.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace h5mote_test {

/// A test tries one in this many points of a sweep (bytes to damage, calls that fail, places of a power cut). 1, all
/// points, unless the environment variable H5MOTE_SWEEP_ONE_IN says otherwise. The variable is set in emulators and in
/// the second run of each sanitizer, because another build tries all of the same points. Boards have no environment and
/// try one in seven.
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
