#include "flash_format.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

// Bytes of log that a page costs beyond its contents when pages are written in sequence: the head of its record, and
// its share of the map's records, a few of which are whole nodes.
constexpr std::uint32_t kPiece = 72;
// keep_room() counts one change of metadata (of a chunk index) for each range, and this many more for the dimensions in
// the dataspace and other parts of the index.
constexpr std::uint32_t kChanges = 4;

// For the callers of the driver damage on the device is a failure of the storage: corrupt_file would blame the HDF5
// file.
Status outward(Status status) noexcept { return status == Status::corrupt_file ? Status::io_error : status; }

}  // namespace

Capabilities FlashLog::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.atomic_unit = 512;
    capabilities.erased_value = 0;
    capabilities.writable = mounted_ && !read_only_;
    capabilities.sync_is_commit = capabilities.keeps_storage = true;
    return capabilities;
}

Status FlashLog::read(std::uint64_t address, Bytes to) noexcept {
    if (!mounted_ || !within(address, to.size(), file_size_)) {
        return Status::io_error;
    }
    unanswered_ = false;
    std::byte* at = to.data();
    for (std::size_t left = to.size(); left > 0;) {
        const std::uint32_t offset = static_cast<std::uint32_t>(address) & (format_.page_size - 1);
        const std::size_t most = format_.page_size - offset;
        const std::size_t run = left < most ? left : most;
        H5MOTE_TRY(outward(load(static_cast<std::uint32_t>(address >> page_log2_))));
        std::memcpy(at, page_ + offset, run);
        address += run;
        at += run;
        left -= run;
    }
    return Status::ok;
}

// Called before any change: the driver must be mounted for writing, and records that a failed program destroyed are
// appended again first.
Status FlashLog::changing() noexcept {
    if (!mounted_) {
        return Status::io_error;
    }
    unanswered_ = false;
    if (read_only_) {
        return Status::read_only;
    }
    return most_pages_ == 0 ? Status::no_space : outward(relocate());
}

// The most bytes of log that changing part of one page takes: the whole page, if its pieces are put together, in two
// records, and a node of each level of the map, of which only the lowest is likely to be written whole. The map counts
// as high as it becomes when the device is full, because room that is kept must suffice while it becomes higher.
std::uint32_t FlashLog::page_cost() const noexcept {
    std::uint32_t height = height_;
    while (most_pages_ >> (kFlashFanOutLog2 * height) != 0) {
        ++height;
    }
    return format_.page_size + 2 * (Record::kSize + 8) + kFlashNodeRecord + (height - 1U) * 40;
}

// Bytes of a block that records surely fill: its end stays unused if the next record, at most a whole node, does not
// fit.
std::uint32_t FlashLog::usable() const noexcept { return geometry_.block_size - first_record() - kFlashNodeRecord; }

// Further blocks that `bytes` of records may need when the block being written is full.
std::uint32_t FlashLog::blocks_for(std::uint64_t bytes) const noexcept {
    const std::uint32_t here = room() < kFlashNodeRecord ? 0 : room() - kFlashNodeRecord;
    return bytes <= here ? 0 : static_cast<std::uint32_t>(divide_up(bytes - here, usable()));
}

// Blocks that must be free for `bytes` of records, so that `spare` stay free. Before the first change of a transaction
// it may be more:
//
//   after a mount           as many again as a sync leaves, because the mount gave up the rest of a block, and may have
//                           come after a power cut that left little
//   while starved_ is set   all that there can be, because nobody knows how much the transaction will write
std::uint32_t FlashLog::blocks_to_begin(std::uint64_t bytes, std::uint32_t spare) const noexcept {
    const std::uint32_t blocks = blocks_for(bytes);
    const std::uint32_t wanted = blocks + spare;
    if (!can_make_room() || !(fresh_ || starved_)) {
        return wanted;
    }
    const std::uint32_t all = most_free_blocks();
    const std::uint32_t begin = starved_ || blocks + wanted_blocks() > all ? all : blocks + wanted_blocks();
    return wanted < begin ? begin : wanted;
}

