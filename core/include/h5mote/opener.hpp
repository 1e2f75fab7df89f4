// H5F_prefix_open_file - how the library reaches files other than the one that it was given.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/status.hpp>

#include <cstdint>
#include <string_view>

namespace h5mote {

/// What kind of name leads to another file. Each kind has its own rules for where the file is looked for.
enum class OpenPurpose : std::uint8_t {
    external_link,   ///< the file that an external link leads into (H5L_TYPE_EXTERNAL)
    external_data,   ///< raw data of a dataset, bytes without HDF5 structure (H5D external file list)
    virtual_source,  ///< a source of a virtual dataset (H5D_VIRTUAL)
    mount,           ///< a file to mount (H5Fmount)
};

/// Opens the files that a file names. A program implements it that knows what a name means: something in a directory,
/// an archive, a table in flash. It manages its own memory, and must outlive every file opened with it. A file whose
/// FileAccess has no opener does not follow such names: they are listed, but the object or data behind them is
/// `unsupported`.
class DriverOpener {
public:
    /// Opens the file `name`, which is spelt as in the file that `parent` drives (no terminating zero; "" and ".",
    /// which stand for that file itself, are never passed). Relative names are meant as seen from that file. `parent`
    /// is the driver of the main file, or one that open() gave out. Files are opened for reading.
    ///
    /// `driver` stays valid until close(). A file that is open already, also the main file, is given out again and
    /// counted. not_found: there is no such file or, except for external_data, it is not HDF5. out_of_memory, io_error,
    /// busy (too many files are open at once; closing one helps). The name comes from a file and may be anything: do
    /// not trust it.
    virtual Status open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept = 0;
    /// The same, but for changing what is in the file, or with external_data also for making it. read_only: it cannot
    /// be changed, which is what the default says. A file that can be changed asks for this first wherever an external
    /// link leads, and for open() if it gets an error.
    virtual Status open_to_write(const Driver& /*parent*/, std::string_view /*name*/, OpenPurpose /*purpose*/,
                                 Driver*& /*driver*/) noexcept {
        return Status::read_only;
    }
    /// Ends one open() or open_to_write(). A driver closes with the last close().
    virtual void close(Driver& driver) noexcept = 0;

protected:
    DriverOpener() = default;
    DriverOpener(const DriverOpener&) = delete;
    DriverOpener& operator=(const DriverOpener&) = delete;
    ~DriverOpener() = default;
};

}  // namespace h5mote
