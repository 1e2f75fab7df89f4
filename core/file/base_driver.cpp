#include "base_driver.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

constexpr std::size_t kEntryPrefix = 14;  // bytes of an entry before its address

}  // namespace

Status BaseDriver::use_image(FileShape shape, std::uint64_t address, std::uint64_t size) noexcept {
    std::byte bytes[6 + 8 + 4];
    const std::size_t head = 6U + shape.sizeof_size + 4U;
    if (size < head || address > ~size) {
        return Status::corrupt_file;
    }
    H5MOTE_TRY(read(Usage::object_header, address, {bytes, head}));
    Reader reader(ConstBytes(bytes, head));
    constexpr std::uint32_t kSignature = 0x4943444dU;  // "MDCI"
    const bool sound = reader.u32() == kSignature && reader.u8() == 0;
    reader.skip(1U + shape.sizeof_size);
    if (!sound) {
        return Status::corrupt_file;
    }
    shape_ = shape;
    first_entry_ = address + head;
    image_end_ = address + size;
    entries_ = reader.u32();
    image_reader_ = entries_ == 0 ? nullptr : read_image;
    return Status::ok;
}

// Replaces the bytes in `to` for which the cache image has an entry. The entries are not kept in memory but walked in
// the file on every read: files with a cache image are rare.
Status BaseDriver::read_image(BaseDriver& driver, Usage usage, std::uint64_t address, Bytes to) noexcept {
    const std::size_t head = kEntryPrefix + driver.shape_.sizeof_addr + driver.shape_.sizeof_size;
    std::uint64_t at = driver.first_entry_;
    for (std::uint32_t i = 0; i < driver.entries_; ++i) {
        std::byte bytes[kEntryPrefix + 16];
        if (!within(at, head, driver.image_end_)) {
            return Status::corrupt_file;
        }
        H5MOTE_TRY(driver.storage_.read(usage, driver.base_ + at, {bytes, head}));
        const auto parents = load_le<std::uint16_t>(bytes + 8);
        const std::uint64_t from = driver.shape_.load_addr(bytes + kEntryPrefix);
        const std::uint64_t size =
            load_uint(bytes + kEntryPrefix + driver.shape_.sizeof_addr, driver.shape_.sizeof_size);
        at += head + std::uint64_t{parents} * driver.shape_.sizeof_addr;
        if (!within(at, size, driver.image_end_)) {
            return Status::corrupt_file;
        }
        // The bytes that the entry and the read have in common: [begin, end).
        const std::uint64_t begin = from > address ? from : address;
        const std::uint64_t end_of_entry = from > ~size ? ~std::uint64_t{0} : from + size;
        const std::uint64_t end_of_read = address + to.size();
        const std::uint64_t end = end_of_entry < end_of_read ? end_of_entry : end_of_read;
        if (begin < end) {
            H5MOTE_TRY(driver.storage_.read(
                usage, driver.base_ + at + (begin - from),
                to.subspan(static_cast<std::size_t>(begin - address), static_cast<std::size_t>(end - begin))));
        }
        at += size;
    }
    return Status::ok;
}

}  // namespace h5mote
