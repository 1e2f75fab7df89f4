// Hosts: positioned reads and writes, 64-bit offsets also on 32-bit machines.
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): the C library's name.
#define _FILE_OFFSET_BITS 64

#include "system.hpp"

#if H5MOTE_POSIX_HOST

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace h5mote::posix {
namespace {

static_assert(sizeof(off_t) == 8, "files beyond 2 GiB");

// A new name is durable once its directory is. A file system that cannot sync a directory says so by one of four codes.
Status sync_directory_of(const char* path) noexcept {
    constexpr std::size_t kLongestPath = 4096;  // Linux accepts none that is longer
    char directory[kLongestPath] = ".";
    const char* const slash = std::strrchr(path, '/');
    if (slash != nullptr) {
        // "/name" lies in "/".
        const std::size_t length = slash == path ? 1 : static_cast<std::size_t>(slash - path);
        if (length >= kLongestPath) {
            return Status::invalid_argument;
        }
        std::memcpy(directory, path, length);
        directory[length] = '\0';
    }
    const int fd = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return Status::ok;  // a directory that may be searched and written but not read
    }
    const bool failed = ::fsync(fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOSYS && errno != EOPNOTSUPP;
    (void)::close(fd);
    return failed ? Status::io_error : Status::ok;
}

}  // namespace

int open(const char* path, unsigned how) noexcept {
    // Without O_NONBLOCK a name that turns out to be a pipe would wait for its other end.
    const int flags = ((how & kReadWrite) != 0 ? O_RDWR : O_RDONLY | O_NONBLOCK) |
                      ((how & kCreateNew) != 0 ? O_CREAT | O_EXCL : 0) | O_CLOEXEC;
    int fd = -1;
    do {
        fd = ::open(path, flags, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

int close(int fd) noexcept { return ::close(fd); }

long read_at(int fd, std::uint64_t address, std::byte* to, std::size_t size) noexcept {
    return ::pread(fd, to, size, static_cast<off_t>(address));
}

long write_at(int fd, std::uint64_t address, const std::byte* from, std::size_t size) noexcept {
    return ::pwrite(fd, from, size, static_cast<off_t>(address));
}

int sync(int fd) noexcept {
#ifdef F_FULLFSYNC
    return ::fcntl(fd, F_FULLFSYNC);
#else
    return ::fdatasync(fd);
#endif
}

int set_length(int fd, std::uint64_t size) noexcept { return ::ftruncate(fd, static_cast<off_t>(size)); }

std::int64_t end(int fd) noexcept { return ::lseek(fd, 0, SEEK_END); }

Status accept(int fd, const char* path, bool created) noexcept {
    struct stat about;
    if (::fstat(fd, &about) != 0) {
        return Status::io_error;
    }
    if (S_ISDIR(about.st_mode)) {
        return Status::invalid_argument;
    }
    return created ? sync_directory_of(path) : Status::ok;
}

// Empties the file under a lock: O_TRUNC would also empty one that somebody else has locked.
Status empty(int fd) noexcept {
    Status status = lock(fd, true);
    if (status == Status::ok) {
        status = set_length(fd, 0) == 0 ? Status::ok : Status::io_error;
        (void)unlock(fd);
    }
    return status;
}

Status lock(int fd, bool exclusive) noexcept {
    while (::flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
        switch (errno) {
            case EINTR:
                break;
            case EWOULDBLOCK:
                return Status::busy;
            case ENOSYS:
            case ENOLCK:
            case EOPNOTSUPP:
                return Status::ok;
            default:
                return Status::io_error;
        }
    }
    return Status::ok;
}

Status unlock(int fd) noexcept {
    (void)::flock(fd, LOCK_UN);
    return Status::ok;
}

void identify(int fd, StorageId& id) noexcept {
    struct stat about;
    if (fd >= 0 && ::fstat(fd, &about) == 0) {
        id = {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino)};
    }
}

std::string_view environment(const char* name) noexcept {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool resolve(const char* path, char* to, std::size_t size) noexcept {
    struct stat about;
    if (size < PATH_MAX || ::lstat(path, &about) != 0 || !S_ISLNK(about.st_mode)) {
        return false;
    }
    return ::realpath(path, to) != nullptr;
}

}  // namespace h5mote::posix

#endif
