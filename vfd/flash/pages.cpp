// Contents of pages: a base piece, overlaid by the newer pieces that are chained to it.
#include "flash_format.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::uint32_t kLeastPiece = 32;  // bytes: a smaller part of a piece is not put at the end of a block

}  // namespace

// The places of a page's pieces, the newest first. corrupt_file: one of these places holds no piece of the page.
Status FlashLog::chain(std::uint32_t page, Place newest, Place (&places)[kLongestChain], unsigned& count) noexcept {
    count = 0;
    Record record;
    do {
        if (count == kLongestChain || !parse(newest, record) || record.key << 4 != page << 4) {
            return damaged();
        }
        if (!record.piece() && (record.kind() != FlashRecord::lost || count != 0)) {
            return Status::corrupt_file;
        }
        places[count++] = newest;
        newest = record.link;
    } while (record.chained());
    return Status::ok;
}

// Weight of a record that is chained to `record` at `place`: one more, and one for every chain_unit_ words of log
// between the two.
unsigned FlashLog::weight_after(const Record& record, Place place) const noexcept {
    const std::uint32_t apart = (age(place_of(head_, 0)) + (position() >> 2) - age(place)) / chain_unit_;
    return apart < Record::kMostWeight ? record.weight() + 1 + apart : Record::kMostWeight;
}

// Length of the part of a page that may hold bytes other than zero, as the page's newest piece tells.
std::uint32_t FlashLog::hull_of(const Record& record) const noexcept {
    return record.chained() ? (record.level() + 1) << (page_log2_ - 4) : record.length();
}

// Brings a page into page_.
Status FlashLog::load(std::uint32_t page) noexcept {
    if (cached_ == page) {
        return Status::ok;
    }
    cached_ = kNoFlashPage;
    Place newest = 0;
    H5MOTE_TRY(lookup(page, newest));
    std::memset(page_, 0, format_.page_size);
    if (newest != 0) {
        H5MOTE_TRY(load_from(page, newest));
    }
    cached_ = page;
    return Status::ok;
}

Status FlashLog::load_from(std::uint32_t page, Place newest) noexcept {
    Place places[kLongestChain];
    unsigned count = 0;
    H5MOTE_TRY(chain(page, newest, places, count));
    while (count > 0) {
        const Place place = places[--count];
        Record record;
        std::byte* to = page_;
        if (!parse(place, record) || !record.piece() || record.key << 4 != page << 4) {
            return damaged();
        }
        to += record.offset();
        // Check the bytes in memory instead of reading them again: the device may return other bytes the next time.
        // This check is against bits that flip on the chip. No power cut can show it: what a commit leads to was
        // programmed before the commit was begun, and reads the same each time.
        H5MOTE_TRY(read_log(block_of(place), offset_of(place) + record.head(), {to, record.length()}));
        if (sum_of(record, place, {to, record.length()}) != record.checksum) {
            return Status::corrupt_file;
        }
    }
    return Status::ok;
}

// Appends bytes of a page as its newest piece, in several records where they do not fit in the block. `previous` 0:
// they are a base piece, without older ones. `hull`: hull_of() the page so far.
Status FlashLog::append_piece(std::uint32_t page, std::uint32_t offset, ConstBytes from, Place previous,
                              unsigned weight, std::uint32_t hull) noexcept {
    const std::uint32_t sixteenth = format_.page_size / 16;
    auto left = static_cast<std::uint32_t>(from.size());
    const std::byte* at = from.data();
    for (;;) {
        const bool chained = previous != 0;
        const std::uint32_t head = Record::kSize + (chained ? 4 : 0);
        std::uint32_t fits = room();
        if (fits < head + (left < kLeastPiece ? left : kLeastPiece)) {
            fits = geometry_.block_size - first_record();
        }
        fits = (fits - head) & ~3U;
        const std::uint32_t run = left < fits ? left : fits;
        hull = hull > offset + run ? hull : offset + run;
        Record record{};
        record.key = chained ? flash_key((hull - 1) / sixteenth, page) : page;
        record.link = previous;
        const bool last = run == left;
        record.word = Record::make(last ? FlashRecord::piece : FlashRecord::part, run, offset, weight);
        H5MOTE_TRY(append(record, {at, run}, previous));
        if (last) {
            break;
        }
        weight += weight < Record::kMostWeight ? 1 : 0;
        offset += run;
        at += run;
        left -= run;
    }
    put(page, previous);
    return Status::ok;
}

// Writes a page anew as one base piece from page_, whose bytes from `size` on are zero.
Status FlashLog::rewrite(std::uint32_t page, std::uint32_t size) noexcept {
    return append_piece(page, 0, {page_, size}, 0, 0, size);
}

// Writes some bytes of a page.
Status FlashLog::write_piece(std::uint32_t page, std::uint32_t offset, ConstBytes from) noexcept {
    H5MOTE_TRY(make_room());
    Place newest = 0;
    Status status = lookup(page, newest);
    const auto size = static_cast<std::uint32_t>(from.size());
    const std::uint32_t end = offset + size;
    const bool whole = size == format_.page_size;
    // A page that is replaced whole need not be readable.
    if (status == Status::corrupt_file && whole) {
        newest = kFlashLost;
    } else if (status != Status::ok) {
        return status;
    }
    Record record{};
    std::uint32_t hull = 0;
    unsigned weight = Record::kMostWeight;
    if (newest != 0 && !whole) {
        if (!parse(newest, record) || record.key << 4 != page << 4 || !record.piece()) {
            return damaged();
        }
        hull = hull_of(record);
        weight = weight_after(record, newest);
    }
    if (offset == 0 && end >= hull) {
        status = append_piece(page, 0, from, 0, 0, end);
    } else if (weight > kFlashWeightLimit || offset > hull) {
        H5MOTE_TRY(load(page));
        std::memcpy(page_ + offset, from.data(), size);
        status = rewrite(page, end > hull ? end : hull);
        // If that failed, the page keeps its old contents, which page_ no longer has.
        cached_ = status == Status::ok ? page : kNoFlashPage;
    } else {
        status = append_piece(page, offset, from, newest, weight, hull);
    }
    H5MOTE_TRY(status);
    live_pages_ += newest == 0 ? 1 : 0;
    if (cached_ == page) {
        std::memcpy(page_ + offset, from.data(), size);
    }
    return Status::ok;
}

}  // namespace h5mote
