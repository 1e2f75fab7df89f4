// H5F - an open file: its superblock, caches and space, and the order in which changes reach the storage.
#pragma once

#include "base_driver.hpp"
#include "btree1_node.hpp"
#include "checked.hpp"
#include "chunk_cache.hpp"
#include "file_space.hpp"
#include "heap_keeper.hpp"
#include "heap_position.hpp"
#include "heap_space.hpp"
#include "metadata_cache.hpp"
#include "metadata_window.hpp"
#include "object_walk.hpp"
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
    /// Allocates chunks for the rows that are expected until the next flush, and enters them in the chunk index, where
    /// that saves syncs. Live index blocks that this changes are marked as dirty in `phase`.
    virtual Status prepare(Phase phase) noexcept = 0;
    /// Called before the file is closed, when everything else is written: gives back file space that was allocated in
    /// advance. `again`: second pass, after a commit: moves index blocks that now lie at the end of the file into the
    /// space given back, so that the file can be cut.
    virtual Status give_back(bool again) noexcept = 0;
    /// Whether no handle is left. A client without handles still exists because what it buffers could not be stored
    /// yet.
    virtual bool is_unused() const noexcept = 0;
    /// Destroys a client that is unused. `store`: stores what it buffers first; after an error the client stays.
    virtual Status retire(bool store) noexcept = 0;
    /// Called when the file is closed, after the client was taken off the file's list: drops every buffer without
    /// writing, and destroys the client if it is unused.
    virtual void detach() noexcept = 0;
    /// Address of the object's header, by which an object that is opened twice is found.
    virtual Address address() const noexcept = 0;

protected:
    ~FlushClient() = default;
};

/// Undoes the filters of blocks of metadata (fractal heaps); implemented above the filters.
class BlockDecoder {
public:
    /// Reads the block of `stored` bytes at `address`, which lies in the file, and passes it backwards through the
    /// filters that `pipeline`, the body of a filter pipeline message, describes, but for those in `mask`. The result
    /// has exactly the size of `to`, else corrupt_file. unsupported: a filter is missing. out_of_memory, io_error.
    virtual Status decode(FileState& file, ConstBytes pipeline, std::uint32_t mask, Address address, Address stored,
                          Bytes to) const noexcept = 0;

protected:
    constexpr BlockDecoder() = default;
    ~BlockDecoder() = default;
};

/// A mount point: the root group of another file takes the place of a group.
struct Mount {
    Address group = kUndefinedAddress;
    FileState* file = nullptr;  // holds a reference
    Mount* next = nullptr;
};

/// What the state of a file has beside FileState's own members in builds that read all formats: what only files of
/// other programs need, and what connects files with each other.
struct ForeignState {
    explicit ForeignState(Driver& storage) noexcept : base_driver(storage) {}

    Driver& driver_of(Driver& /*storage*/) noexcept { return base_driver; }
    Driver& storage_of(Driver& /*driver*/) const noexcept { return base_driver.storage(); }
    /// Makes the storage's byte `base` address 0. false: this build cannot do that.
    bool set_base(std::uint64_t base) noexcept {
        base_driver.set_base(base);
        return true;
    }
    void set_access(const FileAccess& wanted) noexcept { file_access = wanted; }
    std::size_t reclaim_memory() const noexcept { return file_access.reclaim_memory; }
    void set_btree_k(const BTreeK& k) noexcept { btree_k = k; }
    /// Sets what the layers above provide.
    void set_services(const BlockDecoder* decoder, Status (*open)(FileState&, Driver&, bool, FileState*&)) noexcept {
        block_decoder = decoder;
        open_driver = open;
    }
    /// Says that the storage is shorter than the superblock says. false: this build does not open such a file.
    bool set_truncated() noexcept { return truncated = true; }

