// Inspection of the flash driver's log: what a block holds, and the worst case of the cost of writes.
#include "flash_format.hpp"

namespace h5mote {

Status FlashLog::block_info(std::uint32_t block, FlashBlockInfo& info) noexcept {
    info = {};
    if (!mounted_ || block >= geometry_.blocks) {
        return Status::invalid_argument;
    }
    unanswered_ = false;
    if (known_bad(block)) {
        info.state = FlashBlockInfo::State::bad;
        return unanswered_ ? Status::io_error : Status::ok;
    }
    BlockHead head;
    info.known = read_head(block, head);
    if (info.known) {
        info.sequence = head.sequence;
        info.erases = head.erases;
    }
    if (unanswered_) {
        return Status::io_error;
    }
    if (distance(tail_, block) > distance(tail_, head_)) {
        return Status::ok;
    }
    info.state = FlashBlockInfo::State::used;
    Walk walk{block, first_record(), {}};
    while (step(walk)) {
        bool is_live = false;
        const Status status = live(place_of(block, walk.offset), walk.record, is_live);
        if (status == Status::io_error) {
            return status;
        }
        const bool page = walk.record.piece() || walk.record.kind() == FlashRecord::lost;
        (is_live ? info.live_pages : info.dead_pages) += page ? 1 : 0;
        (is_live ? info.live_bytes : info.dead_bytes) += walk.record.size();
        walk.offset += walk.record.size();
    }
    return unanswered_ ? Status::io_error : Status::ok;
}

// An upper bound. What is appended before collecting begins:
//
//   the writes   all bytes and, of the first and the last page of each write, the rest; each page may push a node of
//                every level out of memory, and the map may become higher
//   the sync     nodes whose changes have become too old, after a mount or a failed program those above them, too; a
//                commit; padding at program units
//
// Collecting looks at and appends rate_ times as much as share() says or, where the first write has to make room, what
// the whole log holds: the sync after it collects only the rest of that. It ends with one page and its nodes. Each
// record that is appended counts at least twice in that work, because it was also looked at.
FlashCost FlashLog::worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept {
    constexpr std::uint32_t kChanged = 28;        // bytes of the smallest record that changes the map
    constexpr std::uint32_t kNodeReads = 2 * 10;  // a node consists of ten records at most
    const std::uint32_t unit = geometry_.program_unit;
    const std::uint32_t usable = this->usable();
    const std::uint32_t height = height_;
    const std::uint64_t pages = (bytes >> page_log2_) + std::uint64_t{2} * writes;
    const std::uint32_t pieces = 1 + (format_.page_size + 20) / usable;
    const std::uint64_t commit = Record::kSize + Commit::kSize + 2 * unit;

    const std::uint32_t growth = writes == 0 ? 0 : kFlashHeight - height;
    std::uint64_t of_writes = bytes + std::uint64_t{2} * writes * format_.page_size +
                              pages * (20 * pieces + height * kFlashNodeRecord) + growth * kFlashNodeRecord;
    of_writes += (of_writes / usable + 1) * (unit + kFlashNodeRecord);  // ends of blocks
    std::uint64_t old = replayable_ ? of_writes / kChanged + 1 : most_changes_;
    old = old < most_changes_ ? old : most_changes_;
    old *= replayable_ ? 1 : height;
    const std::uint64_t appended = of_writes + old * kFlashNodeRecord + commit + (fresh_ ? first_record() + unit : 0);

    // The writes, and the blocks that are begun for them and the commits, make the log longer.
    const std::uint64_t round = round_of_log() + appended + 4 * geometry_.block_size;
    const auto least = [](std::uint64_t one, std::uint64_t other) { return one < other ? one : other; };
    std::uint64_t work = least(share(of_writes + debt_ - carried_) * rate_, round);
    const std::uint64_t wanted = of_writes + kept_bytes_ + kFlashHeight * kFlashNodeRecord;
    if (writes != 0 && can_make_room() && blocks_to_begin(wanted, spare_blocks_) > free_blocks()) {
        work = round;
    }
    const std::uint64_t moved = work / 2 + format_.page_size + 20 * pieces + 2 * height * kFlashNodeRecord;
    const std::uint64_t nodes = pages * height + growth + old + 2 * height;
    const std::uint64_t commits = work / (batch_blocks_ * usable) + 4;
    FlashCost cost;
    cost.programmed = appended + moved + commits * commit;
    cost.erases = cost.programmed / usable + 3;
    cost.programmed += cost.erases * first_record();
    // A node takes two programs, and one more where it crosses a page of the device.
    cost.programs = 3 * (pages * pieces + commits) + 2 * (nodes + cost.erases) + appended / geometry_.page_size +
                    work / program_work();
    const std::uint64_t units = cost.programmed / unit;
    cost.programs = cost.programs < units ? cost.programs : units;
    // To find a page or node reads the nodes above it, to put a page together reads its pieces.
    cost.reads =
        (pages + nodes + 1) * height * kNodeReads + (pages + 1) * 2 * kLongestChain + work / read_work() + cost.erases;
    return cost;
}

}  // namespace h5mote
