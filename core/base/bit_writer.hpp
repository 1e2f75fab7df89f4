// Writes numbers of any width to a byte string, from the highest bit of the first byte on, as the filters nbit,
// scaleoffset and szip pack them. BitReader reads them back.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Running past the end writes nothing more and clears ok() for good, so that an encoder writes straight through and
/// asks ok() once, or where it wants to give up early.
class BitWriter {
public:
    /// The most bits that one call of bits() can write.
    static constexpr unsigned kMost = 25;

    explicit BitWriter(Bytes bytes) noexcept
        : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Writes the `count` bits (0 to kMost) of `value`, which has no others.
    void bits(std::uint32_t value, unsigned count) noexcept {
        if (used_ + count > kWidth) {
            drain();
        }
        word_ = word_ << count | value;
        used_ += count;
    }
    /// Writes the low `count` bits (0 to 64) of `value`.
    void wide(std::uint64_t value, unsigned count) noexcept;
    /// Writes `count` zero bits and a 1 bit.
    void zeros(std::uint32_t count) noexcept;
    /// Fills the last byte up with zero bits and returns the number of bytes that were written.
    std::size_t finish() noexcept;
    bool ok() const noexcept { return ok_; }
    /// Whether what is written ends with a whole byte.
    bool at_byte() const noexcept { return used_ % 8 == 0; }

private:
    using Word = std::size_t;
    static constexpr unsigned kWidth = sizeof(Word) * 8;

    void drain() noexcept;

    Word word_ = 0;      // the low used_ bits are to be written, the highest of them first
    unsigned used_ = 0;  // at most 7 after drain()
    bool ok_ = true;
    std::byte* begin_;
    std::byte* at_;
    std::byte* end_;
};

}  // namespace h5mote
