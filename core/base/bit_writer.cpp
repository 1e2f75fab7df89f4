#include "bit_writer.hpp"

namespace h5mote {

// Writes the whole bytes of word_.
void BitWriter::drain() noexcept {
    while (used_ >= 8) {
        used_ -= 8;
        if (at_ == end_) {
            ok_ = false;
        } else {
            *at_++ = static_cast<std::byte>(word_ >> used_);
        }
    }
}

void BitWriter::wide(std::uint64_t value, unsigned count) noexcept {
    while (count > 16) {
        count -= 16;
        bits(static_cast<std::uint32_t>(value >> count) & 0xffffU, 16);
    }
    bits(static_cast<std::uint32_t>(value) & ((1U << count) - 1), count);
}

void BitWriter::zeros(std::uint32_t count) noexcept {
    for (; count >= kMost && ok_; count -= kMost) {
        bits(0, kMost);
    }
    bits(1, count % kMost + 1);
}

std::size_t BitWriter::finish() noexcept {
    bits(0, (8 - used_ % 8) % 8);
    drain();
    return static_cast<std::size_t>(at_ - begin_);
}

}  // namespace h5mote
