// H5FD_multi, H5FD_split - one HDF5 file in several files, each of which holds bytes of certain usages.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>
#include <string_view>

namespace h5mote {

/// Most parts of a file: one for each Usage.
inline constexpr unsigned kMostParts = 6;

/// Which part each usage lies in. The number of a part is that of the first Usage that it serves.
struct MultiLayout {
    struct Part {
        std::uint64_t start = 0;  ///< address of its first byte
        std::string_view name;    ///< name of its file; "%s" stands for the name of the whole
    };
    /// Number of the part of each usage, in the order of Usage. As with libhdf5, global heaps lie where raw data does,
    /// whatever is said about them; the part named for them stays empty if it serves nothing else.
    std::uint8_t map[kMostParts] = {};
    Part parts[kMostParts];
};

/// The layout that libhdf5's tools assume for a file made by the split driver: "NAME-r.h5" holds raw data and global
/// heaps, "NAME-m.h5" everything else.
MultiLayout split_layout() noexcept;
/// The layout that they assume for a file made by the multi driver: "NAME-s.h5" (superblock), "-b" (B-trees), "-r" (raw
/// data), "-g", "-l" (global and local heaps), "-o" (object headers).
MultiLayout multi_layout() noexcept;

/// Opens and makes the parts of a file for a MultiDriver.
class MultiParts {
public:
    /// Opens the file of that name (see MultiLayout::Part) as part `index`, in place of the file that was this part
    /// before. `driver` is valid until the next call with the same index, or close(). The name may come from a file and
    /// be anything. not_found, io_error, busy, invalid_argument (the name makes no sense).
    virtual Status open(unsigned index, std::string_view name, Driver*& driver) noexcept = 0;
    /// The same, but makes the file, with no bytes, which was not found before. That it exists is durable when this
    /// returns ok. read_only: parts cannot be made, which is what the default says. no_space.
    virtual Status make(unsigned /*index*/, std::string_view /*name*/, Driver*& /*driver*/) noexcept {
        return Status::read_only;
    }
    virtual void close(unsigned index) noexcept = 0;
    /// The system's own code for the last failure of open() or make(); 0 if it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    MultiParts() = default;
    MultiParts(const MultiParts&) = delete;
    MultiParts& operator=(const MultiParts&) = delete;
    ~MultiParts() = default;
};

/// A file in parts. Each part has a range of addresses of its own, far from the others; the superblock tells which.
/// Until that is read, the layout is the one that open() was told.
///
/// Files that are made on this driver have the layout in the superblock, as with libhdf5: the driver information
/// "NCSAmult". To make or change files in parts takes formats::superblock_extension and formats::multi_changes; reading
/// takes the first of these. Such files are not made with a user block (unsupported, Feature::base_address), but those
/// of libhdf5 may have one. They cannot have pages, aggregated space or a record of their free space
/// (Feature::free_space), and File::reclaim() finds nothing in them (Feature::reclaim).
///
/// Each part is written as safely as its own driver can, and the file promises what all parts promise; only that writes
/// arrive in the order in which they were made (Capabilities::ordered) holds within a part alone, and the library
/// orders them by sync() instead. Before anything refers to new space, the end of its part is recorded in the driver
/// information, so that no cut leaves something reachable behind the recorded end. Parts whose sync is a commit cannot
/// be written, because two of them do not commit at once, nor can a file in parts that has a JournalDriver around it.
class MultiDriver final : public Driver {
public:
    /// The longest driver information of files that are made: six parts whose names have up to 24 characters.
    static constexpr std::size_t kMostInfo = 256;

    /// The parts are borrowed.
    explicit MultiDriver(MultiParts& parts) noexcept;
    ~MultiDriver();

    /// Opens every part of that layout, or none. The file can be written if all its parts can. not_found: a part is
    /// missing. invalid_argument: a usage is mapped to no part.
    Status open(const MultiLayout& layout) noexcept;
    /// The same, but makes all parts if there is none of the part with the superblock. It is made last, so that a file
    /// whose making was cut short is made anew, while a file that has lost another part is not_found. A file that is
    /// there keeps the layout that its superblock says. invalid_argument also: the part with the superblock does not
    /// begin at address 0, two parts begin at one address, a part has another number than the first usage that it
    /// serves, or the names are too long. Errors of MultiParts::make().
    Status open_or_create(const MultiLayout& layout) noexcept;
    void close() noexcept;

    Capabilities capabilities() const noexcept override;
    /// Behind the end of a part zeros are read where a superblock is looked for, and behind an object header, because
    /// nobody knows their size before.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// The address alone selects the part. read_only: a part cannot be written. no_space: also where the range would
    /// reach into that of another part.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Syncs all parts that were written or cut since they were synced last; the first call syncs all that are open.
    Status sync() noexcept override;
    /// End of the part with the highest addresses that is not empty; 0 if the part with the superblock is empty.
    Status end_of_file(std::uint64_t& size) noexcept override;
    /// Cuts or extends the part to which the address `size` belongs. 0 empties all parts.
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;
    /// Opens the parts anew, by the layout that the superblock tells. not_found: a part is missing.
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// The code of the part that failed last, which may be closed by now.
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override;

private:
    static constexpr std::uint8_t kNoRange = 0xff;

    Status note(Driver& part, Status status) noexcept;
    void begin() noexcept;
    Status add(const MultiLayout& layout, unsigned part, bool make) noexcept;
    void promise_as(const Driver& part) noexcept;
    void keep_layout(const MultiLayout& layout) noexcept;
    Status use_layout(const MultiLayout& layout, const std::uint64_t (&sizes)[kMostParts], std::uint64_t& end) noexcept;
    /// The part that has the address, and the address in it; kMostParts: none has.
    unsigned find(std::uint64_t& address) const noexcept;
    std::uint64_t limit_of(unsigned part) const noexcept;
    Status prepare_change(unsigned part) noexcept;
    Status empty_all() noexcept;
    /// Locks all parts. Those that the superblock names are locked as they are opened.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;
    void unlock_parts(unsigned count) noexcept;

    MultiParts& parts_;
    Driver* drivers_[kMostParts] = {};  // nullptr: no such part
    std::uint64_t starts_[kMostParts] = {};
    std::uint8_t first_ = 0;     // the part with the superblock
    std::uint8_t unsynced_ = 0;  // one bit for each part
    bool exclusive_ = false;     // the kind of lock
    Capabilities promised_;
    std::int32_t error_ = 0;
    UsageRanges ranges_;
    SuperblockInfo stored_info_{"NCSAmult", {}, nullptr};
    std::byte encoded_[kMostInfo] = {};
};

}  // namespace h5mote
