// H5FD - one file on raw flash: log-structured, wear-levelled, every sync a commit.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/vfd/flash_device.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

class FlashLog;

/// Chosen when a device is formatted, and kept on it.
struct FlashFormat {
    /// Bytes of a page, the unit in which the driver maps the file onto the device: a power of two from 128 to 4096.
    /// Larger pages cost memory (one is buffered) and make small changes dearer; smaller ones make reading back and
    /// large writes dearer.
    std::uint32_t page_size = 512;
    /// Share of the device, in percent, that the file never fills, so that freeing blocks stays cheap: 5 to 50. The
    /// larger it is, the less one sync() may have to move.
    std::uint8_t reserve = 12;
};

/// Chosen at each mount.
struct FlashOptions {
    /// Most changes of the map that are kept in memory before the map on the device is brought up to date: 8 to 1024,
    /// at 8 bytes each. More of them cost memory and time at the mount, fewer write the map more often. A mount that
    /// allows fewer than an earlier one may find more on the device: over_budget.
    std::uint16_t changes = 32;
    bool read_only = false;
};

/// What a mount or format() found on the device.
enum class FlashFinding : std::uint8_t {
    none,       ///< all is well
    blank,      ///< no block was ever used
    foreign,    ///< blocks hold bytes, but none that this driver wrote
    geometry,   ///< a log that was made with another geometry; `block` is one with its header
    version,    ///< a log of a later version of the format; `block` is one with its header
    no_commit,  ///< a log without a complete commit; `block` is its newest
    damaged  ///< mounted, but more than one bit of a record in `block` is wrong: what it held is unreadable, or older
};

/// What a device holds, and what it went through. In bytes unless the comment says otherwise.
struct FlashUsage {
    FlashFinding finding = FlashFinding::none;
    std::uint32_t finding_block = 0;
    std::uint64_t file_size = 0;
    std::uint64_t capacity = 0;     ///< bytes of file that fit; pages that were never written take none
    std::uint64_t live = 0;         ///< bytes of the file's pages that stand on the device
    std::uint64_t transaction = 0;  ///< bytes for which keep_room(1, bytes) finds room while all is synced
    std::uint32_t blocks_used = 0;  ///< erase blocks between the log's tail and its head
    std::uint32_t blocks_free = 0;  ///< all other erase blocks that are not bad
    std::uint32_t blocks_bad = 0;
    std::uint32_t mount_reads = 0;       ///< calls of FlashDevice::read by the last mount
    std::uint64_t mount_bytes = 0;       ///< bytes that these calls read
    std::uint32_t corrected = 0;         ///< reads since the mount in which the chip's ECC corrected something
    std::uint64_t written = 0;           ///< bytes given to write() since the mount
    std::uint64_t programmed = 0;        ///< bytes programmed since the mount
    std::uint64_t programs = 0;          ///< calls of FlashDevice::program since the mount
    std::uint64_t erased_blocks = 0;     ///< number of erases since the mount
    std::uint64_t collected = 0;         ///< bytes programmed since the mount only to free blocks
    std::uint64_t total_written = 0;     ///< of write() since the first format, to a KiB, as the newest block tells
    std::uint64_t total_programmed = 0;  ///< bytes programmed since then, as the erase counts of all blocks tell
};

/// One erase block.
struct FlashBlockInfo {
    enum class State : std::uint8_t { free, used, bad };
    State state = State::free;
    bool known = false;          ///< the block has a header, which tells sequence and erases
    std::uint32_t sequence = 0;  ///< grows with each block that is begun
    std::uint32_t erases = 0;
    std::uint32_t live_pages = 0;  ///< in a used block: pieces of pages that the file still needs
    std::uint32_t dead_pages = 0;  ///< pieces of pages that were overwritten, released or never committed
    std::uint32_t live_bytes = 0;  ///< bytes of records that are still needed, those of the map included
    std::uint32_t dead_bytes = 0;  ///< bytes of the other records
};

/// Upper bounds for the operations of the device that a call needs.
struct FlashCost {
    std::uint64_t programs = 0;
    std::uint64_t programmed = 0;  ///< bytes
    std::uint64_t reads = 0;
    std::uint64_t erases = 0;
};

/// A file on a flash device. Everything that was written between two calls of sync() that returned ok appears wholly
/// or, after a power cut at any instant, not at all. The work of every call is bounded by the geometry and the format:
/// worst_case(). The memory that the driver needs does not depend on the device's size.
///
/// A transaction is what is written between two calls of sync(). It can take what is free, capacity - live in
/// FlashUsage, less a reserve of at most an eighth of that and eight pages: FlashUsage::transaction bytes, wherever
/// they go. Blocks for so much are made free only when they are asked for, because that can take a move of all that the
/// device holds. Three ways ask for them, before anything of the transaction is written:
///
///   - keep_room(1, bytes) makes room for so much, if FlashUsage::transaction is not less, and keep_room(0, 0) after it
///     leaves the room to all writes.
///   - A transaction that is refused (no_space) need not say its size: the first change after the next sync() or
///     discard() makes all room.
///   - So does the first change after a power cut, if what was cut has taken more than an eighth of what was free then.
///     Therefore a transaction that leaves an eighth free finds the room again that it had before the cut.
///
/// Without any of them, three eighths of what is free are ready at the end of each sync(). keep_room() counts with the
/// most that the writes may take in the log.
class FlashDriver final : public Driver {
public:
    /// Bytes of work memory that mount() and format() need.
    static constexpr std::size_t required_memory(const FlashGeometry& geometry, const FlashFormat& format = {},
                                                 const FlashOptions& options = {}) noexcept {
        return window_size(geometry.program_unit) * (geometry.program_unit > 4 ? 2U : 1U) + format.page_size +
               kFanOut * 4 + std::size_t{8} * options.changes;
    }
    /// Number of bytes from the start of a block that identify() needs.
    static constexpr std::size_t kIdentification = 32;
    /// Whether a block with these first bytes belongs to a log, and the geometry and format that the log was made with:
    /// for a program that has an image of a chip and does not know the chip. Fills in all of `geometry`; its page_size
    /// is the program unit.
    static bool identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept;

