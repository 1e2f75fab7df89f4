#include "bit_reader.hpp"

namespace h5mote {

// Fills word_ with bytes of the input; returns whether it holds at least `count` bits now.
bool BitReader::refill(unsigned count) noexcept {
    while (left_ <= kWidth - 8 && at_ != end_) {
        word_ |= static_cast<Word>(*at_++) << (kWidth - 8 - left_);
        left_ += 8;
    }
    if (left_ < count) {
        word_ = 0;
        left_ = 0;
        ok_ = false;
    }
    return ok_;
}

std::uint64_t BitReader::wide(unsigned count) noexcept {
    std::uint64_t result = 0;
    for (; count > 16; count -= 16) {
        result = result << 16 | bits(16);
    }
    return result << count | bits(count);
}

std::uint32_t BitReader::zeros() noexcept {
    std::uint32_t count = 0;
    while (word_ == 0) {
        count += left_;
        left_ = 0;
        if (!refill(1)) {
            return 0;
        }
    }
    static_assert(sizeof(Word) <= sizeof(unsigned long long), "counted in that type");
    const auto ahead = static_cast<unsigned>(__builtin_clzll(word_)) - (64 - kWidth);
    word_ = word_ << ahead << 1;
    left_ -= ahead + 1;
    return count + ahead;
}

}  // namespace h5mote