    BaseDriver base_driver;
    BTreeK btree_k;                               ///< from the superblock or its extension
    const BlockDecoder* block_decoder = nullptr;  ///< borrowed; without it filtered fractal heaps are unsupported
    Address shared_table = kUndefinedAddress;     ///< of shared messages; from the superblock extension
    std::uint8_t shared_indexes = 0;              ///< number of its indexes
    bool truncated = false;                       ///< the storage is shorter than the superblock says
    bool shifted = false;                         ///< the driver's ranges count from the base address for now
    bool number_waits = false;                    ///< see FileState::number_first()
    std::uint32_t calls = 0;                      ///< so many calls have begun to change the file
    HeapKeeper* heap_keeper = nullptr;            ///< owns itself; nullptr as long as nothing was written to the heap
    std::uint32_t last_removal = 0;               ///< what `calls` was at the last call that removed a link ...
    Address removed_from = kUndefinedAddress;     ///< ... from this group; see FileState::begin_removal()
    HeapPosition heap_position;                   ///< of the last value that was read by its heap id
    std::uint32_t commits = 0;                    ///< so many commits of metadata were complete
    /// The number of commits when dense storage was made last.
    std::uint32_t dense_made_at = 0xffffffff;
    /// The number of commits when a border between the names of two symbol table nodes was lowered last.
    std::uint32_t lowered_at = 0xffffffff;
    ReleasedHeapSpace* released = nullptr;   ///< owned; nullptr: no heap has given up anything yet
    FreeHeapSpace* last_sections = nullptr;  ///< owned; of the heap that was changed last, if there is memory to spare
    ObjectWalks walks;
    FileAccess file_access;
    FileState* mounted_in = nullptr;  ///< holds a reference to this file
    Mount* mounts = nullptr;
    DriverOpener* opened_by = nullptr;  ///< closes the driver, which it opened
    /// Opens the file on a driver that open_other() got from the opener. Set by the layer above, which can open files.
    Status (*open_driver)(FileState& parent, Driver& driver, bool writing, FileState*& file) = nullptr;
};

/// Takes its place in builds that read only what a logger writes.
struct NoForeignState {
    explicit NoForeignState(Driver& /*storage*/) noexcept {}

    static Driver& driver_of(Driver& storage) noexcept { return storage; }
    static Driver& storage_of(Driver& driver) noexcept { return driver; }
    static bool set_base(std::uint64_t base) noexcept { return base == 0; }
    void set_access(const FileAccess& wanted) noexcept { reclaim_memory_ = wanted.reclaim_memory; }
    std::size_t reclaim_memory() const noexcept { return reclaim_memory_; }
    static void set_btree_k(const BTreeK& /*k*/) noexcept {}
    static constexpr BTreeK btree_k{};
    static void set_services(const BlockDecoder* /*decoder*/,
                             Status (* /*open*/)(FileState&, Driver&, bool, FileState*&)) noexcept {}
    static bool set_truncated() noexcept { return false; }

private:
    std::size_t reclaim_memory_ = 0;
};

using ForeignOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, ForeignState, NoForeignState>;

/// Shared by all handles of one open file; lives until the last of them is gone.
class FileState final : public CommitHook, public ListNode<Context::OpenFiles>, public ForeignOrNone {
public:
    /// The storage is borrowed.
    FileState(Context& context, Driver& storage) noexcept;

    /// The file that is open on the same storage in the library `context`, or nullptr.
    static FileState* find_open(Context& context, const Driver& storage) noexcept;
    /// Whether a file that is opened with `access` can be changed, as far as this build and the storage allow that.
    static bool wants_writing(const Driver& storage, const FileAccess& access) noexcept {
        return H5MOTE_WRITE != 0 && !access.read_only && storage.capabilities().writable;
    }
    /// Takes the storage's lock as `access` asks for it; stop() gives it back. busy.
    Status lock_storage(const FileAccess& access) noexcept;
    /// Cuts the storage to the size of a superblock, but writes nothing yet: the file exists once its root group was
    /// created and commit() returned ok.
    Status create(const FileAccess& access, const FileCreate& create) noexcept;
    /// The version of the superblock of a file that is created like that.
    static std::uint8_t superblock_version(const FileAccess& access, const FileCreate& create) noexcept;
    /// not_hdf5, corrupt_file (shorter than its recorded end: truncated), unsupported (also: writing to a storage that
    /// promises too little for it, Feature::ordered_writing), io_error, out_of_memory.
    Status open(const FileAccess& access) noexcept;
    /// Reads the driver information block that a superblock of version 0 or 1 leads to. corrupt_file; errors of
    /// use_driver_info().
    Status read_driver_info() noexcept;
    /// Finds the superblock in a storage of `size` bytes: at 0, 512, 1024, ... not_hdf5, which no trail record tells.
    Status locate(std::uint64_t size, std::uint64_t& base) noexcept;
    /// Completes open(), which reads the superblock only: call it after its extension was read. corrupt_file: the file
    /// is truncated, which FileAccess::allow_truncated can permit, or the root group does not lie in it.
    Status finish_open(const FileAccess& access) noexcept;
    /// If the driver stores the usages apart, allocates in their ranges from now on. The file is new, or its driver
    /// information was passed to the driver. unsupported: the program does not have formats::multi_changes; what
    /// MultiChangesFormat::begin() returns.
    Status use_ranges() noexcept;
    /// The same for a file that is being opened: its recorded end becomes that of the range with the superblock.
    Status continue_ranges() noexcept;
    /// Passes the driver information of the file, `info` of the driver `name`, to the driver, which may change the end
    /// of file. unsupported: the file needs another driver, or is opened for writing and the driver finds that it
    /// cannot keep its promises with these settings (Feature::ordered_writing).
    Status use_driver_info(std::string_view name, ConstBytes info) noexcept;
    /// From now on metadata is read from the metadata cache image at `address`, as far as that holds it. corrupt_file.
    Status use_cache_image(Address address, Address size) noexcept;
    const Superblock& superblock() const noexcept { return superblock_; }

