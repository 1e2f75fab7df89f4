#include "cursor.hpp"

namespace h5mote {

std::uint64_t load_uint(const std::byte* from, unsigned width) noexcept {
    std::uint64_t value = 0;
    while (width > 0) {
        value = (value << 8) | static_cast<std::uint8_t>(from[--width]);
    }
    return value;
}

void store_uint(std::byte* to, std::uint64_t value, unsigned width) noexcept {
    for (unsigned i = 0; i < width; ++i, value >>= 8) {
        to[i] = static_cast<std::byte>(value);
    }
}

unsigned uint_width(std::uint64_t value) noexcept { return floor_log2(value) / 8 + 1; }

unsigned floor_log2(std::uint64_t value) noexcept {
    return value == 0 ? 0 : 63U - static_cast<unsigned>(__builtin_clzll(value));
}

const std::byte* Reader::take(std::size_t count) noexcept {
    if (count > remaining()) {
        ok_ = false;
        at_ = end_;
        return nullptr;
    }
    const std::byte* from = at_;
    at_ += count;
    return from;
}

std::byte* Writer::take(std::size_t count) noexcept {
    if (count > size_ - at_) {
        ok_ = false;
        size_ = at_;  // nothing more, however small
        return nullptr;
    }
    at_ += count;
    return to_ == nullptr ? nullptr : to_ + (at_ - count);
}

}  // namespace h5mote
