// What the arena tells tools that watch memory: which of its bytes nobody may touch.
//
// AddressSanitizer and valgrind know malloc; an arena is one large block to them, inside which they see nothing. So the
// arena says of every byte whether it is in use. Without such a tool all of this is empty.
#pragma once

#include <h5mote/config.hpp>

#include <cstddef>

#if H5MOTE_POISON && H5MOTE_VALGRIND
#include <valgrind/memcheck.h>
#elif H5MOTE_POISON
#include <sanitizer/asan_interface.h>
#endif

// For the functions that keep their lists inside of free blocks, which everybody else must leave alone.
#if H5MOTE_POISON && !H5MOTE_VALGRIND
#define H5MOTE_READS_POISONED __attribute__((no_sanitize("address")))
#else
#define H5MOTE_READS_POISONED
#endif

namespace h5mote::poison {

/// Nobody may read or write [memory, memory + size) from now on.
inline void forbid([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#if H5MOTE_POISON && H5MOTE_VALGRIND
    VALGRIND_MAKE_MEM_NOACCESS(memory, size);
#elif H5MOTE_POISON
    __asan_poison_memory_region(memory, size);
#endif
}

/// It is in use; its contents are undefined. Bytes behind it that fill up its last 8 stay forbidden.
inline void allow([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#if H5MOTE_POISON && H5MOTE_VALGRIND
    VALGRIND_MAKE_MEM_UNDEFINED(memory, size);
#elif H5MOTE_POISON
    __asan_unpoison_memory_region(memory, size);
#endif
}

/// While it lives, valgrind reports nothing: the arena walks its free blocks. The sanitizer is told by
/// H5MOTE_READS_POISONED.
class Walk {
public:
    Walk() noexcept {
#if H5MOTE_POISON && H5MOTE_VALGRIND
        VALGRIND_DISABLE_ERROR_REPORTING;
#endif
    }
    ~Walk() {
#if H5MOTE_POISON && H5MOTE_VALGRIND
        VALGRIND_ENABLE_ERROR_REPORTING;
#endif
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
};

}  // namespace h5mote::poison