    /// Opens a file that this one names, or finds that it is open already; the caller gets one reference. unsupported:
    /// no opener; not_found and what opening a file returns. `writing`: it is to be changed; read_only: it cannot be.
    Status open_other(std::string_view name, OpenPurpose purpose, FileState*& file, bool writing = false) noexcept;
    /// Opens the file that a link or a reference in this one leads to. As in libhdf5 it can be changed if this file
    /// can; where the opener or the file itself does not allow that, it is opened for reading. Errors of open_other().
    Status open_linked(std::string_view name, FileState*& file) noexcept;
    /// Commits the files that were opened through links of this one, which then lead to nothing that is not there.
    /// After an error it goes on with the others.
    Status commit_linked() noexcept {
        if constexpr (H5MOTE_OTHER_FILES != 0 && H5MOTE_WRITE != 0) {
            return open_ ? commit_opened() : Status::ok;
        } else {
            return Status::ok;
        }
    }
    /// The same, and then this file, also after an error.
    Status commit_with_linked() noexcept {
        const Status linked = commit_linked();
        const Status status = commit();
        return status == Status::ok ? linked : status;
    }
    /// Call after a call that leaves no handle in this file, to which it has come by a path from another file: `status`
    /// is what it returns. Commits what it has changed, because the file may be closed next, which tells no error.
    Status commit_change(Status status) noexcept {
        return status == Status::ok && foreign() != nullptr && foreign()->opened_by != nullptr ? commit() : status;
    }

    /// The program's way to other files; nullptr: it has none.
    DriverOpener* opener() const noexcept {
        return H5MOTE_OTHER_FILES == 0 || foreign() == nullptr ? nullptr : foreign()->file_access.opener;
    }

    /// FileAccess::low, and what makes object headers and messages of the versions that it asks for; nullptr: they get
    /// the versions that they have without asking.
    FormatVersion low() const noexcept {
        return foreign() == nullptr ? FormatVersion::standard : foreign()->file_access.low;
    }
    const VersionsFormat* versions() const noexcept {
        return H5MOTE_WRITE != 0 && low() != FormatVersion::standard ? context.formats().versions : nullptr;
    }
    /// FileAccess::high. Only programs that name formats::versions open files for writing with another one than the
    /// latest; what makes sure of it is there as well.
    FormatVersion high() const noexcept {
        return foreign() == nullptr ? FormatVersion::latest : foreign()->file_access.high;
    }
    /// unsupported: FileAccess::high is older than `needed`.
    Status allow_version(FormatVersion needed) noexcept {
        return needed <= high() ? Status::ok
                                : context.unsupported(Module::file, H5MOTE_HERE, Feature::format_version,
                                                      static_cast<std::uint32_t>(needed));
    }

