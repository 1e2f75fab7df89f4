// What a recorder reads from the storage and writes to it: blocks with checksums.
#include "block_writer.hpp"
#include "checked.hpp"
#include "recorder_rule.hpp"

namespace h5mote {

// Stores an address or size; kUndefinedAddress is all ones in any width.
void RecorderBase::store_field(std::byte* to, unsigned width, Address value) noexcept {
    const bool undefined = value == kUndefinedAddress;
    for (unsigned i = 0; i < width; ++i) {
        to[i] = undefined ? std::byte{0xff} : static_cast<std::byte>(value);
        value >>= 8;
    }
}

void RecorderBase::BlockWriter::field(unsigned width, Address value) noexcept {
    if (used_ + width > sizeof bytes_) {
        write();
    }
    store_field(bytes_ + used_, width, value);
    used_ += width;
}

void RecorderBase::BlockWriter::write() noexcept {
    sum_.update({bytes_, used_});
    if (status_ == Status::ok) {
        status_ = recorder_.write(at_, bytes_, used_);
    }
    at_ += used_;
    used_ = 0;
}

Status RecorderBase::BlockWriter::finish() noexcept {
    write();
    store_le(bytes_, sum_.finish());
    return status_ == Status::ok ? recorder_.write(at_, bytes_, 4) : status_;
}

Status RecorderBase::read(Address from, std::byte* to, std::size_t count) noexcept {
    return driver_->read(Usage::object_header, from, {to, count});
}

Status RecorderBase::write(Address to, const std::byte* from, std::size_t count, Usage usage) noexcept {
    unsynced_ = true;
    return driver_->write(usage, to, {from, count});
}

Status RecorderBase::fill(Address from, Address size, std::byte value) noexcept {
    std::byte bytes[kRecorderPiece];
    std::memset(bytes, static_cast<int>(value), sizeof bytes);
    while (size != 0) {
        const std::size_t count = size < sizeof bytes ? static_cast<std::size_t>(size) : sizeof bytes;
        H5MOTE_TRY(write(from, bytes, count));
        from += static_cast<Address>(count);
        size -= static_cast<Address>(count);
    }
    return Status::ok;
}

Status RecorderBase::sync() noexcept {
    if (failed_) {
        return Status::io_error;
    }
    if (!unsynced_) {
        return Status::ok;
    }
    const Status status = driver_->sync();
    // A storage that failed to sync may have dropped what it had to write.
    failed_ = unsynced_ = status != Status::ok;
    if (failed_) {
        end_appending();
    }
    return status;
}

// Reads an address, or a size of 8 bytes; all ones are kUndefinedAddress.
Status RecorderBase::read_field(Address from, unsigned width, Address& value) noexcept {
    std::byte bytes[8];
    H5MOTE_TRY(read(from, bytes, width));
    Address result = 0;
    bool undefined = true;
    bool too_large = false;
    for (unsigned i = width; i-- > 0;) {
        undefined = undefined && bytes[i] == std::byte{0xff};
        too_large = too_large || result >> (8 * sizeof result - 8) != 0;
        result = result << 8 | static_cast<Address>(bytes[i]);
    }
    value = undefined ? kUndefinedAddress : too_large || result == kUndefinedAddress ? kUndefinedAddress - 1 : result;
    return Status::ok;
}

Status RecorderBase::read_address(Address from, Address& address) noexcept {
    return read_field(from, table_->sizeof_addr, address);
}

// Checks the checksum of a block of the file. corrupt_file: it is wrong, or the block does not lie within the file.
Status RecorderBase::verify(Address address, Address size) noexcept {
    if (!within(address, size, end_)) {
        return Status::corrupt_file;
    }
    Lookup3Stream sum(static_cast<std::uint32_t>(size) - 4);
    std::byte bytes[kRecorderPiece];
    for (Address left = size - 4; left > 0;) {
        const std::size_t count = left < sizeof bytes ? static_cast<std::size_t>(left) : sizeof bytes;
        H5MOTE_TRY(read(address, bytes, count));
        sum.update({bytes, count});
        address += static_cast<Address>(count);
        left -= static_cast<Address>(count);
    }
    H5MOTE_TRY(read(address, bytes, 4));
    return load_le<std::uint32_t>(bytes) == sum.finish() ? Status::ok : Status::corrupt_file;
}

// Writes the end of a block anew, from offset `from` on. It has the bytes in ROM, but for `values`, each of `width`
// bytes, from `from` on, and the checksum. What is written lies in one sector.
Status RecorderBase::rewrite(Address block, std::uint32_t bytes, unsigned size, unsigned from, const Address* values,
                             unsigned count, unsigned width) noexcept {
    std::byte image[blueprint::ArrayParameters::header_size(8)];
    std::memcpy(image, table_->bytes + bytes, size - 4);
    for (unsigned i = 0; i < count; ++i) {
        store_field(image + from + i * width, width, values[i]);
    }
    store_le(image + size - 4, lookup3({image, size - 4U}));
    return write(block + from, image + from, size - from);
}

Status RecorderBase::set_end(Address end) noexcept {
    const unsigned width = table_->sizeof_addr;
    // Also when the write fails: nobody knows then which of both ends is on the storage.
    end_ = end;
    return rewrite(0, 0, 16 + 4 * width, 12 + 2 * width, &end, 1, width);
}

// Says in the superblock that the file ends at `end`. What was written before is on the storage first, and this is on
// the storage before anything points to it.
Status RecorderBase::lengthen(Address end) noexcept {
    if (keep(RecorderRule::blocks_first)) {
        H5MOTE_TRY(barrier());
    }
    H5MOTE_TRY(set_end(end));
    return keep(RecorderRule::end_first) ? barrier() : Status::ok;
}

// Cuts the file, to whose end nothing points any more.
Status RecorderBase::shorten(Address end) noexcept {
    H5MOTE_TRY(set_end(end));
    if (keep(RecorderRule::shorten_last)) {
        H5MOTE_TRY(sync());
    }
    unsynced_ = true;
    H5MOTE_TRY(driver_->truncate(end));
    return sync();
}

// Makes the storage so large, with zeros behind the file's old end.
Status RecorderBase::extend(Address size) noexcept {
    std::uint64_t now = 0;
    H5MOTE_TRY(driver_->end_of_file(now));
    if (now > end_) {
        // A power cut left there what a growth had begun to write. Or a session ended between giving space back and
        // its next sync: the storage must know then that the file is shorter.
        if (keep(RecorderRule::cut_found)) {
            H5MOTE_TRY(barrier());
        }
        H5MOTE_TRY(driver_->truncate(end_));
    }
    unsynced_ = true;
    H5MOTE_TRY(driver_->truncate(size));
    return clears_ ? fill(end_, size - end_, std::byte{0}) : Status::ok;
}

}  // namespace h5mote
