// H5P - how a file is created and accessed: plain structs with defaults in place of property lists.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

class DriverOpener;
class Link;

/// Follows user-defined links (H5Lregister): implemented by the program that knows what they mean.
class LinkResolver {
public:
    /// Writes the path that the link stands for, seen from the group that has the link, to `path` and its length to
    /// `length`. unsupported: not known; invalid_argument: no room, `length` says how much is needed.
    virtual Status resolve(const Link& link, Span<char> path, std::size_t& length) noexcept = 0;

protected:
    LinkResolver() = default;
    LinkResolver(const LinkResolver&) = delete;
    LinkResolver& operator=(const LinkResolver&) = delete;
    ~LinkResolver() = default;
};

/// Fixed when a file is created (H5Pcreate(H5P_FILE_CREATE)).
struct FileCreate {
    /// Bytes of a file address: 4 or 8. With 4 a file is at most 4 GiB (as on FAT32), its metadata and the memory for
    /// it are up to half as large, and any HDF5 library reads it.
    std::uint8_t sizeof_addr = 8;
    /// Superblock version: 2, or 3 on request (libhdf5 1.10 and newer only, which then refuse a file that was not
    /// closed by a writer using the version 3 flags; h5mote never sets those).
    std::uint8_t superblock_version = 2;
    /// The root group keeps the order in which links were created.
    bool track_link_order = false;
};

/// What File::close(), or the end of the last File handle, does while other handles (groups, datasets, attributes,
/// iterators) of the file are open (H5F_close_degree_t).
enum class CloseDegree : std::uint8_t {
    weak,   ///< the file is flushed; it closes with the last of the other handles, whose error goes to the port's log
    semi,   ///< close() is busy and nothing is done; without close(), the last File handle's end is as with `weak`
    strong  ///< the file closes; calls through the other handles return invalid_handle from then on
};

/// How an open file uses memory, and what it allows others (H5Pcreate(H5P_FILE_ACCESS)).
struct FileAccess {
    bool read_only = false;
    /// Of the object headers that other libraries made, a few in a hundred begin so near the end of a sector that no
    /// single write switches them from old to new. false: a change of such an object is refused, `unsupported` with
    /// Feature::ordered_writing, before anything is written; through a JournalDriver it is safe. true: it is made all
    /// the same, and a power cut within that one write can lose the object. The same goes in profile logger for the
    /// headers of their chunk indexes (extensible arrays), one in seven; elsewhere the first change copies the index to
    /// a place where one write does.
    bool torn_headers = false;
    /// The default is strong, where libhdf5's is weak: a firmware that closes its file before the power goes wants the
    /// file closed, whatever handle it forgot.
    CloseDegree close_degree = CloseDegree::strong;
    /// Takes Driver::lock(), exclusively for writing (H5Pset_file_locking). Off: for file systems that cannot lock and
    /// say an error instead (some network file systems), where the program sees to it that nobody else writes.
    bool file_locking = true;
    /// Bytes for metadata blocks with their bookkeeping (about 40 each on 32-bit machines). 1024 or more; a larger
    /// block than that is over_budget.
    std::size_t metadata_cache = 2048;
    /// Bytes for chunk buffers, all datasets together. An unfiltered chunk that does not fit is accessed in place, a
    /// filtered one is over_budget. At least one chunk of the dataset that is appended to, for speed one of each.
    std::size_t chunk_cache = 16384;
#if H5MOTE_OTHER_FILES
    /// Opens the files that this one names; borrowed until the file is closed. nullptr: names of other files are listed
    /// but not followed.
    DriverOpener* opener = nullptr;
#endif
#if H5MOTE_ALL_FORMATS
    /// Opens a file that is shorter than it says: what is there can be read, the rest is corrupt_file. Read-only.
    bool allow_truncated = false;
    /// Follows user-defined links; borrowed until the file is closed. nullptr: they are listed but not followed.
    LinkResolver* link_resolver = nullptr;
#endif
};

}  // namespace h5mote