    /// Call when a number was changed in `block`, a block of the object header at `header` that is written in
    /// Phase::index, and what relies on that number will appear elsewhere, in a later phase: a link or attribute for
    /// which a creation order was taken (a second one would get the same order if the storage had lost the first), or a
    /// hard link that was counted. Writes the changes so far if the block itself is written later, and so does from now
    /// on whatever else is about to delay a block: see waits_for_number().
    ///
    /// A fresh block of a live header appears with the block that leads to it, which may be written later: that is no
    /// different. A fresh first block needs no order: nothing on the storage leads to the header, and whatever will
    /// lead to it finds the number there.
    Status number_first(Address header, const CacheEntry& block) noexcept {
        if (atomic || foreign() == nullptr) {
            return Status::ok;
        }
        if (block.fresh() ? block.address() != header : block.dirty() && block.phase() > Phase::index) {
            return order();
        }
        foreign()->number_waits = true;
        return Status::ok;
    }
    /// Call after a message was added to the header of which `block` is a part, or replaced there, if it relies on a
    /// number that was changed in `block`. Messages are added in phases after that of the number; from now on whatever
    /// else changes `block` does not delay the number until these.
    void keep_number_first(const CacheEntry& block) noexcept {
        if (foreign() != nullptr && block.dirty() && !block.fresh() && block.phase() == Phase::index) {
            foreign()->number_waits = true;
        }
    }
    /// Whether `block`, in which a number may wait to be written in Phase::index, has to be written before it is
    /// changed in `phase`. Where this is true call order(), which writes the number, and only then change the block.
    /// All changes of blocks of object headers pass one of three places that ask: secure_change() for the block that
    /// changes, BlockMover::move() for the one that leads to a block which moves, and cut_first_block() for the one
    /// whose messages move. (The prefix of a version 1 header is changed without, so that numbers in it do not wait.)
    bool waits_for_number(const CacheEntry& block, Phase phase) noexcept {
        return foreign() != nullptr && foreign()->number_waits && phase > Phase::index && block.dirty() &&
               block.phase() == Phase::index;
    }

    /// Call before messages of a header are copied to a block that appears in a later phase: a number that waits in one
    /// of them is written.
    Status write_waiting_number() noexcept {
        return foreign() != nullptr && foreign()->number_waits ? order() : Status::ok;
    }

    /// Call before links or attributes of an object, or its header, change: walks over the object then look up their
    /// place anew. Builds that do not read all formats have none that do.
    void note_change(Address object) noexcept {
        if (foreign() != nullptr) {
            foreign()->walks.change(object);
        }
    }
    /// Call when a link or an attribute was removed.
    void note_loss(Address object, ObjectWalk::Over what) noexcept {
        if (foreign() != nullptr) {
            foreign()->walks.lose(object, what);
        }
    }

