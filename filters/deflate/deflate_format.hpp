// RFC 1951 - the numbers of the deflate format that encoder and decoder share.
//
// A stream is a row of blocks, each with a 3-bit head: last block?, then stored, fixed or dynamic Huffman codes. Bits
// fill bytes from the low end; Huffman codes go in most significant bit first. Symbols 0 to 255 are literal bytes, 256
// ends the block, 257 to 285 are match lengths, followed by a distance symbol 0 to 29; both with extra bits.
#pragma once

#include <h5mote/span.hpp>

#include <cstdint>
#include <cstring>

namespace h5mote::deflate {

constexpr unsigned kLiterals = 286;       ///< literal, end and length symbols that may appear
constexpr unsigned kDistances = 30;       ///< distance symbols that may appear
constexpr unsigned kFixedLiterals = 288;  ///< symbols of the fixed literal code
constexpr unsigned kFixedDistances = 32;  ///< symbols of the fixed distance code
constexpr unsigned kLengthCodes = 19;     ///< symbols of the code in which code lengths are written
constexpr unsigned kEnd = 256;
constexpr unsigned kMinMatch = 3;
constexpr unsigned kMaxMatch = 258;
constexpr unsigned kMaxBits = 15;
constexpr unsigned kMaxLengthCodeBits = 7;
constexpr std::size_t kMaxDistance = 32768;

enum BlockType : unsigned { kStored, kFixed, kDynamic };

/// Order in which the lengths of the code length code are written.
inline constexpr std::uint8_t kLengthCodeOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                11, 4,  12, 3, 13, 2, 14, 1, 15};

/// Lengths of the fixed literal code and, after them, of the fixed distance code, RFC 1951 section 3.2.6.
inline void fixed_lengths(std::uint8_t* lengths) noexcept {
    std::memset(lengths, 8, 144);
    std::memset(lengths + 144, 9, 112);
    std::memset(lengths + 256, 7, 24);
    std::memset(lengths + 280, 8, 8);
    std::memset(lengths + kFixedLiterals, 5, kFixedDistances);
}

/// Adler-32 of the bytes, RFC 1950 section 8.2.
std::uint32_t adler32(ConstBytes bytes) noexcept;

/// The stream without its zlib frame. `scratch`: kEncodeScratch bytes aligned to 8. False when it does not fit.
bool compress(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;
/// Decodes the blocks and the checksum after them. `scratch`: kDecodeScratch bytes aligned to 8. False when damaged.
bool expand(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept;

}  // namespace h5mote::deflate
