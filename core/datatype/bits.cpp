#include "bits.hpp"

namespace h5mote {
namespace {

constexpr unsigned kWord = 32;  // bits that the longer operations move at once

unsigned word_of(unsigned count) { return count < kWord ? count : kWord; }

}  // namespace

std::uint64_t get_bits(const std::byte* from, unsigned at, unsigned count) noexcept {
    std::uint64_t value = 0;
    for (unsigned done = 0; done < count;) {
        const unsigned first = (at + done) % 8;
        const unsigned now = 8 - first < count - done ? 8 - first : count - done;
        const unsigned part = static_cast<unsigned>(from[(at + done) / 8]) >> first & ((1U << now) - 1);
        value |= std::uint64_t{part} << done;
        done += now;
    }
    return value;
}

void put_bits(std::byte* to, unsigned at, unsigned count, std::uint64_t value) noexcept {
    for (unsigned done = 0; done < count;) {
        const unsigned first = (at + done) % 8;
        const unsigned now = 8 - first < count - done ? 8 - first : count - done;
        const unsigned mask = ((1U << now) - 1) << first;
        std::byte& byte = to[(at + done) / 8];
        byte = static_cast<std::byte>((static_cast<unsigned>(byte) & ~mask) |
                                      (static_cast<unsigned>(value >> done) << first & mask));
        done += now;
    }
}

void copy_bits(std::byte* to, unsigned to_at, const std::byte* from, unsigned from_at, unsigned count) noexcept {
    for (unsigned now; count > 0; count -= now, to_at += now, from_at += now) {
        now = word_of(count);
        put_bits(to, to_at, now, get_bits(from, from_at, now));
    }
}

void fill_bits(std::byte* to, unsigned at, unsigned count, bool one) noexcept {
    for (unsigned now; count > 0; count -= now, at += now) {
        now = word_of(count);
        put_bits(to, at, now, one ? 0xffffffffU : 0);
    }
}

int top_bit(const std::byte* from, unsigned at, unsigned count, bool one) noexcept {
    while (count > 0) {
        const unsigned now = word_of(count);
        count -= now;
        const auto word = static_cast<std::uint32_t>(get_bits(from, at + count, now));
        const std::uint32_t found = one ? word : ~word & (0xffffffffU >> (kWord - now));
        if (found != 0) {
            return static_cast<int>(count + 31U - static_cast<unsigned>(__builtin_clz(found)));
        }
    }
    return -1;
}

bool increment_bits(std::byte* to, unsigned at, unsigned count) noexcept {
    for (unsigned now; count > 0; count -= now, at += now) {
        now = word_of(count);
        const std::uint64_t sum = get_bits(to, at, now) + 1;
        put_bits(to, at, now, sum);
        if ((sum >> now) == 0) {
            return false;
        }
    }
    return true;
}

void negate_bits(std::byte* to, unsigned at, unsigned count) noexcept {
    for (unsigned left = count, i = at; left > 0; --left, ++i) {
        to[i / 8] ^= static_cast<std::byte>(1U << i % 8);
    }
    (void)increment_bits(to, at, count);
}

}  // namespace h5mote
