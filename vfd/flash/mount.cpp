// Mounting: finding the state of a device.
//
// The block with the highest sequence is the newest. The last commit in it is the state; if it has none, the last one
// of the block before it in the log. After a power cut the commit that is found may be one that was being programmed:
// it may not be found the next time. So nothing is built on its bytes (a commit has program units of its own), and the
// blocks that only an earlier commit needs (from limit_ on) are left alone until another commit is known to last.
//
// A session that has made a commit knows that it lasts, and goes on into these blocks. If it is killed there, the next
// mount sees it from how far the log has come (choose_resume()).
//
// What follows the commit that is found was never committed. It may hold a commit, though, that could not be read this
// time and can be read the next time: no block of it must be erased while that commit may still be found. So if there
// are blocks after the one with the commit, the log continues after all of them, in a block with a higher sequence
// whose header names the block with the commit as the one before it. Once that header is known to last - a second
// program was begun - nothing leads to the blocks in between. They hold nothing that is needed and are freed as the
// log's oldest ones are; so uses of the device that end without a commit wear all blocks alike.
//
// Where few free blocks are left after them, that new block remains empty: it is a barrier only, and the log continues
// in the block after the one with the commit.
#include "flash_format.hpp"

#include "checked.hpp"

namespace h5mote {

bool FlashLog::identify(ConstBytes first, FlashGeometry& geometry, FlashFormat& format) noexcept {
    BlockHead head;
    if (first.size() < FlashDriver::kIdentification || !head.decode(first.data())) {
        return false;
    }
    geometry = head.geometry;
    format = head.format;
    return true;
}

// Reads the headers of all blocks. not_found: no block belongs to a log.
Status FlashLog::scan(BlockHead& newest) noexcept {
    bool found = false;
    bad_ = 0;
    total_erases_ = 0;
    Status status = Status::not_found;
    counts_.finding = FlashFinding::blank;
    for (std::uint32_t block = 0; block < geometry_.blocks; ++block) {
        if (known_bad(block)) {
            ++bad_;
            continue;
        }
        BlockHead head;
        std::byte bytes[BlockHead::kSize];
        const Status read = read_log(block, 0, bytes);
        head.block = block;
        if (read == Status::io_error) {
            status = status == Status::not_found ? Status::io_error : status;
        } else if (read != Status::ok) {
            // Many chips with an ECC cannot read erased bytes: this is no sign of other contents.
        } else if (head.decode(bytes)) {
            total_erases_ += head.erases;
            if (!found || head.sequence > newest.sequence) {
                newest = head;
            }
            found = true;
        } else if (counts_.finding == FlashFinding::blank) {
            for (const std::byte each : bytes) {
                if (each != bytes[0] || (each != std::byte{0} && each != std::byte{0xff})) {
                    counts_.finding = FlashFinding::foreign;
                    counts_.finding_block = block;
                    status = Status::corrupt_file;
                    break;
                }
            }
        }
    }
    if (found) {
        counts_.finding = FlashFinding::none;
        return Status::ok;
    }
    return bad_ == geometry_.blocks ? Status::io_error : status;
}

// Reads a commit; one in which a single bit has flipped is repaired in memory.
bool FlashLog::read_commit(Place place, Commit& commit) noexcept {
    std::byte bytes[Record::kSize + Commit::kSize];
    if (read_log(block_of(place), offset_of(place), bytes) != Status::ok) {
        return false;
    }
    Record record;
    const auto holds = [&] {
        record.decode(bytes);
        return record.word == Record::make(FlashRecord::commit, Commit::kSize) &&
               (sum_of(record, place, {bytes + Record::kSize, Commit::kSize}) == record.checksum ||
                !keep(FlashRule::checksum));
    };
    if (!holds() && !repair_flash_bit(bytes, sizeof bytes, holds)) {
        return false;
    }
    Commit found;
    found.decode(bytes + Record::kSize);
    found.file_size |= std::uint64_t{record.index()} << 32;
    found.height = record.level();
    found.place = place;
    if (found.tail >= geometry_.blocks || found.kept >= geometry_.blocks || found.height < 1 ||
        found.height > kFlashHeight || block_of(found.replay) >= geometry_.blocks) {
        return false;
    }
    commit = found;
    return true;
}

// Finds the last commit on the way from the newest block back through the log. `known`: a header that was read already;
// it may not be readable again.
Status FlashLog::find_commit(const BlockHead& newest, const BlockHead& known, Commit& commit) noexcept {
    BlockHead head = newest;
    for (;;) {
        Walk walk{head.block, first_record(), {}};
        bool found = false;
        while (step(walk)) {
            found =
                (walk.record.kind() == FlashRecord::commit && read_commit(place_of(walk.block, walk.offset), commit)) ||
                found;
            walk.offset += walk.record.size();
        }
        if (unanswered_) {
            return Status::io_error;
        }
        const Place suspect = place_of(walk.block, walk.suspect);
        if (walk.suspect != 0 && (!found || suspect > commit.place)) {
            found = read_commit(suspect, commit) || found;
        }
        if (found) {
            return Status::ok;
        }
        const std::uint32_t sequence = head.sequence;
        const std::uint32_t previous = head.previous;
        if (previous == head.block || previous >= geometry_.blocks) {
            return Status::corrupt_file;
        }
        if (previous == known.block) {
            head = known;
        } else if (!read_head(previous, head)) {
            // The header is damaged, but the records after it may be sound.
            head.block = head.previous = previous;
            continue;
        }
        if (head.sequence >= sequence) {
            return Status::corrupt_file;
        }
    }
}

// A damaged header must not hide the newest block and so bring back an older state. If the header of the block after
// the newest one is damaged but has one of the next three sequences, that block is taken to be the newest.
void FlashLog::look_behind(BlockHead& newest) noexcept {
    std::uint32_t block = next(newest.block);
    while (block != newest.block && known_bad(block)) {
        block = next(block);
    }
    std::byte bytes[BlockHead::kSize];
    if (read_log(block, 0, bytes) != Status::ok) {
        return;
    }
    // A sound header is one of an earlier round of the log: scan() has seen it, and its sequence is lower.
    BlockHead head;
    if (head.decode(bytes)) {
        return;
    }
    const bool repaired = repair_flash_bit(bytes, sizeof bytes, [&] { return head.decode(bytes); });
    const std::uint32_t sequence = load_le<std::uint32_t>(bytes + 12);
    if (sequence - newest.sequence - 1 >= 3) {
        return;
    }
    if (repaired) {
        newest = head;
    } else {
        newest.previous = newest.block;
        newest.sequence = sequence;
    }
    newest.block = block;
}

// Finds the next record of a replay. All of them were once programmed completely, so damaged ones count as well: a
// flipped bit in the head is repaired in memory, and damaged contents are noticed when they are read.
bool FlashLog::replay_step(Walk& walk, std::uint32_t end) noexcept {
    const std::uint32_t erased = geometry_.erased_value * 0x01010101U;
    for (std::uint32_t next = 0; walk.offset + Record::kSmallest <= end; walk.offset = next) {
        const Place place = place_of(walk.block, walk.offset);
        const bool sound = parse(walk.block, walk.offset, walk.record, next);
        if (sound && intact(place, walk.record)) {
            return true;
        }
        if (!sound && __builtin_popcount(walk.record.word ^ erased) <= 1) {
            continue;
        }
        Record record;
        std::byte bytes[Record::kSmallest];
        if (read_log(walk.block, walk.offset, bytes) == Status::ok && repair_flash_bit(bytes, sizeof bytes, [&] {
                record.decode(bytes);
                return plausible(walk.offset, record) && intact(place, record);
            })) {
            walk.record = record;
            return true;
        }
        counts_.finding = FlashFinding::damaged;
        counts_.finding_block = walk.block;
        if (sound) {
            return true;
        }
    }
    return false;
}

// The block that follows `before` on the way to block `last`, which the headers from `last` on tell. Another block may
// name `before`, too: one that could not be programmed, or one that a power cut left behind, with a barrier after it.
// Where a header on the way is damaged, the next block is taken that names `before` and has a higher sequence than it;
// a block whose erase failed may name it from an earlier round. `sequence` is that of `before`, or lower if its header
// is damaged, and becomes that of the result.
std::uint32_t FlashLog::follower(std::uint32_t before, std::uint32_t last, std::uint32_t& sequence) noexcept {
    BlockHead head;
    head.previous = last;
    for (std::uint32_t i = 0; i < geometry_.blocks && head.previous < geometry_.blocks; ++i) {
        const std::uint32_t block = head.previous;
        if (!read_head(block, head) || head.sequence <= sequence) {
            break;
        }
        if (head.previous == before) {
            sequence = head.sequence;
            return block;
        }
    }
    for (std::uint32_t block = next(before); block != before; block = next(block)) {
        if (read_head(block, head) && head.previous == before && head.sequence > sequence) {
            sequence = head.sequence;
            return block;
        }
    }
    return next(before);
}

// Rebuilds the changes in memory from the records of the log. They are never more than those that were in memory when
// the records were appended, but for one: the root of a map that was lower then is an entry in the map as it is now.
// make_room() leaves room for that one.
Status FlashLog::replay(Place from, Place to) noexcept {
    Walk walk{block_of(from), offset_of(from), {}};
    BlockHead head;
    std::uint32_t sequence = read_head(walk.block, head) ? head.sequence : 0;
    for (std::uint32_t blocks = 0; blocks < geometry_.blocks; ++blocks) {
        // Stop at the commit's place instead of its record, which may not be readable a second time.
        const bool last = walk.block == block_of(to);
        while (replay_step(walk, last ? offset_of(to) : geometry_.block_size)) {
            const Place place = place_of(walk.block, walk.offset);
            const Record& record = walk.record;
            const FlashRecord kind = record.kind();
            const std::uint32_t level = record.piece() || kind == FlashRecord::lost ? 0 : record.level();
            if (kind < FlashRecord::commit &&
                (level > height_ || record.index() >> (kFlashFanOutLog2 * (height_ - level)) != 0)) {
                return Status::corrupt_file;
            }
            if (kind == FlashRecord::gone && record.link <= kFanOut - (record.index() & (kFanOut - 1))) {
                H5MOTE_TRY(change_count_ + record.link <= most_changes_ ? Status::ok : Status::over_budget);
                apply_gone(record.key, record.link, place);
            } else if (kind == FlashRecord::piece || kind == FlashRecord::lost) {
                H5MOTE_TRY(has_room_for(record.index()) ? Status::ok : Status::over_budget);
                put(record.index(), place);
            } else if (kind == FlashRecord::node) {
                remove_children(record.key);
                if (record.level() < height_) {
                    H5MOTE_TRY(has_room_for(record.key) ? Status::ok : Status::over_budget);
                    put(record.key, !record.chained() && record.link == 0 ? place | kFlashGone : place);
                }
            }
            walk.offset += record.size();
        }
        if (last) {
            return Status::ok;
        }
        walk.block = follower(walk.block, block_of(to), sequence);
        walk.offset = first_record();
    }
    return Status::corrupt_file;
}

Status FlashLog::mount(const FlashOptions& options) noexcept {
    mounted_ = false;
    counts_ = {};
    geometry_ = device_.geometry();
    head_ = failed_block_ = frail_ = kNoFlashPage;
    H5MOTE_TRY(check({128, 12}));
    block_log2_ = static_cast<std::uint8_t>(floor_log2(geometry_.block_size));
    unanswered_ = false;
    BlockHead newest;
    const Status scanned = scan(newest);
    if (unanswered_) {
        return Status::io_error;
    }
    H5MOTE_TRY(scanned);
    counts_.finding_block = newest.block;
    counts_.finding = FlashFinding::version;
    if (newest.version != 1) {
        return Status::unsupported;
    }
    counts_.finding = FlashFinding::geometry;
    if (newest.geometry.blocks != geometry_.blocks || newest.geometry.block_size != geometry_.block_size ||
        newest.geometry.program_unit != geometry_.program_unit ||
        newest.geometry.erased_value != geometry_.erased_value || check(newest.format) != Status::ok) {
        return Status::corrupt_file;
    }
    counts_.finding = FlashFinding::none;
    H5MOTE_TRY(lay_out(newest.format, options));
    if (!read_only_ && geometry_.blocks < fewest_blocks(geometry_, format_, options)) {
        return Status::no_space;
    }
    const BlockHead known = newest;
    look_behind(newest);
    Commit commit;
    const Status status = find_commit(newest, known, commit);
    if (unanswered_) {
        return Status::io_error;
    }
    if (status != Status::ok) {
        counts_.finding = FlashFinding::no_commit;
        return Status::corrupt_file;
    }
    total_written_ = newest.written;
    head_erases_ = newest.erases;
    sequence_ = newest.sequence;
    newest_ = newest.block;
    start(commit);
    choose_resume();
    const Status replayed = replay(commit.replay, commit.place);
    if (unanswered_) {
        return Status::io_error;
    }
    H5MOTE_TRY(replayed);
    const FlashUsage counts = counts_;
    counts_ = {};
    counts_.finding = counts.finding;
    counts_.finding_block = counts.finding_block;
    counts_.mount_reads = counts.mount_reads;
    counts_.mount_bytes = counts.mount_bytes;
    mounted_ = true;
    return Status::ok;
}

// Takes over the state that a commit describes.
void FlashLog::start(const Commit& commit) noexcept {
    file_size_ = commit.file_size;
    root_ = commit.root;
    height_ = static_cast<std::uint8_t>(commit.height);
    live_pages_ = commit.live_pages;
    tail_ = commit.tail;
    // The sweeps do not show what the kept blocks protect from: the first change after a mount commits before it erases
    // any of them, because so few blocks are free (log_space_for()). Only a barrier may come first, if the sync that
    // was cut has used up all its blocks.
    limit_ = commit.tail >= commit.kept ? commit.tail - commit.kept : commit.tail + geometry_.blocks - commit.kept;
    head_ = block_of(commit.place);
    close_block();
    if (!keep(FlashRule::leave_block)) {
        const std::uint32_t unit = geometry_.program_unit;
        window_start_ = (offset_of(commit.place) + Record::kSize + Commit::kSize + unit - 1) & ~(unit - 1);
    }
    scan_ = first_record();
    change_count_ = kept_pages_ = 0;
    kept_bytes_ = granted_bytes_ = 0;
    cached_ = kNoFlashPage;
    node_place_ = 0;
    debt_ = carried_ = geometry_.block_size - offset_of(commit.place);
    fresh_ = true;
    replayable_ = false;
    dirty_ = wrote_ = promised_ = starved_ = false;
    worked_ = 0;
}

Status FlashLog::format(const FlashFormat& format, const FlashOptions& options) noexcept {
    mounted_ = false;
    counts_ = {};
    geometry_ = device_.geometry();
    head_ = failed_block_ = frail_ = kNoFlashPage;
    H5MOTE_TRY(check(format));
    block_log2_ = static_cast<std::uint8_t>(floor_log2(geometry_.block_size));
    BlockHead newest{};
    newest.block = geometry_.blocks - 1;
    // Nothing that was found counts once the first commit is written, and blank blocks may be unreadable. But a block
    // that did not answer may have a higher sequence than that commit would get.
    unanswered_ = false;
    const Status scanned = scan(newest);
    if (unanswered_ || (scanned == Status::io_error && bad_ == geometry_.blocks)) {
        return Status::io_error;
    }
    counts_ = {};
    H5MOTE_TRY(lay_out(format, options));
    if (geometry_.blocks - bad_ < fewest_blocks(geometry_, format_, options)) {
        return Status::no_space;
    }
    total_written_ = newest.written;
    head_erases_ = 0;
    sequence_ = newest.sequence;
    start({0, 0, 0, 0, 0, 0, 1, 0});
    limit_ = kNoFlashPage;
    H5MOTE_TRY(open_block(newest.block, kNoFlashPage, false));
    tail_ = limit_ = head_;
    bad_ahead_ = bad_;
    bad_passed_ = 0;
    debt_ = carried_ = 0;
    fresh_ = false;
    replayable_ = true;
    H5MOTE_TRY(this->commit());
    mounted_ = true;
    return Status::ok;
}

// Chooses where the log continues after a mount: after everything that was never committed or, where few blocks are
// left there, after the commit and with a barrier. free_blocks() counts from there.
void FlashLog::choose_resume() noexcept {
    barrier_ = newest_ != head_ && keep(FlashRule::barrier);
    behind_ = false;
    if (barrier_) {
        BlockHead head;
        Record record;
        const Place place = place_of(newest_, first_record());
        const bool known = read_head(newest_, head);
        // A block without any record holds nothing that could come back, and its header may not last. It is left out,
        // so that it is not erased twice in a round, or begun anew where few blocks are left: mounts that are cut one
        // after the other must not use them up.
        const bool lasts = parse(place, record) && intact(place, record);
        barrier_ = !lasts || !known || !head.barrier;
        const bool few = distance(newest_, limit_) <= spare_blocks_ + 2 + bad_;
        newest_ = lasts || !few ? newest_ : newest_ == 0 ? geometry_.blocks - 1 : newest_ - 1;
        // open_block() leaves the last good block before limit_ for a barrier. So if that one holds something else, or
        // one behind it was begun, that was by the session that had made this commit: it is known to last.
        const std::uint32_t left_out = barrier_ ? 1 + bad_between(newest_, limit_) : 0;
        if (distance(head_, newest_) + left_out >= distance(head_, limit_) && keep(FlashRule::lasting_commit)) {
            limit_ = tail_;
        }
        resume_ = newest_;
        bad_ahead_ = bad_between(resume_, limit_);
        behind_ = barrier_ && free_blocks() > spare_blocks_;
        // The enclosed blocks are of no use, like the rest of the block with the commit: both count as appended, so
        // that collecting makes up for them.
        const std::uint32_t cut = behind_ ? distance(head_, resume_) : 0;
        debt_ += cut << block_log2_;
        carried_ = debt_;
        // What was cut will come again. If these blocks are more than an eighth of what was free, it may not find the
        // room that it had: then all room is made that can be.
        starved_ = cut > (free_blocks() + cut) / 8 && keep(FlashRule::regain);
    }
    resume_ = behind_ ? newest_ : head_;
    bad_ahead_ = bad_between(resume_, limit_);
    bad_passed_ = limit_ == tail_ ? 0 : bad_between(limit_, tail_) + (known_bad(limit_) ? 1 : 0);
}

// Before the first change after a mount: writes the barrier that keeps uncommitted records from coming back.
Status FlashLog::begin() noexcept {
    if (!fresh_) {
        return Status::ok;
    }
    // A block whose header the mount did not see may be seen later. The log goes on in that very block, which is erased
    // first, so that no power cut can show two blocks with one sequence. If its erase fails, however, and the chip
    // does not keep the mark of a bad block, the header remains: then the next block has a higher sequence.
    ++sequence_;
    if (barrier_) {
        const std::uint32_t last = head_;
        const std::uint32_t ahead = bad_ahead_ - bad_;
        const Status status = open_barrier(newest_);
        if (status != Status::ok || !behind_) {
            head_ = last;
            bad_ahead_ = ahead + bad_;
            close_block();
        }
        H5MOTE_TRY(status);
    }
    fresh_ = false;
    return Status::ok;
}

// Begins a block after `after` whose header names the block with the commit as the one before it. A record is
// programmed after the header, so that a mount knows that the header lasts, and does not begin the block anew. The
// sweeps do not show what that protects from, as it takes three cuts: in a commit, which reads differently each time
// and is missed; in the erase of the first block after the commit before it; and in the erase of a barrier that is
// begun anew, which leaves nothing between the mount and the missed commit, whose first block is gone.
Status FlashLog::open_barrier(std::uint32_t after) noexcept {
    const std::uint32_t last = head_;
    Status status = Status::io_error;
    for (unsigned tries = 0; tries < 4 && status == Status::io_error; ++tries) {
        status = open_block(after, last, !behind_);
        if (status == Status::ok) {
            after = newest_ = head_;
            static constexpr std::byte kNothing[4] = {};
            Place place = 0;
            status = append_once({Record::make(FlashRecord::filler, 4), 0, 0, 0}, kNothing, place);
        }
        if (status == Status::ok) {
            status = program_window();
        }
    }
    return status;
}

// Programs everything that was appended.
Status FlashLog::program_all() noexcept {
    for (;;) {
        H5MOTE_TRY(relocate());
        const Status status = keep(FlashRule::commit_alone) ? program_window() : Status::ok;
        if (status != Status::io_error) {
            return status;
        }
        H5MOTE_TRY(give_up_block());
        if (failed_block_ == kNoFlashPage) {
            return Status::ok;
        }
    }
}

// Makes the present state the one that a mount finds.
Status FlashLog::commit() noexcept {
    Status status = Status::io_error;
    for (unsigned tries = 0; tries < 4 && status == Status::io_error; ++tries) {
        for (;;) {
            H5MOTE_TRY(program_all());
            if (replayable_ || change_count_ == 0 || !keep(FlashRule::own_records)) {
                break;
            }
            // After a mount or a failed program write all changes, so that the next mount replays no older records.
            while (change_count_ != 0) {
                H5MOTE_TRY(flush_best());
            }
        }
        status = Status::ok;
        if (room() < Record::kSize + Commit::kSize) {
            status = open_next();
        }
        if (status == Status::ok) {
            const Place here = place_of(head_, position());
            const Place first = oldest();
            const Commit commit{
                file_size_, root_, live_pages_, tail_, distance(limit_, tail_), first == 0 ? here : first, height_, 0};
            std::byte payload[Commit::kSize];
            commit.encode(payload);
            Place place = 0;
            status = append_once({Record::make(FlashRecord::commit, Commit::kSize), 0,
                                  flash_key(height_, static_cast<std::uint32_t>(file_size_ >> 32)), 0},
                                 payload, place);
        }
        if (status == Status::ok) {
            status = program_window();
        }
        if (status == Status::io_error) {
            replayable_ = false;
            close_block();
        }
    }
    H5MOTE_TRY(status);
    limit_ = tail_;
    bad_ahead_ += bad_passed_;
    bad_passed_ = 0;
    granted_bytes_ = 0;
    replayable_ = true;
    dirty_ = wrote_ = false;
    promised_ = kept_bytes_ != 0;
    return Status::ok;
}

}  // namespace h5mote
