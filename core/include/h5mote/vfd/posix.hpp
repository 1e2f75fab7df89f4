// H5FD_sec2 - files of an operating system, or of a board whose C library has open, read, write and lseek.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>

namespace h5mote {

/// A file reached through POSIX calls. No stdio, no heap, no buffer: every write() becomes a call of the system.
///
/// On hosts files may exceed 2 GiB; sync() is fdatasync(); lock() is flock(), which excludes libhdf5 as well; a file
/// that open() creates is durable in its directory when open() returns.
///
/// On a board (a compiler target without operating system: newlib, picolibc) the same class needs only lseek(), read()
/// and write(), so that semihosting or any file system behind these calls will do:
///  - fsync() and ftruncate() are called when the program links them. Without fsync(), sync() relies on write() having
///    handed the bytes over, as semihosting does: they outlive a reset of the board.
///  - Without ftruncate(), growing writes zeros, and shrinking is `unsupported` and changes nothing. A gap behind the
///    end is always filled by writing zeros, since seeking past the end is not portable.
///  - Files of up to 2 GiB. lock() excludes users of this object only, and storage_id() tells this object only.
/// The bytes of the file are the same on both.
///
/// ftruncate() makes a file longer without taking room on the disk. So where a full disk would be told before anything
/// is written, because the file is extended first, it is told by the write that needs the room instead: flush() may
/// then return no_space for what a call before it has accepted. The order of the writes keeps what was flushed before.
class PosixDriver final : public Driver {
public:
    enum class Mode : std::uint8_t {
        read_only,
        read_write,      ///< not_found if there is no such file
        create,          ///< already_exists if there is one
        truncate,        ///< empties the file, or creates it
        open_or_create,  ///< keeps the file, or creates it
    };

    PosixDriver() noexcept = default;
    /// Closes the file, whoever has it locked: a File that is still open cannot be used any more.
    ~PosixDriver();

    /// Opens a file; a file that this driver had open is closed. not_found, already_exists, read_only (no permission to
    /// write), no_space, io_error, invalid_argument (a directory). busy: the file was to be emptied, but another
    /// program or driver has it locked; or a File is open on this driver (without FileAccess::file_locking the driver
    /// does not know that).
    Status open(const char* path, Mode mode) noexcept;
    /// Closes the file; ok when none was open. io_error: what was not yet synced may be lost. busy: a File is open on
    /// this driver, as with open().
    Status close() noexcept;
    bool is_open() const noexcept { return fd_ >= 0; }

    /// Each of the following functions that return a status returns invalid_handle when no file is open.
    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Once it has failed, it fails until the file is opened again: a system that could not write the bytes forgets
    /// them, and its next fsync() reports success.
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    /// errno of the last system call that failed, also of one in open().
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override;

private:
    friend class PosixFamily;
    friend class PosixParts;

    /// close() with the locks of whoever has them, for drivers of several files, which open these anew under a File.
    Status give_up() noexcept;
    /// An advisory lock on the whole file, the same as the HDF5 library's. busy: another PosixDriver of any program, or
    /// libhdf5, has it. Granted where the file system knows no locks.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;
    Status refuse_write() const noexcept;
    Status put(std::uint64_t address, ConstBytes from) noexcept;
    Status set_length(std::uint64_t size) noexcept;
    Status fill_to(std::uint64_t size) noexcept;

    Status failed(bool writing) noexcept;

    int fd_ = -1;
    int error_ = 0;
    bool writable_ = false;
    bool unsynced_for_good_ = false;
    std::uint64_t size_ = 0;  // end of file as last seen: a write that fails cuts the file to it
};

}  // namespace h5mote
