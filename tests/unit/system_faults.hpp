// Makes system calls of the POSIX driver fail on demand, in the program of the unit tests. The functions that replace
// those of the C library are in driver_posix_host_test.cpp.
#pragma once

#include <cerrno>

// Only here it is known which functions of the C library the driver calls, and that a system call takes a 64-bit
// offset.
#if defined(__LP64__) && defined(__GLIBC__)
#define H5MOTE_TEST_SYSTEM_CALLS 1
#else
#define H5MOTE_TEST_SYSTEM_CALLS 0
#endif

namespace h5mote_test {

enum class Call : unsigned char { none, open, status, lock, seek, read, write, length, sync, directory_sync, close };

/// Makes the next `times` calls of one kind fail, after `after` calls that succeed.
struct SystemFault {
    Call call = Call::none;
    int error = 0;  // errno; 0: the call returns 0, as write() does on some systems that find no room
    unsigned times = 1;
    unsigned after = 0;  // calls of this kind that succeed first
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
