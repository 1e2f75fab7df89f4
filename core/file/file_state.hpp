// H5F - an open file: its superblock, caches and space, and the order in which changes reach the storage.
#pragma once

#include "base_driver.hpp"
#include "btree1_node.hpp"
#include "checked.hpp"
#include "chunk_cache.hpp"
#include "file_space.hpp"
#include "metadata_cache.hpp"
#include "metadata_window.hpp"
#include "superblock.hpp"

#include <h5mote/file_access.hpp>
#include <h5mote/library_lock.hpp>
#include <h5mote/opener.hpp>

namespace h5mote {

class FileState;

/// Something that buffers data outside the metadata cache: an open dataset.
class FlushClient : public ListNode<> {
public:
    /// Writes buffered raw data and brings the metadata in the cache up to date with it.
    virtual Status flush_raw() noexcept = 0;
    /// Makes sure that what comes until the next flush has its place already, where that saves syncs. What exists
    /// already is marked to be written in `phase`.
    virtual Status prepare(Phase phase) noexcept = 0;
    /// The file is about to be closed: gives back file space held in advance, once everything else is written. `again`:
    /// after the commit, moves what that put behind this space to the front of it.
    virtual Status give_back(bool again) noexcept = 0;
    /// Whether no handle is left. Such a client stays, because what it buffers could not be stored yet.
    virtual bool is_unused() const noexcept = 0;
    /// Ends a client that is not used. `store`: after storing what it buffers; an error, and it stays.
    virtual Status retire(bool store) noexcept = 0;
    /// The file is closed, and the client in no list any more: drops every buffer without writing. What is not used
    /// ends.
    virtual void detach() noexcept = 0;
    /// Address of the object's header, by which an object that is opened twice is found.
    virtual Address address() const noexcept = 0;

protected:
    ~FlushClient() = default;
};

#if H5MOTE_ALL_FORMATS
/// Undoes the filters of blocks of metadata (fractal heaps); implemented above the filters.
class BlockDecoder {
public:
    /// Reads the block of `stored` bytes at `address`, which lies in the file, and passes it backwards through the
    /// filters that the body of a filter pipeline message describes, but for those in `mask`. The result is exactly
    /// `to`, else corrupt_file. unsupported: a filter is missing. out_of_memory, io_error.
    virtual Status decode(FileState& file, ConstBytes pipeline, std::uint32_t mask, Address address, Address stored,
                          Bytes to) const noexcept = 0;

protected:
    constexpr BlockDecoder() = default;
    ~BlockDecoder() = default;
};
#endif

#if H5MOTE_ALL_FORMATS
/// A group in whose place the root group of another file stands.
struct Mount {
    Address group = kUndefinedAddress;
    FileState* file = nullptr;  // holds a reference
    Mount* next = nullptr;
};
#endif

/// Shared by all handles of one open file; lives until the last of them is gone.
class FileState final : public CommitHook, public ListNode<Context::OpenFiles> {
public:
    /// The storage is borrowed.
    FileState(Context& context, Driver& storage) noexcept;

    /// The file of that library that is open on the same storage, or nullptr.
    static FileState* find_open(Context& context, const Driver& storage) noexcept;
    /// Whether a file that is opened so can be changed, as far as the library and the storage go.
    static bool wants_writing(const Driver& storage, const FileAccess& access) noexcept {
        return H5MOTE_WRITE != 0 && !access.read_only && storage.capabilities().writable;
    }
    /// Takes the storage's lock as `access` asks for it; stop() gives it back. busy.
    Status lock_storage(const FileAccess& access) noexcept;
    /// Writes nothing yet: the file exists once its root group was created and commit() returned ok.
    Status create(const FileAccess& access, const FileCreate& create) noexcept;
    /// not_hdf5, corrupt_file (shorter than its recorded end: truncated), unsupported (also: writing to a storage that
    /// promises too little for it, Feature::ordered_writing), io_error, out_of_memory.
    Status open(const FileAccess& access) noexcept;
#if H5MOTE_ALL_FORMATS
    /// Ends open(), which reads the superblock only, when its extension was read. corrupt_file: the file is truncated.
    Status finish_open(const FileAccess& access) noexcept;
    /// Hands what the file says to its driver; may change where the file ends. unsupported: it needs another driver.
    Status use_driver_info(std::string_view name, ConstBytes info) noexcept;
    /// Metadata is read from the cache image at `address` where that has it.
    Status use_cache_image(Address address, Address size) noexcept {
        const Status status = base_driver_.use_image(shape(), address, size);
        return status == Status::ok ? status : context.fail(Module::file, H5MOTE_HERE, status, 0, address);
    }
    const Superblock& superblock() const noexcept { return superblock_; }
    /// Shorter than it says.
    bool truncated() const noexcept { return truncated_; }
    std::uint64_t base() const noexcept { return base_driver_.base(); }
    const FileAccess& access() const noexcept { return access_; }
#if H5MOTE_OTHER_FILES
    DriverOpener* opener() const noexcept { return access_.opener; }
#else
    DriverOpener* opener() const noexcept { return nullptr; }
#endif

