// H5Zszip - what the client data say of a chunk's samples, for encoder and decoder.
//
// Layout: length of the decoded bytes (4 bytes, little-endian), then one stream of bits, from the highest of each byte.
//
// The samples of a scanline, filled up to whole blocks, are coded block by block. With preprocessing (option NN) the
// first sample of a scanline, the reference, stands as it is, and each other one as its mapped difference from the one
// before it. A block begins with its coding option, of 3, 4 or 5 bits for samples of up to 8, 16 or 32:
//   0, then 0  a run of blocks whose samples are all 0: the number of blocks as a count of zero bits
//   0, then 1  second extension: two samples in one count of zero bits
//   all ones   the samples as they are
//   k + 1      of each sample all but the low k bits, as a count of zero bits; then of each sample the low k bits
// Pixels of 32 and 64 bits are coded as samples of 8: the first bytes of all of them, then the second bytes, ...
// CCSDS 121.0-B, sections 3 and 4.
#pragma once

#include <h5mote/filter.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote::szip {

constexpr std::size_t kPrefix = 4;
constexpr std::uint32_t kMostPixelsOfBlock = 32;
constexpr std::uint32_t kOptionLsb = 8;
constexpr std::uint32_t kOptionMsb = 16;
constexpr std::uint32_t kOptionPreprocess = 32;

/// The count of zero blocks that stands for the rest of a segment of 64 blocks; larger counts are stored one too large.
constexpr std::uint32_t kRestOfSegment = 5;
constexpr std::uint32_t kSegment = 64;

struct Shape {
    /// False when the client data make no sense, or `size` bytes are not whole pixels that are coded as planes.
    bool open(const FilterSpec& spec, std::size_t size) noexcept;

    /// Bits of a block's coding option.
    unsigned option_bits() const noexcept { return sample_bits > 16 ? 5 : sample_bits > 8 ? 4 : 3; }
    /// Blocks of a scanline.
    std::uint32_t blocks() const noexcept { return padded / block; }

    std::size_t step = 1;       ///< bytes from one pixel to the next
    std::uint32_t block = 0;    ///< pixels of a block
    std::uint32_t line = 0;     ///< pixels of a scanline
    std::uint32_t padded = 0;   ///< the same, filled up to whole blocks
    std::uint32_t largest = 0;  ///< largest value of a sample
    std::uint8_t sample_bits = 0;
    std::uint8_t sample_bytes = 1;
    bool preprocess = false;
    bool msb = false;  ///< samples of several bytes are big-endian
};

}  // namespace h5mote::szip
