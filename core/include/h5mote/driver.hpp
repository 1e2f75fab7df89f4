// H5FD - the driver interface: what every storage offers to the library, and what it promises.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>
#include <string_view>

namespace h5mote {

/// What a call's bytes are for (H5FD_mem_t). A driver may keep classes apart, as the split driver does.
enum class Usage : std::uint8_t { superblock, btree, raw_data, global_heap, local_heap, object_header };

/// What a storage promises. The core chooses how it writes by these; see README.md, "Crash safety". A file is opened
/// for writing only where a power cut cannot damage it: where sync_is_commit, or else where writes can be put in order
/// (with `ordered` or sync_is_barrier), may overwrite others, and have an atomic unit of 128 bytes or more. On any
/// other storage that is `unsupported` (Feature::ordered_writing). Where only the unit is too small, JournalDriver
/// makes a storage that commits of it.
struct Capabilities {
    /// Bytes that are written wholly or not at all when they lie in one aligned unit of that size; 1 if nothing is
    /// promised. 512 for sectors. The largest power of two that divides it, but at most 512, is what the core uses.
    std::uint32_t atomic_unit = 1;
    /// Value of erased or never written bytes.
    std::uint8_t erased_value = 0;
    bool writable = true;
    /// Bytes once written may be written again in place.
    bool overwrite = true;
    /// Bytes between the old end of file and a later write or truncate() read as zero.
    bool extends_with_zeros = true;
    /// Writes reach the storage in the order in which they were made.
    bool ordered = false;
    /// After sync() returned ok, earlier writes are on the storage before any later one.
    bool sync_is_barrier = true;
    /// All writes between two sync() calls appear wholly or not at all. Of the others only erased_value,
    /// extends_with_zeros and writable then matter.
    bool sync_is_commit = false;
};

/// Two drivers whose numbers are equal read and write the same bytes.
struct StorageId {
    std::uint64_t volume = 0;
    std::uint64_t file = 0;
};

/// A storage of bytes addressed from 0. Implementations are not thread-safe by themselves. Any function may fail with
/// io_error; a failed write leaves the range it names undefined and everything else as it was.
class Driver {
public:
    virtual Capabilities capabilities() const noexcept = 0;

    /// Fills `to` from `address`. The range lies within end_of_file(); otherwise io_error.
    virtual Status read(Usage usage, std::uint64_t address, Bytes to) noexcept = 0;
    /// Stores `from` at `address`, extending the file if need be. no_space when it does not fit: nothing is written
    /// then.
    virtual Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept = 0;
    /// Everything written before is durable when it returns ok (as far as the capabilities say).
    virtual Status sync() noexcept = 0;
    /// Bytes that the storage holds now.
    virtual Status end_of_file(std::uint64_t& size) noexcept = 0;
    /// Makes the file `size` bytes long; new bytes read as zero if extends_with_zeros. no_space when it does not fit.
    virtual Status truncate(std::uint64_t size) noexcept = 0;
    /// The file no longer uses [address, address + size) (H5FD_free). From the next sync() that returns ok on its bytes
    /// may read as anything, but for what is written there after this call; a cut before that sync() leaves them as
    /// they were. Where sync_is_commit, the library calls it before the commit that gives the range up, so that both
    /// become true at once, elsewhere after it. A range may be given that was given before, alone or with its
    /// neighbours. `usage`: of any part of it. An error costs nothing but space and is passed over. Default: nothing is
    /// done.
    virtual Status release(Usage /*usage*/, std::uint64_t /*address*/, std::uint64_t /*size*/) noexcept {
        return Status::ok;
    }

    /// From now on room is kept for `ranges` writes of `bytes` in all, wherever they go, and for the changes to what
    /// points to them, whatever else is written: what is in memory only will find its place. Each call takes the place
    /// of the one before; who writes what room is kept for asks for less before. no_space: there is not as much; what
    /// was kept before is. Less than before always succeeds. Called only where sync_is_commit. Default: nothing is
    /// kept.
    virtual Status keep_room(std::uint32_t /*ranges*/, std::uint64_t /*bytes*/) noexcept { return Status::ok; }

