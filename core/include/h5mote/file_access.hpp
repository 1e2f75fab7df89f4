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

/// Follows user-defined links (H5Lregister). A program that knows what such links mean implements it.
class LinkResolver {
public:
    /// Writes the path that the link leads to, as seen from the group that contains the link, to `path`, and its length
    /// to `length`. unsupported: the resolver does not know this link. invalid_argument: `path` is too short, and
    /// `length` says how much is needed.
    virtual Status resolve(const Link& link, Span<char> path, std::size_t& length) noexcept = 0;

protected:
    LinkResolver() = default;
    LinkResolver(const LinkResolver&) = delete;
    LinkResolver& operator=(const LinkResolver&) = delete;
    ~LinkResolver() = default;
};

/// Fixed when a file is created (H5Pcreate(H5P_FILE_CREATE)).
struct FileCreate {
    /// Bytes of a file address: 4 or 8. With 4 the file can grow to at most 4 GiB (the limit of FAT32, too), but its
    /// metadata, and the memory for them, take up to half as much. Any HDF5 library reads either.
    std::uint8_t sizeof_addr = 8;
    /// Superblock version: 2, or 3 on request. Only libhdf5 1.10 and newer read version 3, and they refuse a version 3
    /// file that is marked as open for writing; h5mote never marks one.
    std::uint8_t superblock_version = 2;
    /// The root group keeps the order in which links were created.
    bool track_link_order = false;
};

/// What File::close(), or the end of the last File handle, does while other handles of the file (groups, datasets,
/// attributes, iterators) are open (H5F_close_degree_t).
enum class CloseDegree : std::uint8_t {
    weak,  ///< the file is flushed; it closes when the last other handle ends, and an error of that goes to the port's
           ///< log
    semi,  ///< close() returns busy and does nothing; when the last File handle is destroyed instead, it acts as `weak`
    strong  ///< the file closes; calls through the other handles return invalid_handle from then on
};

/// How an open file uses memory, and what it allows others (H5Pcreate(H5P_FILE_ACCESS)).
struct FileAccess {
    bool read_only = false;
    /// Whether an object may be changed whose header cannot be switched from old to new by writes that each lie within
    /// one sector. About four in a hundred of the object headers that other libraries made begin so near the end of a
    /// sector that no single write can. Programs with formats::any_placement, as all are that name no parts (but for
    /// profile logger), move these headers by several such writes, except for about four in a thousand. false: changing
    /// an object that is left is refused before anything is written, `unsupported` with Feature::ordered_writing;
    /// through a JournalDriver it is safe and allowed. true: the change is made all the same, and a power cut within
    /// that one write can lose the object. In profile logger the same goes for one in seven headers of the chunk
    /// indexes (extensible arrays) that other libraries made; the other profiles copy such an index, with its first
    /// change, to a place where one write suffices.
    bool torn_headers = false;
    /// What closing does while handles of objects are open. The default is strong, libhdf5's is weak: a firmware that
    /// closes its file before the power goes wants the file closed, whatever handle it forgot.
    CloseDegree close_degree = CloseDegree::strong;
    /// Whether opening takes Driver::lock(), exclusively for writing (H5Pset_file_locking). false is for file systems
    /// that cannot lock and return an error instead, as some network file systems do; the program then has to make sure
    /// that nobody else writes.
    bool file_locking = true;
    /// Bytes of the metadata cache: the blocks in it and its records of them (about 40 bytes each on 32-bit machines).
    /// At least 1024. A block that is larger than the cache is over_budget; with H5MOTE_ALL_FORMATS such blocks are
    /// still read, part by part.
    std::size_t metadata_cache = 2048;
    /// Bytes of the chunk cache, which all datasets of the file share. An unfiltered chunk that does not fit is read
    /// and written in place, a filtered one is over_budget. The cache should hold at least one chunk of the dataset
    /// that is appended to, and for speed one chunk of each dataset.
    std::size_t chunk_cache = 16384;
    /// Opens the other files that this file names; borrowed until the file is closed. nullptr: names of other files are
    /// listed but not followed. Without H5MOTE_OTHER_FILES or H5MOTE_ALL_FORMATS opening a file with one is
    /// `unsupported`.
    DriverOpener* opener = nullptr;
    /// Follows user-defined links; borrowed until the file is closed. nullptr: they are listed but not followed.
    /// Without H5MOTE_ALL_FORMATS opening a file with one is `unsupported`.
    LinkResolver* link_resolver = nullptr;
    /// Permits to open a file that is shorter than it says, for reading only: what is there can be read, what is
    /// missing is corrupt_file. Without H5MOTE_ALL_FORMATS such a file is corrupt_file all the same.
    bool allow_truncated = false;
};

}  // namespace h5mote
