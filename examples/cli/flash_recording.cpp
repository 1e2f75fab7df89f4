// Reading a FlashRecorder's log. The blocks are followed from the newest back to the oldest, as the heads name them:
// what an earlier attempt or a power cut left beside this chain is no part of the log.
#include "flash_recording.hpp"

#include <h5mote/lookup3.hpp>

#include <algorithm>
#include <cstring>

namespace h5mote::cli {

namespace {

constexpr std::size_t kHeadSummed = sizeof(RecordingHead) - 4;
constexpr std::size_t kRecipeHead = 16;

std::uint32_t load(const std::byte* from, unsigned width) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < width; ++i) {
        value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
    }
    return value;
}

std::uint32_t log2_of(std::uint32_t shape, unsigned shift) { return shape >> shift & 31; }

bool decode(ConstBytes from, RecordingHead& head) {
    if (from.size() < sizeof head || load(from.data(), 4) != RecordingHead::kMagic ||
        load(from.data() + kHeadSummed, 4) != detail::lookup3_constant(from.data(), kHeadSummed)) {
        return false;
    }
    std::uint32_t words[sizeof head / 4];
    for (std::size_t i = 0; i < std::size(words); ++i) {
        words[i] = load(from.data() + 4 * i, 4);
    }
    std::memcpy(&head, words, sizeof head);
    const std::uint32_t segments = head.shape >> 24;
    return head.blocks != 0 && segments != 0 && segments <= head.blocks;
}

}  // namespace

bool FlashRecording::identify(ConstBytes first, FlashGeometry& geometry) {
    RecordingHead head;
    if (!decode(first, head)) {
        return false;
    }
    geometry.blocks = head.blocks;
    geometry.block_size = 1U << log2_of(head.shape, 8);
    geometry.program_unit = geometry.page_size = 1U << log2_of(head.shape, 16);
    geometry.erased_value = (head.shape & 0x20) != 0 ? 0 : 0xff;
    return geometry.block_size >= 512 && geometry.block_size <= 1U << 20 &&
           geometry.program_unit <= geometry.block_size;
}

bool FlashRecording::load_head(std::uint32_t block, RecordingHead& head) {
    std::byte bytes[sizeof head];
    return device_->read(block, 0, bytes) == Status::ok && decode(bytes, head);
}

// The same, where one bit of the head may be flipped.
bool FlashRecording::load_mended_head(std::uint32_t block, RecordingHead& head) {
    std::byte bytes[sizeof head];
    if (device_->read(block, 0, bytes) != Status::ok) {
        return false;
    }
    bool good = decode(bytes, head);
    for (std::size_t i = 0; !good && i < 8 * sizeof bytes; ++i) {
        const auto bit = static_cast<std::byte>(1U << (i & 7));
        bytes[i >> 3] ^= bit;
        good = decode(bytes, head);
        bytes[i >> 3] ^= bit;
    }
    return good;
}

// Reads a block. Where that is not possible at once, it is read piece by piece, without those that cannot be read.
void FlashRecording::load_block(std::uint32_t block) {
    now_.assign(geometry_.block_size, std::byte{0});
    unreadable_.assign(geometry_.block_size / granule_, false);
    if (device_->read(block, 0, {now_.data(), now_.size()}) == Status::ok) {
        return;
    }
    for (std::uint32_t at = 0; at < geometry_.block_size; at += granule_) {
        unreadable_[at / granule_] = device_->read(block, at, {now_.data() + at, granule_}) != Status::ok;
    }
}

// Bytes of the frame at this offset of the block that was loaded; 0 if there is none.
std::uint32_t FlashRecording::frame_at(std::uint32_t offset, std::uint32_t sequence) const {
    const std::byte* const at = now_.data() + offset;
    if (geometry_.block_size - offset < RecordingFrame::kSmallest || at[3] != std::byte{RecordingFrame::kMark}) {
        return 0;
    }
    const std::uint32_t size = load(at, 2);
    if (size < RecordingFrame::kSmallest || size > head_.window || size > geometry_.block_size - offset) {
        return 0;
    }
    for (std::uint32_t granule = offset / granule_; granule <= (offset + size - 1) / granule_; ++granule) {
        if (unreadable_[granule]) {
            return 0;
        }
    }
    const std::uint32_t summed = size - RecordingFrame::kChecksum;
    return load(at + summed, 4) == detail::lookup3_constant(at, summed, sequence) ? size : 0;
}

// Inverts one bit after the other until a frame is found that ends before `end`. A frame of the log was complete once,
// so that one flipped bit explains it better than chance.
bool FlashRecording::repair(std::uint32_t offset, std::uint32_t end, std::uint32_t sequence) {
    for (std::uint32_t i = 0; i < 8 * std::min(head_.window, end - offset); ++i) {
        const auto bit = static_cast<std::byte>(1U << (i & 7));
        std::byte& byte = now_[offset + (i >> 3)];
        byte ^= bit;
        const std::uint32_t size = frame_at(offset, sequence);
        if (size != 0 && size <= end - offset) {
            return true;
        }
        byte ^= bit;
    }
    return false;
}