    /// Opens a file that this one names, or finds that it is open already; the caller gets one reference. unsupported:
    /// no opener; not_found and what opening a file returns.
    Status open_other(std::string_view name, OpenPurpose purpose, FileState*& file) noexcept;
    /// Set by whoever can open files: makes a file of a driver that open_other() was given.
    Status (*open_driver)(FileState& parent, Driver& driver, FileState*& file) = nullptr;

    /// The file mounted in the place of a group, or nullptr.
    FileState* mounted_at(Address group) const noexcept;
    /// The file at the top of all mounts.
    FileState& top() noexcept;
    /// Another file goes on with this one.
    bool is_mounted() const noexcept { return mounted_in_ != nullptr; }
    Status mount(Address group, FileState& file) noexcept;
    /// not_found: it is mounted nowhere.
    Status unmount_self() noexcept;
#else
    bool is_mounted() const noexcept { return false; }
#endif

    /// Makes everything durable. Writes in this order, with a sync between the steps where the driver needs one:
    /// raw data and fresh blocks; a grown end of file in the superblock; live indexes; live object headers. After ok
    /// all changes so far survive a power cut. After an error nothing that was committed before is lost, and commit()
    /// can be called again.
    ///
    /// Appending takes two syncs, for the rows and for the dimension that counts them, because the place for new rows
    /// is prepared one commit ahead: its space and the blocks of the index that will name it are written with the rows,
    /// the end of file that covers them with the dimension; the switch in the index to those blocks with the rows of
    /// the next commit.
    Status commit() noexcept;
    /// The same without asking the clients for raw data.
    Status commit_metadata() noexcept;
    /// Called by the metadata cache for room: writes all changed metadata. That is a commit where only the order of
    /// writes keeps the file sound. Where a sync commits, it only writes: nothing of that appears before the next
    /// flush.
    Status write_changes() noexcept override;
    /// Between two changes of which the second may only be found on the storage if the first is: writes what was
    /// changed so far, unless the driver makes all changes between two commits appear at once.
    H5MOTE_STEP Status order() noexcept;
    /// The same for one block: comes before a change of `later`, a live block, that may only be found on the storage
    /// with what was changed in `earlier` so far. Costs a sync when the file is flushed; where it would close a circle,
    /// order().
    Status write_after(CacheEntry& later, CacheEntry& earlier) noexcept;
    /// Commits, gives reserved space back, cuts the file to its end and releases everything but this object. All of it
    /// is released also when an error is returned; a storage that commits then is as of the last commit.
    Status close() noexcept;

    /// The driver that the file was opened with.
#if H5MOTE_ALL_FORMATS
    Driver& storage() const noexcept { return base_driver_.storage(); }
#else
    Driver& storage() const noexcept { return driver; }
#endif
    /// One more handle of the file as a whole (File), beside the reference that it holds.
    void add_handle() noexcept { ++handles_; }
    /// Whether the close degree forbids the last such handle to end now.
    bool must_stay() const noexcept {
        return close_degree_ == CloseDegree::semi && handles_ == 1 && references_ > 1U + (is_mounted() ? 1U : 0U);
    }
    /// Ends one. The file closes when no other is left and the close degree says so; else it is committed.
    Status drop_handle() noexcept;

    /// Releases everything but this object without writing, and takes back what was written since the last commit.
    void abandon() noexcept;

    void retain() noexcept { ++references_; }
    /// Drops one reference; the last one closes the file if it is still open and destroys the object.
    static void release(FileState* file) noexcept;

    bool is_open() const noexcept { return open_; }
    /// FileAccess::torn_headers.
    bool torn_headers() const noexcept { return torn_headers_; }
    /// All writes between two commits appear at once: they need no order.
    bool is_atomic() const noexcept { return commits_; }
    /// Whether a change of the block from `from` on reaches the storage wholly or not at all, or nothing on the storage
    /// leads to the block yet.
    bool one_write(const CacheEntry& block, std::size_t from) const noexcept {
        const std::uint64_t address = block.address();
        return block.fresh() || one_write(address + from, address + block.size());
    }
    /// The same of the bytes [from, to) of a block to which the storage leads.
    bool one_write(std::uint64_t from, std::uint64_t to) const noexcept {
        return commits_ || space.in_one_unit(from, to);
    }
    /// Comes before a change of a block that is not moved for it, because too much names it. unsupported
    /// (Feature::ordered_writing): one write does not hold the change, and the program does not allow that.
    Status allow_change(const CacheEntry& block, std::size_t from) noexcept {
        return one_write(block, from) || torn_headers_
                   ? Status::ok
                   : context.unsupported(Module::file, H5MOTE_HERE, Feature::ordered_writing);
    }
    /// Never in a build without writing, where the compiler then sees what is left out.
    bool writable() const noexcept { return H5MOTE_WRITE != 0 && writable_; }
    /// ok, invalid_handle when closed, read_only.
    Status check_writable() noexcept {
        if (!open_) {
            return Status::invalid_handle;
        }
        return writable() ? Status::ok : context.fail(Module::file, H5MOTE_HERE, Status::read_only);
    }
    FileShape shape() const noexcept { return superblock_.shape; }
    Address root() const noexcept { return superblock_.root; }
    void set_root(Address address) noexcept { superblock_.root = address; }
    /// Whether [address, address + size) lies in the allocated part of the file.
    bool contains(Address address, Address size) const noexcept;

