// H5F - files: creating, opening, making durable, closing.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/file_access.hpp>
#include <h5mote/group.hpp>
#include <h5mote/library.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

class Checker;

/// What a file says of itself as a whole: its superblock and extension (H5F_info2_t, H5Fget_create_plist).
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
    std::uint64_t superblock_extension_size = 0;  ///< bytes of its header
    Address root = kUndefinedAddress;
    /// Version 0 and 1 structures.
    std::uint8_t free_space_version = 0;
    std::uint8_t root_entry_version = 0;
    std::uint8_t shared_header_version = 0;
    /// Half of the most entries of a node (H5Pget_sym_k, H5Pget_istore_k).
    std::uint16_t symbol_leaf_k = 4;
    std::uint16_t symbol_internal_k = 16;
    std::uint16_t chunk_btree_k = 32;
    bool has_driver_info = false;
    char driver_name[9] = {};  ///< of the driver information, e.g. "NCSAmult"
    /// Shared messages (H5Pget_shared_mesg_nindexes).
    Address shared_message_table = kUndefinedAddress;
    std::uint8_t shared_message_indexes = 0;
    std::uint64_t shared_message_table_size = 0;  ///< bytes of the table
    StorageSize shared_message_storage;           ///< of all its indexes and heaps
    /// File space (H5Pget_file_space_strategy): 0 free-space managers and aggregators, 1 pages, 2 aggregators, 3 none.
    bool has_file_space_info = false;
    std::uint8_t file_space_version = 0;
    std::uint8_t file_space_strategy = 0;
    bool persists_free_space = false;
    std::uint64_t free_space_threshold = 1;
    std::uint64_t page_size = 4096;
    bool truncated = false;  ///< shorter than it says; opened with FileAccess::allow_truncated
};

/// Free space that a file keeps track of from one opening to the next (H5Fget_freespace). Sizes in bytes.
struct FreeSpaceInfo {
    std::uint64_t bytes = 0;
    std::uint64_t sections = 0;
    std::uint64_t metadata = 0;  ///< of the managers: headers and section lists
};

/// Is shown the sections of free space, those of one size together (H5Fget_free_sections).
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

#endif

/// A handle of an open file. The library and the driver are borrowed and outlive every handle of the file.
///
/// One storage is one open file: opening it again with the same Library, through the same driver or another one that
/// stands for the same storage (Driver::same_storage), gives another handle of the file that is open, with the memory
/// and the close degree of the first opening. busy: that one is open for reading only and the new handle is to write,
/// or create() would replace it; or Driver::lock() says that another program or another Library has the storage open,
/// unless all of them only read.
///
/// The file closes with the last File handle, and ends every handle of its objects (CloseDegree::strong, the default),
/// or as FileAccess::close_degree says.
class File {
public:
    File() noexcept = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&& other) noexcept : file_(other.file_) { other.file_ = nullptr; }
    File& operator=(File&& other) noexcept;
    /// As close(), but an error can only go to the port's log.
    ~File() { end(); }

    /// A new, empty file in place of whatever the storage held; durable when it returns. invalid_argument, read_only,
    /// no_space, io_error, out_of_memory, busy.
    static Result<File> create(Library& library, Driver& driver, const FileAccess& access = {},
                               const FileCreate& create = {}) noexcept;
    /// An existing file. not_found: the storage is empty. not_hdf5, corrupt_file (also: shorter than it says),
    /// unsupported (what it needs and this library lacks), io_error, out_of_memory, busy. Nothing is written.
    static Result<File> open(Library& library, Driver& driver, const FileAccess& access = {}) noexcept;
    /// Opens what is there, or creates it when the storage is empty or holds only the zeros of a creation that a power
    /// cut ended. Anything else that is not HDF5 is left alone: not_hdf5.
    static Result<File> open_or_create(Library& library, Driver& driver, const FileAccess& access = {},
                                       const FileCreate& create = {}) noexcept;

    Group root() noexcept;
    /// Makes durable all that was changed through any handle of this file, and what was found in it: when it returns
    /// ok, it is still there after a power cut at any later instant. After an error nothing that was flushed before is
    /// lost, and the call can be repeated. Rows that were appended cost two syncs of the driver, because their place
    /// was prepared by the flush before; others up to four, as do the first rows of a dataset, many more rows than
    /// between the flushes before, and rows in chunks that pass filters or that the chunk cache has no room for. One
    /// sync, where that is a commit.
    Status flush() noexcept;
    /// Ends this handle. Where another File handle of the same file is open, or the file is mounted, or its close
    /// degree is weak and other handles are open, the file is flushed and goes on. Else it closes: it is flushed, space
    /// held in advance is given back, and every handle of the file ends. Rows that the destructor of a Dataset could
    /// not store are tried again: the error is that of flush() and close(), until they are stored or the file is
    /// closed. After an error, too, the handle has ended, all memory of a file that closes is released, and the storage
    /// holds what the last successful flush() left. Only busy (CloseDegree::semi) leaves the handle as it was.
    Status close() noexcept;
    bool valid() const noexcept;
#if H5MOTE_ALL_FORMATS
    Status info(FileInfo& info) const noexcept;
    /// What the file's free-space managers hold, section by section if asked for. Nothing in a file that does not keep
    /// it. corrupt_file, io_error, out_of_memory.
    Status free_space(FreeSpaceInfo& info, SectionVisitor* visitor = nullptr) const noexcept;
#endif

private:
    friend class Group;
#if H5MOTE_ALL_FORMATS
    friend class Checker;
#endif
    explicit File(FileState& file) noexcept;
    static Result<File> obtain(Library& library, Driver& driver, const FileAccess& access, const FileCreate* create,
                               bool replace) noexcept;
    void end() noexcept;

    FileState* file_ = nullptr;
};

}  // namespace h5mote
