// H5F - files: creating, opening, making durable, closing.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/file_access.hpp>
#include <h5mote/group.hpp>
#include <h5mote/library.hpp>

namespace h5mote {

/// A handle of an open file. The library and the driver are borrowed and outlive every handle of the file.
class File {
public:
    File() noexcept = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&& other) noexcept : file_(other.file_) { other.file_ = nullptr; }
    File& operator=(File&& other) noexcept;
    /// Closes; an error can only go to the port's log.
    ~File();

    /// A new, empty file in place of whatever the storage held; durable when it returns. invalid_argument, read_only,
    /// no_space, io_error, out_of_memory.
    static Result<File> create(Library& library, Driver& driver, const FileAccess& access = {},
                               const FileCreate& create = {}) noexcept;
    /// An existing file. not_found: the storage is empty. not_hdf5, corrupt_file (also: shorter than it says),
    /// unsupported (what it needs and this library lacks), io_error, out_of_memory. Nothing is written.
    static Result<File> open(Library& library, Driver& driver, const FileAccess& access = {}) noexcept;
    /// Opens what is there, or creates it when the storage is empty or holds only the zeros of a creation that a power
    /// cut ended. Anything else that is not HDF5 is left alone: not_hdf5.
    static Result<File> open_or_create(Library& library, Driver& driver, const FileAccess& access = {},
                                       const FileCreate& create = {}) noexcept;

    Group root() noexcept;
    /// Makes durable all that was changed through any handle of this file: when it returns ok, it is still there after
    /// a power cut at any later instant. After an error nothing that was flushed before is lost, and the call can be
    /// repeated. An append costs two syncs of the driver, others up to four.
    Status flush() noexcept;
    /// Flushes, gives space held in advance back and ends every handle of this file. Also after an error all memory is
    /// released and the storage holds what the last successful flush() left.
    Status close() noexcept;
    bool valid() const noexcept;

private:
    explicit File(FileState& file) noexcept : file_(&file) {}
    FileState* file_ = nullptr;
};

}  // namespace h5mote
