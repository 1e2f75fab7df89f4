// H5F_prefix_open_file - other files by their names in a file system, looked for where libhdf5 looks for them.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/opener.hpp>
#include <h5mote/vfd/posix.hpp>

#include <string_view>

namespace h5mote {

/// Further directories to look in; an empty text stands for none. The texts are borrowed.
struct PosixPrefixes {
    std::string_view external_link;   ///< H5Pset_elink_prefix
    std::string_view external_data;   ///< H5Pset_efile_prefix; may begin with "${ORIGIN}"
    std::string_view virtual_source;  ///< H5Pset_virtual_prefix; may begin with "${ORIGIN}"
};

/// Opens files where libhdf5 does. "${ORIGIN}" is the directory of the file that holds the name.
///
/// External links, mounts and virtual sources: an absolute name is first tried as it is; when there is no such HDF5
/// file, only its last part is used from here on. Then the name is looked for
///  - in the directories that HDF5_EXT_PREFIX lists with colons between them (HDF5_VDS_PREFIX for virtual sources)
///  - under the prefix above; for virtual sources, under all of HDF5_VDS_PREFIX instead if that is set
///  - in the directory of the file that holds the name
///  - from the working directory
///  - if the path of that file is a symbolic link, in the directory of the file that the link leads to.
/// The first file that has the signature of HDF5 is taken.
///
/// External raw data: an absolute name is used as it is. Another one is looked for under HDF5_EXTFILE_PREFIX, or under
/// the prefix above if that is not set; without either, from the working directory.
///
/// Boards have no environment, no working directory and no links: these steps are left out or do nothing.
///
/// An open file takes about 100 bytes and its path from the allocator. While a file is looked for, up to twice the
/// longest path is taken as well.
class PosixOpener final : public DriverOpener {
public:
    /// Everything is borrowed: the allocator, the driver of the main file and the path that it was opened with.
    PosixOpener(Allocator& allocator, Driver& main, const char* main_path, const PosixPrefixes& prefixes = {}) noexcept
        : allocator_(allocator), main_(main), main_path_(main_path), prefixes_(prefixes) {}
    /// Closes everything.
    ~PosixOpener();

    /// Allows open_to_write(), which returns read_only before: for raw data in other files, sources of virtual
    /// datasets, and what external links lead to. Think of it before you do: what is written, and made, has the name
    /// that the file says, and the file may come from anywhere.
    void allow_writing() noexcept { writes_ = true; }
    /// As open(), but for changing the file. External data that are not there are made.
    Status open_to_write(const Driver& parent, std::string_view name, OpenPurpose purpose,
                         Driver*& driver) noexcept override;

    Status open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept override;
    void close(Driver& driver) noexcept override;
    /// The path of a driver that is open; empty for any other driver.
    std::string_view path_of(const Driver& driver) const noexcept;

private:
    struct OpenFile;
    struct Search;

    Status search(Search& search, OpenPurpose purpose) noexcept;
    Status search_data(Search& search) noexcept;
    Status attempt(Search& search, std::string_view directory, std::string_view below, std::string_view name) noexcept;
    Status open_as(const Driver& parent, std::string_view name, OpenPurpose purpose, bool writing,
                   Driver*& driver) noexcept;
    Status give(const char* path, const Search& search, Driver*& driver) noexcept;
    void destroy(OpenFile* file) noexcept;

    Allocator& allocator_;
    Driver& main_;
    const char* main_path_;
    PosixPrefixes prefixes_;
    OpenFile* files_ = nullptr;
    bool writes_ = false;
};

}  // namespace h5mote
