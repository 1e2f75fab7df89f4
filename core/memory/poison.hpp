// Tells memory checkers which bytes nobody may touch: those of an arena that are free, and idle blocks on free lists.
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

// Marks the functions that read and write lists inside free blocks, which are forbidden to all other code.
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

/// [memory, memory + size) is in use from now on; its contents are undefined. The bytes behind it that round the block
/// up to a multiple of 8 stay forbidden.
inline void allow([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#if H5MOTE_POISON && H5MOTE_VALGRIND
    VALGRIND_MAKE_MEM_UNDEFINED(memory, size);
#elif H5MOTE_POISON
    __asan_unpoison_memory_region(memory, size);
#endif
}

/// As long as a Walk exists valgrind reports no errors, because the code under it walks lists inside free blocks. For
/// AddressSanitizer the functions are marked with H5MOTE_READS_POISONED instead.
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
