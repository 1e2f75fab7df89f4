// H5FD (flash) - the log on a flash device, which is what a FlashDriver consists of.
#pragma once

#include "checksum.hpp"

#include <h5mote/vfd/flash.hpp>

namespace h5mote {

/// Each function does what the function of FlashDriver with the same name says.
class FlashLog {
public:
    FlashLog(FlashDevice& device, Bytes memory) noexcept : device_(device), memory_(memory) {}

    static bool identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept;
    static std::uint32_t fewest_blocks(const FlashGeometry& geometry, const FlashFormat& format,
                                       const FlashOptions& options) noexcept;
    Status format(const FlashFormat& format, const FlashOptions& options) noexcept;
    Status mount(const FlashOptions& options) noexcept;
    bool mounted() const noexcept { return mounted_; }
    FlashUsage usage() const noexcept;
    Status block_info(std::uint32_t block, FlashBlockInfo& info) noexcept;
    FlashCost worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept;

    Capabilities capabilities() const noexcept;
    Status read(std::uint64_t address, Bytes to) noexcept;
    Status write(std::uint64_t address, ConstBytes from) noexcept;
    std::int32_t last_error() const noexcept { return device_.last_error(); }
    Status sync() noexcept;
    Status end_of_file(std::uint64_t& size) noexcept;
    Status truncate(std::uint64_t size) noexcept;
    Status release(std::uint64_t address, std::uint64_t size) noexcept;
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept;
    Status discard() noexcept;

private:
    static constexpr std::uint32_t kFanOut = FlashDriver::kFanOut;
    static constexpr unsigned kLongestChain = 36;  // most records that a page or node is put together from
    static constexpr std::uint32_t window_size(std::uint32_t unit) noexcept { return FlashDriver::window_size(unit); }

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
    static std::uint32_t first_record(const FlashGeometry& geometry) noexcept;
    std::uint32_t first_record() const noexcept { return first_record(geometry_); }
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
    static Lookup3Stream sum_of(const Record& record, Place place) noexcept;
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
    Change* change_of(std::uint32_t key) noexcept;
    void put(std::uint32_t key, Place place) noexcept;
    bool has_room_for(std::uint32_t key) noexcept;
    void remove_children(std::uint32_t key) noexcept;
    Status lookup(std::uint32_t key, Place& place) noexcept;
    Status mapped(std::uint32_t page, bool& is) noexcept;
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
    Status move_if_live(Place place, const Record& record) noexcept;
    Status renew(std::uint32_t block, std::uint32_t from, std::uint32_t to) noexcept;
    Status relocate() noexcept;
    Status refresh() noexcept;
    // Pages that the device can hold beyond those that it holds.
    std::uint32_t unused_pages() const noexcept {
        return most_pages_ - (live_pages_ < most_pages_ ? live_pages_ : most_pages_);
    }
    // Blocks that all pages which the device can hold, and the map, take together.
    std::uint32_t blocks_of_pages() const noexcept {
        const std::uint32_t blocks = geometry_.blocks - bad_ + spare_blocks_;
        return blocks < 2 * start_blocks_ ? 0 : blocks - 2 * start_blocks_;  // 0: too many blocks have become bad
    }
    std::uint64_t round_of_log() const noexcept;
    // When blocks are collected, a read or a program counts as so many bytes at least: about what they are on average.
    std::uint32_t read_work() const noexcept { return format_.page_size / 128 + 12; }
    std::uint32_t program_work() const noexcept { return format_.page_size / 4 + 96; }
    std::uint32_t most_free_blocks() const noexcept;
    std::uint64_t share(std::uint64_t appended) const noexcept;
    Status collect_step(Walk& walk, std::uint32_t& size) noexcept;
    Status collect(std::uint32_t wanted, std::uint64_t& budget) noexcept;

    // layout.cpp: what the device and the memory are divided into
    Status check(const FlashFormat& format) noexcept;
    struct Reserve {
        std::uint32_t sync, merge, batch, spare, start, slack;
    };
    static Reserve reserve(std::uint32_t good, const FlashGeometry& geometry, const FlashFormat& format,
                           const FlashOptions& options) noexcept;
    Status lay_out(const FlashFormat& format, const FlashOptions& options) noexcept;

    // mount.cpp
    Status scan(BlockHead& newest) noexcept;
    void look_behind(BlockHead& newest) noexcept;
    Status find_commit(const BlockHead& newest, const BlockHead& known, Commit& commit) noexcept;
    std::uint32_t follower(std::uint32_t before, std::uint32_t last, std::uint32_t& sequence) noexcept;
    Status replay(Place from, Place to) noexcept;
    bool read_commit(Place place, Commit& commit) noexcept;
    bool replay_step(Walk& walk, std::uint32_t end) noexcept;
    void start(const Commit& commit) noexcept;
    void choose_resume() noexcept;
    Status begin() noexcept;
    Status open_barrier(std::uint32_t after) noexcept;
    Status program_all() noexcept;
    Status commit() noexcept;
    // flash_file.cpp: reading and writing the file
    Status changing() noexcept;
    Status commit_now() noexcept;
    Status cut(std::uint32_t page, std::uint32_t kept) noexcept;
    Status space_for(std::uint64_t address, std::size_t size) noexcept;
    bool can_make_room() const noexcept { return !dirty_ && kept_pages_ == 0; }
    std::uint32_t blocks_to_begin(std::uint64_t bytes, std::uint32_t spare) const noexcept;
    Status log_space_for(std::uint64_t bytes, std::uint32_t spare) noexcept;
    void collect_to_begin(std::uint32_t wanted) noexcept;
    void collect_after_sync(std::uint64_t share) noexcept;
    std::uint32_t usable() const noexcept;
    std::uint32_t blocks_for(std::uint64_t bytes) const noexcept;
    std::uint32_t pages_of_transaction() const noexcept;
    Status room_to_begin(std::uint64_t bytes) noexcept;
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
    std::uint32_t carried_ = 0;     // of these, those that the last sync or the mount left
    std::uint64_t worked_ = 0;      // what log_space_for() has collected since the last sync, as budget of collect()
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
    bool fresh_ = false;       // nothing was written since the mount
    bool barrier_ = false;     // begin() must open a block behind newest_ that encloses what was not committed
    bool behind_ = false;      // the log goes on in that block
    bool replayable_ = false;  // a mount can replay the log; if not, commit() first writes all changes into nodes
    bool dirty_ = false;       // there are changes that no commit has
    bool wrote_ = false;       // write() made some of them
    bool promised_ = false;    // keep_room() kept room since the last commit
    bool starved_ = false;     // something did not find room in the log, or what a power cut has cut took much of it
    bool read_only_ = false;
    bool unanswered_ = false;  // the chip did not answer a read during the present call
};

}  // namespace h5mote
