#include "metadata_writer.hpp"

#include <cstring>

namespace h5mote {

Status MetadataWriter::put(ConstBytes bytes) noexcept {
    written_ += bytes.size();
    while (file_ != nullptr && !bytes.empty()) {
        const std::size_t room = sizeof piece_ - held_;
        const std::size_t now = bytes.size() < room ? bytes.size() : room;
        std::memcpy(piece_ + held_, bytes.data(), now);
        held_ += now;
        bytes = bytes.subspan(now);
        if (held_ == sizeof piece_) {
            H5MOTE_TRY(flush(true));
        }
    }
    return Status::ok;
}

Status MetadataWriter::put_zeros(Address count) noexcept {
    static constexpr std::byte kZeros[64] = {};
    while (count != 0) {
        const Address now = count < sizeof kZeros ? count : Address{sizeof kZeros};
        H5MOTE_TRY(put({kZeros, static_cast<std::size_t>(now)}));
        count -= now;
    }
    return Status::ok;
}

Status MetadataWriter::end(bool checksummed) noexcept {
    H5MOTE_TRY(flush(true));
    if (!checksummed) {
        return Status::ok;
    }
    store_le<std::uint32_t>(piece_, sum_.finish());
    held_ = kChecksumSize;
    return flush(false);
}

Status MetadataWriter::flush(bool sum) noexcept {
    const ConstBytes bytes{piece_, held_};
    if (sum) {
        sum_.update(bytes);
    }
    held_ = 0;
    if (bytes.empty()) {
        return Status::ok;
    }
    file_->unsynced = true;
    H5MOTE_TRY(told(file_->context, file_->driver, H5MOTE_HERE, file_->driver.write(usage_, at_, bytes), at_));
    at_ += static_cast<Address>(bytes.size());
    return Status::ok;
}

}  // namespace h5mote