// Makes sure that the log has room for `bytes` of records, in addition to the room that keep_room() keeps, and that
// `spare` blocks stay free. Collects for that where it may: blocks become free by a commit, which is allowed only while
// nothing is uncommitted (half a change must not become durable) and no room is kept. Otherwise the call fails, and
// starved_ makes the next possible call make room. What is more than can be gained is refused without an attempt, which
// would wear the chip each time.
Status FlashLog::log_space_for(std::uint64_t bytes, std::uint32_t spare) noexcept {
    if (bytes <= granted_bytes_) {
        granted_bytes_ -= bytes;
        return Status::ok;
    }
    bytes += kept_bytes_ + kFlashHeight * kFlashNodeRecord;
    const std::uint32_t wanted = blocks_to_begin(bytes, spare);
    if (wanted > free_blocks()) {
        if (!can_make_room() || blocks_for(bytes) + spare > most_free_blocks() + start_blocks_ - spare_blocks_) {
            starved_ = starved_ || !can_make_room();
            return Status::no_space;
        }
        const bool kept = limit_ != tail_;
        H5MOTE_TRY(commit_now());
        collect_to_begin(wanted + 2);  // the last commit, and nodes that it writes, may begin two blocks
        starved_ = false;
        if (kept || limit_ != tail_) {
            // Only now can the blocks that were collected last be erased, and a session after this one need not keep
            // what the first commit has kept for the one before it.
            H5MOTE_TRY(commit_now());
        }
        return blocks_for(bytes) + spare <= free_blocks() ? Status::ok : Status::no_space;
    }
    starved_ = starved_ && !can_make_room();
    granted_bytes_ = 0;
    return Status::ok;
}

// Whether a write of `size` bytes finds room in the log, and the pages that it adds fit on the device.
Status FlashLog::space_for(std::uint64_t address, std::size_t size) noexcept {
    const auto first = static_cast<std::uint32_t>(address >> page_log2_);
    const auto last = static_cast<std::uint32_t>((address + size - 1) >> page_log2_);
    const std::uint32_t pages = last - first + 1;
    const std::uint32_t taken = live_pages_ + kept_pages_;
    if (pages > most_pages_ || taken > most_pages_ - pages) {
        std::uint32_t more = 0;
        for (std::uint32_t page = first; page <= last; ++page) {
            bool is_mapped = false;
            H5MOTE_TRY(mapped(page, is_mapped));
            more += is_mapped ? 0 : 1;
        }
        if (more != 0 && taken + more > most_pages_) {
            return Status::no_space;
        }
    }
    // The first and the last page may be changed in part, and then be rewritten whole.
    const std::uint32_t ends = pages < 2 ? 1 : 2;
    // Room that keep_room() promised belongs to a flush, which must not fail: its writes may use all blocks but those
    // that the sync itself needs.
    const std::uint32_t spare = promised_ ? sync_blocks_ + batch_blocks_ : spare_blocks_;
    return log_space_for(std::uint64_t{ends} * page_cost() + std::uint64_t{pages - ends} * (format_.page_size + kPiece),
                         spare);
}

// Room is looked for once, when it is first kept. Before the caller then writes into it, it asks for less: the
// difference is granted to the writes that follow (granted_bytes_), without another look. What they cost beyond the
// estimate comes out of the spare blocks.
Status FlashLog::keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept {
    H5MOTE_TRY(changing());
    const std::uint64_t changes = ranges == 0 ? 0 : std::uint64_t{ranges} + kChanges;
    const std::uint64_t pages = ranges == 0 ? 0 : (bytes >> page_log2_) + std::uint64_t{2} * ranges;
    if (pages > most_pages_) {
        return Status::no_space;
    }
    const std::uint64_t wanted =
        ranges == 0 ? 0 : bytes + (bytes >> page_log2_) * kPiece + (2 * std::uint64_t{ranges} + changes) * page_cost();
    const std::uint64_t there = kept_bytes_ + granted_bytes_;
    if (wanted > there) {
        if (live_pages_ + pages > most_pages_) {
            return Status::no_space;
        }
        const std::uint64_t kept = kept_bytes_;
        const std::uint64_t granted = granted_bytes_;
        kept_bytes_ = granted_bytes_ = 0;
        // `wanted` counts the cost of putting pieces of pages together, so merge_blocks_ need not stay free. Once
        // writing has begun, further needs, such as an index block that is allocated only then, may take every block
        // that sync() and collecting can do without.
        const Status status =
            log_space_for(wanted, wrote_ ? sync_blocks_ + batch_blocks_ : spare_blocks_ - merge_blocks_);
        if (status != Status::ok) {
            kept_bytes_ = kept;
            granted_bytes_ = granted;
            return status;
        }
    }
    granted_bytes_ = wanted < there ? there - wanted : 0;
    kept_pages_ = static_cast<std::uint32_t>(pages);
    kept_bytes_ = wanted;
    promised_ = promised_ || wanted != 0;
    return Status::ok;
}

