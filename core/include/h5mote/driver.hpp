// H5FD - the driver interface: what every storage offers to the library, and what it promises.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace h5mote {

/// What the bytes of a call hold (H5FD_mem_t). A driver may store the usages apart from each other, as the split driver
/// does.
enum class Usage : std::uint8_t { superblock, btree, raw_data, global_heap, local_heap, object_header };

/// What a storage promises. The library chooses by these promises how it writes; vfd/README.md, on crash safety, says
/// how. A file is opened for writing only where a power cut cannot damage it. That is a storage that commits
/// (sync_is_commit), or one whose writes can be put in order (`ordered` or sync_is_barrier), may go over earlier ones
/// (`overwrite`) and have an atomic_unit that is a multiple of 128. On any other storage it is `unsupported`
/// (Feature::ordered_writing). Where only the atomic unit is too small, a JournalDriver around the storage makes one
/// that commits.
struct Capabilities {
    /// Size of the aligned units that are written wholly or not at all: a power cut never tears a write that lies
    /// within one of them. 512 for media with sectors, 1 if nothing is promised. The library uses the largest power of
    /// two that divides this number, but at most 512.
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
    /// All writes between two sync() calls appear after a power cut wholly or not at all. Of the other promises only
    /// erased_value, extends_with_zeros, writable and keeps_storage then matter.
    bool sync_is_commit = false;
    /// What keep_room() keeps is room of the storage itself, not of a log that is emptied from time to time.
    bool keeps_storage = false;
};

/// Two drivers whose numbers are equal read and write the same bytes.
struct StorageId {
    std::uint64_t volume = 0;
    std::uint64_t file = 0;
};

/// One of the ranges of addresses in a file that a MultiDriver keeps in several parts.
struct UsageRange {
    std::uint64_t start = 0;     ///< address of the first byte
    std::uint64_t limit = 0;     ///< all its addresses are smaller than this
    std::uint64_t end = 0;       ///< end of what is allocated in it, `start` if that is nothing
    std::uint64_t stored = 0;    ///< end of what the storage has
    std::uint64_t recorded = 0;  ///< `end` as the driver information on the storage tells it
    std::uint32_t place = 0;     ///< offset in the driver information at which end - start stands, in 8 bytes
};

/// Where a driver that stores the usages apart wants their space to be allocated. Each range has an end of its own. The
/// driver fills the list in when it is opened, and again when it gets the driver information of a file. While a file is
/// open for writing, the library allocates in these ranges, and writes their ends into the driver information before
/// anything refers to what lies before them.
struct UsageRanges {
    static constexpr unsigned kMost = 6;

    unsigned count = 0;
    std::uint8_t map[kMost] = {};  ///< which range each usage lies in, in the order of Usage
    UsageRange list[kMost];
};

/// What a driver keeps in the superblock of the files that it makes (H5FD_sb_encode), so that they are opened with the
/// same driver and the same settings again: the driver information block of a superblock of version 0 or 1, or the
/// driver information message in the superblock extension of later ones. Specification II.B and IV.A.2.u.
struct SuperblockInfo {
    std::string_view name;          ///< eight bytes that identify the driver: "NCSAfami"
    ConstBytes info;                ///< what it keeps; empty: files say nothing about their driver
    UsageRanges* ranges = nullptr;  ///< of a driver that stores the usages apart; borrowed
};

/// The part of a driver that only builds with H5MOTE_ALL_FORMATS have.
class DriverWithInfo {
public:
    /// The ranges of a driver that stores the usages apart; nullptr: all addresses are one range, as with most drivers.
    UsageRanges* usage_ranges() const noexcept { return info_ == nullptr ? nullptr : info_->ranges; }
    /// What a file that is made on this driver has to keep; nullptr: nothing, as with most drivers. It is valid as long
    /// as the driver lives, and may be different after each call of the driver.
    const SuperblockInfo* superblock_info() const noexcept {
        return info_ == nullptr || info_->info.empty() ? nullptr : info_;
    }

protected:
    /// Borrowed; the driver may change what it says later.
    void set_superblock_info(const SuperblockInfo& info) noexcept { info_ = &info; }
    /// For a driver that passes its calls on to another one, which is constructed already.
    void forward_superblock_info(const DriverWithInfo& inner) noexcept { info_ = inner.info_; }

private:
    const SuperblockInfo* info_ = nullptr;
};

/// Takes its place in other builds.
class DriverWithoutInfo {
public:
    static constexpr const SuperblockInfo* superblock_info() noexcept { return nullptr; }
    static constexpr UsageRanges* usage_ranges() noexcept { return nullptr; }

protected:
    static constexpr void set_superblock_info(const SuperblockInfo& /*info*/) noexcept {}
    static constexpr void forward_superblock_info(const DriverWithoutInfo& /*inner*/) noexcept {}
};

/// A storage of bytes addressed from 0. Implementations are not thread-safe by themselves. Any function may fail with
/// io_error; a failed write leaves the range it names undefined and everything else as it was.
class Driver : public std::conditional_t<H5MOTE_ALL_FORMATS != 0, DriverWithInfo, DriverWithoutInfo> {
public:
    virtual Capabilities capabilities() const noexcept = 0;