    /// Takes back what was written, truncated and released since the last sync() that returned ok, and keeps no room
    /// any more: what is read from now on is the last commit, or, where a sync() failed, possibly what that would have
    /// committed. Called where sync_is_commit, when a file is closed of which something could not be stored: half a
    /// change would else come with the next commit. After an error every call fails until the driver is opened
    /// (mounted) anew. Default: nothing is done.
    virtual Status discard() noexcept { return Status::ok; }

    /// Keeps others from using the same storage: one who writes (`exclusive`), or any number who read. busy when it is
    /// taken; what do_lock() returns. Opening a file takes the lock before anything is read; when the file is closed,
    /// or could not be opened, unlock() is called once for each lock() that returned ok. This object counts who has its
    /// lock, which excludes other Libraries that are given the same object; do_lock() keeps out everybody else. After
    /// an error of unlock() the lock is gone as well.
    Status lock(bool exclusive) noexcept {
        if (exclusive ? locks_ != 0 : locks_ >= kWriter - 1) {
            return Status::busy;
        }
        const Status status = locks_ == 0 ? do_lock(exclusive) : Status::ok;
        if (status == Status::ok) {
            locks_ = exclusive ? kWriter : static_cast<std::uint16_t>(locks_ + 1);
        }
        return status;
    }
    Status unlock() noexcept {
        if (locks_ == 0) {
            return Status::ok;
        }
        locks_ = locks_ == kWriter ? std::uint16_t{0} : static_cast<std::uint16_t>(locks_ - 1);
        return locks_ == 0 ? do_unlock() : Status::ok;
    }

#if H5MOTE_OTHER_FILES || H5MOTE_ALL_FORMATS
    /// What the superblock says to the driver that the file was made with (H5FD_sb_load): `name` is the eight bytes
    /// that tell which driver ("NCSAfami", "NCSAmult"), `info` what it wrote. Called once per opening, after the
    /// superblock was read and before anything else is. `end` comes as the recorded end of file, counted from address
    /// 0 of the driver; a driver whose addresses are not in one run replaces it by the end of the last.
    /// unsupported (Feature::driver): the file needs another driver. corrupt_file: `info` makes no sense. Default: as
    /// libhdf5, a file of a family or of several parts is refused and what other drivers wrote ignored.
    virtual Status use_superblock_info(std::string_view name, ConstBytes /*info*/, std::uint64_t& /*end*/) noexcept {
        return name == "NCSAfami" || name == "NCSAmult" ? Status::unsupported : Status::ok;
    }
#endif

    /// The storage's own code for the last of its failures, errno for instance; 0: there was none, or it has no codes.
    /// The trail's record of a failure of the storage holds it.
    virtual std::int32_t last_error() const noexcept { return 0; }

    /// What the driver stands for (H5FD_cmp). Default: the object itself. Drivers of files tell device and inode.
    virtual StorageId storage_id() const noexcept {
        return {~std::uint64_t{0}, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this))};
    }
    /// Whether both drivers stand for the same storage, so that one file is not opened twice.
    bool same_storage(const Driver& other) const noexcept {
        const StorageId mine = storage_id();
        const StorageId theirs = other.storage_id();
        return mine.volume == theirs.volume && mine.file == theirs.file;
    }

protected:
    Driver() = default;
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() = default;

    /// The first user of this object takes the lock, the last one gives it back: a driver of files asks the system, one
    /// that passes its calls on asks the driver beneath. busy: another object, program or machine has it. Default:
    /// granted, as nobody else can reach the storage.
    virtual Status do_lock(bool /*exclusive*/) noexcept { return Status::ok; }
    virtual Status do_unlock() noexcept { return Status::ok; }
    /// Whether this object has users.
    bool is_locked() const noexcept { return locks_ != 0; }
    /// For a driver that gave its storage up: nobody has its lock any more.
    void forget_locks() noexcept { locks_ = 0; }

private:
    static constexpr std::uint16_t kWriter = 0xffff;
    std::uint16_t locks_ = 0;  // how many read, or kWriter
};

}  // namespace h5mote
