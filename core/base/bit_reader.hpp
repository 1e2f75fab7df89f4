// Reads numbers of any width from a byte string, from the highest bit of the first byte on, as the filters nbit,
// scaleoffset and szip pack them.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// The input may be hostile. Reading past its end yields zeros and clears ok() for good, so that a decoder reads
/// straight through and asks ok() only where it might otherwise go on for ever.
class BitReader {
public:
    /// The most bits that one call of bits() can return: a 32-bit word is refilled by whole bytes, to 25 bits or more.
    static constexpr unsigned kMost = 25;

    explicit BitReader(ConstBytes bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// The next `count` bits (0 to kMost) as a number.
    std::uint32_t bits(unsigned count) noexcept {
        if (left_ < count && !refill(count)) {
            return 0;
        }
        // `count` may be 0, and a single shift by the whole width of the word is undefined: hence two shifts.
        const Word result = word_ >> 1 >> (kWidth - 1 - count);
        word_ <<= count;
        left_ -= count;
        return static_cast<std::uint32_t>(result);
    }
    /// The next `count` bits (0 to 64) as a number.
    std::uint64_t wide(unsigned count) noexcept;
    /// Skips a run of zero bits and the 1 bit that ends it; returns the number of zeros. 0 if the input ends before.
    std::uint32_t zeros() noexcept;
    bool ok() const noexcept { return ok_; }

private:
    using Word = std::size_t;
    static constexpr unsigned kWidth = sizeof(Word) * 8;

    bool refill(unsigned count) noexcept;

    Word word_ = 0;      // the next bits of the input, from the highest bit on; the rest is zero
    unsigned left_ = 0;  // number of bits of the input in word_
    bool ok_ = true;
    const std::byte* at_;
    const std::byte* end_;
};

}  // namespace h5mote
