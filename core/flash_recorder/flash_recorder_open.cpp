// Finding the end of the log.
//
// The block with the highest sequence is the newest. Its last frame with the commit bit is the end of the log; if it
// has none, that of the block before it, and so on. After a power cut that frame may be one that was being programmed:
// it may not be readable the next time. So nothing is built on it: it is kept in memory and written again, as the first
// frame of the next block, whose head says that the log ended before it. Until this is done the old one is the end of
// the log.
//
// What follows the last frame was never complete, and a block without a frame does not count. The log goes on in the
// block after the newest one, whatever that holds; the head there names the block in which the log ended, so that
// nothing leads to blocks in between.
//
// All heads are read: a search by halves would be misled by blocks that are bad or were torn.
#include "recording_rules.hpp"

namespace h5mote {

Status FlashRecorderBase::read(std::uint32_t block, std::uint32_t offset, Bytes to, bool& good) noexcept {
    const Status status = device_->read(block, offset, to);
    good = status == Status::ok;
    return status == Status::io_error ? status : Status::ok;
}

// Whether a block may begin with what a power cut left of a head of this blueprint, while it was programmed or erased:
// then some of its bits are those of an erased block. So it is, too, with a block that is erased.
bool FlashRecorderBase::may_be_torn(const std::byte* bytes) const noexcept {
    const std::uint32_t head[] = {RecordingHead::kMagic, shape(), geometry_.blocks, plan_->fingerprint};
    const std::uint32_t erased = geometry_.erased_value * 0x01010101U;
    std::uint32_t others = 0;
    for (const std::uint32_t expected : head) {
        const auto word = load_le<std::uint32_t>(bytes);
        others |= (word ^ expected) & (word ^ erased);
        bytes += sizeof word;
    }
    return others == 0;
}

// Reads a head, and says whether it is one. `blank`: there is nothing that another program stored.
Status FlashRecorderBase::load_head(std::uint32_t block, RecordingHead& head, bool& good, bool& blank) noexcept {
    std::byte bytes[sizeof head];
    H5MOTE_TRY(read(block, 0, bytes, good));
    blank = true;
    for (std::size_t i = 0; good && i < sizeof bytes; ++i) {
        blank = blank && bytes[i] == bytes[0] && (bytes[0] == std::byte{0} || bytes[0] == std::byte{0xff});
    }
    blank = blank || may_be_torn(bytes);
    good = good && load_le<std::uint32_t>(bytes) == RecordingHead::kMagic &&
           (load_le<std::uint32_t>(bytes + kRecordingHeadSummed) == lookup3({bytes, kRecordingHeadSummed}) ||
            !keep(RecordingRule::checksum_head));
    std::memcpy(&head, bytes, sizeof head);
    turn(head);
    return Status::ok;
}

Status FlashRecorderBase::start(bool anew) noexcept {
    bool found = false;
    bool foreign = false;
    H5MOTE_TRY(scan(found, foreign));
    if (!anew) {
        const Status status = found ? resume() : foreign ? Status::not_hdf5 : Status::not_found;
        if (status != Status::not_found) {
            return status;
        }
    }
    // Nothing is there, or a recording that a power cut ended before it was complete.
    return create();
}

// Finds the newest block. `foreign`: blocks hold something, but no recording. The first good block does not matter for
// that, since a recording that was being begun may have left anything there.
Status FlashRecorderBase::scan(bool& found, bool& foreign) noexcept {
    bool first = true;
    head_->sequence = RecordingHead::kNone;
    block_ = geometry_.blocks - 1;
    for (std::uint32_t block = 0; block < geometry_.blocks; ++block) {
        bool bad = false;
        H5MOTE_TRY(device_->is_bad(block, bad));
        if (bad) {
            continue;
        }
        RecordingHead head;
        bool good = false;
        bool blank = false;
        H5MOTE_TRY(load_head(block, head, good, blank));
        if (good && (!found || head.sequence > head_->sequence)) {
            *head_ = head;
            block_ = block;
        }
        found = found || good;
        foreign = foreign || !(first || blank);
        first = false;
    }
    return Status::ok;
}

// Erases all blocks that may have a head which scan() could not read, but somebody else can: it may be newer than those
// of the recording that is begun next, and would hide it. On chips that cannot read erased bytes, that is every block.
Status FlashRecorderBase::erase_torn() noexcept {
    const std::uint32_t erased = geometry_.erased_value * 0x01010101U;
    for (std::uint32_t block = 0; block < geometry_.blocks; ++block) {
        bool bad = false;
        H5MOTE_TRY(device_->is_bad(block, bad));
        if (bad) {
            continue;
        }
        std::byte bytes[sizeof(RecordingHead::magic)];
        bool readable = false;
        H5MOTE_TRY(read(block, 0, bytes, readable));
        const auto magic = load_le<std::uint32_t>(bytes);
        const bool is_torn = ((magic ^ RecordingHead::kMagic) & (magic ^ erased)) == 0 && magic != erased;
        RecordingHead head;
        bool good = false;
        bool blank = false;
        H5MOTE_TRY(load_head(block, head, good, blank));
        // kNone, where scan() found no head, is the number before 0.
        const bool was_found = good && head.sequence + 1 <= head_->sequence + 1;
        if ((!readable || is_torn) && !was_found && device_->erase(block) != Status::ok) {
            (void)device_->mark_bad(block);
        }
    }
    return Status::ok;
}

// Goes on with the recording of the newest block. not_found: nothing in it is complete. The blocks are looked at from
// the one after the newest back: a flipped bit may have damaged the head there. What the head of a block without a
// frame says of the one before is not relied on: an unstable head may come to light when the log has gone on in another
// block.
Status FlashRecorderBase::resume() noexcept {
    if (head_->blueprint != plan_->fingerprint) {
        return Status::other_blueprint;
    }
    if (head_->shape != shape() || head_->blocks != geometry_.blocks) {
        return (head_->shape & 15) != RecordingHead::kVersion ? Status::unsupported : Status::corrupt_file;
    }
    if (head_->window > plan_->window) {
        return Status::over_budget;
    }
    head_->window = plan_->window;
    const std::uint32_t newest = head_->sequence;
    std::uint32_t sequence = newest;
    std::uint32_t block = block_;
    bool bad = true;
    while (bad && sequence - newest < geometry_.blocks - 1) {
        ++sequence;
        block = block + 1 == geometry_.blocks ? 0 : block + 1;
        H5MOTE_TRY(device_->is_bad(block, bad));
    }
    for (; newest - sequence != geometry_.blocks; --sequence) {
        bool good = true;
        const bool is_behind = sequence - newest - 1 < geometry_.blocks;
        if (is_behind) {
            H5MOTE_TRY(read_mended(block, 0, kRecordingHeadSummed, 0, good));
            good = good && load_le<std::uint32_t>(buffer_ + offsetof(RecordingHead, sequence)) == sequence;
        }
        bool found = false;
        if (good) {
            H5MOTE_TRY(resume_in(block, sequence, found));
        }
        if (found) {
            if (is_behind) {
                head_->sequence = sequence;
                block_ = block;
            }
            return Status::ok;
        }
        if (sequence == head_->start) {
            return Status::not_found;
        }
        block = (block == 0 ? geometry_.blocks : block) - 1;
    }
    return Status::corrupt_file;
}

// Whether the log ends in this block. Then its last frame and the settings are in memory.
Status FlashRecorderBase::resume_in(std::uint32_t block, std::uint32_t sequence, bool& found) noexcept {
    bool good = true;
    H5MOTE_TRY(load_settings(block, sequence, good));
    std::uint32_t at = geometry_.block_size;
    std::uint32_t size = 0;
    // A frame that was found but cannot be read again is one that was being programmed.
    while (size == 0) {
        H5MOTE_TRY(last_frame(block, sequence, at));
        if (at == 0) {
            return Status::ok;
        }
        H5MOTE_TRY(load_frame(block, at, sequence, size));
    }
    found = true;
    next_ = end_ = buffer_ + size - RecordingFrame::kChecksum;
    resumed_ = true;
    recipe_segment_ = head_->segment(sequence);
    // The blueprint of a later segment has come to count together with the rows before it.
    has_rows_ = recipe_segment_ != 0 || kind_in_memory() != std::byte{RecordingFrame::blueprint};
    recipe_done_ = plan_->recipe_size;
    counted_ = sequence;
    counted_end_ = at;
    head_->previous = sequence;
    head_->end = at;
    if (!keep(RecordingRule::copy_last)) {
        head_->end = at + round_up(size, granule());
        next_ = end_ = buffer_;
    }
    if (!keep(RecordingRule::leave_block)) {
        block_ = block;
        head_->sequence = sequence;
        offset_ = at + round_up(size, granule());
        next_ = end_ = buffer_;
    }
    return good ? Status::ok : Status::corrupt_file;
}

// Finds the last frame before `at` that counts; 0 if there is none. Takes over settings on the way.
Status FlashRecorderBase::last_frame(std::uint32_t block, std::uint32_t sequence, std::uint32_t& at) noexcept {
    const std::uint32_t limit = at;
    const std::uint32_t erased = geometry_.erased_value * 0x01010101U;
    bool follows = true;  // there is no damage right before
    at = 0;
    for (std::uint32_t offset = first(); offset < limit;) {
        std::uint32_t size = 0;
        H5MOTE_TRY(load_frame(block, offset, sequence, size));
        if (size == 0 && follows && load_le<std::uint32_t>(buffer_) == erased) {
            break;  // frames follow each other without a gap
        }
        follows = size != 0;
        if (size != 0 && (buffer_[2] & std::byte{RecordingFrame::kCommit}) != std::byte{0}) {
            at = offset;
            if ((buffer_[2] ^ std::byte{RecordingFrame::kCommit}) == std::byte{RecordingFrame::settings} &&
                size == plan_->settings + RecordingFrame::kSmallest) {
                std::memcpy(settings(), buffer_ + RecordingFrame::kHead, plan_->settings);
            }
        }
        offset += size == 0 ? granule() : round_up(size, granule());
    }
    return Status::ok;
}

// Reads a frame into the memory for one. `size`: 0 if there is none.
Status FlashRecorderBase::load_frame(std::uint32_t block, std::uint32_t offset, std::uint32_t sequence,
                                     std::uint32_t& size) noexcept {
    bool good = false;
    size = 0;
    H5MOTE_TRY(read(block, offset, {buffer_, RecordingFrame::kHead}, good));
    const std::uint32_t count = load_le<std::uint16_t>(buffer_);
    if (!good || buffer_[3] != std::byte{RecordingFrame::kMark} || count < RecordingFrame::kSmallest ||
        count > plan_->window || count > geometry_.block_size - offset) {
        return Status::ok;
    }
    H5MOTE_TRY(read(block, offset, {buffer_, count}, good));
    const std::uint32_t summed = count - RecordingFrame::kChecksum;
    if (good && (load_le<std::uint32_t>(buffer_ + summed) == lookup3({buffer_, summed}, sequence) ||
                 !keep(RecordingRule::checksum))) {
        size = count;
    }
    return Status::ok;
}

// Reads `size` bytes with their checksum into the memory for a frame. One flipped bit is repaired.
Status FlashRecorderBase::read_mended(std::uint32_t block, std::uint32_t offset, std::uint32_t size, std::uint32_t seed,
                                      bool& good) noexcept {
    H5MOTE_TRY(read(block, offset, {buffer_, size + 4}, good));
    const bool readable = good;
    const auto holds = [&] { return load_le<std::uint32_t>(buffer_ + size) == lookup3({buffer_, size}, seed); };
    good = readable && holds();
    for (std::uint32_t i = 0; readable && !good && i < 8 * (size + 4); ++i) {
        const auto bit = static_cast<std::byte>(1U << (i & 7));
        buffer_[i >> 3] ^= bit;
        good = holds();
        buffer_[i >> 3] ^= good ? std::byte{0} : bit;
    }
    return Status::ok;
}

// Reads the settings behind the head of a block.
Status FlashRecorderBase::load_settings(std::uint32_t block, std::uint32_t sequence, bool& good) noexcept {
    const std::uint32_t size = plan_->settings;
    if (size == 0) {
        return Status::ok;
    }
    H5MOTE_TRY(read_mended(block, sizeof(RecordingHead), size, sequence, good));
    if (good) {
        std::memcpy(settings(), buffer_, size);
    }
    return Status::ok;
}

}  // namespace h5mote
