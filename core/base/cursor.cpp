#include "cursor.hpp"

#include <h5mote/config.hpp>

namespace h5mote {

std::uint64_t load_uint(const std::byte* from, unsigned width) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // The width of addresses and lengths in nearly all files.
        if (width == 8) {
            return load_le<std::uint64_t>(from);
        }
    }
    std::uint64_t value = 0;
    while (width > 0) {
        value = (value << 8) | static_cast<std::uint8_t>(from[--width]);
    }
    return value;
}

void store_uint(std::byte* to, unsigned width, std::uint64_t value) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (width == 8) {
            store_le(to, value);
            return;
        }
    }
    for (unsigned i = 0; i < width; ++i, value >>= 8) {
        to[i] = static_cast<std::byte>(value);
    }
}

void move_bytes_down(std::byte* to, const std::byte* from, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = from[i];
    }
}

unsigned uint_width(std::uint64_t value) noexcept { return floor_log2(value) / 8 + 1; }

unsigned floor_log2(std::uint64_t value) noexcept {
    return value == 0 ? 0 : 63U - static_cast<unsigned>(__builtin_clzll(value));
}

[[gnu::noinline]] void Reader::skip(std::size_t count) noexcept { (void)take(count); }

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

[[gnu::noinline]] std::uint64_t Reader::uint(unsigned width) noexcept {
    const std::byte* from = take(width);
    return from == nullptr ? 0 : load_uint(from, width);
}

[[gnu::noinline]] std::uint32_t Reader::u32() noexcept { return static_cast<std::uint32_t>(uint(4)); }

[[gnu::noinline]] std::uint16_t Reader::u16() noexcept { return static_cast<std::uint16_t>(uint(2)); }

[[gnu::noinline]] std::uint8_t Reader::u8() noexcept {
    const std::byte* from = take(1);
    return from == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(*from);
}

[[gnu::noinline]] void Writer::uint(unsigned width, std::uint64_t value) noexcept {
    if (std::byte* to = take(width)) {
        store_uint(to, width, value);
    }
}

[[gnu::noinline]] void Writer::small(unsigned width, std::uint32_t value) noexcept { uint(width, value); }

[[gnu::noinline]] void Writer::bytes(ConstBytes from) noexcept {
    std::byte* to = take(from.size());
    if (to != nullptr && !from.empty()) {
        std::memcpy(to, from.data(), from.size());
    }
}

[[gnu::noinline]] void Writer::fill(std::byte value, std::size_t count) noexcept {
    if (std::byte* to = take(count)) {
        std::memset(to, static_cast<int>(value), count);
    }
}

std::byte* Writer::take(std::size_t count) noexcept {
    if (count > size_ - at_) {
        ok_ = false;
        size_ = at_;  // refuse everything from now on, even what would fit
        return nullptr;
    }
    at_ += count;
    return to_ == nullptr ? nullptr : to_ + (at_ - count);
}

}  // namespace h5mote
