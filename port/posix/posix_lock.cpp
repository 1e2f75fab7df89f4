// The lock of PosixPort, for hosts only: boards have no POSIX threads.
#include <h5mote/port/posix.hpp>

#if defined(__unix__) || defined(__APPLE__)

namespace h5mote {

// None of the calls can fail: the mutex is sound, recursive and unlocked by the thread that locked it.
PosixPort::PosixPort() noexcept {
    pthread_mutexattr_t recursive;
    (void)::pthread_mutexattr_init(&recursive);
    (void)::pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)::pthread_mutex_init(&mutex_, &recursive);
    (void)::pthread_mutexattr_destroy(&recursive);
}

PosixPort::~PosixPort() { (void)::pthread_mutex_destroy(&mutex_); }

void PosixPort::lock() noexcept { (void)::pthread_mutex_lock(&mutex_); }

void PosixPort::unlock() noexcept { (void)::pthread_mutex_unlock(&mutex_); }

}  // namespace h5mote

#endif
