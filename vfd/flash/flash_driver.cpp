#include "flash_format.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

// What is damaged is an error of the storage to those above.
Status outward(Status status) noexcept { return status == Status::corrupt_file ? Status::io_error : status; }

}  // namespace

Capabilities FlashDriver::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.atomic_unit = 512;
    capabilities.erased_value = 0;
    capabilities.writable = mounted_ && !read_only_;
    capabilities.sync_is_commit = true;
    return capabilities;
}

Status FlashDriver::read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept {
    if (!mounted_ || !within(address, to.size(), file_size_)) {
        return Status::io_error;
    }
    std::byte* at = to.data();
    for (std::size_t left = to.size(); left > 0;) {
        const std::uint32_t offset = static_cast<std::uint32_t>(address) & (format_.page_size - 1);
        const std::size_t most = format_.page_size - offset;
        const std::size_t run = left < most ? left : most;
        H5MOTE_TRY(outward(load(static_cast<std::uint32_t>(address >> page_log2_))));
        std::memcpy(at, page_ + offset, run);
        address += run;
        at += run;
        left -= run;
    }
    return Status::ok;
}

// Before any change.
Status FlashDriver::changing() noexcept {
    if (!mounted_) {
        return Status::io_error;
    }
    return read_only_ ? Status::read_only : outward(relocate());
}

// Whether a write finds room in the log and among the pages.
Status FlashDriver::space_for(std::uint64_t address, std::size_t size) noexcept {
    constexpr std::uint32_t kNodeRecord = 12 + 4 + 4 * kFanOut;
    const auto first = static_cast<std::uint32_t>(address >> page_log2_);
    const auto last = static_cast<std::uint32_t>((address + size - 1) >> page_log2_);
    const std::uint32_t pages = last - first + 1;
    const std::uint64_t bytes =
        std::uint64_t{pages} * (format_.page_size + 64 + kNodeRecord) + kFlashHeight * kNodeRecord;
    std::uint32_t rest = 0;
    const std::uint64_t blocks = 1 + divide(bytes, geometry_.block_size - first_record() - kNodeRecord, rest);
    // After a mount, which gives up the rest of a block, the room for all until the next sync is made at once.
    const std::uint64_t wanted = fresh_ && !dirty_ ? blocks + start_blocks_ : blocks + spare_blocks_;
    if (wanted > free_blocks(limit_)) {
        // Blocks that are freed now count only after a commit, which must not have a part of something.
        if (dirty_) {
            return Status::no_space;
        }
        H5MOTE_TRY(begin());
        debt_ += static_cast<std::uint32_t>(bytes);
        H5MOTE_TRY(settle());
        H5MOTE_TRY(settle());
        if (blocks + spare_blocks_ > free_blocks(limit_)) {
            return Status::no_space;
        }
    }
    if (pages <= most_pages_ && live_pages_ <= most_pages_ - pages) {
        return Status::ok;
    }
    std::uint32_t more = 0;
    for (std::uint32_t page = first; page <= last; ++page) {
        Place place = 0;
        const Status status = lookup(page, place);
        if (status != Status::corrupt_file) {
            H5MOTE_TRY(status);
            more += place == 0 ? 1 : 0;
        }
    }
    return more == 0 || live_pages_ + more <= most_pages_ ? Status::ok : Status::no_space;
}

Status FlashDriver::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    H5MOTE_TRY(changing());
    if (from.empty()) {
        return Status::ok;
    }
    if (!within(address, from.size(), std::uint64_t{1} << (28 + page_log2_))) {
        return Status::no_space;
    }
    H5MOTE_TRY(space_for(address, from.size()));
    H5MOTE_TRY(begin());
    dirty_ = true;
    const std::uint64_t end = address + from.size();
    H5MOTE_TRY(grow(static_cast<std::uint32_t>((end - 1) >> page_log2_)));
    const std::byte* at = from.data();
    while (address < end) {
        const std::uint32_t offset = static_cast<std::uint32_t>(address) & (format_.page_size - 1);
        const std::uint64_t left = end - address;
        const std::size_t most = format_.page_size - offset;
        const std::size_t run = left < most ? static_cast<std::size_t>(left) : most;
        H5MOTE_TRY(outward(write_piece(static_cast<std::uint32_t>(address >> page_log2_), offset, {at, run})));
        address += run;
        at += run;
    }
    counts_.written += from.size();
    file_size_ = end > file_size_ ? end : file_size_;
    return Status::ok;
}