    /// A block of `size` zeros in the cache with `space` bytes of file of its own, which nothing points to yet.
    Status create_block(Usage usage, std::size_t size, Address space, Pinned& block) noexcept;

    /// Gives up part of the file, and what the cache has of it. It is used again after the next commit.
    void give_up(Address address, Address size) noexcept {
        cache.discard(address, size);
        space.release(address, size, false);
    }

#if H5MOTE_ALL_FORMATS
    /// A metadata block of any size for reading: MetadataWindow::open(). corrupt_file when it is not within the file.
    Status window(Usage usage, Address address, Address size, bool checksummed, MetadataWindow& block) noexcept;
#endif

    /// The open object at `address`, or nullptr.
    FlushClient* find_client(Address address) noexcept;
    /// Scratch for filters, `size` bytes aligned to 8, shared by all datasets of the file; nullptr when there is no
    /// memory.
    std::byte* filter_scratch(std::size_t size) noexcept;
    /// That scratch from now on, for which the chunks in memory are written and dropped if need be: nobody may hold
    /// one. out_of_memory: it is as large as before. Errors of writing chunks.
    Status reserve_scratch(std::size_t size) noexcept;

    Context& context;
#if H5MOTE_ALL_FORMATS
private:
    BaseDriver base_driver_;

public:
#endif
    Driver& driver;
    MetadataCache cache;
    FileSpace space;
    ChunkCache chunks;
    List<FlushClient> clients;
#if H5MOTE_ALL_FORMATS
    BTreeK btree_k;                               ///< from the superblock or its extension
    const BlockDecoder* block_decoder = nullptr;  ///< borrowed; without it filtered fractal heaps are unsupported
    Address shared_table = kUndefinedAddress;     ///< of shared messages; from the superblock extension
    std::uint8_t shared_indexes = 0;              ///< number of its indexes
#endif

private:
    Status start(const FileAccess& access) noexcept;
    void discard() noexcept;
    Status stop() noexcept;
    Status write_superblock() noexcept;
    // io_error: the storage is shorter than the file, which somebody has cut or which never took what was written.
    Status check_storage() noexcept;
    Status flush_from(Phase first, Phase along = Phase::none) noexcept;
    Status flush_raw() noexcept;
    Status give_back() noexcept;
    Status prepare(Phase phase) noexcept;
    H5MOTE_STEP Status write_metadata(bool prepared) noexcept;
    bool grown() const noexcept { return space.end() > superblock_.end_of_file || superblock_.root != stored_root_; }
    Status barrier() noexcept;
#if H5MOTE_ALL_FORMATS
    Status refuse_writing() noexcept;
    Status read_driver_info() noexcept;
    Status locate() noexcept;
    void leave() noexcept;
    void release_mounts() noexcept;
    void unmount(const Mount& mount) noexcept;
#endif

    Superblock superblock_;  // end_of_file: as on the storage
    Address stored_root_ = kUndefinedAddress;
    std::uint32_t references_ = 1;
    std::uint16_t handles_ = 0;  // of the file as a whole; a reference each
    CloseDegree close_degree_ = CloseDegree::strong;
    bool locked_ = false;
    bool open_ = false;
    bool writable_ = false;
    bool torn_headers_ = false;
    bool unordered_ = true;  // the driver needs a sync between dependent writes
    bool commits_ = false;   // it makes all writes between two syncs appear at once
#if H5MOTE_ALL_FORMATS
    bool truncated_ = false;
    FileAccess access_;
    FileState* mounted_in_ = nullptr;  // keeps this one
    Mount* mounts_ = nullptr;
    DriverOpener* opened_by_ = nullptr;  // gave the driver
#endif
    std::byte* scratch_ = nullptr;
    std::size_t scratch_size_ = 0;
};

/// The library of a handle's file, nullptr for an empty handle: what LibraryLock takes.
inline Context* context_of(const FileState* file) noexcept { return file == nullptr ? nullptr : &file->context; }

}  // namespace h5mote
