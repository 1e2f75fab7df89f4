// H5F_prefix_open_file - other files by their names in a file system, looked for where libhdf5 looks for them.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/opener.hpp>
#include <h5mote/vfd/posix.hpp>

#include <string_view>

#if H5MOTE_OTHER_FILES

namespace h5mote {

/// Where to look besides; empty: nowhere. Borrowed texts.
struct PosixPrefixes {
    std::string_view external_link;   ///< H5Pset_elink_prefix
    std::string_view external_data;   ///< H5Pset_efile_prefix; may begin with "${ORIGIN}"
    std::string_view virtual_source;  ///< H5Pset_virtual_prefix; may begin with "${ORIGIN}"
};

/// Opens files as libhdf5 does. "${ORIGIN}" is the directory of the file that holds the name.
///
/// External links, mounts and virtual sources: an absolute name as it is, and, when there is no such HDF5 file, only
/// its last part from here on; in the directories that HDF5_EXT_PREFIX (virtual sources: HDF5_VDS_PREFIX) lists with
/// colons; under the prefix above; in the directory of the file that holds the name; from the working directory; in the
/// directory of what that file's path, when it is a symbolic link, leads to. The first that has the signature of HDF5
/// is taken.
///
/// External raw data: an absolute name as it is; else under HDF5_EXTFILE_PREFIX or, if that is not set, the prefix
/// above; without either from the working directory.
///
/// Boards have no environment, no working directory and no links: these steps are left out or do nothing.
///
/// A file takes about 100 bytes and its path from the allocator; while one is looked for, twice the longest path.
class PosixOpener final : public DriverOpener {
public:
    /// All is borrowed: the allocator, the driver of the main file and the path it was opened with.
    PosixOpener(Allocator& allocator, Driver& main, const char* main_path, const PosixPrefixes& prefixes = {}) noexcept
        : allocator_(allocator), main_(main), main_path_(main_path), prefixes_(prefixes) {}
    /// Closes everything.
    ~PosixOpener();

    Status open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept override;
    void close(Driver& driver) noexcept override;
    /// Path of a driver that is open, empty for others.
    std::string_view path_of(const Driver& driver) const noexcept;

private:
    struct OpenFile;
    struct Search;

    Status search(Search& search, OpenPurpose purpose) noexcept;
    Status search_data(Search& search) noexcept;
    Status attempt(Search& search, std::string_view directory, std::string_view below, std::string_view name) noexcept;
    Status give(const char* path, bool structured, Driver*& driver) noexcept;
    void destroy(OpenFile* file) noexcept;

    Allocator& allocator_;
    Driver& main_;
    const char* main_path_;
    PosixPrefixes prefixes_;
    OpenFile* files_ = nullptr;
};

}  // namespace h5mote

#endif