// Finds the frames of a block before `end`. If that is known to be where the log ended in this block, or if a frame
// follows, bytes that are no frame are damaged.
FlashRecording::Block FlashRecording::walk(std::uint32_t block, std::uint32_t sequence, std::uint32_t end,
                                           bool is_end_known) {
    Block result{block, sequence, true, true, {}, {}, 0};
    load_block(block);
    std::uint32_t gap = 0;  // where bytes begin that are no frame; 0: nowhere
    const auto close_gap = [&](std::uint32_t until) {
        while (gap != 0 && gap < until && repair(gap, until, sequence)) {
            const std::uint32_t size = frame_at(gap, sequence);
            ++result.repaired;
            result.frames.push_back({gap, {now_.begin() + gap, now_.begin() + gap + size}});
            gap += (size + granule_ - 1) / granule_ * granule_;
        }
        if (gap != 0 && gap < until) {
            result.damages.push_back({block, gap, until - gap});
        }
        gap = 0;
    };
    for (std::uint32_t offset = head_.first; offset < std::min(end, geometry_.block_size);) {
        const std::uint32_t size = frame_at(offset, sequence);
        if (size == 0) {
            gap = gap == 0 ? offset : gap;
            offset += granule_;
            continue;
        }
        close_gap(offset);
        result.frames.push_back({offset, {now_.begin() + offset, now_.begin() + offset + size}});
        offset += (size + granule_ - 1) / granule_ * granule_;
    }
    if (is_end_known) {
        close_gap(end);
    }
    return result;
}

std::uint32_t FlashRecording::block_of(std::uint32_t sequence) const {
    const std::int64_t at = std::int64_t{newest_} - head_.sequence + sequence;
    return static_cast<std::uint32_t>((at % geometry_.blocks + geometry_.blocks) % geometry_.blocks);
}

// Finds the block with the highest sequence.
bool FlashRecording::find_newest() {
    bool found = false;
    for (std::uint32_t block = 0; block < geometry_.blocks; ++block) {
        RecordingHead head;
        if (load_head(block, head) && head.blocks == geometry_.blocks && (!found || head.sequence > head_.sequence)) {
            head_ = head;
            newest_ = block;
            found = true;
        }
    }
    if (!found || head_.window > 32768 || head_.first > geometry_.block_size) {
        why_ = "holds no recording";
        return false;
    }
    if ((head_.shape & 15) != RecordingHead::kVersion) {
        why_ = "holds a recording of a later version of the format";
        return false;
    }
    return true;
}

// Follows the log from the newest block back. Three blocks after it are looked at as well: they may be newer, with a
// flipped bit in the head.
bool FlashRecording::find_chain() {
    std::uint32_t end = geometry_.block_size;
    bool is_end_known = false;
    std::uint32_t sequence = head_.sequence + std::min<std::uint32_t>(3, geometry_.blocks - 1);
    for (;;) {
        const std::uint32_t at = block_of(sequence);
        RecordingHead head;
        Block block = walk(at, sequence, end, is_end_known);
        block.has_head = load_mended_head(at, head) && head.sequence == sequence && head.start == head_.start;
        RecordingHead sound;
        block.is_head_sound = load_head(at, sound);
        // A block at the end that lost its head in an erase that was cut is not part of the log any more.
        const bool is_behind = sequence - head_.sequence - 1 < geometry_.blocks;
        if (is_behind && !block.has_head) {
            block.frames.clear();
        }
        while (chain_.empty() && !block.frames.empty() && !block.frames.back().commits()) {
            block.frames.pop_back();
        }
        const bool has_head = block.has_head;
        if (!block.frames.empty()) {
            add(std::move(block));
        } else if (!has_head && is_end_known && end > head_.first && head_.shape >> 24 == 1) {
            // In a ring, it was emptied for the newest rows.
            damages_.push_back({at, 0, end});
        }
        // The head of a block that does not count says nothing about the one before.
        const bool counts = has_head && !chain_.empty();
        if (counts ? head.previous == RecordingHead::kNone : sequence == head_.start) {
            break;
        }
        is_end_known = counts;
        end = counts ? std::min(head.end, geometry_.block_size) : geometry_.block_size;
        const std::uint32_t before = counts ? head.previous : sequence - 1;
        if (before >= sequence || before < head_.start ||
            (before < head_.sequence && head_.sequence - before >= geometry_.blocks)) {
            break;
        }
        sequence = before;
    }
    if (chain_.empty()) {
        why_ = "holds a recording that was never complete";
    }
    return !chain_.empty();
}