    /// The state that only builds which read all formats have; nullptr in other builds.
    ForeignState* foreign() noexcept { return foreign_of(*this); }
    const ForeignState* foreign() const noexcept { return const_cast<FileState*>(this)->foreign(); }
    /// What writes to the global heap; nullptr: nothing was written there since the file was opened.
    HeapKeeper* heap_keeper() const noexcept {
        return H5MOTE_WRITE == 0 || foreign() == nullptr ? nullptr : foreign()->heap_keeper;
    }
    /// Call before the global heap is read: writes what is only in memory so far.
    Status show_heap() noexcept { return heap_keeper() == nullptr ? Status::ok : heap_keeper()->store(false); }
    /// Call before a chunk in memory is written where it is: brings the objects of the global heap to which it may
    /// refer onto the storage first, if note_heap() has said that their order counts.
    Status order_heap() noexcept {
        return heap_keeper() == nullptr || !heap_keeper()->before_raw ? Status::ok : heap_keeper()->store(true);
    }
    /// Call before elements that may refer to such objects are put into a chunk in memory: the objects come before the
    /// chunk. Needs nothing for elements beyond the extent of the dataset whose header is at `header`.
    void note_heap(Address header) noexcept {
        if (heap_keeper() != nullptr) {
            heap_keeper()->note(header);
        }
    }
    /// Call before such elements of that dataset are written to the storage: does what order_heap() does.
    Status order_heap(Address header) noexcept {
        return heap_keeper() == nullptr ? Status::ok : heap_keeper()->order(header);
    }
    /// The same where they are written to another storage, which does not wait for this one. Where sync() is a commit
    /// all changes so far are committed, so that the filters' scratch memory may change meanwhile. Errors of commit().
    Status commit_heap(Address header) noexcept {
        return heap_keeper() == nullptr ? Status::ok : heap_keeper()->commit(header);
    }
    /// The file mounted in the place of a group, or nullptr.
    FileState* mounted_at(Address group) const noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return find_mounted(group);
        } else {
            return nullptr;
        }
    }
    /// The outermost of the files that this one is mounted in; this file itself if it is not mounted.
    FileState& top() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return find_top();
        } else {
            return *this;
        }
    }
    /// Whether this file is mounted in another one.
    bool is_mounted() const noexcept { return foreign() != nullptr && foreign()->mounted_in != nullptr; }
    Status mount(Address group, FileState& file) noexcept;
    /// not_found: it is mounted nowhere.
    Status unmount_self() noexcept;

    /// Makes everything durable. Writes in this order, with a sync between the steps where the driver needs one:
    /// raw data and fresh blocks; a grown end of file in the superblock; live indexes; live object headers. After ok
    /// all changes so far survive a power cut. After an error nothing that was committed before is lost, and commit()
    /// can be called again.
    ///
    /// Appending takes two syncs, for the rows and for the dimension that counts them, because the place for new rows
    /// is prepared one commit ahead. Its space and the new index blocks that name it are written with the rows; the
    /// end of file that covers them is written with the dimension; the live index block through which they are reached
    /// is written with the rows of the next commit.
    ///
    /// On a storage whose sync is a commit, a dataset that became smaller may find no room to clear what lies beyond
    /// its extent, as the storage has everything of this commit and of the one before. It then clears that in a second
    /// commit, for which the first has made room. no_space in the second one leaves the first, with the new extent.
    Status commit() noexcept;
    /// The same without asking the clients for raw data.
    Status commit_metadata() noexcept;
    /// For clients, in flush_raw(): it shall be called once more, behind the commit. Only where sync() is a commit.
    void flush_again() noexcept { flushes_again_ = true; }
    /// Called by the metadata cache when it needs room: writes all changed metadata. On a storage where only the order
    /// of writes keeps the file sound that is a commit. Where sync() is a commit nothing is synced, so that nothing
    /// appears in the file before the next flush.
    Status write_changes() noexcept override;
    bool is_unrecorded(Address address) const noexcept override {
        return (space.ranges() == nullptr && address >= committed_end()) || cache.has_left(address);
    }
    /// Syncs if something was written since the last sync and the storage may otherwise write later bytes first.
    Status barrier() noexcept;
    /// Call between two changes if the second must never be on the storage without the first. Commits the metadata
    /// changed so far, unless the driver makes all changes between two commits appear at once.
    H5MOTE_STEP Status order() noexcept;
    /// Call when a new structure, whose header lies at `header`, has got what belongs there, before anything leads to
    /// it: order(), unless the header is fresh and so written before whatever will lead to it. It is not any more when
    /// the cache, to make room, has committed since it was made.
    Status complete_first(Address header) noexcept;
    /// Call before a link is removed from a group, between check_writable() and end_removal(): order(), but for
    /// removals one after the other from the same group in dense storage (`dense`). These need no order among each
    /// other: the headers of that storage are one write, with which all of them appear at once.
    Status begin_removal(Address group, bool dense) noexcept {
        const bool follows = dense && foreign() != nullptr && foreign()->removed_from == group &&
                             foreign()->calls == foreign()->last_removal + 1;
        return follows ? Status::ok : order();
    }
    /// Call when nothing but that removal was changed since.
    void end_removal(Address group) noexcept {
        if (foreign() != nullptr) {
            foreign()->last_removal = foreign()->calls;
            foreign()->removed_from = group;
        }
    }
    /// The same as order() for two blocks of one object header: call before a change of `later`, a live block, that
    /// must never be on the storage without what was changed in `earlier` so far. Costs a sync when the file is
    /// flushed. If the cache cannot put the blocks in that order, order() is called instead.
    Status write_after(CacheEntry& later, CacheEntry& earlier) noexcept;
    /// Commits, gives reserved space back, cuts the file to its end and releases everything but this object. All of it
    /// is released also when an error is returned; a storage whose sync() is a commit then has the last commit.
    Status close() noexcept;

    /// The driver that the file was opened with.
    Driver& storage() const noexcept { return storage_of(driver); }
    /// Counts one more handle of the file as a whole (File). The reference that each handle holds is counted apart.
    void add_handle() noexcept { ++handles_; }
    /// Whether the last such handle must stay: the close degree is semi, and objects of the file are still open.
    bool must_stay() const noexcept {
        return close_degree_ == CloseDegree::semi && handles_ == 1 && references_ > 1U + (is_mounted() ? 1U : 0U);
    }
    /// Drops one such handle. When it was the last one and the close degree says so, the file is closed; else it is
    /// committed.
    Status drop_handle() noexcept;

    /// Releases everything but this object without writing, and takes back what was written since the last commit.
    void abandon() noexcept;

    void retain() noexcept { ++references_; }
    /// Drops one reference; the last one closes the file if it is still open and destroys the object.
    static void release(FileState* file) noexcept;

    bool is_open() const noexcept { return open_; }
    /// FileAccess::torn_headers.
    bool torn_headers() const noexcept { return torn_headers_; }
    /// Whether all writes between two commits appear at once, so that they need no order.
    bool is_atomic() const noexcept { return atomic; }
    /// Whether a change of the block from byte `from` on reaches the storage wholly or not at all, or nothing on the
    /// storage points to the block yet.
    bool one_write(const CacheEntry& block, std::size_t from) const noexcept {
        const std::uint64_t address = block.address();
        return block.fresh() || one_write(address + block.written_from(from), address + block.size());
    }
    /// The same for a change of the bytes [from, to), addresses in the file, of a live block.
    bool one_write(std::uint64_t from, std::uint64_t to) const noexcept {
        return atomic || space.in_one_unit(from, to);
    }
    /// Whether a block may be changed where it is, by one change or several that belong together: because nothing on
    /// the storage leads to it. A commit ends that, also one that the cache makes to get room.
    bool stays(const CacheEntry& block) const noexcept;
    /// Call before a change that is not one atomic write, of a block that cannot be moved. unsupported
    /// (Feature::ordered_writing): FileAccess::torn_headers does not allow that.
    Status allow_torn() noexcept {
        return torn_headers_ ? Status::ok : context.unsupported(Module::file, H5MOTE_HERE, Feature::ordered_writing);
    }
    /// Whether the file can be changed. In a build without writing this is a constant, so that the compiler drops the
    /// code for changes.
    bool writable() const noexcept { return H5MOTE_WRITE != 0 && writable_; }
    /// ok, invalid_handle when closed, read_only.
    Status check_writable() noexcept {
        if (!open_) {
            return Status::invalid_handle;
        }
        if (foreign() != nullptr) {
            ++foreign()->calls;
        }
        return writable() ? Status::ok : context.fail(Module::file, H5MOTE_HERE, Status::read_only);
    }
    FileShape shape() const noexcept { return superblock_.shape; }
    Address root() const noexcept { return superblock_.root; }
    void set_root(Address address) noexcept { superblock_.root = address; }
    /// Call when the root group's symbol table got another place: the next commit writes a superblock that does not
    /// repeat the old one.
    void forget_root_table() noexcept {
        if (superblock_.forget_root_table()) {
            stored_root_ = kUndefinedAddress;
        }
    }
    /// The next commit writes the superblock.
    void set_extension(Address address) noexcept {
        superblock_.extension = address;
        stored_root_ = kUndefinedAddress;
    }
    /// Of the driver information block, in a file whose superblock has version 0 or 1.
    void set_driver_info(Address address) noexcept { superblock_.set_driver_info(address); }
    /// Whether [address, address + size) lies in the allocated part of the file.
    bool contains(Address address, Address size) const noexcept;

    /// A new block of `size` zero bytes in the cache, for which `space` bytes of the file are allocated. Nothing points
    /// to it yet.
    Status create_block(Usage usage, std::size_t size, Address space, Pinned& block,
                        ChecksumPlace checksum = ChecksumPlace::at_end) noexcept;

    /// Gives up part of the file, which can be used again after the next commit, or, if it is `fresh`, at once. Drops
    /// its blocks from the cache; nobody may hold one of them.
    void give_up(Address address, Address size, bool fresh = false, SpaceKind kind = SpaceKind::metadata) noexcept;

    /// A metadata block of any size for reading: MetadataWindow::open(). corrupt_file when it is not within the file.
    Status window(Usage usage, Address address, Address size, ChecksumPlace checksum, MetadataWindow& block) noexcept;
    /// The same: true is ChecksumPlace::at_end, false ChecksumPlace::none.
    Status window(Usage usage, Address address, Address size, bool checksummed, MetadataWindow& block) noexcept {
        return window(usage, address, size, static_cast<ChecksumPlace>(checksummed), block);
    }

    /// The open object at `address`, or nullptr.
    FlushClient* find_client(Address address) noexcept;
    /// Scratch for filters, `size` bytes aligned to 8, shared by all datasets of the file; nullptr when there is no
    /// memory.
    std::byte* filter_scratch(std::size_t size) noexcept;
    /// Makes that scratch at least `size` bytes large from now on. If memory is short, the chunks in memory are written
    /// and dropped, so that callers must not hold any. out_of_memory: the scratch is as large as before. Errors of
    /// writing chunks.
    Status reserve_scratch(std::size_t size) noexcept;

    Context& context;
    Driver& driver;
    MetadataCache cache;
    FileSpace space;
    ChunkCache chunks;
    List<FlushClient> clients;

