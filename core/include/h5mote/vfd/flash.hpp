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
    none,       ///< all is well
    blank,      ///< no block was ever used
    foreign,    ///< blocks hold bytes, but nothing of this driver
    geometry,   ///< a log that was made with another geometry; `block` carries it
    version,    ///< a log of a later version of the format; `block` carries it
    no_commit,  ///< a log in which no state is complete; `block` is its newest
    damaged  ///< mounted, but more than a bit of a record in `block` is wrong: what it held is unreadable or as before
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
    std::uint32_t corrected = 0;         ///< reads since the mount in which the chip's ECC corrected something
    std::uint64_t written = 0;           ///< given to write() since the mount
    std::uint64_t programmed = 0;        ///< since the mount
    std::uint64_t programs = 0;          ///< calls of FlashDevice::program since the mount
    std::uint64_t erased_blocks = 0;     ///< since the mount
    std::uint64_t collected = 0;         ///< programmed since the mount only to free blocks
    std::uint64_t total_written = 0;     ///< given to write() since the first format, to a KiB, as of the newest block
    std::uint64_t total_programmed = 0;  ///< since then, as the erases of all blocks tell
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

/// Most operations of the device that something can need.
struct FlashCost {
    std::uint64_t programs = 0;
    std::uint64_t programmed = 0;  ///< bytes
    std::uint64_t reads = 0;
    std::uint64_t erases = 0;
};

/// A file on a flash device. Everything that was written between two calls of sync() that returned ok appears wholly
/// or, after a power cut at any instant, not at all. No call does more than a bound that follows from the geometry and
/// the format: worst_case(). Memory does not depend on the device's size.
///
/// Between two calls of sync() no more can be written than is free at the first: about the reserve of a full device,
/// three eighths of what is free of one that is not. keep_room() counts with what that takes at most.
class FlashDriver final : public Driver {
public:
    /// Bytes of work memory that mount() and format() need.
    static constexpr std::size_t required_memory(const FlashGeometry& geometry, const FlashFormat& format = {},
                                                 const FlashOptions& options = {}) noexcept {
        return window_size(geometry.program_unit) * (geometry.program_unit > 4 ? 2U : 1U) + format.page_size +
               kFanOut * 4 + std::size_t{8} * options.changes;
    }
    /// First bytes of a block that identify() needs.
    static constexpr std::size_t kIdentification = 32;
    /// Whether a block with these first bytes belongs to a log, and what that was made with: for those who have an
    /// image of a chip and do not know the chip. All of `geometry` is filled in; its page_size is the program unit.
    static bool identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept;

    /// Device and memory (aligned to 4) are borrowed until the driver is destroyed.
    FlashDriver(FlashDevice& device, Bytes memory) noexcept;

    /// Makes the device an empty file, whatever it held, and mounts it. Nothing else ever formats. What was there may
    /// be gone once the first block was begun; if the power fails then and before the first commit is complete, mount()
    /// may find no_commit. invalid_argument: a geometry or format that makes no sense, memory that is not aligned;
    /// over_budget: memory; no_space: too small a device, too many bad blocks. io_error.
    Status format(const FlashFormat& format = {}, const FlashOptions& options = {}) noexcept;
    /// Finds the state of the last sync() that returned ok, or, when the power failed in a later one, of that one.
    /// Writes nothing. not_found: no block carries a log (blank), nor anything that the chip's ECC lets be read.
    /// corrupt_file: blocks do, but no state can be found; a foreign device or another geometry; usage().finding tells.
    /// unsupported: a later version. invalid_argument: options, memory that is not aligned. over_budget: memory.
    /// io_error: the chip did not answer one of the reads, so that a newer state may have been missed.
    Status mount(const FlashOptions& options = {}) noexcept;
    bool mounted() const noexcept { return mounted_; }

    FlashUsage usage() const noexcept;
    /// What a block holds. Reads all of it. invalid_argument, io_error.
    Status block_info(std::uint32_t block, FlashBlockInfo& info) noexcept;