Status FlashDriver::sync() noexcept {
    if (!mounted_) {
        return Status::io_error;
    }
    if (frail_ != kNoFlashPage && !read_only_) {
        // What cannot be moved now is met again when it is read.
        (void)refresh();
    }
    return dirty_ ? settle() : Status::ok;
}

// Commits, then frees blocks.
Status FlashDriver::settle() noexcept {
    H5MOTE_TRY(outward(flush_old()));
    H5MOTE_TRY(outward(commit()));
    // All is safe now; what goes wrong here is met again by whoever needs the space.
    (void)collect();
    return Status::ok;
}

Status FlashDriver::end_of_file(std::uint64_t& size) noexcept {
    size = file_size_;
    return mounted_ ? Status::ok : Status::io_error;
}

Status FlashDriver::truncate(std::uint64_t size) noexcept {
    H5MOTE_TRY(changing());
    if (size == file_size_) {
        return Status::ok;
    }
    if (size > std::uint64_t{1} << (28 + page_log2_)) {
        return Status::no_space;
    }
    H5MOTE_TRY(begin());
    dirty_ = true;
    if (size < file_size_) {
        auto first = static_cast<std::uint32_t>(size >> page_log2_);
        const std::uint32_t kept = static_cast<std::uint32_t>(size) & (format_.page_size - 1);
        if (kept != 0) {
            H5MOTE_TRY(outward(cut(first, kept)));
            ++first;
        }
        H5MOTE_TRY(outward(unmap(first, static_cast<std::uint32_t>((file_size_ - 1) >> page_log2_) + 1)));
        cached_ = kNoFlashPage;
    }
    file_size_ = size;
    return Status::ok;
}

// Makes all of a page zero but for its first bytes.
Status FlashDriver::cut(std::uint32_t page, std::uint32_t kept) noexcept {
    Place newest = 0;
    Record record;
    H5MOTE_TRY(make_room());
    H5MOTE_TRY(lookup(page, newest));
    if (newest == 0 || (parse(newest, record) && record.piece() && hull_of(record) <= kept)) {
        return Status::ok;
    }
    H5MOTE_TRY(load(page));
    std::memset(page_ + kept, 0, format_.page_size - kept);
    cached_ = kNoFlashPage;
    return rewrite(page, kept);
}

Status FlashDriver::release(Usage /*usage*/, std::uint64_t address, std::uint64_t size) noexcept {
    H5MOTE_TRY(changing());
    if (address >= file_size_) {
        return Status::ok;
    }
    size = size < file_size_ - address ? size : file_size_ - address;
    const std::uint32_t mask = format_.page_size - 1;
    const auto first = static_cast<std::uint32_t>((address + mask) >> page_log2_);
    const auto last = static_cast<std::uint32_t>((address + size) >> page_log2_);
    if (first >= last) {
        return Status::ok;
    }
    H5MOTE_TRY(begin());
    dirty_ = true;
    cached_ = kNoFlashPage;
    return outward(unmap(first, last));
}

FlashUsage FlashDriver::usage() const noexcept {
    FlashUsage usage = counts_;
    if (mounted_) {
        usage.file_size = file_size_;
        usage.capacity = std::uint64_t{most_pages_} << page_log2_;
        usage.live = std::uint64_t{live_pages_} << page_log2_;
        usage.blocks_bad = bad_;
        usage.blocks_free = free_blocks(tail_);
        usage.blocks_used = geometry_.blocks - bad_ - usage.blocks_free;
        usage.total_written = (total_written_ << 10) + counts_.written;
        usage.total_programmed = (total_erases_ + counts_.erased_blocks) << block_log2_;
    }
    return usage;
}

}  // namespace h5mote