private:
    friend class HeapOrder;

    Status start(const FileAccess& access) noexcept;
    Status check_versions(const FileAccess& access) noexcept;
    void discard() noexcept;
    Status stop() noexcept;
    Status write_superblock() noexcept;
    // io_error: the storage is shorter than the file. Something else has cut it, or it never took what was written.
    Status check_storage() noexcept;
    Status flush_from(Phase first, Phase along = Phase::none) noexcept;
    Status flush_raw() noexcept;
    Status give_back() noexcept;
    Status lower_end(bool was_cut = false) noexcept;
    Status prepare(Phase phase) noexcept;
    H5MOTE_STEP Status write_metadata(bool prepared) noexcept;
    bool grown() const noexcept { return space.has_grown(superblock_.end_of_file) || superblock_.root != stored_root_; }
    // The end of file that the last commit has recorded.
    Address committed_end() const noexcept {
        const Address recorded = superblock_.end_of_file;
        const HeapKeeper* const heap = heap_keeper();
        return heap == nullptr || recorded < heap->committed_end ? recorded : heap->committed_end;
    }
    Address end_to_record() const noexcept {
        return space.ranges() == nullptr ? space.end() : space.ranges()->first_end();
    }
    Status record_ends() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return record_ranges();
        } else {
            return Status::ok;
        }
    }
    Status record_ranges() noexcept;
    Status commit_again() noexcept;
    Status cut() noexcept;
    Status refuse() noexcept;
    void leave() noexcept;
    Status commit_opened() noexcept;
    void shift_ranges(bool to_base) noexcept;
    Status take_driver(DriverOpener& opener, Driver& other, bool writing, FileState*& file) noexcept;
    FileState* find_mounted(Address group) const noexcept;
    FileState& find_top() noexcept;
    void release_mounts() noexcept;
    Status unmount(const Mount& mount) noexcept;
    static ForeignState* foreign_of(ForeignState& state) noexcept { return &state; }
    static ForeignState* foreign_of(NoForeignState& /*state*/) noexcept { return nullptr; }

    Superblock superblock_;  // end_of_file: as on the storage
    Address stored_root_ = kUndefinedAddress;
    std::uint32_t references_ = 1;
    std::uint16_t handles_ = 0;  // handles of the file as a whole; each holds a reference, too
    CloseDegree close_degree_ = CloseDegree::strong;
    bool locked_ = false;
    bool open_ = false;
    bool writable_ = false;
    bool torn_headers_ = false;
    bool unordered_ = true;       // the driver needs a sync between dependent writes
    bool flushes_again_ = false;  // a client has asked for flush_again() since the last commit
    std::byte* scratch_ = nullptr;
    std::size_t scratch_size_ = 0;
};

/// The library of a handle's file, nullptr for an empty handle: what LibraryLock takes.
inline Context* context_of(const FileState* file) noexcept { return file == nullptr ? nullptr : &file->context; }

}  // namespace h5mote