    /// The most that so many calls of write(), with so many bytes in all, and the sync() behind them take together as
    /// the device is now, whatever it holds, if nothing fails or has to be corrected. Proportional to what is written;
    /// the factor follows from the reserve. Far above what is usual; README.md, "Latency", also has what it means in
    /// instructions.
    FlashCost worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept;

    Capabilities capabilities() const noexcept override;
    /// io_error also when what the device holds there is damaged; other pages can be read then.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space: nothing is written; what was written before can be read and synced, truncate() and release() work.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Commits what was changed, and the first time what the mount found. Then moves what is still needed out of the
    /// oldest blocks when few are free. What the chip's ECC had to correct when it was last read is first written
    /// elsewhere.
    std::int32_t last_error() const noexcept override { return device_.last_error(); }
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override;
    /// Mounts again, if anything was changed. What mount() returns.
    Status discard() noexcept override;

private:
    static constexpr std::uint32_t kFanOut = 16;   // of a node of the map
    static constexpr unsigned kLongestChain = 36;  // pieces of a page
    // Bytes that are gathered for one program.
    static constexpr std::uint32_t window_size(std::uint32_t unit) noexcept { return unit < 64 ? 64 : unit; }

    // Places in the log are counted in words of four bytes from the start of the device; 0: none.
    using Place = std::uint32_t;
    struct Change {
        std::uint32_t key;  // level << 28 | index: a page, or a node of the map
        Place place;        // of its newest record; kGone: it is no longer there, by the record at that place
    };
    struct BlockHead;
    struct Record;
    struct Walk;
    struct Commit;

