// H5P - how a file is created and accessed: plain structs with defaults in place of property lists.
#pragma once

#include <h5mote/attributes_create.hpp>
#include <h5mote/btree_k.hpp>
#include <h5mote/config.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// A generation of the file format: that of a release of libhdf5 (H5F_libver_t).
enum class FormatVersion : std::uint8_t {
    standard,  ///< what this library writes unless it is asked: the structures of 1.10, found through a superblock of
               ///< version 2
    earliest,  ///< the oldest version of each structure: superblock 0, symbol tables. HDF5 1.6 and later read them
    v18,
    v110,
    v112,
    v114,
    v200,
    latest = v200
};

/// How a file uses its space (H5F_fspace_strategy_t).
enum class SpaceStrategy : std::uint8_t {
    managers,     ///< free space is found again, for blocks of any size (H5F_FSPACE_STRATEGY_FSM_AGGR)
    pages,        ///< the same in pages of FileCreate::page_size: what is smaller than a page lies within one, metadata
                  ///< and raw data in different ones; what is larger begins with a page (H5F_FSPACE_STRATEGY_PAGE)
    aggregation,  ///< space that was released is used again only at the end of the file
                  ///< (H5F_FSPACE_STRATEGY_AGGR)
    none          ///< the same, without FileAccess::metadata_block_size and small_data_block_size
                  ///< (H5F_FSPACE_STRATEGY_NONE)
};

/// Takes the place of FileCreate::user_block in builds without H5MOTE_ALL_FORMATS.
struct NoUserBlock {
    constexpr operator std::uint64_t() const noexcept { return 0; }
};

/// Messages of object headers of which a file keeps equal ones only once (H5O_SHMESG_*_FLAG).
struct SharedKinds {
    static constexpr std::uint16_t dataspace = 1U << 1;
    static constexpr std::uint16_t datatype = 1U << 3;
    static constexpr std::uint16_t fill_value = 1U << 5;
    static constexpr std::uint16_t filter_pipeline = 1U << 11;
    static constexpr std::uint16_t attribute = 1U << 12;
};

/// An index of shared messages (H5Pset_shared_mesg_index).
struct SharedIndexCreate {
    std::uint16_t kinds = 0;         ///< of SharedKinds; each belongs to one index at most
    std::uint32_t least_size = 250;  ///< bytes: smaller messages are not shared
};

/// The indexes of shared messages of a file: none, or up to eight (H5Pset_shared_mesg_nindexes).
struct SharedMessageCreate {
    Span<const SharedIndexCreate> indexes;  ///< borrowed until the file is created
    std::uint16_t list_max = 50;            ///< an index with more messages is a B-tree; at most 5000
    std::uint16_t btree_min = 40;           ///< one with fewer is a list again; at most list_max + 1

    constexpr bool empty() const noexcept { return indexes.empty(); }
};
/// Takes its place in builds without H5MOTE_ALL_FORMATS.
struct NoSharedMessages {
    static constexpr bool empty() noexcept { return true; }
};

