// For programs that run under valgrind, which reports no errors as long as a Walk exists: see poison.hpp.
#pragma once

#include <valgrind/memcheck.h>

#include <cstddef>

#define H5MOTE_READS_POISONED

namespace h5mote::poison {

inline void forbid(void* memory, std::size_t size) noexcept { VALGRIND_MAKE_MEM_NOACCESS(memory, size); }
inline void allow(void* memory, std::size_t size) noexcept { VALGRIND_MAKE_MEM_UNDEFINED(memory, size); }

class Walk {
public:
    Walk() noexcept { VALGRIND_DISABLE_ERROR_REPORTING; }
    ~Walk() { VALGRIND_ENABLE_ERROR_REPORTING; }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
};

}  // namespace h5mote::poison
