// H5FD - one file on raw flash: log-structured, wear-levelled, every sync a commit.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/vfd/flash_device.hpp>

#include <cstdint>

namespace h5mote {

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
/// Between two calls of sync() no more can be written than was free at the first of them: on a full device about the
/// reserve, otherwise three eighths of what is free. keep_room() counts with the most that the writes may take there.
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

    /// Device and memory (aligned to 4) are borrowed until the driver is destroyed.
    FlashDriver(FlashDevice& device, Bytes memory) noexcept;

    /// Makes the device an empty file, whatever it held, and mounts it. No other function ever formats. Once the first
    /// block was begun, what the device held may be gone; if the power fails after that and before the first commit is
    /// complete, mount() may find no_commit. invalid_argument: the geometry or format makes no sense, or the memory is
    /// not aligned. over_budget: the memory is too small. no_space: the device is too small or has too many bad blocks.
    /// io_error.
    Status format(const FlashFormat& format = {}, const FlashOptions& options = {}) noexcept;
    /// Finds the state of the last sync() that returned ok or, when the power failed in a later sync(), possibly the
    /// state that this one was committing. Writes nothing. not_found: no block carries a log, and none holds anything
    /// else that can be read (blank). corrupt_file: blocks hold something, but no state of this driver and geometry;
    /// usage().finding tells whether the content is foreign, made with another geometry, or without a complete commit.
    /// unsupported: a later version of the format. invalid_argument: the options make no sense, or the memory is not
    /// aligned. over_budget: the memory or options.changes is too small. io_error: the chip did not answer one of the
    /// reads, so that a newer state may have been missed.
    Status mount(const FlashOptions& options = {}) noexcept;
    bool mounted() const noexcept { return mounted_; }

    FlashUsage usage() const noexcept;
    /// Finds out what a block holds, by reading all of it. invalid_argument, io_error.
    Status block_info(std::uint32_t block, FlashBlockInfo& info) noexcept;

    /// The most that `writes` calls of write() with `bytes` bytes in all, and the sync() after them, take together from
    /// the present state of the device on, whatever it holds, if nothing fails or has to be corrected. Proportional to
    /// what is written, by a factor that follows from the reserve. It is far above what is usual. vfd/README.md, on
    /// latency, says what the operations mean in instructions.
    FlashCost worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept;

    Capabilities capabilities() const noexcept override;
    /// io_error also when the bytes on the device are damaged; other pages can still be read then.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space: nothing is written. What was written before can still be read and synced, and truncate() and release()
    /// work.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    std::int32_t last_error() const noexcept override { return device_.last_error(); }
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
    static constexpr std::uint32_t kFanOut = 16;   // entries of a node of the map
    static constexpr unsigned kLongestChain = 36;  // most records that a page or node is put together from
    // Size of the buffer in which bytes are gathered for one program, for a program unit of `unit` bytes.
    static constexpr std::uint32_t window_size(std::uint32_t unit) noexcept { return unit < 64 ? 64 : unit; }

    // A place in the log: its distance from the start of the device in words of four bytes; 0: none.
    using Place = std::uint32_t;
    struct Change {
        std::uint32_t key;  // level << 28 | index: a page, or a node of the map
        Place place;        // of its newest record; with kFlashGone: of the record that says it is unmapped
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
    std::uint32_t age(Place place) const noexcept;  // words of the log between the tail and `place`
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
    // The status for bytes that make no sense: if the chip did not answer a read, they may be sound.
    Status damaged() const noexcept { return unanswered_ ? Status::io_error : Status::corrupt_file; }
    void close_block() noexcept;

    // map.cpp: where the pages of the file are
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

    // pages.cpp: what the pages hold
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
    std::uint64_t total_written_ = 0;  // KiB given to write() before the mount
    std::uint64_t total_erases_ = 0;   // erases before the mount
    std::uint64_t file_size_ = 0;

