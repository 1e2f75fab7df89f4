#include "base_driver.hpp"

#include "checked.hpp"

namespace h5mote {

Status BaseDriver::use_image(FileShape shape, std::uint64_t address, std::uint64_t size) noexcept {
    std::byte bytes[CacheImageHeader::kMaxSize];
    const std::size_t head = CacheImageHeader::size(shape);
    if (size < head || address > ~size) {
        return Status::corrupt_file;
    }
    CacheImageHeader header;
    H5MOTE_TRY(read(Usage::object_header, address, {bytes, head}));
    if (!header.decode(shape, {bytes, head})) {
        return Status::corrupt_file;
    }
    shape_ = shape;
    first_entry_ = address + head;
    image_end_ = address + size;
    entries_ = header.entries;
    image_reader_ = entries_ == 0 ? nullptr : read_image;
    return Status::ok;
}

// Reads what precedes the bytes of the entry at `at`, which becomes where these bytes are.
Status BaseDriver::next_entry(std::uint64_t& at, CacheImageEntry& entry) noexcept {
    const std::size_t head = CacheImageEntry::prefix_size(shape_);
    std::byte bytes[CacheImageEntry::kMaxSize];
    if (!within(at, head, image_end_)) {
        return Status::corrupt_file;
    }
    H5MOTE_TRY(storage_.read(Usage::object_header, base_ + at, {bytes, head}));
    entry.decode(shape_, {bytes, head});
    at += head + std::uint64_t{entry.parents} * shape_.sizeof_addr;
    return within(at, entry.size, image_end_) ? Status::ok : Status::corrupt_file;
}

Status BaseDriver::store_image(std::uint64_t end) noexcept {
    std::uint64_t at = first_entry_;
    for (std::uint32_t i = 0; image_reader_ != nullptr && i < entries_; ++i) {
        CacheImageEntry entry;
        H5MOTE_TRY(next_entry(at, entry));
        if (!within(entry.address, entry.size, end)) {
            return Status::corrupt_file;
        }
        for (std::uint64_t done = 0; done < entry.size;) {
            std::byte piece[128];
            const std::uint64_t left = entry.size - done;
            const std::size_t now = left < sizeof piece ? static_cast<std::size_t>(left) : sizeof piece;
            H5MOTE_TRY(storage_.read(Usage::object_header, base_ + at + done, {piece, now}));
            H5MOTE_TRY(storage_.write(Usage::object_header, base_ + entry.address + done, {piece, now}));
            done += now;
        }
        at += entry.size;
    }
    image_reader_ = nullptr;
    return Status::ok;
}

// Replaces the bytes in `to` for which the cache image has an entry. The entries are not kept in memory but walked in
// the file on every read: files with a cache image are rare.
Status BaseDriver::read_image(BaseDriver& driver, Usage usage, std::uint64_t address, Bytes to) noexcept {
    std::uint64_t at = driver.first_entry_;
    for (std::uint32_t i = 0; i < driver.entries_; ++i) {
        CacheImageEntry entry;
        H5MOTE_TRY(driver.next_entry(at, entry));
        const std::uint64_t from = entry.address;
        // The bytes that the entry and the read have in common: [begin, end).
        const std::uint64_t begin = from > address ? from : address;
        const std::uint64_t end_of_entry = from > ~entry.size ? ~std::uint64_t{0} : from + entry.size;
        const std::uint64_t end_of_read = address + to.size();
        const std::uint64_t end = end_of_entry < end_of_read ? end_of_entry : end_of_read;
        if (begin < end) {
            H5MOTE_TRY(driver.storage_.read(
                usage, driver.base_ + at + (begin - from),
                to.subspan(static_cast<std::size_t>(begin - address), static_cast<std::size_t>(end - begin))));
        }
        at += entry.size;
    }
    return Status::ok;
}

}  // namespace h5mote
