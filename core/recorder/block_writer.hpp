// H5F - a block of metadata that is written piece by piece, with its checksum at the end.
#pragma once

#include "checksum.hpp"
#include "cursor.hpp"

#include <h5mote/recorder.hpp>

namespace h5mote {

/// Bytes of metadata that are in memory at a time while a block is written, compared or verified.
inline constexpr std::size_t kRecorderPiece = 32;

/// Writes a block of a chunk index. The first error is kept and returned by finish().
class RecorderBase::BlockWriter {
public:
    /// `size` counts the checksum.
    BlockWriter(Driver& driver, Address at, Address size) noexcept
        : driver_(driver), at_(at), sum_(static_cast<std::uint32_t>(size) - 4) {}

    void uint(unsigned width, std::uint64_t value) noexcept {
        if (used_ + width > sizeof bytes_) {
            write();
        }
        store_uint(bytes_ + used_, width, value);
        used_ += width;
    }
    /// An address of the file; kUndefinedAddress is written as all ones.
    void address(unsigned width, Address value) noexcept {
        uint(width, value == kUndefinedAddress ? ~std::uint64_t{0} : value);
    }
    Status finish() noexcept;

private:
    void write() noexcept;

    Driver& driver_;
    Address at_;
    Lookup3Stream sum_;
    unsigned used_ = 0;
    Status status_ = Status::ok;
    std::byte bytes_[kRecorderPiece];
};

}  // namespace h5mote
