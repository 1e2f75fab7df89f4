// For builds without a memory checker: see poison.hpp.
#pragma once

#include <cstddef>

#define H5MOTE_READS_POISONED

namespace h5mote::poison {

inline void forbid(void* /*memory*/, std::size_t /*size*/) noexcept {}
inline void allow(void* /*memory*/, std::size_t /*size*/) noexcept {}

// Its functions are empty; without them compilers would warn of a variable that is not used.
class Walk {
public:
    Walk() noexcept {}
    ~Walk() {}
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
};

}  // namespace h5mote::poison
