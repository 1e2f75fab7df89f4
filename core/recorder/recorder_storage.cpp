// What a recorder reads from the storage and writes to it: blocks with checksums.
#include "block_writer.hpp"
#include "checked.hpp"

namespace h5mote {

void RecorderBase::BlockWriter::write() noexcept {
    sum_.update({bytes_, used_});
    if (status_ == Status::ok) {
        status_ = driver_.write(Usage::btree, at_, {bytes_, used_});
    }
    at_ += used_;
    used_ = 0;
}

Status RecorderBase::BlockWriter::finish() noexcept {
    write();
    store_le(bytes_, sum_.finish());
    return status_ == Status::ok ? driver_.write(Usage::btree, at_, {bytes_, 4}) : status_;
}

// Makes sure that what was written is on the storage before what is written from now on.
Status RecorderBase::barrier() noexcept { return ordered_ ? Status::ok : sync(); }

Status RecorderBase::sync() noexcept {
    if (failed_) {
        return Status::io_error;
    }
    if (unsynced_) {
        const Status status = driver_->sync();
        // A storage that failed to sync may have dropped what it had to write.
        failed_ = status != Status::ok;
        unsynced_ = failed_;
        return status;
    }
    return Status::ok;
}

// Reads an address, or a size of 8 bytes; all ones are kUndefinedAddress.
Status RecorderBase::read_field(Address from, unsigned width, Address& value) noexcept {
    std::byte bytes[8];
    H5MOTE_TRY(driver_->read(Usage::btree, from, {bytes, width}));
    const std::uint64_t number = load_uint(bytes, width);
    value = number == ~std::uint64_t{0} >> (64 - 8 * width) ? kUndefinedAddress : narrow(number);
    return Status::ok;
}

Status RecorderBase::read_address(Address from, Address& address) noexcept {
    return read_field(from, table_->sizeof_addr, address);
}

// Checks the checksum of a block that the file is known to have.
Status RecorderBase::verify(Usage usage, Address address, Address size) noexcept {
    Lookup3Stream sum(static_cast<std::uint32_t>(size) - 4);
    std::byte bytes[kRecorderPiece];
    for (Address left = size - 4; left > 0;) {
        const std::size_t count = left < sizeof bytes ? static_cast<std::size_t>(left) : sizeof bytes;
        H5MOTE_TRY(driver_->read(usage, address, {bytes, count}));
        sum.update({bytes, count});
        address += static_cast<Address>(count);
        left -= static_cast<Address>(count);
    }
    H5MOTE_TRY(driver_->read(usage, address, {bytes, 4}));
    return load_le<std::uint32_t>(bytes) == sum.finish() ? Status::ok : Status::corrupt_file;
}

// Writes the end of a block anew, from offset `from` on. It has the bytes in ROM, but for `values`, each of `width`
// bytes, from `from` on, and the checksum. What is written lies in one sector.
Status RecorderBase::rewrite(Usage usage, Address block, std::uint32_t bytes, unsigned size, unsigned from,
                             const Address* values, unsigned count, unsigned width) noexcept {
    std::byte image[blueprint::ArrayParameters::header_size(8)];
    std::memcpy(image, table_->bytes + bytes, size - 4);
    for (unsigned i = 0; i < count; ++i) {
        store_uint(image + from + i * width, width, values[i]);
    }
    store_le(image + size - 4, lookup3({image, size - 4U}));
    unsynced_ = true;
    return driver_->write(usage, block + from, {image + from, size - from});
}

Status RecorderBase::set_end(Address end) noexcept {
    const unsigned width = table_->sizeof_addr;
    H5MOTE_TRY(rewrite(Usage::superblock, 0, 0, 16 + 4 * width, 12 + 2 * width, &end, 1, width));
    end_ = end;
    return Status::ok;
}

// Makes the storage so large, with zeros behind the file's old end.
Status RecorderBase::extend(Address size) noexcept {
    std::uint64_t now = 0;
    H5MOTE_TRY(driver_->end_of_file(now));
    if (now > end_) {
        // A power cut left there what a growth had begun to write.
        H5MOTE_TRY(driver_->truncate(end_));
    }
    return driver_->truncate(size);
}

// Fills chunks with zeros, the value of rows that nobody wrote, where the storage does not do so by itself.
Status RecorderBase::clear_chunks(Address from, Address to) noexcept {
    if (driver_->capabilities().extends_with_zeros) {
        return Status::ok;
    }
    const std::byte zeros[kRecorderPiece]{};
    while (from < to) {
        const std::size_t count = to - from < sizeof zeros ? static_cast<std::size_t>(to - from) : sizeof zeros;
        H5MOTE_TRY(driver_->write(Usage::raw_data, from, {zeros, count}));
        from += static_cast<Address>(count);
    }
    return Status::ok;
}

}  // namespace h5mote
