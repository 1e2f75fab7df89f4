// What blocks hold.
#include "flash_format.hpp"

namespace h5mote {

Status FlashDriver::block_info(std::uint32_t block, FlashBlockInfo& info) noexcept {
    info = {};
    if (!mounted_ || block >= geometry_.blocks) {
        return Status::invalid_argument;
    }
    if (known_bad(block)) {
        info.state = FlashBlockInfo::State::bad;
        return Status::ok;
    }
    BlockHead head;
    info.known = read_head(block, head);
    if (info.known) {
        info.sequence = head.sequence;
        info.erases = head.erases;
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
    return Status::ok;
}

}  // namespace h5mote