    /// The fewest blocks, bad ones not counted, of which a device can consist. The geometry must be valid, but its
    /// `blocks` do not count.
    static std::uint32_t fewest_blocks(const FlashGeometry& geometry, const FlashFormat& format = {},
                                       const FlashOptions& options = {}) noexcept;

    /// Device and memory (aligned to 4) are borrowed until the driver is destroyed.
    FlashDriver(FlashDevice& device, Bytes memory) noexcept;

    /// Makes the device an empty file, whatever it held, and mounts it. No other function ever formats. Once the first
    /// block was begun, what the device held may be gone; if the power fails after that and before the first commit is
    /// complete, mount() may find no_commit. invalid_argument: the geometry or format makes no sense, or the memory is
    /// not aligned. over_budget: the memory is too small. no_space: the device has fewer good blocks than
    /// fewest_blocks(); nothing was changed. io_error. busy: a File is open on this driver (without
    /// FileAccess::file_locking the driver does not know that).
    Status format(const FlashFormat& format = {}, const FlashOptions& options = {}) noexcept;
    /// Finds the state of the last sync() that returned ok or, when the power failed in a later sync(), possibly the
    /// state that this one was committing. Writes nothing. not_found: no block carries a log, and none holds anything
    /// else that can be read (blank). corrupt_file: blocks hold something, but no state of this driver and geometry;
    /// usage().finding tells whether the content is foreign, made with another geometry, or without a complete commit.
    /// unsupported: a later version of the format. invalid_argument: the options make no sense, or the memory is not
    /// aligned. no_space: the device is smaller than fewest_blocks() for these options, unless it is only read. Bad
    /// blocks count here: a chip on which too few good blocks are left can be mounted and read, and if it has no room
    /// for a page any more (FlashUsage::capacity is 0), what would change it returns no_space. over_budget: the memory
    /// or options.changes is too small. io_error: the chip did not answer one of the reads, so that a newer state may
    /// have been missed. busy: as with format().
    Status mount(const FlashOptions& options = {}) noexcept;
    bool mounted() const noexcept;

    FlashUsage usage() const noexcept;
    /// Finds out what a block holds, by reading all of it. invalid_argument, io_error.
    Status block_info(std::uint32_t block, FlashBlockInfo& info) noexcept;

    /// The most that `writes` calls of write() with `bytes` bytes in all, and the sync() after them, take together from
    /// the present state of the device on, whatever it holds, if no write is refused and nothing fails or has to be
    /// corrected. What one sync() collects has a limit, which is proportional to what was written and never more than
    /// the whole log; the rest is left to the next ones. The bound is largest where room has to be made first, mostly
    /// after a mount: a move of the whole log. It is at most ten times what a sweep has seen
    /// (tests/bench/flash_worst_case.cpp). vfd/README.md, on latency, says what the operations mean in instructions.
    FlashCost worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept;

    Capabilities capabilities() const noexcept override;
    /// io_error also when the bytes on the device are damaged; other pages can still be read then.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space: nothing is written, with one exception: if the room was there but programs fail until it is used up, a
    /// part of the range may have its new contents. What was written before can still be read and synced, and
    /// truncate() and release() work.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    std::int32_t last_error() const noexcept override;
    /// Commits all changes; the first call after a mount also commits the state that the mount found. Before that,
    /// bytes in which the chip's ECC had to correct something when they were last read are written elsewhere. After
    /// that, if few blocks are free, what is still needed is moved out of the oldest blocks.
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override;
    /// Mounts again if anything was changed since the last commit. Returns what mount() returns.
    Status discard() noexcept override;

private:
    friend class FlashLog;

    static constexpr std::uint32_t kFanOut = 16;  // entries of a node of the map
    // Size of the buffer in which bytes are gathered for one program, for a program unit of `unit` bytes.
    static constexpr std::uint32_t window_size(std::uint32_t unit) noexcept { return unit < 64 ? 64 : unit; }

    FlashLog& log() noexcept;
    const FlashLog& log() const noexcept;

    // What the driver remembers: a FlashLog (vfd/flash/flash_log.hpp). Its size is checked where the driver is
    // compiled.
    static constexpr std::size_t kStateSize = sizeof(void*) > 4 ? 448 : 416;
    alignas(std::uint64_t) std::byte state_[kStateSize];
};

}  // namespace h5mote
