// H5FD - the system calls that PosixDriver needs, for hosts (system_host.cpp) and boards (system_board.cpp).
#pragma once

#include <h5mote/driver.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

// A compiler for a machine without operating system defines none of these.
#if defined(__unix__) || defined(__APPLE__)
#define H5MOTE_POSIX_HOST 1
#else
#define H5MOTE_POSIX_HOST 0
#endif

namespace h5mote::posix {

inline constexpr bool kHost = H5MOTE_POSIX_HOST != 0;
inline constexpr std::uint64_t kMostBytes = kHost ? 0x7fffffffffffffffU : 0x7fffffffU;  // boards: off_t is long
inline constexpr bool kGapsReadZero = kHost;

// How to open, one bit each beside kReadOnly.
inline constexpr unsigned kReadOnly = 0;
inline constexpr unsigned kReadWrite = 1;
inline constexpr unsigned kTruncate = 2;   // see empty()
inline constexpr unsigned kCreateNew = 4;  // fails if it exists

// As the POSIX calls: -1 and errno when they fail.
int open(const char* path, unsigned how) noexcept;
int close(int fd) noexcept;
long read_at(int fd, std::uint64_t address, std::byte* to, std::size_t size) noexcept;
long write_at(int fd, std::uint64_t address, const std::byte* from, std::size_t size) noexcept;
int sync(int fd) noexcept;
int set_length(int fd, std::uint64_t size) noexcept;  // ENOSYS: there is no such call
std::int64_t end(int fd) noexcept;

/// Refuses what cannot be a file; makes a file that was created durable in its directory.
Status accept(int fd, const char* path, bool created) noexcept;
/// Completes an open() with kTruncate: empties the file, if open() has not. busy: somebody has the file locked; it is
/// as it was then.
Status empty(int fd) noexcept;
Status lock(int fd, bool exclusive) noexcept;
Status unlock(int fd) noexcept;
/// Sets `id` if the system can tell files apart.
void identify(int fd, StorageId& id) noexcept;

/// A variable of the environment; empty when it is not set.
std::string_view environment(const char* name) noexcept;
/// Follows the symbolic link that `path` is; false when it is none, or the result does not fit.
bool resolve(const char* path, char* to, std::size_t size) noexcept;

}  // namespace h5mote::posix
