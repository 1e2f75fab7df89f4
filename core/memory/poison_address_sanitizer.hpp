// For builds with AddressSanitizer, which lets marked functions read forbidden bytes: see poison.hpp.
#pragma once

#include <sanitizer/asan_interface.h>

#include <cstddef>

#define H5MOTE_READS_POISONED __attribute__((no_sanitize("address")))

namespace h5mote::poison {

inline void forbid(void* memory, std::size_t size) noexcept { __asan_poison_memory_region(memory, size); }
inline void allow(void* memory, std::size_t size) noexcept { __asan_unpoison_memory_region(memory, size); }

// Its functions are empty; without them compilers would warn of a variable that is not used.
class Walk {
public:
    Walk() noexcept {}
    ~Walk() {}
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
};

}  // namespace h5mote::poison