    std::byte* window_ = nullptr;
    std::byte* failed_ = nullptr;  // bytes of failed_block_ whose program failed, until relocate()
    std::byte* page_ = nullptr;    // contents of page cached_
    std::byte* node_ = nullptr;    // all entries of the node at node_place_
    Change* changes_ = nullptr;    // changes of the map that no node on the device has, sorted by key
    std::uint32_t change_count_ = 0;
    std::uint32_t most_changes_ = 0;
    std::uint32_t cached_ = 0;
    Place node_place_ = 0;
    std::uint32_t node_key_ = 0;

    std::uint32_t head_ = 0;          // block that is being written
    std::uint32_t window_start_ = 0;  // offset in head_ up to which all is programmed
    std::uint32_t window_fill_ = 0;
    std::uint32_t record_start_ = 0;  // offset in head_ of the record that is being appended, or of the next one
    std::uint32_t lost_size_ = 0;     // bytes of the window, if programming it failed just now
    std::uint32_t failed_block_ = 0;
    std::uint32_t failed_start_ = 0;
    std::uint32_t failed_size_ = 0;
    Place frail_ = ~Place{0};      // where the device's ECC had to correct something, ~0 if nowhere
    std::uint32_t frail_end_ = 0;  // offset in the block behind those bytes
    std::uint32_t sequence_ = 0;   // of the newest block
    std::uint32_t head_erases_ = 0;
    std::uint32_t tail_ = 0;    // oldest block with anything that is needed
    std::uint32_t scan_ = 0;    // offset in tail_ up to which collect() has moved everything
    std::uint32_t limit_ = 0;   // tail_ of the last commit that is known to last: from here on nothing is erased
    std::uint32_t newest_ = 0;  // at the mount: block with the highest sequence
    std::uint32_t resume_ = 0;  // at the mount: the log goes on behind this block
    std::uint32_t bad_ = 0;
    std::uint32_t bad_ahead_ = 0;   // bad blocks between head_ (resume_ while fresh_) and limit_
    std::uint32_t bad_passed_ = 0;  // bad blocks between limit_ and tail_
    std::uint32_t debt_ = 0;        // bytes appended that collect() has not yet worked off
    Place root_ = 0;
    std::uint32_t live_pages_ = 0;
    std::uint32_t most_pages_ = 0;
    std::uint32_t kept_pages_ = 0;     // pages, not yet mapped, for which keep_room() keeps room
    std::uint64_t kept_bytes_ = 0;     // bytes of the log for which it keeps room
    std::uint64_t granted_bytes_ = 0;  // bytes of the log that the last keep_room() gave up, for the writes after it
    std::uint32_t spare_blocks_ = 0;   // free blocks that write() leaves
    std::uint32_t merge_blocks_ = 0;   // of the spare blocks, those for putting pieces of pages together
    std::uint32_t sync_blocks_ = 0;    // of the spare blocks, those that release() and truncate() leave for sync()
    std::uint32_t batch_blocks_ = 0;   // blocks that one commit frees, so that it gains more than it takes
    std::uint32_t start_blocks_ = 0;   // collecting begins when fewer blocks are free
    std::uint32_t rate_ = 0;           // bytes that are collected for each byte appended
    std::uint32_t chain_unit_ = 0;     // words of log between two pieces of a page that weigh as much as one more piece
    std::uint32_t replay_words_ = 0;   // words of log that a mount may have to replay
    std::uint8_t block_log2_ = 0;
    std::uint8_t page_log2_ = 0;
    std::uint8_t height_ = 1;
    bool mounted_ = false;
    bool fresh_ = false;     // nothing was written since the mount
    bool barrier_ = false;   // begin() must open a block behind newest_ that encloses what was not committed
    bool behind_ = false;    // the log goes on in that block
    bool settled_ = false;   // a mount can replay the log; if not, commit() first writes all changes into nodes
    bool dirty_ = false;     // there are changes that no commit has
    bool wrote_ = false;     // write() made some of them
    bool promised_ = false;  // keep_room() kept room since the last commit
    bool starved_ = false;   // something did not find room in the log
    bool read_only_ = false;
    bool unanswered_ = false;  // the chip did not answer a read during the present call
};

}  // namespace h5mote
