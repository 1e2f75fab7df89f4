// Boards: a C library over a handful of system calls, without positioned reads and often without fsync() and
// ftruncate().
#include "system.hpp"

#if !H5MOTE_POSIX_HOST

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

// Weak references: used only if the program has these functions.
extern "C" {
int fsync(int fd) __attribute__((weak));
int ftruncate(int fd, off_t length) __attribute__((weak));
}

namespace h5mote::posix {
namespace {

bool seek(int fd, std::uint64_t address) noexcept {
    return ::lseek(fd, static_cast<off_t>(address), SEEK_SET) == static_cast<off_t>(address);
}

}  // namespace

int open(const char* path, unsigned how) noexcept {
    const int flags = ((how & kReadWrite) != 0 ? O_RDWR : O_RDONLY) | ((how & kTruncate) != 0 ? O_TRUNC : 0) |
                      ((how & kCreateNew) != 0 ? O_CREAT | O_EXCL : 0);
    return ::open(path, flags, 0666);
}

int close(int fd) noexcept { return ::close(fd); }

long read_at(int fd, std::uint64_t address, std::byte* to, std::size_t size) noexcept {
    return seek(fd, address) ? static_cast<long>(::read(fd, to, size)) : -1;
}

long write_at(int fd, std::uint64_t address, const std::byte* from, std::size_t size) noexcept {
    return seek(fd, address) ? static_cast<long>(::write(fd, from, size)) : -1;
}

int sync(int fd) noexcept {
    if (&::fsync == nullptr || ::fsync(fd) == 0 || errno == ENOSYS) {
        return 0;
    }
    return -1;
}

int set_length(int fd, std::uint64_t size) noexcept {
    if (&::ftruncate == nullptr) {
        errno = ENOSYS;
        return -1;
    }
    return ::ftruncate(fd, static_cast<off_t>(size));
}

std::int64_t end(int fd) noexcept { return ::lseek(fd, 0, SEEK_END); }

Status accept(int /*fd*/, const char* /*path*/, bool /*created*/) noexcept { return Status::ok; }

Status empty(int /*fd*/) noexcept { return Status::ok; }  // open() did it

Status lock(int /*fd*/, bool /*exclusive*/) noexcept { return Status::ok; }

Status unlock(int /*fd*/) noexcept { return Status::ok; }

void identify(int /*fd*/, StorageId& /*id*/) noexcept {}

std::string_view environment(const char* /*name*/) noexcept { return {}; }

bool resolve(const char* /*path*/, char* /*to*/, std::size_t /*size*/) noexcept { return false; }

}  // namespace h5mote::posix

#endif
