// The lowest layer of the flash driver: blocks of the log, and reading and appending the records in them.
#include "flash_format.hpp"

#include "checksum.hpp"

#include <cstring>

namespace h5mote {
namespace {

// append() tries a record in this many blocks; open_block() gives up after as many blocks that failed.
constexpr unsigned kAttempts = 8;

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t to) noexcept {
    return (value + to - 1) & ~(to - 1);
}

}  // namespace

// Offset of a block's first record.
std::uint32_t FlashLog::first_record(const FlashGeometry& geometry) noexcept {
    return round_up(BlockHead::kSize, geometry.program_unit);
}

std::uint32_t FlashLog::age(Place place) const noexcept {
    return place_of(distance(tail_, block_of(place)), offset_of(place));
}

bool FlashLog::known_bad(std::uint32_t block) noexcept {
    bool bad = false;
    const Status status = device_.is_bad(block, bad);
    unanswered_ = unanswered_ || status != Status::ok;
    return status != Status::ok || bad;
}

// Reads bytes of the log. Bytes that are not programmed yet, or that a failed program destroyed, come from memory.
Status FlashLog::read_log(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept {
    auto left = static_cast<std::uint32_t>(to.size());
    const bool failed = block == failed_block_;
    const std::uint32_t start = failed ? failed_start_ : window_start_;
    if ((failed || block == head_) && offset + left > start) {
        const std::uint32_t fill = failed ? failed_size_ : window_fill_;
        const std::byte* const from = failed ? failed_ : window_;
        while (left > 0 && offset + left > start) {
            --left;
            const std::uint32_t at = offset + left - start;
            to[left] = at < fill ? from[at] : static_cast<std::byte>(geometry_.erased_value);
        }
    }
    if (left == 0) {
        return Status::ok;
    }
    ++counts_.mount_reads;
    counts_.mount_bytes += left;
    const Status status = device_.read(block, offset, to.first(left));
    unanswered_ = unanswered_ || status == Status::io_error;
    if (status == Status::ok && device_.corrected()) {
        ++counts_.corrected;
        frail_ = place_of(block, offset);
        frail_end_ = offset + left;
    }
    return status;
}

bool FlashLog::read_head(std::uint32_t block, BlockHead& head) noexcept {
    std::byte bytes[BlockHead::kSize];
    head.block = block;
    return read_log(block, 0, bytes) == Status::ok && head.decode(bytes);
}

// Programs whole units at window_start_, within a page of the device.
Status FlashLog::program(const std::byte* from, std::uint32_t size) noexcept {
    ++counts_.programs;
    counts_.programmed += size;
    const std::uint32_t offset = window_start_;
    window_start_ += size;
    return device_.program(head_, offset, {from, size});
}

// Programs the bytes gathered in the window, padded to a whole program unit with the erased value.
Status FlashLog::program_window() noexcept {
    if (window_fill_ == 0) {
        return Status::ok;
    }
    const std::uint32_t size = round_up(window_fill_, geometry_.program_unit);
    std::memset(window_ + window_fill_, geometry_.erased_value, size - window_fill_);
    debt_ += size - window_fill_;
    window_fill_ = 0;
    const Status status = program(window_, size);
    lost_size_ = status == Status::ok ? 0 : size;
    return status;
}

Status FlashLog::put_bytes(const std::byte* from, std::uint32_t size) noexcept {
    while (size > 0) {
        const std::uint32_t page_left = geometry_.page_size - (window_start_ & (geometry_.page_size - 1));
        const std::uint32_t most = window_size(geometry_.program_unit);
        const std::uint32_t limit = page_left < most ? page_left : most;
        std::uint32_t run = size;
        if (window_fill_ == 0 && size >= limit) {
            run &= ~(geometry_.program_unit - 1);
            run = run < page_left ? run : page_left;
            H5MOTE_TRY(program(from, run));
        } else {
            run = run < limit - window_fill_ ? run : limit - window_fill_;
            std::memcpy(window_ + window_fill_, from, run);
            window_fill_ += run;
            if (window_fill_ == limit) {
                H5MOTE_TRY(program_window());
            }
        }
        from += run;
        size -= run;
    }
    return Status::ok;
}

// Erases the next good block after `after` and writes its header. `previous`: the block that the header names as the
// one before it. The last good block before limit_ is left for a barrier, because without one a mount could not
// continue, and because a mount tells from it whether limit_ was the limit: no_space.
Status FlashLog::open_block(std::uint32_t after, std::uint32_t previous, bool barrier) noexcept {
    unsigned failures = 0;
    // Few blocks must not be used up while a chip fails for a moment: without two that are free none becomes free.
    const std::uint32_t part = limit_ == kNoFlashPage ? kAttempts : distance(after, limit_) / 4;
    const unsigned attempts = part < 2 ? 2 : part < kAttempts ? part : kAttempts;
    const std::uint32_t old_head = head_;
    std::uint32_t ahead = bad_ahead_;
    // After a failure head_ is what it was: a block without a header must not become the one that the next header
    // names, and blocks that only failed for a while are tried again instead of being used up.
    const auto fail = [&](Status status) {
        if (old_head != kNoFlashPage && head_ != old_head) {
            head_ = old_head;
            close_block();
        }
        bad_ahead_ = ahead;
        return status;
    };
    std::uint32_t bad = 0;  // bad blocks passed over that bad_ahead_ still counts
    std::uint32_t block = next(after);
    for (std::uint32_t seen = 0; seen < geometry_.blocks && block != limit_; ++seen, block = next(block)) {
        bool is_bad = false;
        const bool answered = device_.is_bad(block, is_bad) == Status::ok;
        if (is_bad || !answered) {
            // A block whose state cannot be read is passed over, too, but was not counted as bad.
            unanswered_ = unanswered_ || !answered;
            bad += answered ? 1 : 0;
            continue;
        }
        if (!barrier && distance(block, limit_) + bad == bad_ahead_ + 1) {
            break;
        }
        BlockHead head;
        const bool known = read_head(block, head);
        // A block without a sound header does not know its erases: assume those of the block before it.
        head.erases = known ? head.erases + 1 : (head_erases_ == 0 ? 1 : head_erases_);
        Status status = known || keep(FlashRule::erase_first) ? device_.erase(block) : Status::ok;
        if (status == Status::ok) {
            ++counts_.erased_blocks;
            head_ = block;
            bad_ahead_ -= bad < bad_ahead_ ? bad : bad_ahead_;
            bad = 0;
            head_erases_ = head.erases;
            window_start_ = window_fill_ = record_start_ = 0;
            head.geometry = geometry_;
            head.format = format_;
            head.barrier = barrier;
            head.sequence = ++sequence_;
            head.previous = previous == kNoFlashPage ? block : previous;
            head.written = static_cast<std::uint32_t>(total_written_ + (counts_.written >> 10));
            std::byte bytes[BlockHead::kSize];
            head.encode(bytes);
            status = put_bytes(bytes, sizeof bytes);
            if (status == Status::ok) {
                status = program_window();
            }
            if (status == Status::ok) {
                return Status::ok;
            }
            close_block();
        } else if (device_.mark_bad(block) == Status::ok && known_bad(block)) {
            ++bad_;
            ++bad_ahead_;
            ++ahead;
            ++bad;
        }
        if (++failures == attempts) {
            return fail(status);
        }
    }
    return fail(unanswered_ || failures != 0 ? Status::io_error : Status::no_space);
}

Status FlashLog::open_next() noexcept {
    H5MOTE_TRY(program_window());
    debt_ += room();
    const std::uint32_t previous = head_;
    return open_block(previous, previous, false);
}

// The checksum of a record at that place, as far as the record's head goes; the record's bytes follow.
Lookup3Stream FlashLog::sum_of(const Record& record, Place place) noexcept {
    std::byte head[12];
    store_le<std::uint32_t>(head, record.word);
    store_le<std::uint32_t>(head + 4, record.key);
    store_le<std::uint32_t>(head + 8, record.link);
    const std::uint32_t size = record.head() - 4;
    Lookup3Stream sum(size + record.length(), place);
    sum.update({head, size});
    return sum;
}

// Checksum of a record with these bytes, at that place.
std::uint32_t FlashLog::sum_of(const Record& record, Place place, ConstBytes payload) noexcept {
    Lookup3Stream sum = sum_of(record, place);
    sum.update(payload);
    return sum.finish();
}

// Appends a record to the open block, without trying another block if that fails.
Status FlashLog::append_once(const Record& record, ConstBytes payload, Place& place) noexcept {
    std::byte head[16];
    record_start_ = position();
    place = place_of(head_, record_start_);
    debt_ += record.size();
    store_le<std::uint32_t>(head, record.word);
    store_le<std::uint32_t>(head + 4, sum_of(record, place, payload));
    store_le<std::uint32_t>(head + 8, record.key);
    store_le<std::uint32_t>(head + 12, record.link);
    H5MOTE_TRY(put_bytes(head, record.head()));
    H5MOTE_TRY(put_bytes(payload.data(), record.length()));
    static constexpr std::byte kPadding[4] = {};
    H5MOTE_TRY(put_bytes(kPadding, record.size() - record.head() - record.length()));
    if (geometry_.program_unit <= 4 || (failed_block_ != kNoFlashPage && free_blocks() > sync_blocks_)) {
        H5MOTE_TRY(program_window());
    }
    record_start_ = position();
    return Status::ok;
}

// Appends a record, in the next block if the open one has no room, and returns its place. A block in which a program
// fails is abandoned, and the record tried in the next one.
Status FlashLog::append(const Record& record, ConstBytes payload, Place& place) noexcept {
    Status status = Status::ok;
    for (unsigned i = 0; i < kAttempts; ++i) {
        if (room() < record.size()) {
            status = open_next();
        }
        if (status == Status::ok) {
            status = append_once(record, payload, place);
        }
        if (status != Status::io_error) {
            return status;
        }
        H5MOTE_TRY(give_up_block());
        status = Status::ok;
    }
    return Status::io_error;
}

// Abandons the open block after a failed program. The bytes of earlier records in that program stay in memory (failed_)
// until relocate(). Until then append_once() programs each record at once, while there are blocks for that, so that
// another failure destroys only the record being appended, which append() then writes elsewhere. io_error: a second
// failure has destroyed earlier records, too, while failed_ is in use; the driver is no longer mounted.
Status FlashLog::give_up_block() noexcept {
    const std::uint32_t lost = window_start_ - lost_size_;
    if (lost_size_ != 0 && geometry_.program_unit > 4 && lost < record_start_) {
        if (failed_block_ != kNoFlashPage) {
            mounted_ = false;
            return Status::io_error;
        }
        failed_block_ = head_;
        failed_start_ = lost;
        failed_size_ = lost_size_;
        std::byte* const other = failed_;
        failed_ = window_;
        window_ = other;
    }
    replayable_ = false;
    close_block();
    return Status::ok;
}

void FlashLog::close_block() noexcept {
    window_start_ = geometry_.block_size;
    window_fill_ = 0;
    lost_size_ = 0;
}

// Whether the bytes at `offset` look like a record. If not, `next` is the next offset at which one may begin.
bool FlashLog::parse(std::uint32_t block, std::uint32_t offset, Record& record, std::uint32_t& next) noexcept {
    std::byte bytes[Record::kSmallest];
    const std::uint32_t unit = geometry_.program_unit;
    next = round_up(offset + 1, unit <= 4 ? 4 : unit);
    // A head that cannot be read counts as erased: many chips with an ECC cannot read bytes that were never programmed.
    record.word = geometry_.erased_value * 0x01010101U;
    if (read_log(block, offset, bytes) != Status::ok) {
        return false;
    }
    bool erased = true;
    for (const std::byte each : bytes) {
        erased = erased && each == static_cast<std::byte>(geometry_.erased_value);
    }
    // Erased bytes in the middle of a program unit are padding up to the next unit. At the start of a unit, or where
    // units are so small that there is no padding, they are the end of the block's records.
    if (!erased) {
        next = offset + 4;
    } else if (unit <= 4 || (offset & (unit - 1)) == 0) {
        next = geometry_.block_size;
    }
    record.decode(bytes);
    return plausible(offset, record);
}

bool FlashLog::plausible(std::uint32_t offset, const Record& record) const noexcept {
    const FlashRecord kind = record.kind();
    if (kind < FlashRecord::piece || record.size() > geometry_.block_size - offset ||
        record.size() < Record::kSmallest) {
        return false;
    }
    switch (kind) {
        case FlashRecord::piece:
        case FlashRecord::part:
            return record.offset() + record.length() <= format_.page_size;
        case FlashRecord::node:
            return record.level() >= 1 && record.level() <= kFlashHeight && record.length() <= 4 + 4 * kFanOut;
        case FlashRecord::commit:
            return record.length() == Commit::kSize;
        default:
            return record.length() == 4;
    }
}

bool FlashLog::parse(Place place, Record& record) noexcept {
    std::uint32_t next = 0;
    return block_of(place) < geometry_.blocks && parse(block_of(place), offset_of(place), record, next);
}

// Whether the record's bytes are those that were written.
bool FlashLog::intact(Place place, const Record& record) noexcept {
    std::byte bytes[48];
    Lookup3Stream sum = sum_of(record, place);
    std::uint32_t offset = offset_of(place) + record.head();
    for (std::uint32_t left = record.length(); left > 0;) {
        const std::uint32_t run = left < sizeof bytes ? left : static_cast<std::uint32_t>(sizeof bytes);
        if (read_log(block_of(place), offset, {bytes, run}) != Status::ok) {
            return false;
        }
        sum.update({bytes, run});
        offset += run;
        left -= run;
    }
    return sum.finish() == record.checksum || !keep(FlashRule::checksum);
}

// Reads the record at walk.offset, or the next sound one after damaged bytes. False at the end of the block; also
// false, with unanswered_ set, if the chip did not answer: it is unknown then whether a record is there.
bool FlashLog::step(Walk& walk) noexcept {
    while (walk.offset + Record::kSmallest <= geometry_.block_size) {
        std::uint32_t next = 0;
        const bool found = parse(walk.block, walk.offset, walk.record, next);
        const bool sound = found && intact(place_of(walk.block, walk.offset), walk.record);
        if (sound || unanswered_) {
            return sound;
        }
        if (found) {
            next = walk.offset + 4;
        }
        const std::uint32_t commit = Record::make(FlashRecord::commit, Commit::kSize);
        if (__builtin_popcount(walk.record.word ^ commit) <= 1 &&
            geometry_.block_size - walk.offset >= Record::kSize + Commit::kSize) {
            walk.suspect = walk.offset;
        }
        walk.offset = next;
    }
    return false;
}

}  // namespace h5mote
