// Collection: frees blocks by appending again what is still needed of the oldest one. Blocks are freed in the order in
// which they were written, whatever they hold, so that all wear alike.
#include "flash_format.hpp"

#include "checked.hpp"
#include "cursor.hpp"

namespace h5mote {
namespace {

// A commit is due once fewer than this many blocks are free beyond spare_blocks_.
constexpr std::uint32_t kFewBlocks = 3;
constexpr std::uint32_t kMostKept = 128;  // most blocks freed by one commit, whose field `kept` holds up to 255

}  // namespace

// Blocks after the log's head that can be erased now: no commit that a mount may find needs them.
std::uint32_t FlashLog::free_blocks() const noexcept {
    const std::uint32_t head = fresh_ ? resume_ : head_;
    const std::uint32_t between = head == limit_ ? geometry_.blocks - 1 : distance(head, limit_) - 1;
    return between > bad_ahead_ ? between - bad_ahead_ : 0;
}

// Blocks that can be erased once the next commit is durable, including those that can be erased now.
std::uint32_t FlashLog::freed_blocks() const noexcept { return free_blocks() + distance(limit_, tail_) - bad_passed_; }

// Number of bad blocks after `from` and before `to`, in the order of the log.
std::uint32_t FlashLog::bad_between(std::uint32_t from, std::uint32_t to) noexcept {
    std::uint32_t count = 0;
    if (bad_ != 0) {
        for (std::uint32_t block = next(from); block != to; block = next(block)) {
            count += known_bad(block) ? 1 : 0;
        }
    }
    return count;
}

// Collect until this many blocks are free. The fuller the device, the smaller that number, so that collection stays
// affordable; what is free above the minimum is room for the writes between two syncs.
std::uint32_t FlashLog::wanted_blocks() const noexcept {
    return start_blocks_ + (3 * unused_pages() >> (block_log2_ - page_log2_ + 3));
}

// Whether to commit now. Blocks that collection has freed can be erased only after a commit. A commit for each of them
// would cost too much and, where a block has few program units, use more space than it gains.
bool FlashLog::worth_a_commit() const noexcept {
    const std::uint32_t freed = distance(limit_, tail_);
    const std::uint32_t free = free_blocks();
    return freed >= kMostKept || (freed >= batch_blocks_ && free < spare_blocks_ + kFewBlocks) ||
           (freed > 0 && free <= sync_blocks_ + 1);
}

// Whether the present state needs the record at `place`. If damage hides that, the record counts as needed. A `gone`
// record is needed while a change in memory refers to it; for the root no record is needed, as every commit holds its
// place.
Status FlashLog::live(Place place, const Record& record, bool& is_live) noexcept {
    is_live = false;
    Status status = Status::ok;
    if (record.piece() || record.kind() == FlashRecord::lost) {
        Place places[kLongestChain];
        unsigned count = 0;
        status = lookup(record.index(), places[0]);
        if (status == Status::ok && places[0] != 0) {
            is_live = places[0] == place || chain(record.index(), places[0], places, count) != Status::ok;
            while (!is_live && count > 0) {
                is_live = places[--count] == place;
            }
        }
    } else if (record.kind() == FlashRecord::node) {
        status = node_has(place, record.key, is_live);
    }
    is_live = is_live || status == Status::corrupt_file;
    for (std::uint32_t i = 0; i < change_count_; ++i) {
        is_live = is_live || changes_[i].place == (place | kFlashGone);
    }
    return status == Status::corrupt_file ? Status::ok : status;
}

// Whether the record at `place` belongs to the present chain of records of the map's node `key`.
Status FlashLog::node_has(Place place, std::uint32_t key, bool& has) noexcept {
    Place now = 0;
    H5MOTE_TRY(lookup(key, now));
    Record record{};
    for (unsigned i = 0; now != place && now > kFlashLost && i < kLongestChain; ++i) {
        now = parse(now, record) && record.chained() ? record.link : 0;
    }
    has = now == place;
    return has || !unanswered_ ? Status::ok : Status::io_error;
}

// Appends again what the state still needs of a record, so that the record's block can be freed. If a damaged node of
// the map hides the places below it, those pages are lost: the node is written anew and marks them as lost, because
// otherwise the record's block could never be freed.
Status FlashLog::move(Place place, const Record& record) noexcept {
    for (std::uint32_t i = 0; i < change_count_;) {
        if (changes_[i].place == (place | kFlashGone)) {
            // If the change concerns a node, write that (empty) node: at its record a replay drops the changes below
            // it.
            const std::uint32_t key = changes_[i].key;
            H5MOTE_TRY(flush_node(key >> 28 != 0 ? key : flash_parent(key), true));
            i = 0;
        } else {
            ++i;
        }
    }
    if (record.kind() == FlashRecord::node) {
        bool is_live = false;
        const Status status = node_has(place, record.key, is_live);
        return is_live || status == Status::corrupt_file ? flush_node(record.key, true) : status;
    }
    if (record.kind() == FlashRecord::gone) {
        return Status::ok;
    }
    const std::uint32_t page = record.index();
    Place newest = 0;
    Record head{};
    Status status = lookup(page, newest);
    if (status == Status::corrupt_file) {
        return flush_node(flash_parent(page), true);
    }
    H5MOTE_TRY(status);
    status = load(page);
    if (status == Status::ok && !parse(newest, head)) {
        status = damaged();
    }
    if (status == Status::corrupt_file) {
        static constexpr std::byte kNothing[4] = {};
        H5MOTE_TRY(append({Record::make(FlashRecord::lost, 4), 0, page, 0}, kNothing, newest));
        put(page, newest);
        return Status::ok;
    }
    H5MOTE_TRY(status);
    return rewrite(page, hull_of(head));
}

Status FlashLog::move_if_live(Place place, const Record& record) noexcept {
    bool is_live = false;
    H5MOTE_TRY(make_room());
    H5MOTE_TRY(live(place, record, is_live));
    return is_live ? move(place, record) : Status::ok;
}

// Appends again those records of a block that the state needs and that overlap the bytes [from, to).
Status FlashLog::renew(std::uint32_t block, std::uint32_t from, std::uint32_t to) noexcept {
    Walk walk{block, first_record(), {}};
    while (walk.offset < to && step(walk)) {
        const Place place = place_of(block, walk.offset);
        walk.offset += walk.record.size();
        if (walk.offset > from) {
            H5MOTE_TRY(move_if_live(place, walk.record));
        }
    }
    return unanswered_ ? Status::io_error : Status::ok;
}

// Appends again the records that a failed program destroyed; memory (failed_) still holds them.
Status FlashLog::relocate() noexcept {
    if (failed_block_ != kNoFlashPage) {
        H5MOTE_TRY(renew(failed_block_, failed_start_, geometry_.block_size));
        failed_block_ = kNoFlashPage;
    }
    return Status::ok;
}

// Appends again the records in which the chip's ECC had to correct bits, before more bits flip. no_space: there is no
// room for that now.
Status FlashLog::refresh() noexcept {
    const std::uint32_t block = block_of(frail_);
    const std::uint32_t from = offset_of(frail_) & ~(geometry_.program_unit - 1);
    frail_ = kNoFlashPage;
    if (kept_bytes_ != 0 || free_blocks() <= spare_blocks_) {
        return Status::no_space;
    }
    H5MOTE_TRY(begin());
    dirty_ = true;
    return renew(block, from, frail_end_);
}

// Blocks that are free when all that is needed has been moved together: of the pages that the device could hold, those
// that it does not hold leave their share. The slack of lay_out() is not counted, so that one round gains as many.
std::uint32_t FlashLog::most_free_blocks() const noexcept {
    if (most_pages_ == 0) {
        return start_blocks_;
    }
    return start_blocks_ +
           static_cast<std::uint32_t>(quotient_of(std::uint64_t{blocks_of_pages()} * unused_pages(), most_pages_));
}

// The most of debt_ that one sync works off, when `appended` bytes were appended since the last one: twice as much and
// what every sync appends. So what a mount, a failed program or old nodes added to debt_ is spread over many syncs.
std::uint64_t FlashLog::share(std::uint64_t appended) const noexcept {
    return 2 * appended + page_cost() + 2 * geometry_.program_unit;
}

// Bytes that are looked at and appended when the whole log is collected once. What is appended are the pages and their
// share of the map, for which lay_out() has set a limit.
std::uint64_t FlashLog::round_of_log() const noexcept {
    return std::uint64_t{geometry_.blocks - free_blocks() + blocks_of_pages()} << block_log2_;
}

// Moves the oldest record that was not looked at yet, or frees its block, or commits what was moved. `size`: bytes of
// the record.
Status FlashLog::collect_step(Walk& walk, std::uint32_t& size) noexcept {
    if (failed_block_ != kNoFlashPage) {
        return relocate();
    }
    if (worth_a_commit()) {
        return commit();
    }
    if (step(walk)) {
        H5MOTE_TRY(move_if_live(place_of(walk.block, walk.offset), walk.record));
        size = walk.record.size();
        walk.offset += size;
        scan_ = walk.offset;
        return Status::ok;
    }
    std::uint32_t following = next(tail_);
    std::uint32_t bad = 0;
    for (; following != head_ && known_bad(following); following = next(following)) {
        ++bad;
    }
    if (unanswered_) {
        return Status::io_error;
    }
    tail_ = following;
    bad_passed_ += bad;
    limit_ = keep(FlashRule::free_last) ? limit_ : tail_;
    scan_ = first_record();
    walk = {tail_, scan_, {}};
    return Status::ok;
}

// Frees the oldest blocks until `wanted` are free or `budget`, bytes that may be looked at or appended, is used up: a
// read or a program counts as some bytes at least. What is left of the budget remains there. Called when everything
// is committed.
Status FlashLog::collect(std::uint32_t wanted, std::uint64_t& budget) noexcept {
    unanswered_ = false;
    const std::uint32_t owed = debt_;
    const std::uint64_t before = counts_.programmed;
    Status status = Status::ok;
    Walk walk{tail_, scan_, {}};
    while (status == Status::ok && budget > 0 && tail_ != head_ && free_blocks() > 2 && freed_blocks() < wanted) {
        const std::uint32_t debt = debt_;
        const std::uint32_t reads = counts_.mount_reads;
        const auto programs = static_cast<std::uint32_t>(counts_.programs);
        std::uint32_t size = 0;
        status = collect_step(walk, size);
        const std::uint32_t appended = debt_ - debt;
        std::uint32_t work = appended + (size > appended ? size : appended);
        const std::uint32_t read = (counts_.mount_reads - reads) * read_work();
        const std::uint32_t programmed = (static_cast<std::uint32_t>(counts_.programs) - programs) * program_work();
        work = work > read ? work : read;
        work = work > programmed ? work : programmed;
        budget -= budget < work ? budget : work;
    }
    counts_.collected += counts_.programmed - before;
    debt_ = owed;  // what was moved does not have to be made up for
    return status;
}

// Before a transaction: collects until `wanted` blocks are free, but no more than the whole log.
void FlashLog::collect_to_begin(std::uint32_t wanted) noexcept {
    const std::uint64_t round = round_of_log();
    std::uint64_t left = round;
    debt_ = collect(wanted, left) == Status::ok ? 0 : debt_;
    carried_ = debt_;
    worked_ = round - left;
}

// After a commit: works off `share` bytes of debt_, and leaves the rest to the next syncs. For each of them, `rate_`
// bytes are looked at or appended, but no more than the whole log; what collect_to_begin() has done counts.
void FlashLog::collect_after_sync(std::uint64_t share) noexcept {
    const std::uint32_t now = debt_ < share ? debt_ : static_cast<std::uint32_t>(share);
    const std::uint64_t round = round_of_log();
    const std::uint64_t most = round > worked_ ? round - worked_ : 0;
    std::uint64_t budget = std::uint64_t{now} * rate_;
    budget = budget < most ? budget : most;
    if (collect(wanted_blocks(), budget) == Status::ok) {
        debt_ -= budget == 0 ? now : debt_;
    }
    carried_ = debt_;
    worked_ = 0;
}

}  // namespace h5mote