// Makes room where a transaction begins with a change that itself needs little: once there is a change, blocks cannot
// become free before the next commit. no_space: no room was made.
Status FlashLog::room_to_begin(std::uint64_t bytes) noexcept {
    return can_make_room() ? log_space_for(bytes, spare_blocks_) : Status::no_space;
}

// Whether `pages` pages can be unmapped and a sync still finds room: each leaf of the map that has some of them takes a
// record. no_space if not.
Status FlashLog::room_to_unmap(std::uint32_t pages) noexcept {
    const std::uint32_t leaves = pages / kFanOut + 2;
    const std::uint64_t bytes = std::uint64_t{leaves < live_pages_ ? leaves : live_pages_} * 32 + page_cost();
    const Status status = room_to_begin(bytes);
    if (status != Status::no_space) {
        return status;
    }
    return free_blocks() >= blocks_for(kept_bytes_ + granted_bytes_ + bytes) + sync_blocks_ ? Status::ok
                                                                                            : Status::no_space;
}

// Pages for which keep_room(1, their bytes) finds room if nothing is uncommitted: as many as the device can hold in
// addition, and as their records fit into the blocks that can be made free.
std::uint32_t FlashLog::pages_of_transaction() const noexcept {
    const std::uint32_t unused = unused_pages();
    const std::uint64_t log = std::uint64_t{most_free_blocks() + merge_blocks_ - spare_blocks_} * usable();
    const std::uint64_t rest = std::uint64_t{2 + 1 + kChanges} * page_cost() + kFlashHeight * kFlashNodeRecord;
    const std::uint64_t pages = log < rest ? 0 : quotient_of(log - rest, format_.page_size + kPiece);
    return unused <= 2 ? 0 : pages < unused - 2 ? static_cast<std::uint32_t>(pages) : unused - 2;
}

Status FlashLog::write(std::uint64_t address, ConstBytes from) noexcept {
    H5MOTE_TRY(changing());
    if (from.empty()) {
        return Status::ok;
    }
    if (!within(address, from.size(), std::uint64_t{1} << (28 + page_log2_))) {
        return Status::no_space;
    }
    H5MOTE_TRY(space_for(address, from.size()));
    H5MOTE_TRY(begin());
    dirty_ = wrote_ = true;
    const std::uint64_t end = address + from.size();
    H5MOTE_TRY(grow(static_cast<std::uint32_t>((end - 1) >> page_log2_)));
    const std::byte* at = from.data();
    while (address < end) {
        const std::uint32_t offset = static_cast<std::uint32_t>(address) & (format_.page_size - 1);
        const std::uint64_t left = end - address;
        const std::size_t most = format_.page_size - offset;
        const std::size_t run = left < most ? static_cast<std::size_t>(left) : most;
        H5MOTE_TRY(outward(relocate()));
        H5MOTE_TRY(outward(write_piece(static_cast<std::uint32_t>(address >> page_log2_), offset, {at, run})));
        address += run;
        at += run;
        // Also if the next page fails: pages behind the end would never be unmapped, and would not read as zero later.
        file_size_ = address > file_size_ ? address : file_size_;
    }
    counts_.written += from.size();
    return Status::ok;
}

Status FlashLog::discard() noexcept {
    kept_pages_ = 0;
    kept_bytes_ = granted_bytes_ = 0;
    if (!mounted_ || !dirty_) {
        return mounted_ ? Status::ok : Status::io_error;
    }
    FlashOptions options;
    options.changes = static_cast<std::uint16_t>(most_changes_);
    const bool starved = starved_;
    const Status status = mount(options);
    starved_ = starved_ || starved;
    return status;
}

Status FlashLog::commit_now() noexcept {
    H5MOTE_TRY(outward(begin()));
    H5MOTE_TRY(outward(flush_old()));
    return outward(commit());
}

