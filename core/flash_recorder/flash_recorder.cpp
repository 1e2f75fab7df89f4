// Writing the log: frames, the heads of blocks, and the blueprint at the start of each segment.
//
// Every frame is complete by itself and counts as soon as it stands on the chip. So a program or an erase that fails
// costs nothing: the frame is still in memory and is written again, in the next block. The head of that block says
// where the log ended in the block before, for what a failed program leaves behind may read as anything.
#include "recording_rules.hpp"

#include <new>

namespace h5mote {
namespace {

// A frame is tried in this many blocks, and as many blocks are tried for a head.
constexpr unsigned kAttempts = 8;
// So often, at most, the log goes back to the last frame that counts before another one does.
constexpr unsigned kMostRestarts = 4;

constexpr bool power_of_two(std::uint32_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

Status FlashRecorderBase::check_geometry() noexcept {
    const FlashGeometry& chip = geometry_;
    if (!power_of_two(chip.block_size) || chip.block_size < 512 || chip.block_size > 1U << 20 ||
        !power_of_two(chip.page_size) || chip.page_size > chip.block_size || !power_of_two(chip.program_unit) ||
        chip.program_unit > chip.page_size || (chip.erased_value != 0 && chip.erased_value != 0xff) ||
        chip.blocks < 2 || chip.blocks < plan_->segments || (plan_->segments == 2 && chip.blocks < 4)) {
        return Status::invalid_argument;
    }
    if ((plan_->window & (granule() - 1)) != 0) {
        return Status::over_budget;
    }
    // Each segment has room for the blueprint, and for as much again: it is begun a second time beside the first one.
    if (first() + plan_->frame > chip.block_size || (chip.block_size - first()) / 64 * (chip.blocks / plan_->segments) <
                                                        (plan_->recipe_size + plan_->window) / 32) {
        return Status::invalid_argument;
    }
    return Status::ok;
}

Status FlashRecorderBase::open(FlashDevice& device, const Plan& plan, std::byte* memory, bool anew) noexcept {
    if (device_ != nullptr) {
        return Status::busy;
    }
    plan_ = &plan;
    head_ = new (memory) RecordingHead{};
    buffer_ = memory + head_size(plan.settings);
    geometry_ = device.geometry();
    H5MOTE_TRY(check_geometry());
    device_ = &device;
    number_ = kNoSection;
    next_ = end_ = buffer_;
    offset_ = geometry_.block_size;
    resumed_ = has_rows_ = false;
    unwritten_ = Unwritten::nothing;
    held_ = counted_end_ = restarts_ = 0;
    const Status status = start(anew);
    if (status != Status::ok) {
        abandon();
    }
    return status;
}

void FlashRecorderBase::abandon() noexcept {
    device_ = nullptr;
    next_ = end_ = nullptr;
}

Status FlashRecorderBase::close() noexcept {
    const Status status = flush();
    abandon();
    return status;
}

std::uint32_t FlashRecorderBase::shape() const noexcept {
    const auto log2 = [](std::uint32_t value) { return static_cast<std::uint32_t>(31 - __builtin_clz(value)); };
    return RecordingHead::kVersion | (geometry_.erased_value == 0 ? 0x20U : 0U) | log2(geometry_.block_size) << 8 |
           log2(geometry_.program_unit) << 16 | plan_->segments << 24;
}

// Begins a recording. The log goes on behind the newest block, so that all blocks wear alike.
Status FlashRecorderBase::create() noexcept {
    H5MOTE_TRY(erase_torn());
    *head_ = {RecordingHead::kMagic,
              shape(),
              geometry_.blocks,
              plan_->fingerprint,
              plan_->window,
              first(),
              head_->sequence,
              0,
              RecordingHead::kNone,
              0,
              0};
    std::memcpy(settings(), plan_->recipe + blueprint::detail::kRecipeHead, plan_->settings);
    recipe_segment_ = recipe_done_ = 0;
    return write_recipe();
}

Status FlashRecorderBase::flush() noexcept {
    if (device_ == nullptr) {
        return Status::invalid_handle;
    }
    restarts_ = 0;
    if (!resumed_ || unwritten_ != Unwritten::nothing) {
        H5MOTE_TRY(write_frame());
        H5MOTE_TRY(write_recipe());
    }
    if (unwritten_ != Unwritten::nothing) {
        H5MOTE_TRY(make_room(RecordingFrame::kSmallest + plan_->settings));
        begin_frame(RecordingFrame::settings);
        next_ += plan_->settings;
        end_ = next_;
        unwritten_ = Unwritten::nothing;
        H5MOTE_TRY(write_frame());
        H5MOTE_TRY(write_recipe());
    }
    return Status::ok;
}

std::byte* FlashRecorderBase::change_setting(std::uint32_t offset) noexcept {
    unwritten_ = Unwritten::settings;
    return device_ == nullptr ? nullptr : settings() + offset;
}

// A frame that is full is written when the next row comes, so that a flush without new rows has nothing to write.
Status FlashRecorderBase::advance(unsigned number, unsigned size) noexcept {
    if (device_ == nullptr) {
        return Status::invalid_handle;
    }
    size += RecordingFrame::kSectionHead;
    if (static_cast<std::size_t>(end_ - next_) < size) {
        restarts_ = 0;
        H5MOTE_TRY(write_frame());
        H5MOTE_TRY(write_recipe());
        H5MOTE_TRY(make_room(RecordingFrame::kSmallest + size));
        begin_frame(RecordingFrame::rows);
    }
    end_section();
    section_ = next_;
    *next_ = static_cast<std::byte>(number);
    next_ += RecordingFrame::kSectionHead;
    number_ = number;
    return Status::ok;
}

Status FlashRecorderBase::make_room(std::uint32_t size) noexcept {
    for (unsigned i = 0; room() < size; ++i) {
        if (i == kAttempts) {
            return Status::no_space;  // in every segment, so many blocks are bad that the blueprint fills the others
        }
        H5MOTE_TRY(begin_block());
        H5MOTE_TRY(write_recipe());
    }
    return Status::ok;
}

void FlashRecorderBase::begin_frame(RecordingFrame::Kind kind) noexcept {
    const std::uint32_t most = room() < plan_->window ? room() : plan_->window;
    buffer_[2] = static_cast<std::byte>(kind);
    next_ = buffer_ + RecordingFrame::kHead;
    end_ = buffer_ + most - RecordingFrame::kChecksum;
}

void FlashRecorderBase::end_section() noexcept {
    if (number_ != kNoSection) {
        store_le(section_ + 1, static_cast<std::uint16_t>(next_ - section_ - RecordingFrame::kSectionHead));
        number_ = kNoSection;
    }
}

// Writes the frame in memory, if there is one, in the open block or, if that fails, in another.
Status FlashRecorderBase::write_frame() noexcept {
    end_section();
    for (unsigned failures = 0; next_ != buffer_ && failures < kAttempts; ++failures) {
        const auto size = static_cast<std::uint32_t>(next_ - buffer_) + RecordingFrame::kChecksum;
        if (room() >= size) {
            const std::uint32_t at = offset_;
            const std::byte kind = kind_in_memory();
            const bool is_recipe = kind == std::byte{RecordingFrame::blueprint};
            // The segment of the newest rows must not be emptied: a blueprint does not count before a frame of its
            // segment does, unless nothing else has counted yet. What open() has found has counted before.
            const bool counts =
                (recipe_done_ == plan_->recipe_size || !keep(RecordingRule::recipe_first)) &&
                (!is_recipe || held_ != 0 || !has_rows_ || resumed_ || !keep(RecordingRule::rows_first));
            if (kind == std::byte{RecordingFrame::settings}) {
                // They may have been changed since the frame was begun, or was found by open().
                std::memcpy(buffer_ + RecordingFrame::kHead, settings(), plan_->settings);
            }
            store_le(buffer_, static_cast<std::uint16_t>(size));
            buffer_[2] = counts ? kind | std::byte{RecordingFrame::kCommit} : kind;
            buffer_[3] = std::byte{RecordingFrame::kMark};
            store_le(next_, lookup3({buffer_, size - RecordingFrame::kChecksum}, head_->sequence));
            std::memset(buffer_ + size, geometry_.erased_value, round_up(size, granule()) - size);
            if (program(size) == Status::ok) {
                head_->previous = head_->sequence;
                head_->end = keep(RecordingRule::skip_rest) ? offset_ : geometry_.block_size;
                next_ = end_ = buffer_;
                resumed_ = false;
                if (counts) {
                    counted_ = head_->sequence;
                    counted_end_ = head_->end;
                    has_rows_ = has_rows_ || !is_recipe || held_ != 0;
                    held_ = restarts_ = 0;
                    if (unwritten_ == Unwritten::head) {
                        unwritten_ = Unwritten::nothing;
                    }
                } else if (held_ == 0 && !is_recipe) {
                    held_ = at;
                    held_sequence_ = head_->sequence;
                }
                return Status::ok;
            }
        }
        H5MOTE_TRY(begin_block());
    }
    return next_ == buffer_ ? Status::ok : Status::io_error;
}

// Writes what the segment lacks of the blueprint. There is no frame in memory.
Status FlashRecorderBase::write_recipe() noexcept {
    while (recipe_done_ != plan_->recipe_size) {
        if (room() < kLeastRecipe + RecordingFrame::kSmallest) {
            H5MOTE_TRY(begin_block());
            H5MOTE_TRY(write_frame());
            continue;
        }
        begin_frame(RecordingFrame::blueprint);
        store_le(next_, recipe_done_);
        next_ += 4;
        const auto most = static_cast<std::uint32_t>(end_ - next_);
        const std::uint32_t left = plan_->recipe_size - recipe_done_;
        const std::uint32_t count = left < most ? left : most;
        std::memcpy(next_, plan_->recipe + recipe_done_, count);
        next_ += count;
        end_ = next_;
        recipe_done_ += count;
        // This begins the blueprint anew if it has to go to a block of another segment.
        H5MOTE_TRY(write_frame());
    }
    return Status::ok;
}

// Whether the log must not go on in the next block. The segment of the last frame that counts is not emptied before a
// frame counts in another one, which must have room for the blueprint: half of a segment is enough. Blocks in which
// nothing counts do not lead beyond the next segment, so that they empty no other one; only where that has been tried,
// and may consist of bad blocks, does the log go further.
bool FlashRecorderBase::is_at_limit() const noexcept {
    const std::uint32_t next = head_->sequence + 1;
    const std::uint32_t blocks = geometry_.blocks / plan_->segments;
    const std::uint32_t ahead = restarts_ < 2 && plan_->segments > 2 ? 2 : plan_->segments;
    const std::uint32_t limit = (head_->segment(counted_) + ahead) * blocks;
    const std::uint32_t used = next - head_->start;
    const std::uint32_t left = used < limit ? limit - used : 0;
    return head_->segment(next) == recipe_segment_ ? left == 0 : 2 * left < blocks;
}

// Begins the next block that can be used. no_space: there is none that is good.
Status FlashRecorderBase::begin_block() noexcept {
    offset_ = geometry_.block_size;
    // Where a head was written last, or may have been: the next attempt goes on from there.
    std::uint32_t sequence = head_->sequence;
    std::uint32_t block = block_;
    unsigned failures = 0;
    Status status = head_->previous == RecordingHead::kNone ? Status::io_error : Status::no_space;
    for (std::uint32_t passed = 0; passed < geometry_.blocks && failures < kAttempts; ++passed) {
        if (head_->previous != RecordingHead::kNone && is_at_limit()) {
            if (head_->sequence == counted_ || counted_end_ == 0 || restarts_ == kMostRestarts) {
                break;
            }
            const Status again = start_over();
            if (again != Status::ok) {
                status = again;
                break;
            }
            ++restarts_;
            sequence = head_->sequence;
            block = block_;
            if (is_at_limit()) {
                break;
            }
        }
        ++head_->sequence;
        next_block();
        bool bad = false;
        const Status answer = device_->is_bad(block_, bad);
        if (answer == Status::ok && bad) {
            continue;
        }
        status = Status::io_error;
        if (answer != Status::ok) {
            continue;
        }
        ++failures;
        if (keep(RecordingRule::erase_first) && device_->erase(block_) != Status::ok) {
            (void)device_->mark_bad(block_);
            continue;
        }
        if (head_->previous == RecordingHead::kNone) {
            head_->start = counted_ = head_->sequence;
        }
        const std::uint32_t segment = head_->segment(head_->sequence);
        if (segment != recipe_segment_) {
            recipe_segment_ = segment;
            recipe_done_ = 0;
        }
        if (write_head() == Status::ok) {
            return Status::ok;
        }
        sequence = head_->sequence;
        block = block_;
    }
    head_->sequence = sequence;
    block_ = block;
    return status;
}

// The log has come to its limit, but nothing counts in the last blocks, in which programs failed or power cuts came
// first. They are used once more, and erased before, for their frames may be unstable and come to light later. If this
// recorder wrote a frame there that waits for the blueprint, it is taken into memory again. The log does not go back
// beyond a block that cannot be erased: its head would be the newest.
Status FlashRecorderBase::start_over() noexcept {
    const bool is_recipe = next_ != buffer_ && kind_in_memory() == std::byte{RecordingFrame::blueprint};
    if (head_->previous != counted_ && is_recipe) {
        // A piece of a blueprint that has not counted. If this function fails, the blueprint goes on with it.
        recipe_done_ = load_le<std::uint32_t>(buffer_ + RecordingFrame::kHead);
        next_ = end_ = buffer_;
    }
    if (held_ != 0) {
        const std::uint32_t back = (head_->sequence - held_sequence_) % geometry_.blocks;
        std::uint32_t size = 0;
        H5MOTE_TRY(load_frame((block_ + geometry_.blocks - back) % geometry_.blocks, held_, held_sequence_, size));
        if (size == 0) {
            return Status::io_error;
        }
        next_ = end_ = buffer_ + size - RecordingFrame::kChecksum;
        held_ = 0;
    }
    head_->previous = counted_;
    head_->end = counted_end_;
    recipe_segment_ = head_->segment(counted_);
    recipe_done_ = plan_->recipe_size;
    for (bool erased = true; head_->sequence != counted_; --head_->sequence) {
        H5MOTE_TRY(erase_again(erased));
        if (!erased) {
            break;
        }
        block_ = (block_ == 0 ? geometry_.blocks : block_) - 1;
    }
    return Status::ok;
}

// Erases the open block. `erased`: it has no head any more that is newer than what counts.
Status FlashRecorderBase::erase_again(bool& erased) noexcept {
    bool bad = false;
    H5MOTE_TRY(device_->is_bad(block_, bad));
    // A second failure is that of the block.
    if (!bad && (device_->erase(block_) == Status::ok || device_->erase(block_) == Status::ok)) {
        clear();
    }
    RecordingHead head;
    bool found = false;
    bool blank = false;
    H5MOTE_TRY(load_head(block_, head, found, blank));
    erased = !found || head.sequence <= counted_;
    return Status::ok;
}

// Makes a block blank if its erase did nothing, as that of an EEPROM or FRAM.
void FlashRecorderBase::clear() noexcept {
    std::byte piece[16];
    const auto erased = static_cast<std::byte>(geometry_.erased_value);
    const auto size =
        static_cast<std::uint32_t>(geometry_.page_size < sizeof piece ? geometry_.page_size : sizeof piece);
    for (std::uint32_t offset = 0; offset < geometry_.block_size && granule() <= size; offset += size) {
        bool blank = true;
        const Status status = device_->read(block_, offset, {piece, size});
        for (std::uint32_t i = 0; i < size; ++i) {
            blank = blank && piece[i] == erased;
        }
        if (status == Status::ok && !blank) {
            std::memset(piece, geometry_.erased_value, size);
            (void)device_->program(block_, offset, {piece, size});
        }
    }
}

// The head takes the place of the frame in memory while it is programmed, which may have to be done in whole pages. The
// bytes of the frame that come to stand behind it mean nothing.
Status FlashRecorderBase::write_head() noexcept {
    auto* const bytes = reinterpret_cast<std::byte*>(head_);
    const std::uint32_t size = head_size(plan_->settings);
    if (plan_->settings != 0) {
        store_le(bytes + size - 4, lookup3({settings(), plan_->settings}, head_->sequence));
    }
    turn(*head_);
    store_le(bytes + kRecordingHeadSummed, lookup3({bytes, kRecordingHeadSummed}));
    const auto swap = [&] {
        for (std::uint32_t i = 0; i < size; ++i) {
            const std::byte other = bytes[i];
            bytes[i] = buffer_[i];
            buffer_[i] = other;
        }
    };
    swap();
    offset_ = 0;
    const Status status = program(size);
    swap();
    turn(*head_);
    if (status == Status::ok && unwritten_ == Unwritten::settings) {
        unwritten_ = Unwritten::head;
    }
    return status;
}

// Programs the first bytes of the buffer. After a failure the block is left: what the program has done is unknown.
Status FlashRecorderBase::program(std::uint32_t size) noexcept {
    const std::byte* from = buffer_;
    for (std::uint32_t left = round_up(size, granule()); left > 0;) {
        const std::uint32_t rest = geometry_.page_size - (offset_ & (geometry_.page_size - 1));
        const std::uint32_t run = left < rest ? left : rest;
        const Status status = device_->program(block_, offset_, {from, run});
        if (status != Status::ok) {
            offset_ = geometry_.block_size;
            return status;
        }
        offset_ += run;
        from += run;
        left -= run;
    }
    return Status::ok;
}

}  // namespace h5mote