// Adds a block to the chain. Without the head of the one after it, it is unknown whether the first frame there was
// written for the second time.
void FlashRecording::add(Block&& block) {
    if (!chain_.empty() && !chain_.back().has_head) {
        const std::vector<std::byte>& last = block.frames.back().bytes;
        const std::vector<std::byte>& next = chain_.back().frames.front().bytes;
        if (last.size() == next.size() && std::equal(last.begin(), last.end() - 4, next.begin())) {
            block.frames.pop_back();
        }
    }
    chain_.push_back(std::move(block));
}

// Puts the blueprint together. All segments have the same one, of which each may lack parts.
bool FlashRecording::collect_recipe() {
    std::vector<bool> known;
    for (const Block& block : chain_) {
        for (const Frame& frame : block.frames) {
            const std::size_t size = frame.bytes.size() - RecordingFrame::kSmallest;
            if (frame.kind() != RecordingFrame::blueprint || size < 4) {
                continue;
            }
            const std::byte* const bytes = frame.bytes.data() + RecordingFrame::kHead;
            const std::size_t at = load(bytes, 4);
            if (at > 1U << 24) {
                continue;
            }
            recipe_.resize(std::max(recipe_.size(), at + size - 4));
            known.resize(recipe_.size());
            std::copy(bytes + 4, bytes + size, recipe_.begin() + static_cast<std::ptrdiff_t>(at));
            std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(at), size - 4, true);
        }
    }
    if (recipe_.size() < kRecipeHead || std::find(known.begin(), known.end(), false) != known.end() ||
        detail::lookup3_constant(recipe_.data(), recipe_.size()) != head_.blueprint) {
        why_ = "holds a recording whose blueprint is damaged";
        return false;
    }
    return true;
}

// Takes over the settings behind the head of a block.
void FlashRecording::collect_settings(const Block& from) {
    const std::uint32_t size = load(recipe_.data() + 14, 2);
    std::vector<std::byte> bytes(size + 4);
    if (size != 0 && device_->read(from.block, sizeof(RecordingHead), {bytes.data(), bytes.size()}) == Status::ok) {
        const auto holds = [&] {
            return load(bytes.data() + size, 4) == detail::lookup3_constant(bytes.data(), size, from.sequence);
        };
        bool good = holds();
        for (std::size_t i = 0; !good && i < 8 * bytes.size(); ++i) {
            const auto bit = static_cast<std::byte>(1U << (i & 7));
            bytes[i >> 3] ^= bit;
            good = holds();
            bytes[i >> 3] ^= good ? std::byte{0} : bit;
            repaired_ += good ? 1 : 0;
        }
        if (good) {
            bytes.resize(size);
            settings_ = bytes;
        }
    }
}

void FlashRecording::collect_frame(const Frame& frame, const Block& from) {
    const auto begin = frame.bytes.begin() + RecordingFrame::kHead;
    const auto end = frame.bytes.end() - RecordingFrame::kChecksum;
    if (frame.kind() == RecordingFrame::settings &&
        static_cast<std::size_t>(end - begin) == load(recipe_.data() + 14, 2)) {
        settings_.assign(begin, end);
    }
    if (frame.kind() != RecordingFrame::rows) {
        return;
    }
    for (auto at = begin; end - at >= 3;) {
        const std::uint32_t size = load(&*at + 1, 2);
        if (size > static_cast<std::size_t>(end - at - 3)) {
            damages_.push_back({from.block, frame.offset, static_cast<std::uint32_t>(frame.bytes.size())});
            return;
        }
        rows_.push_back({head_.segment(from.sequence), static_cast<std::uint32_t>(*at), {at + 3, at + 3 + size}});
        at += 3 + size;
    }
}

// In a ring, a power cut may leave anything in the blocks that are the next to be used.
void FlashRecording::drop_emptied() {
    constexpr std::uint32_t kAttempts = 8;  // of a recorder to find a block that it can use
    const auto is_next = [&](const Block& block) {
        return head_.shape >> 24 > 1 && head_.sequence - block.sequence + kAttempts >= geometry_.blocks;
    };
    while (chain_.size() > 1 && is_next(chain_.back()) &&
           !(chain_.back().is_head_sound && chain_.back().damages.empty())) {
        chain_.pop_back();
    }
}

bool FlashRecording::collect() {
    if (!collect_recipe()) {
        return false;
    }
    drop_emptied();
    const std::uint32_t newest = head_.segment(chain_.front().sequence);
    for (auto block = chain_.rbegin(); block != chain_.rend(); ++block) {
        if (newest - head_.segment(block->sequence) < head_.shape >> 24) {
            damages_.insert(damages_.end(), block->damages.begin(), block->damages.end());
            repaired_ += block->repaired;
            collect_settings(*block);
            for (const Frame& frame : block->frames) {
                collect_frame(frame, *block);
            }
        }
    }
    return true;
}

bool FlashRecording::read(FlashDevice& device) {
    *this = FlashRecording();
    device_ = &device;
    geometry_ = device.geometry();
    granule_ = std::max<std::uint32_t>(geometry_.program_unit, 4);
    return find_newest() && find_chain() && collect();
}

}  // namespace h5mote::cli