Status FlashLog::sync() noexcept {
    if (!mounted_) {
        return Status::io_error;
    }
    if (frail_ != kNoFlashPage && !read_only_) {
        // A failure does no harm: bytes that could not be moved are noticed again when they are next read.
        (void)refresh();
    }
    // After a mount commit even without changes: the commit that it found may be one that a power cut interrupted,
    // which the next mount may not find.
    if (!dirty_ && (replayable_ || read_only_)) {
        return Status::ok;
    }
    unanswered_ = false;
    const std::uint64_t most = share(debt_ - carried_);
    const bool last_blocks = limit_ != tail_ && free_blocks() <= sync_blocks_ + batch_blocks_;
    H5MOTE_TRY(commit_now());
    if (last_blocks) {
        // Sessions that commit once each begin a block each, and none of them frees one: what the first commit after a
        // mount keeps for the commit before it is free when a second commit says so.
        (void)commit_now();
    }
    // Everything is durable by now. If collecting fails, the next call that needs space tries it again.
    collect_after_sync(most);
    return Status::ok;
}

Status FlashLog::end_of_file(std::uint64_t& size) noexcept {
    size = file_size_;
    return mounted_ ? Status::ok : Status::io_error;
}

Status FlashLog::truncate(std::uint64_t size) noexcept {
    H5MOTE_TRY(changing());
    if (size == file_size_) {
        return Status::ok;
    }
    if (size > std::uint64_t{1} << (28 + page_log2_)) {
        return Status::no_space;
    }
    if (size < file_size_) {
        H5MOTE_TRY(room_to_unmap(static_cast<std::uint32_t>((file_size_ - size) >> page_log2_)));
    } else {
        const Status status = room_to_begin(page_cost());
        H5MOTE_TRY(status == Status::no_space ? Status::ok : status);
    }
    H5MOTE_TRY(begin());
    dirty_ = true;
    if (size < file_size_) {
        auto first = static_cast<std::uint32_t>(size >> page_log2_);
        const std::uint32_t kept = static_cast<std::uint32_t>(size) & (format_.page_size - 1);
        if (kept != 0) {
            H5MOTE_TRY(outward(cut(first, kept)));
            ++first;
        }
        H5MOTE_TRY(outward(unmap(first, static_cast<std::uint32_t>((file_size_ - 1) >> page_log2_) + 1)));
        cached_ = kNoFlashPage;
    }
    file_size_ = size;
    return Status::ok;
}

// Zeroes a page from byte `kept` on.
Status FlashLog::cut(std::uint32_t page, std::uint32_t kept) noexcept {
    Place newest = 0;
    Record record;
    H5MOTE_TRY(make_room());
    H5MOTE_TRY(lookup(page, newest));
    if (newest == 0 || (parse(newest, record) && record.piece() && hull_of(record) <= kept)) {
        return Status::ok;
    }
    H5MOTE_TRY(load(page));
    std::memset(page_ + kept, 0, format_.page_size - kept);
    cached_ = kNoFlashPage;
    return rewrite(page, kept);
}

Status FlashLog::release(std::uint64_t address, std::uint64_t size) noexcept {
    H5MOTE_TRY(changing());
    if (address >= file_size_) {
        return Status::ok;
    }
    size = size < file_size_ - address ? size : file_size_ - address;
    const std::uint32_t mask = format_.page_size - 1;
    const auto first = static_cast<std::uint32_t>((address + mask) >> page_log2_);
    const auto last = static_cast<std::uint32_t>((address + size) >> page_log2_);
    if (first >= last) {
        return Status::ok;
    }
    H5MOTE_TRY(room_to_unmap(last - first));
    H5MOTE_TRY(begin());
    dirty_ = true;
    cached_ = kNoFlashPage;
    return outward(unmap(first, last));
}

FlashUsage FlashLog::usage() const noexcept {
    FlashUsage usage = counts_;
    if (mounted_) {
        usage.file_size = file_size_;
        usage.capacity = std::uint64_t{most_pages_} << page_log2_;
        usage.live = std::uint64_t{live_pages_} << page_log2_;
        usage.transaction = std::uint64_t{pages_of_transaction()} << page_log2_;
        usage.blocks_bad = bad_;
        usage.blocks_free = freed_blocks();
        usage.blocks_used = geometry_.blocks - bad_ - usage.blocks_free;
        usage.total_written = (total_written_ << 10) + counts_.written;
        usage.total_programmed = (total_erases_ + counts_.erased_blocks) << block_log2_;
    }
    return usage;
}

}  // namespace h5mote
