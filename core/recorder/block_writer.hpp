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
    BlockWriter(RecorderBase& recorder, Address at, Address size) noexcept
        : recorder_(recorder), at_(at), sum_(static_cast<std::uint32_t>(size) - 4) {}

    /// Writes an address or another number of at most 8 bytes. kUndefinedAddress is all ones.
    void field(unsigned width, Address value) noexcept;
    Status finish() noexcept;

private:
    void write() noexcept;

    RecorderBase& recorder_;
    Address at_;
    Lookup3Stream sum_;
    unsigned used_ = 0;
    Status status_ = Status::ok;
    std::byte bytes_[kRecorderPiece];
};

}  // namespace h5mote
