// H5F - files: creating, opening, making durable, closing.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/file_access.hpp>
#include <h5mote/group.hpp>
#include <h5mote/library.hpp>

namespace h5mote {

class Checker;

/// What a file says of itself as a whole: the contents of its superblock and superblock extension (H5F_info2_t,
/// H5Fget_create_plist).
struct FileInfo {
    std::uint8_t superblock_version = 0;
    std::uint8_t sizeof_addr = 8;
    std::uint8_t sizeof_size = 8;
    std::uint8_t flags = 0;        ///< file consistency flags
    std::uint64_t user_block = 0;  ///< bytes before the superblock
    std::uint64_t file_size = 0;   ///< bytes of the storage, user block included
    Address end_of_address = 0;    ///< recorded end, counted from the superblock
    Address superblock_size = 0;   ///< bytes, without driver information
    Address superblock_extension = kUndefinedAddress;
    std::uint64_t superblock_extension_size = 0;  ///< bytes of the extension's object header
    Address root = kUndefinedAddress;
    /// Versions that only superblocks of version 0 and 1 name.
    std::uint8_t free_space_version = 0;
    std::uint8_t root_entry_version = 0;
    std::uint8_t shared_header_version = 0;
    /// Half of the most entries that a node of the symbol table, of its B-tree and of a chunk B-tree holds
    /// (H5Pget_sym_k, H5Pget_istore_k).
    std::uint16_t symbol_leaf_k = 4;
    std::uint16_t symbol_internal_k = 16;
    std::uint16_t chunk_btree_k = 32;
    bool has_driver_info = false;
    char driver_name[9] = {};  ///< name of the driver that wrote the driver information, e.g. "NCSAmult"
    /// The table of shared object header messages (H5Pget_shared_mesg_nindexes).
    Address shared_message_table = kUndefinedAddress;
    std::uint8_t shared_message_indexes = 0;
    std::uint64_t shared_message_table_size = 0;  ///< bytes of the table
    StorageSize shared_message_storage;           ///< sizes of all indexes and heaps that the table names
    /// File space (H5Pget_file_space_strategy): 0 free-space managers and aggregators, 1 pages, 2 aggregators, 3 none.
    bool has_file_space_info = false;
    std::uint8_t file_space_version = 0;
    std::uint8_t file_space_strategy = 0;
    bool persists_free_space = false;
    std::uint64_t free_space_threshold = 1;
    std::uint64_t page_size = 4096;
    bool truncated = false;  ///< the file is shorter than it says, and was opened with FileAccess::allow_truncated
};

/// Free space that a file keeps track of from one opening to the next (H5Fget_freespace). Sizes in bytes.
struct FreeSpaceInfo {
    std::uint64_t bytes = 0;
    std::uint64_t sections = 0;
    std::uint64_t metadata = 0;  ///< bytes of the free-space managers themselves: headers and section lists
};

/// Receives the sections of free space one by one, sections of the same size together (H5Fget_free_sections).
class SectionVisitor {
public:
    /// `address`: counted from the superblock. A status other than ok ends the walk and is returned.
    virtual Status section(Address address, std::uint64_t size) noexcept = 0;

protected:
    SectionVisitor() = default;
    SectionVisitor(const SectionVisitor&) = delete;
    SectionVisitor& operator=(const SectionVisitor&) = delete;
    ~SectionVisitor() = default;
};

/// A storage is opened once per Library: to open it again, through the same driver or through another one that stands
/// for the same storage (Driver::same_storage), gives one more handle of the file that is open already. The memory and
/// the close degree of the first opening then stay as they are, and so does whether it can be written: through a handle
/// that was opened with FileAccess::read_only, too, if the first one was not. busy: the file is open for reading only
/// and the new handle is to write; or create() would replace a file that is open; or Driver::lock() says that another
/// program or another Library has the storage open, unless all of them only read.
///
/// When the last File handle ends, the file closes and with it every handle of its objects (CloseDegree::strong, the
/// default), or what FileAccess::close_degree says happens.
class File {
public:
    File() noexcept = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&& other) noexcept : file_(other.file_) { other.file_ = nullptr; }
    File& operator=(File&& other) noexcept;
    /// As close(), but an error can only go to the port's log.
    ~File() { end(); }