    /// Fills `to` from `address`. The range lies within end_of_file(); otherwise io_error.
    virtual Status read(Usage usage, std::uint64_t address, Bytes to) noexcept = 0;
    /// Stores `from` at `address`, extending the file if need be. no_space when it does not fit: nothing is written
    /// then.
    virtual Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept = 0;
    /// When it returns ok, everything that was written before is durable, as far as the capabilities promise.
    virtual Status sync() noexcept = 0;
    /// Bytes that the storage holds now.
    virtual Status end_of_file(std::uint64_t& size) noexcept = 0;
    /// Makes the file `size` bytes long; new bytes read as zero if extends_with_zeros. no_space when it does not fit.
    virtual Status truncate(std::uint64_t size) noexcept = 0;
    /// Tells the driver that the file no longer uses the bytes [address, address + size) (H5FD_free). Once the next
    /// sync() has returned ok, they may read as anything, except where something was written after this call; a power
    /// cut before that sync() leaves them as they were. Where sync_is_commit, the library calls this before the commit
    /// that gives the range up, so that both take effect at once; elsewhere after it. The library may name a range
    /// again that it has named before, alone or together with its free neighbours. `usage` is a hint only: the range
    /// may have held bytes of several usages. The library ignores errors, as they cost nothing but space. Default:
    /// nothing is done.
    virtual Status release(Usage /*usage*/, std::uint64_t /*address*/, std::uint64_t /*size*/) noexcept {
        return Status::ok;
    }

    /// Keeps room for writes that are still to come: for `ranges` writes of `bytes` bytes in all, at whatever
    /// addresses, and for the changes of the file's metadata that make them reachable. Other writes must not take this
    /// room, so that what is in memory only is sure to find its place. Each call replaces the room that the one before
    /// kept; the library asks for less just before it writes what room was kept for. no_space: the storage has not as
    /// much; what was kept before stays kept. Asking for less than before always succeeds. Called only where
    /// sync_is_commit. Default: nothing is kept.
    virtual Status keep_room(std::uint32_t /*ranges*/, std::uint64_t /*bytes*/) noexcept { return Status::ok; }

    /// Takes back what was written, truncated and released since the last sync() that returned ok, and keeps no room
    /// any more. What is read from now on is the state of that sync(), or, where a later sync() failed, possibly the
    /// state which that one would have committed. Called where sync_is_commit, when a file could not be opened or could
    /// not store everything before it closed: half a change would otherwise come with the next commit. After an error
    /// every call fails until the driver is opened (mounted) anew. Default: nothing is done.
    virtual Status discard() noexcept { return Status::ok; }

    /// Locks the storage for one user that writes (`exclusive`), or for any number of users that only read. busy when
    /// others have it; also what do_lock() returns. Opening a file takes the lock before anything is read. unlock() is
    /// called once for each lock() that returned ok: when the file is closed, or when it could not be opened. This
    /// object counts its own users, which keeps out other Libraries that are given the same object; do_lock() keeps out
    /// everybody else. After an error of unlock() the lock is gone as well.
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

    /// Gives the driver the driver information of the superblock (H5FD_sb_load): `name` is the eight bytes that
    /// identify the driver which wrote the file ("NCSAfami", "NCSAmult"), `info` is what that driver stored. Called
    /// once per opening, after the superblock was read and before anything else is. On entry `end` is the recorded end
    /// of the file, counted from address 0 of the driver; a driver whose addresses are not one run replaces it by the
    /// end of the last run. unsupported (Feature::driver): the file needs another driver. corrupt_file: `info` makes no
    /// sense. Default, as libhdf5: a file of a family or of several parts is refused, and what other drivers stored is
    /// ignored. Without H5MOTE_ALL_FORMATS nobody calls this, because superblocks with driver information are
    /// `unsupported`.
    virtual Status use_superblock_info([[maybe_unused]] std::string_view name, ConstBytes /*info*/,
                                       std::uint64_t& /*end*/) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            return name == "NCSAfami" || name == "NCSAmult" ? Status::unsupported : Status::ok;
        }
        return Status::ok;
    }

    /// The storage's own code for its last failure, errno for instance; 0 when nothing failed or the storage has no
    /// codes. The error trail's record of a failure of the storage holds it.
    virtual std::int32_t last_error() const noexcept { return 0; }

    /// Identifies the storage behind the driver (H5FD_cmp). Default: this object. Drivers of files give device and
    /// inode.
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

    /// Takes the lock for the first user of this object; do_unlock() gives it back after the last one. A driver of
    /// files asks the operating system; one that passes its calls on asks the driver beneath. busy: another object,
    /// program or machine has the lock. Default: granted, as nobody else can reach the storage.
    virtual Status do_lock(bool /*exclusive*/) noexcept { return Status::ok; }
    virtual Status do_unlock() noexcept { return Status::ok; }
    /// Whether a user has this object's lock.
    bool is_locked() const noexcept { return locks_ != 0; }
    /// Drops all locks of this object, for a driver that gave its storage up.
    void forget_locks() noexcept { locks_ = 0; }

private:
    static constexpr std::uint16_t kWriter = 0xffff;
    std::uint16_t locks_ = 0;  // number of users that read, or kWriter
};

}  // namespace h5mote
