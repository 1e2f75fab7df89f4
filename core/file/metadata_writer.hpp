// H5AC - a metadata block that is written past the cache, from its start to its end, because it may be larger than
// that.
#pragma once

#include "checksum.hpp"
#include "file_state.hpp"

namespace h5mote {

/// Writes a new block, to which nothing leads yet, in pieces, and computes its checksum on the way. The cache must have
/// no block at that address.
class MetadataWriter {
public:
    /// Writes nothing and counts what it is given.
    MetadataWriter() noexcept : MetadataWriter(nullptr, Usage::object_header, kUndefinedAddress, 0) {}
    /// `size`: bytes of the block without its checksum, if it ends with one.
    MetadataWriter(FileState& file, Usage usage, Address address, Address size) noexcept
        : MetadataWriter(&file, usage, address, size) {}

    std::size_t written() const noexcept { return written_; }
    /// io_error, no_space.
    Status put(ConstBytes bytes) noexcept;
    Status put_zeros(Address count) noexcept;
    /// Writes what is left and, if the block ends with a checksum, that.
    Status end(bool checksummed) noexcept;
    /// The checksum of all bytes, after end(false), of a block that has it elsewhere.
    std::uint32_t checksum() noexcept { return sum_.finish(); }

private:
    MetadataWriter(FileState* file, Usage usage, Address address, Address size) noexcept
        : file_(file), usage_(usage), at_(address), sum_(static_cast<std::uint32_t>(size)) {}
    Status flush(bool sum) noexcept;

    FileState* file_;
    Usage usage_;
    Address at_;
    Lookup3Stream sum_;
    std::size_t written_ = 0;
    std::size_t held_ = 0;
    std::byte piece_[240];
};

}  // namespace h5mote
