// Calls of the system that fail on demand in the program of the unit tests: driver_posix_host_test.cpp has the
// functions that take their place.
#pragma once

#include <cerrno>

// Which calls of the C library the driver makes is known here, and one argument of a system call holds an offset.
#if defined(__LP64__) && defined(__GLIBC__)
#define H5MOTE_TEST_SYSTEM_CALLS 1
#else
#define H5MOTE_TEST_SYSTEM_CALLS 0
#endif

namespace h5mote_test {

enum class Call : unsigned char { none, open, status, lock, seek, read, write, length, sync, directory_sync, close };

/// The next calls of one kind fail.
struct SystemFault {
    Call call = Call::none;
    int error = 0;  // 0: the call returns 0, as a write() does that finds no room on some systems
    unsigned times = 1;
    unsigned after = 0;  // calls that are answered before
};
inline SystemFault system_fault;

inline bool system_fails(Call call) {
    if (system_fault.call != call || system_fault.times == 0) {
        return false;
    }
    if (system_fault.after > 0) {
        --system_fault.after;
        return false;
    }
    --system_fault.times;
    errno = system_fault.error;
    return true;
}

}  // namespace h5mote_test
