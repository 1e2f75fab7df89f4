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

// An upper bound. Before collecting begins, these bytes are appended: `pages` pages, each of which may be written
// whole, in two blocks, and may push nodes of every level out of memory; the nodes whose changes have become too old,
// or after a mount all of them; a commit; and padding at program units and at the end of the last block. Collecting
// then looks at and appends rate_ times as much, plus at most a page and its nodes. Usual records are fewer and larger
// than assumed here, so that usual costs are far lower.
FlashCost FlashLog::worst_case(std::uint32_t writes, std::uint64_t bytes) const noexcept {
    constexpr std::uint32_t kNode = Record::kSize + 8 + 4 * kFanOut;
    constexpr std::uint32_t kChanged = 28;  // bytes of the smallest record that changes the map
    const std::uint32_t unit = geometry_.program_unit;
    const std::uint32_t usable = geometry_.block_size - first_record() - kNode;
    const std::uint64_t height = height_ + 1U;
    const std::uint64_t pages = (bytes >> page_log2_) + std::uint64_t{2} * writes;
    const std::uint32_t pieces = 2 + format_.page_size / usable;
    const std::uint64_t page = format_.page_size + std::uint64_t{20} * pieces;
    const std::uint64_t commit = Record::kSize + Commit::kSize + 2 * unit;

    std::uint64_t appended = debt_ + pages * (page + height * kNode) + std::uint64_t{writes} * kFlashHeight * kNode;
    std::uint64_t old = appended / kChanged + 1;
    old = old < most_changes_ && replayable_ ? old : most_changes_;
    appended += old * height * kNode + commit;
    std::uint64_t records = pages * (pieces + height) + std::uint64_t{writes} * kFlashHeight + old * height + 1;
    appended += fresh_ ? geometry_.block_size : 0;

    const std::uint64_t moved = appended * rate_ + page + 2 * height * kNode;
    const std::uint64_t commits = moved / geometry_.block_size + 2;
    records += moved / (2 * kChanged) + commits;
    FlashCost cost;
    cost.programmed = appended + moved + commits * commit;
    cost.erases = cost.programmed / usable + 3;
    cost.programmed += cost.erases * first_record();
    cost.programs = 3 * records + cost.programmed / geometry_.page_size + 2 * cost.erases;
    // Finding a page reads a node of each level. A node consists of up to kLongestChain records, and so does a page.
    const std::uint64_t search = 2 * kLongestChain * (height + 1);
    cost.reads = (records + moved / Record::kSmallest) * (2 * search + 2) + moved / 16 + cost.erases;
    return cost;
}

}  // namespace h5mote
