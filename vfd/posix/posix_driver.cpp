// H5FD - PosixDriver, as far as hosts and boards share it; the calls that differ are in system_host.cpp and
// system_board.cpp.
#include "system.hpp"

#include "checked.hpp"

#include <h5mote/vfd/posix.hpp>

#include <cerrno>

namespace h5mote {
namespace {

// One call moves at most this much, which every system accepts.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

Status from_errno(int error, bool writing) noexcept {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return Status::not_found;
        case EEXIST:
            return Status::already_exists;
        case EISDIR:
            return Status::invalid_argument;
        case EACCES:
        case EPERM:
        case EROFS:
        case ETXTBSY:
            return writing ? Status::read_only : Status::io_error;
        case ENOSPC:
        case EFBIG:
#ifdef EDQUOT
        case EDQUOT:
#endif
            return Status::no_space;
        default:
            return Status::io_error;
    }
}

}  // namespace

Status PosixDriver::failed(bool writing) noexcept {
    error_ = errno;
    return from_errno(error_, writing);
}

PosixDriver::~PosixDriver() { (void)give_up(); }

Status PosixDriver::open(const char* path, Mode mode) noexcept {
    H5MOTE_TRY(close());
    const bool writing = mode != Mode::read_only;
    // Existing files are opened without O_CREAT: with it newlib's semihosting would empty them.
    const unsigned how =
        (writing ? posix::kReadWrite : posix::kReadOnly) | (mode == Mode::truncate ? posix::kTruncate : 0);
    const bool may_create = mode == Mode::truncate || mode == Mode::open_or_create;
    int fd = mode == Mode::create ? -1 : posix::open(path, how);
    const bool create = fd < 0 && (mode == Mode::create || (may_create && errno == ENOENT));
    if (create) {
        fd = posix::open(path, posix::kReadWrite | posix::kCreateNew);
    }
    if (fd < 0) {
        return failed(writing);
    }
    fd_ = fd;
    writable_ = writing;
    unsynced_for_good_ = false;
    Status status = posix::accept(fd, path, create);
    error_ = status == Status::io_error ? errno : error_;
    if (status == Status::ok && mode == Mode::truncate) {
        status = posix::empty(fd);
    }
    if (status == Status::ok) {
        status = end_of_file(size_);
    }
    if (status != Status::ok) {
        (void)close();
    }
    return status;
}

Status PosixDriver::give_up() noexcept {
    forget_locks();
    return close();
}

Status PosixDriver::close() noexcept {
    if (fd_ < 0) {
        return Status::ok;
    }
    if (is_locked()) {
        return Status::busy;
    }
    const int fd = fd_;
    fd_ = -1;
    // A close() that was interrupted has closed the file all the same; a second call could close somebody else's file.
    return posix::close(fd) == 0 || errno == EINTR ? Status::ok : failed(true);
}

Capabilities PosixDriver::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.atomic_unit = 512;
    capabilities.writable = writable_;
    return capabilities;
}

Status PosixDriver::read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept {
    if (fd_ < 0) {
        return Status::invalid_handle;
    }
    if (!within(address, to.size(), posix::kMostBytes)) {
        return Status::io_error;
    }
    std::byte* at = to.data();
    for (std::size_t left = to.size(); left > 0;) {
        const long count = posix::read_at(fd_, address, at, left < kMostAtOnce ? left : kMostAtOnce);
        if (count > 0) {
            at += count;
            left -= static_cast<std::size_t>(count);
            address += static_cast<std::uint64_t>(count);
        } else if (count == 0) {
            return Status::io_error;  // the file ends here
        } else if (errno != EINTR) {
            error_ = errno;
            return Status::io_error;
        }
    }
    return Status::ok;
}

Status PosixDriver::refuse_write() const noexcept {
    return fd_ < 0 ? Status::invalid_handle : writable_ ? Status::ok : Status::read_only;
}

Status PosixDriver::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    H5MOTE_TRY(refuse_write());
    if (!within(address, from.size(), posix::kMostBytes)) {
        return Status::no_space;
    }
    const std::uint64_t old_size = size_;
    Status status = Status::ok;
    if (!posix::kGapsReadZero && address > old_size && !from.empty()) {
        status = fill_to(address);
    }
    if (status == Status::ok) {
        status = put(address, from);
    }
    if (status != Status::ok && size_ > old_size) {
        // Takes back what the failed write added at the end of the file. Where that fails, too, the longer file does no
        // harm.
        (void)set_length(old_size);
    }
    return status;
}

Status PosixDriver::put(std::uint64_t address, ConstBytes from) noexcept {
    const std::byte* at = from.data();
    for (std::size_t left = from.size(); left > 0;) {
        const long count = posix::write_at(fd_, address, at, left < kMostAtOnce ? left : kMostAtOnce);
        if (count > 0) {
            at += count;
            left -= static_cast<std::size_t>(count);
            address += static_cast<std::uint64_t>(count);
            size_ = address > size_ ? address : size_;
        } else if (count == 0) {
            return Status::no_space;
        } else if (errno != EINTR) {
            return failed(true);
        }
    }
    return Status::ok;
}

Status PosixDriver::fill_to(std::uint64_t size) noexcept {
    static constexpr std::byte kZeros[64] = {};
    while (size_ < size) {
        const std::uint64_t left = size - size_;
        H5MOTE_TRY(put(size_, {kZeros, left < sizeof kZeros ? static_cast<std::size_t>(left) : sizeof kZeros}));
    }
    return Status::ok;
}

Status PosixDriver::sync() noexcept {
    if (fd_ < 0) {
        return Status::invalid_handle;
    }
    while (!unsynced_for_good_ && posix::sync(fd_) != 0) {
        unsynced_for_good_ = errno != EINTR;
        if (unsynced_for_good_) {
            return failed(true);
        }
    }
    return unsynced_for_good_ ? Status::io_error : Status::ok;
}

Status PosixDriver::end_of_file(std::uint64_t& size) noexcept {
    if (fd_ < 0) {
        return Status::invalid_handle;
    }
    const std::int64_t end = posix::end(fd_);
    if (end < 0) {
        error_ = errno;
        return Status::io_error;
    }
    size = size_ = static_cast<std::uint64_t>(end);
    return Status::ok;
}

Status PosixDriver::truncate(std::uint64_t size) noexcept {
    H5MOTE_TRY(refuse_write());
    if (size > posix::kMostBytes) {
        return Status::no_space;
    }
    std::uint64_t old_size = 0;
    H5MOTE_TRY(end_of_file(old_size));
    if (size == old_size) {
        return Status::ok;
    }
    const Status status = set_length(size);
    if (status != Status::unsupported || size < old_size) {
        return status;
    }
    return fill_to(size);
}

// unsupported: this system cannot change the length of a file.
Status PosixDriver::set_length(std::uint64_t size) noexcept {
    while (posix::set_length(fd_, size) != 0) {
        if (errno == ENOSYS) {
            return Status::unsupported;
        }
        if (errno != EINTR) {
            return failed(true);
        }
    }
    size_ = size;
    return Status::ok;
}

Status PosixDriver::do_lock(bool exclusive) noexcept {
    return fd_ < 0 ? Status::invalid_handle : posix::lock(fd_, exclusive);
}

Status PosixDriver::do_unlock() noexcept { return fd_ < 0 ? Status::invalid_handle : posix::unlock(fd_); }

StorageId PosixDriver::storage_id() const noexcept {
    StorageId id = Driver::storage_id();
    posix::identify(fd_, id);
    return id;
}

}  // namespace h5mote
