// Bits of a byte string from the highest bit of the first byte on, as packing filters write them.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Reads bits that may be hostile. Running past the end sets a flag that stays, and yields zeros, so that a decoder
/// reads straight through and asks ok() where it would otherwise go on without input.
class BitReader {
public:
    /// Most bits of one call of bits().
    static constexpr unsigned kMost = 25;

    explicit BitReader(ConstBytes bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// The next `count` bits (0 to kMost) as a number.
    std::uint32_t bits(unsigned count) noexcept {
        if (left_ < count && !refill(count)) {
            return 0;
        }
        // Two shifts: one by the whole width is undefined.
        const Word result = word_ >> 1 >> (kWidth - 1 - count);
        word_ <<= count;
        left_ -= count;
        return static_cast<std::uint32_t>(result);
    }
    /// The next `count` bits (0 to 64) as a number.
    std::uint64_t wide(unsigned count) noexcept;
    /// Skips zero bits and the one bit behind them; the number of zeros.
    std::uint32_t zeros() noexcept;
    bool ok() const noexcept { return ok_; }

private:
    using Word = std::size_t;
    static constexpr unsigned kWidth = sizeof(Word) * 8;

    bool refill(unsigned count) noexcept;

    Word word_ = 0;      // the next bits, from the highest on; zeros behind them
    unsigned left_ = 0;  // how many
    bool ok_ = true;
    const std::byte* at_;
    const std::byte* end_;
};

}  // namespace h5mote