    // log.cpp: bytes of the log
    std::uint32_t block_of(Place place) const noexcept { return place >> (block_log2_ - 2); }
    std::uint32_t offset_of(Place place) const noexcept { return (place << 2) & (geometry_.block_size - 1); }
    Place place_of(std::uint32_t block, std::uint32_t offset) const noexcept {
        return (block << (block_log2_ - 2)) | (offset >> 2);
    }
    std::uint32_t first_record() const noexcept;
    std::uint32_t position() const noexcept { return window_start_ + window_fill_; }
    std::uint32_t room() const noexcept { return geometry_.block_size - position(); }
    std::uint32_t next(std::uint32_t block) const noexcept { return block + 1 == geometry_.blocks ? 0 : block + 1; }
    std::uint32_t distance(std::uint32_t from, std::uint32_t to) const noexcept {
        return to >= from ? to - from : to + geometry_.blocks - from;
    }
    std::uint32_t age(Place place) const noexcept;  // words of the log between the tail and there
    bool known_bad(std::uint32_t block) noexcept;
    Status read_log(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept;
    bool read_head(std::uint32_t block, BlockHead& head) noexcept;
    Status program(const std::byte* from, std::uint32_t size) noexcept;
    Status program_window() noexcept;
    Status put_bytes(const std::byte* from, std::uint32_t size) noexcept;
    Status open_block(std::uint32_t after, std::uint32_t previous, bool barrier) noexcept;
    Status open_next() noexcept;
    static std::uint32_t sum_of(const Record& record, Place place, ConstBytes payload) noexcept;
    Status append_once(const Record& record, ConstBytes payload, Place& place) noexcept;
    Status append(const Record& record, ConstBytes payload, Place& place) noexcept;
    bool parse(std::uint32_t block, std::uint32_t offset, Record& record, std::uint32_t& next) noexcept;
    bool plausible(std::uint32_t offset, const Record& record) const noexcept;
    bool parse(Place place, Record& record) noexcept;
    bool intact(Place place, const Record& record) noexcept;
    bool step(Walk& walk) noexcept;
    Status give_up_block() noexcept;
    // What to make of bytes that do not make sense.
    Status damaged() const noexcept { return unanswered_ ? Status::io_error : Status::corrupt_file; }
    void close_block() noexcept;

    // map.cpp: where pages are
    Change* find(std::uint32_t key) noexcept;
    void put(std::uint32_t key, Place place) noexcept;
    bool has_room_for(std::uint32_t key) noexcept;
    void remove_children(std::uint32_t key) noexcept;
    Status lookup(std::uint32_t key, Place& place) noexcept;
    Status read_node(std::uint32_t key, Place place) noexcept;
    Status write_node(std::uint32_t key, std::uint32_t mask, Place previous, unsigned weight, Place& place) noexcept;
    Status flush_node(std::uint32_t key, bool whole = false) noexcept;
    unsigned weight_after(const Record& record, Place place) const noexcept;
    Status flush_best() noexcept;
    Status make_room() noexcept;
    Status flush_old() noexcept;
    Place oldest() noexcept;
    Status grow(std::uint32_t page) noexcept;
    Status unmap(std::uint32_t first, std::uint32_t last) noexcept;
    Status unmap_leaf(std::uint32_t first, std::uint32_t last) noexcept;
    Status unmap_run(std::uint32_t key, std::uint32_t count, std::uint32_t pages) noexcept;
    void apply_gone(std::uint32_t key, std::uint32_t count, Place place) noexcept;
    Status absent(std::uint32_t level, std::uint32_t index, bool& is) noexcept;

    // pages.cpp: what they hold
    Status chain(std::uint32_t page, Place newest, Place (&places)[kLongestChain], unsigned& count) noexcept;
    Status load(std::uint32_t page) noexcept;
    Status load_from(std::uint32_t page, Place newest) noexcept;
    Status append_piece(std::uint32_t page, std::uint32_t offset, ConstBytes from, Place previous, unsigned weight,
                        std::uint32_t hull) noexcept;
    Status write_piece(std::uint32_t page, std::uint32_t offset, ConstBytes from) noexcept;
    Status rewrite(std::uint32_t page, std::uint32_t size) noexcept;
    std::uint32_t hull_of(const Record& record) const noexcept;

    // collect.cpp: freeing blocks
    std::uint32_t free_blocks() const noexcept;
    std::uint32_t freed_blocks() const noexcept;
    std::uint32_t bad_between(std::uint32_t from, std::uint32_t to) noexcept;
    std::uint32_t wanted_blocks() const noexcept;
    bool worth_a_commit() const noexcept;
    Status live(Place place, const Record& record, bool& is_live) noexcept;
    Status node_has(Place place, std::uint32_t key, bool& has) noexcept;
    Status move(Place place, const Record& record) noexcept;
    Status renew(std::uint32_t block, std::uint32_t from, std::uint32_t to) noexcept;
    Status relocate() noexcept;
    Status refresh() noexcept;
    Status collect() noexcept;

    // mount.cpp
    Status check(const FlashFormat& format) noexcept;
    Status lay_out(const FlashFormat& format, const FlashOptions& options) noexcept;
    Status scan(BlockHead& newest) noexcept;
    void look_behind(BlockHead& newest) noexcept;
    Status find_commit(const BlockHead& newest, const BlockHead& known, Commit& commit) noexcept;
    Status replay(Place from, Place to) noexcept;
    bool read_commit(Place place, Commit& commit) noexcept;
    bool replay_step(Walk& walk, std::uint32_t end) noexcept;
    void start(const Commit& commit) noexcept;
    void choose_resume() noexcept;
    Status begin() noexcept;
    Status open_barrier(std::uint32_t after) noexcept;
    Status program_all() noexcept;
    Status commit() noexcept;
    // flash_driver.cpp
    Status changing() noexcept;
    Status settle() noexcept;
    Status cut(std::uint32_t page, std::uint32_t kept) noexcept;
    Status space_for(std::uint64_t address, std::size_t size) noexcept;
    Status log_space_for(std::uint64_t bytes, std::uint32_t spare) noexcept;
    std::uint32_t blocks_for(std::uint64_t bytes) const noexcept;
    Status room_to_unmap(std::uint32_t pages) noexcept;
    std::uint32_t page_cost() const noexcept;

    FlashDevice& device_;
    Bytes memory_;
    FlashGeometry geometry_;
    FlashFormat format_;
    FlashUsage counts_;
    std::uint64_t total_written_ = 0;  // KiB, before the mount
    std::uint64_t total_erases_ = 0;   // before the mount
    std::uint64_t file_size_ = 0;

    std::byte* window_ = nullptr;
    std::byte* failed_ = nullptr;  // what could not be programmed, of failed_block_
    std::byte* page_ = nullptr;    // contents of page cached_
    std::byte* node_ = nullptr;    // contents of the node at node_place_, all its entries
    Change* changes_ = nullptr;    // by key
    std::uint32_t change_count_ = 0;
    std::uint32_t most_changes_ = 0;
    std::uint32_t cached_ = 0;
    Place node_place_ = 0;
    std::uint32_t node_key_ = 0;

    std::uint32_t head_ = 0;          // block that is written
    std::uint32_t window_start_ = 0;  // offset in it of what is not programmed
    std::uint32_t window_fill_ = 0;
    std::uint32_t record_start_ = 0;  // offset in it of the record that is appended, or will be
    std::uint32_t lost_size_ = 0;     // of a window that could not be programmed just now
    std::uint32_t failed_block_ = 0;
    std::uint32_t failed_start_ = 0;
    std::uint32_t failed_size_ = 0;
    Place frail_ = ~Place{0};      // bytes in which the device's ECC had to correct something
    std::uint32_t frail_end_ = 0;  // offset in the block behind them
    std::uint32_t sequence_ = 0;   // of the newest block
    std::uint32_t head_erases_ = 0;
    std::uint32_t tail_ = 0;    // oldest block with anything live
    std::uint32_t scan_ = 0;    // offset in it up to which all is moved
    std::uint32_t limit_ = 0;   // tail_ of the last commit that is known to last
    std::uint32_t newest_ = 0;  // at the mount: block with the highest sequence
    std::uint32_t resume_ = 0;  // at the mount: the log goes on behind this block
    std::uint32_t bad_ = 0;
    std::uint32_t bad_ahead_ = 0;   // of these, between head_ (as long as fresh_, resume_) and limit_
    std::uint32_t bad_passed_ = 0;  // of these, between limit_ and tail_
    std::uint32_t debt_ = 0;        // bytes appended for which nothing was collected yet
    Place root_ = 0;
    std::uint32_t live_pages_ = 0;
    std::uint32_t most_pages_ = 0;
    std::uint32_t kept_pages_ = 0;     // pages that keep_room() may need, of those not mapped
    std::uint64_t kept_bytes_ = 0;     // and bytes of the log
    std::uint64_t granted_bytes_ = 0;  // for which there is room besides, as room was kept for them until just now
    std::uint32_t spare_blocks_ = 0;   // that write() leaves
    std::uint32_t merge_blocks_ = 0;   // of these, for putting pieces of pages together
    std::uint32_t sync_blocks_ = 0;    // of these, that release() and truncate() leave for sync()
    std::uint32_t batch_blocks_ = 0;   // that are freed by one commit, so that more is gained than the commit takes
    std::uint32_t start_blocks_ = 0;   // fewer are free: collecting begins
    std::uint32_t rate_ = 0;           // bytes collected for each appended
    std::uint32_t chain_unit_ = 0;     // words of log between two pieces that count as another piece
    std::uint32_t replay_words_ = 0;   // of log that a mount may have to replay
    std::uint8_t block_log2_ = 0;
    std::uint8_t page_log2_ = 0;
    std::uint8_t height_ = 1;
    bool mounted_ = false;
    bool fresh_ = false;     // nothing was written since the mount
    bool barrier_ = false;   // a block behind newest_ must enclose what was not committed
    bool behind_ = false;    // and the log goes on in it
    bool settled_ = false;   // the log can be replayed
    bool dirty_ = false;     // changes that no commit has
    bool wrote_ = false;     // of these, by write()
    bool promised_ = false;  // keep_room() kept some since the last commit
    bool starved_ = false;   // something did not find room in the log
    bool read_only_ = false;
    bool unanswered_ = false;  // the chip did not answer a read of the call that runs
};

}  // namespace h5mote
