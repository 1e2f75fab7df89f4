// H5checksum - the checksums of the format: Jenkins' lookup3 over metadata, Fletcher's over raw data.
#pragma once

#include <h5mote/span.hpp>

#include <cstdint>

namespace h5mote {

/// Jenkins' lookup3 (hashlittle) of all bytes, as every version 2 metadata structure carries it. Published by Bob
/// Jenkins, "lookup3.c", May 2006, public domain.
std::uint32_t lookup3(ConstBytes bytes, std::uint32_t initial = 0) noexcept;

/// lookup3() of bytes that come in pieces. Their total length is part of the seed and must be known in advance.
class Lookup3Stream {
public:
    explicit Lookup3Stream(std::uint32_t total_length, std::uint32_t initial = 0) noexcept;
    void update(ConstBytes piece) noexcept;
    /// The checksum; call once, after exactly total_length bytes.
    std::uint32_t finish() noexcept;

private:
    std::uint32_t a_, b_, c_;
    std::byte block_[12];
    std::uint8_t held_ = 0;
};

/// Fletcher's 32-bit checksum as the HDF5 library computes it: over big-endian 16-bit words, an odd last byte is the
/// high half of a word.
std::uint32_t fletcher32(ConstBytes bytes) noexcept;

}  // namespace h5mote
