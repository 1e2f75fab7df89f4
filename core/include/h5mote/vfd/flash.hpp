// H5FD - one file on raw flash: log-structured, wear-levelled, every sync a commit.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/vfd/flash_device.hpp>

#include <cstdint>

namespace h5mote {

/// Chosen when a device is formatted, and kept on it.
struct FlashFormat {
    /// Bytes of the file that are found as one, a power of two from 128 to 4096. Larger ones cost memory (one is
    /// buffered) and make small changes dearer; smaller ones make reading back and large writes dearer.
    std::uint32_t page_size = 512;
    /// Share of the device, in percent, that the file never fills, so that freeing blocks stays cheap: 5 to 50. How
    /// much one sync() may have to move follows from it.
    std::uint8_t reserve = 12;
};

/// Chosen at each mount.
struct FlashOptions {
    /// Changed pages that are remembered in memory before the map on the device is brought up to date, 8 bytes each:
    /// 8 to 1024. More of them cost memory and time at the mount, fewer write the map more often. A device that was
    /// left with more of them than a later mount allows is over_budget there.
    std::uint16_t changes = 32;
    bool read_only = false;
};

/// What a mount or format() came across.
enum class FlashFinding : std::uint8_t {
    none,      ///< all is well
    blank,     ///< no block was ever used
    foreign,   ///< blocks hold bytes, but nothing of this driver
    geometry,  ///< a log that was made with another geometry; `block` carries it
    version,   ///< a log of a later version of the format; `block` carries it
    no_commit  ///< a log in which no state is complete; `block` is its newest
};

/// What a device holds, and what it went through. Bytes, if nothing else is said.
struct FlashUsage {
    FlashFinding finding = FlashFinding::none;
    std::uint32_t finding_block = 0;
    std::uint64_t file_size = 0;
    std::uint64_t capacity = 0;     ///< of the file that fit; pages that were never written do not count
    std::uint64_t live = 0;         ///< of the file's pages that are mapped
    std::uint32_t blocks_used = 0;  ///< erase blocks between the log's tail and its head
    std::uint32_t blocks_free = 0;  ///< others that are not bad
    std::uint32_t blocks_bad = 0;
    std::uint32_t mount_reads = 0;       ///< calls of FlashDevice::read by the last mount
    std::uint64_t mount_bytes = 0;       ///< that they read
    std::uint64_t written = 0;           ///< given to write() since the mount
    std::uint64_t programmed = 0;        ///< since the mount
    std::uint64_t programs = 0;          ///< calls of FlashDevice::program since the mount
    std::uint64_t erased_blocks = 0;     ///< since the mount
    std::uint64_t collected = 0;         ///< programmed since the mount only to free blocks
    std::uint64_t total_written = 0;     ///< given to write() since the format, to a KiB, as of the newest block
    std::uint64_t total_programmed = 0;  ///< since the format, to a KiB, as of the newest block
};

/// One erase block.
struct FlashBlockInfo {
    enum class State : std::uint8_t { free, used, bad };
    State state = State::free;
    bool known = false;          ///< a header tells the two numbers below
    std::uint32_t sequence = 0;  ///< the later it was begun, the higher
    std::uint32_t erases = 0;
    std::uint32_t live_pages = 0;  ///< pieces of pages that the file still needs, in a used block
    std::uint32_t dead_pages = 0;  ///< pieces of pages that were overwritten, released or never committed
    std::uint32_t live_bytes = 0;  ///< of such pieces and of the map, with what they cost besides
    std::uint32_t dead_bytes = 0;  ///< the rest of what is written
};

/// Most operations of the device that one call can need.
struct FlashCost {
    std::uint64_t programs = 0;
    std::uint64_t programmed = 0;  ///< bytes
    std::uint64_t reads = 0;
    std::uint64_t erases = 0;
};

/// A file on a flash device. Everything that was written between two calls of sync() that returned ok appears wholly
/// or, after a power cut at any instant, not at all. No call does more than a bound that follows from the geometry and
/// the format. Memory does not depend on the device's size.
///
/// Between two calls of sync() no more can be written than is free at the first: about the reserve of a full device, a
/// quarter of what is free of one that is not.
class FlashDriver final : public Driver {
public:
    /// Bytes of work memory that mount() and format() need.
    static constexpr std::size_t required_memory(const FlashGeometry& geometry, const FlashFormat& format = {},
                                                 const FlashOptions& options = {}) noexcept {
        return window_size(geometry.program_unit) + format.page_size + kFanOut * 4 + std::size_t{8} * options.changes;
    }
    /// First bytes of a block that identify() needs.
    static constexpr std::size_t kIdentification = 36;
    /// Whether a block with these first bytes belongs to a log, and what that was made with: for those who have an
    /// image of a chip and do not know the chip. All of `geometry` is filled in; its page_size is the program unit.
    static bool identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept;

    /// Device and memory (aligned to 8) are borrowed until the driver is destroyed.
    FlashDriver(FlashDevice& device, Bytes memory) noexcept;

    /// Makes the device an empty file, whatever it held, and mounts it. Nothing else ever formats. What was there is
    /// gone at the instant at which the first commit is complete. invalid_argument: a geometry or format that makes no
    /// sense; over_budget: memory; no_space: too small a device, too many bad blocks. io_error.
    Status format(const FlashFormat& format = {}, const FlashOptions& options = {}) noexcept;
    /// Finds the state of the last sync() that returned ok, or, when the power failed in a later one, of that one.
    /// Writes nothing. not_found: no block carries a log (blank). corrupt_file: blocks do, but no state can be found; a
    /// foreign device or another geometry; usage().finding tells. unsupported: a later version. over_budget: memory.
    /// io_error.
    Status mount(const FlashOptions& options = {}) noexcept;
    bool mounted() const noexcept { return mounted_; }

    FlashUsage usage() const noexcept;
    /// What a block holds. Reads all of it. invalid_argument, io_error.
    Status block_info(std::uint32_t block, FlashBlockInfo& info) noexcept;

    Capabilities capabilities() const noexcept override;
    /// io_error also when what the device holds there is damaged; other pages can be read then.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space: nothing is written; what was written before can be read and synced, truncate() and release() work.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Commits. Then moves what is still needed out of the oldest blocks when few are free.
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;

private:
    static constexpr std::uint32_t kFanOut = 32;  // of a node of the map
    // Bytes that are gathered for one program.
    static constexpr std::uint32_t window_size(std::uint32_t unit) noexcept { return unit < 64 ? 64 : unit; }

    FlashDevice& device_;
    Bytes memory_;
    bool mounted_ = false;
};

}  // namespace h5mote
