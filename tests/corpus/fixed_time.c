/* A clock that stands still, so that files are the same whenever they are made: linked or preloaded. */
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

/* libhdf5 asks these for the times it stores. */
time_t time(time_t* to) {
    const time_t now = 1000000000;
    if (to != NULL) {
        *to = now;
    }
    return now;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
    (void)zone;
    to->tv_sec = 1000000000;
    to->tv_usec = 0;
    return 0;
}
