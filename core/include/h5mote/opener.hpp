// H5F_prefix_open_file - how the library reaches files beside the one it was given.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/status.hpp>

#include <cstdint>
#include <string_view>

namespace h5mote {

/// What names another file. Each has its own rules of where the file is looked for.
enum class OpenPurpose : std::uint8_t {
    external_link,   ///< the file that an external link leads into (H5L_TYPE_EXTERNAL)
    external_data,   ///< raw data of a dataset, bytes without HDF5 structure (H5D external file list)
    virtual_source,  ///< a source of a virtual dataset (H5D_VIRTUAL)
    mount,           ///< a file to mount (H5Fmount)
};

/// Opens the files that a file names: implemented by whoever knows what a name means there (a directory, an archive, a
/// table in flash). Its memory is its own; it outlives every file opened with it. A FileAccess without one leaves such
/// names unfollowed: they are listed, what lies behind them is `unsupported`.
class DriverOpener {
public:
    /// Opens the file `name`, spelt as it stands in the file that `parent` drives (no terminating zero; not "" nor "."
    /// for the file itself, which its reader handles). Relative names are meant as seen from that file. `parent` is the
    /// driver of the main file or one that open() gave out. Files are opened for reading.
    ///
    /// `driver` stays valid until close(); what is open already is given out again and counted, also the main file's
    /// own driver. not_found: no such file, or, except for external_data, none that is HDF5. out_of_memory, io_error,
    /// busy (too many are open at once; closing one helps). The name is data from a file: nothing in it is trusted.
    virtual Status open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept = 0;
    /// Ends one open(). A driver closes with its last.
    virtual void close(Driver& driver) noexcept = 0;

protected:
    DriverOpener() = default;
    DriverOpener(const DriverOpener&) = delete;
    DriverOpener& operator=(const DriverOpener&) = delete;
    ~DriverOpener() = default;
};

}  // namespace h5mote