/// Fixed when a file is created (H5Pcreate(H5P_FILE_CREATE)).
struct FileCreate {
    /// Bytes of a file address: 4 or 8. With 4 the file, with its user block, can grow to at most 4 GiB (the limit of
    /// FAT32, too; no_space from there on), but its metadata, and the memory for them, take up to half as much. Any
    /// HDF5 library reads either, but for references of the first generation, on which libhdf5 does not agree with
    /// itself: in files with addresses of four bytes they have 4 bytes (8 for regions) here, as in libhdf5 1.12 and
    /// newer; libhdf5 1.10 and older expect 8 and 12, and do not read them. Dimension scales consist of such
    /// references.
    ///
    /// With 4 the index of a dataset with one unlimited dimension has room for as many unfiltered chunks as 4 GiB hold,
    /// and is smaller for it. A chunk further out, in a dataset whose chunks are not stored one after the other, has no
    /// place there: writing it is no_space, and libhdf5 loses it when it closes such a dataset.
    std::uint8_t sizeof_addr = 8;
    /// Superblock version: 2, or 3 on request. Only libhdf5 1.10 and newer read version 3, and they refuse a version 3
    /// file that is marked as open for writing; h5mote never marks one.
    std::uint8_t superblock_version = 2;
    /// The root group keeps the order in which links were created.
    bool track_link_order = false;
    /// How the root group keeps its attributes.
    AttributesOrDefault attributes{};
    /// Bytes before the superblock that belong to the program (H5Pset_userblock): 0, or a power of two from 512 on
    /// that fits in an address (otherwise invalid_argument). The library leaves what the storage has there as it is,
    /// but for signatures of HDF5 files, by which readers would find another file; they become zeros. The program
    /// writes there through the driver. Builds without H5MOTE_ALL_FORMATS make no user block, and compile nothing that
    /// asks for one.
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, std::uint64_t, NoUserBlock> user_block{};
    /// How the file uses its space (H5Pset_file_space_strategy), for every program that ever writes it. A file in which
    /// all four values are the defaults says nothing about it, and is as libhdf5 makes them by default. Anything else
    /// needs formats::free_space, and a strategy other than `managers` H5MOTE_ALL_FORMATS as well: `unsupported`
    /// (Feature::free_space).
    SpaceStrategy file_space = SpaceStrategy::managers;
    /// The file records, when it is closed, which of its space is free, so that the next opening uses it again. The
    /// record is taken out of the file before the first of that space is used, so that a power cut leaves none that is
    /// wrong; what a cut loses, File::reclaim() finds. So does it what a full storage has no room to record: the file
    /// says then that its record is not complete. In a file with pages that record needs room at the end of the file.
    /// On a storage whose atomic unit has less than 256 bytes the first change after an opening moves the record's
    /// header to the end of the file: no_space when the storage is full, also of unlink(), so that such a file must not
    /// fill it.
    /// Only strategies `managers` and `pages` have a record (otherwise invalid_argument).
    bool persist_free_space = false;
    /// Bytes: smaller free sections are not recorded. They are lost when the file is closed, until File::reclaim() or
    /// FileAccess::reclaim finds them; where there are some, each opening with the latter looks for them.
    std::uint64_t free_space_threshold = 1;
    /// Bytes of a page for strategy `pages`: 512 to 1 GiB (otherwise invalid_argument).
    std::uint64_t page_size = 4096;
    /// Messages that the file shares. Datasets that are created use shared dataspaces, datatypes, fill values and
    /// filter pipelines, and objects shared attributes, but those of variable length, with references or with a
    /// committed datatype. As in libhdf5, an attribute that was too small to be shared stays alone when it is renamed.
    /// Sharing saves space only where the same long message (a datatype with many members, say) stands in many objects,
    /// and makes creating one several times as slow. Needs formats::shared_message_changes and what that goes together
    /// with: `unsupported` (Feature::shared_message).
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, SharedMessageCreate, NoSharedMessages> shared_messages{};
    /// How large the nodes of symbol tables and version 1 B-trees are, which files of the earliest versions have
    /// (FileAccess::low). Small nodes serve small groups, and large ones make fewer of them. A node of a group's B-tree
    /// has 32 + 32 * group_internal bytes, one of its symbols 8 + 80 * group_leaf, and one of chunks of rank r
    /// 40 + 8 * r + 2 * chunk * (24 + 8 * r); FileAccess::metadata_cache must have room for them. invalid_argument: a
    /// number is 0 or more than 32767, or `chunk` is 1, with which libhdf5 loses every dataset of some 30 chunks. A
    /// superblock of version 2 or 3 keeps the three numbers in its extension if they differ from the defaults, which
    /// takes formats::superblock_extension (otherwise `unsupported`).
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, BTreeK, NoBTreeK> btree_k{};
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
    /// What is added to the file gets the version that libhdf5 gives it with these bounds (H5Pset_libver_bounds): the
    /// oldest version that can express it, but no older one than `low` has. What would need a newer version than `high`
    /// has is `unsupported` (Feature::format_version), and refused before anything is changed. What the file has
    /// already stays as it is, whatever `high` is. Writing with anything but the defaults needs formats::versions, and
    /// with `earliest` formats::symbol_table_changes and chunk_btree1 for groups and chunks. Without H5MOTE_ALL_FORMATS
    /// only the defaults are supported. invalid_argument: `high` is `earliest`, `standard`, or older than `low`.
    ///
    /// Newer than v18 are: superblock 3, records of free space and file space strategies, layout version 4, which all
    /// datasets have with the lower bounds `standard` and v110 to v114 (so that `standard` makes none under v18),
    /// virtual datasets, unfiltered edge chunks, and regular hyperslabs that are unlimited or exceed 32 bits: v110;
    /// revised references, points and irregular hyperslabs that exceed 32 bits: v112; complex numbers: v200. Where
    /// releases of libhdf5 differ, the bound is taken at its name: libhdf5 2.0 gives datasets without chunks layout
    /// version 3 with all bounds, those before it version 4 with v110 to v114.
    FormatVersion low = FormatVersion::standard;
    FormatVersion high = FormatVersion::latest;
    /// Whether an object may be changed whose header cannot be switched from old to new by writes that each lie within
    /// one sector. About four in a hundred of the object headers that other libraries made begin so near the end of a
    /// sector that no single write can. Programs with formats::any_placement, as all are that name no parts (but for
    /// profile logger), move these headers by several such writes, except for three in a thousand at most, many of them
    /// of committed datatypes. false: changing an object that is left is refused before anything is written,
    /// `unsupported` with Feature::ordered_writing; through a JournalDriver it is safe and allowed. true: the change is
    /// made all the same, and a power cut within that one write can lose the object. In profile logger the same goes
    /// for one in seven headers of the chunk indexes (extensible arrays) that other libraries made; the other profiles
    /// copy such an index, with its first change, to a place where one write suffices.
    bool torn_headers = false;
    /// What closing does while handles of objects are open. The default is strong, libhdf5's is weak: a firmware that
    /// closes its file before the power goes wants the file closed, whatever handle it forgot.
    CloseDegree close_degree = CloseDegree::strong;
    /// Whether opening takes Driver::lock(), exclusively for writing (H5Pset_file_locking). false is for file systems
    /// that cannot lock and return an error instead, as some network file systems do; the program then has to make sure
    /// that nobody else writes.
    bool file_locking = true;
    /// Bytes of the metadata cache: the blocks in it and its records of them (about 40 bytes each on 32-bit machines).
    /// At least 1024, and with `low = earliest` 1088, or more if FileCreate::btree_k makes the root group's B-tree
    /// larger: creating a file with less is over_budget. Chunked datasets with `low` v18 or earliest take 600 bytes and
    /// a node of their chunk index, as FileCreate::btree_k says: 3000 in one dimension or two. Attributes take room for
    /// two header blocks as large as they are, of which one leads to the other: 2200 where they have 1000 bytes. A
    /// block that is larger than the cache is over_budget; with H5MOTE_ALL_FORMATS such blocks are still read, part by
    /// part, and the blocks of fixed and extensible arrays are changed as well.
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
    /// Blocks of at least `alignment_threshold` bytes begin at multiples of `alignment` bytes (H5Pset_alignment). In
    /// strategy `pages` the pages decide instead. An alignment other than 1 needs H5MOTE_ALL_FORMATS (otherwise
    /// `unsupported`, Feature::free_space); 0 is invalid_argument.
    std::uint64_t alignment = 1;
    std::uint64_t alignment_threshold = 1;
    /// Bytes by which the file grows at least when metadata, or raw data of less than that, need room
    /// (H5Pset_meta_block_size, H5Pset_small_data_block_size). What is left over serves for more of the same kind, and
    /// is free when the file is closed. 0: the file grows by what is needed. Other values need H5MOTE_ALL_FORMATS
    /// (otherwise `unsupported`, Feature::free_space).
    std::uint64_t metadata_block_size = 0;
    std::uint64_t small_data_block_size = 0;
    /// Opening the file for writing finds space that is lost, as File::reclaim() does, unless the file says that it was
    /// closed and all free space is recorded: only a file with FileCreate::persist_free_space says so, and only if no
    /// object with values in the global heap was deleted. In a file that is damaged, or in which something is not
    /// understood, nothing is found, and the file opens all the same; the error trail tells what it was. Needs
    /// formats::reclaim or formats::reclaim_any (otherwise `unsupported`, Feature::reclaim). Not in other files that
    /// this one leads to.
    bool reclaim = false;
    /// Bytes of memory for the table of used space, in that search and in File::reclaim(), while they run: two
    /// addresses for each run of used bytes. Less memory means more walks over the file's metadata. On top come the
    /// addresses of all objects, at most three addresses an object with formats::reclaim and 72 bytes with
    /// formats::reclaim_any, and what opening one dataset takes.
    std::size_t reclaim_memory = 1024;
};

}  // namespace h5mote