    /// Makes a new, empty file in place of whatever the storage held; durable when the call returns ok.
    /// invalid_argument, unsupported, over_budget (FileAccess::metadata_cache is too small), read_only, busy: the
    /// storage is as it was. no_space, io_error, out_of_memory: it may be empty.
    static Result<File> create(Library& library, Driver& driver, const FileAccess& access = {},
                               const FileCreate& create = {}) noexcept;
    /// Opens an existing file. Nothing is written. not_found: the storage is empty. not_hdf5. corrupt_file, also for a
    /// file that is shorter than it says. unsupported: the file needs something that this library lacks. io_error,
    /// out_of_memory, busy.
    static Result<File> open(Library& library, Driver& driver, const FileAccess& access = {}) noexcept;
    /// Opens what is there, or creates a file when the storage is empty or when its first bytes, where the superblock
    /// belongs, are all zero or all erased: a creation that a power cut ended leaves them so. Anything else that is not
    /// HDF5 is left alone: not_hdf5.
    static Result<File> open_or_create(Library& library, Driver& driver, const FileAccess& access = {},
                                       const FileCreate& create = {}) noexcept;

    Group root() noexcept;
    /// Makes everything durable that was changed through any handle of this file, and everything that was found in it
    /// when it was opened: once the call has returned ok, this is still there after a power cut at any later instant.
    /// After an error nothing that was flushed before is lost, and the call can be repeated. The files that were opened
    /// through links of this one, for objects in them that are open, are flushed before it.
    ///
    /// How often it calls sync() of the driver: once where a sync is a commit. Elsewhere twice after rows were
    /// appended, because the flush before prepared the place for them; up to four times after other changes, and for
    /// rows that the preparation does not cover: the first rows of a dataset, many more rows than came between the
    /// flushes before, and rows in chunks that pass filters or for which the chunk cache has no room.
    Status flush() noexcept;
    /// Ends this handle. The file itself is only flushed and stays open where another File handle of it is open, where
    /// it is mounted, or where its close degree is weak and other handles are open. Otherwise it closes: it is flushed,
    /// space that was held in advance is given back, and every handle of the file ends. The files that links led to are
    /// flushed as well; they close when no handle of an object in them is left.
    ///
    /// Rows that the destructor of a Dataset could not store are tried again; flush() and close() return the error
    /// until the rows are stored or the file is closed. The handle ends after an error, too, and all memory of a file
    /// that closes is then released. Where sync() of the driver is a commit, the storage has what the last successful
    /// flush() left. Elsewhere it has that with a part of the later changes, in an order that keeps the file sound, but
    /// for one case: a write that failed may have left a part of a sector, which a repeated flush() would write again
    /// and close() cannot. Therefore call flush() first where the storage may fail for a while. Only busy
    /// (CloseDegree::semi) leaves the handle as it was.
    Status close() noexcept;
    bool valid() const noexcept;
    Status info(FileInfo& info) const noexcept;
    /// What the file's free-space managers hold, and section by section if a visitor is given. In a file that this
    /// program has begun to change, what is free now, also what can be used only after the next flush, in no order;
    /// `metadata` is 0 then, because the managers are written anew when the file is closed. All numbers are 0 for a
    /// file that does not keep its free space from one opening to the next. corrupt_file, io_error, out_of_memory.
    Status free_space(FreeSpaceInfo& info, SectionVisitor* visitor = nullptr) const noexcept;
    /// Finds space that nothing in the file uses and of which nobody knows, as power cuts and programs that were killed
    /// leave it, and makes it usable. That includes chunks wholly beyond the extent of their dataset, which were
    /// allocated ahead of appends (DatasetCreate::reserve) or whose rows a power cut took; with formats::reclaim only
    /// those of one-dimensional datasets. With formats::reclaim_any it also makes the nodes of version 1 B-trees name
    /// each other as they should, which a power cut may have prevented: libhdf5, but no reader, needs that. Commits
    /// first. Walks over the metadata of all objects, as often as FileAccess::reclaim_memory makes necessary. `bytes`,
    /// if given: how much was found.
    ///
    /// busy: a dataset of the file is open. unsupported: something in the file is not understood by this program, so
    /// that nobody can say what it uses; nothing is found then. corrupt_file, io_error, out_of_memory. After an error
    /// the file is as it was.
    Status reclaim(std::uint64_t* bytes = nullptr) noexcept;

private:
    friend class Group;
    friend class Checker;
    explicit File(FileState& file) noexcept;
    static Result<File> obtain(Library& library, Driver& driver, const FileAccess& access, const FileCreate* create,
                               bool replace) noexcept;
    void end() noexcept;

    FileState* file_ = nullptr;
};

}  // namespace h5mote
