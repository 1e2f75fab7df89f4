#include "checksum.hpp"

#include <h5mote/lookup3.hpp>

#include <cstring>

namespace h5mote {

using State = detail::Lookup3State;

Lookup3Stream::Lookup3Stream(std::uint32_t total_length, std::uint32_t initial) noexcept {
    a_ = b_ = c_ = 0xdeadbeefU + total_length + initial;
}

void Lookup3Stream::update(ConstBytes piece) noexcept {
    State state{a_, b_, c_};
    const std::byte* at = piece.data();
    std::size_t left = piece.size();
    while (left > 0) {
        // A full block is mixed only when more follows: the last one goes through final().
        if (held_ == sizeof block_) {
            state.add(block_);
            state.mix();
            held_ = 0;
        }
        while (held_ == 0 && left > sizeof block_) {
            state.add(at);
            state.mix();
            at += sizeof block_;
            left -= sizeof block_;
        }
        const std::size_t room = sizeof block_ - held_;
        const std::size_t count = left < room ? left : room;
        std::memcpy(block_ + held_, at, count);
        held_ = static_cast<std::uint8_t>(held_ + count);
        at += count;
        left -= count;
    }
    a_ = state.a;
    b_ = state.b;
    c_ = state.c;
}

std::uint32_t Lookup3Stream::finish() noexcept {
    if (held_ == 0) {
        return c_;
    }
    std::memset(block_ + held_, 0, sizeof block_ - held_);
    State state{a_, b_, c_};
    state.add(block_);
    state.final();
    return state.c;
}

std::uint32_t lookup3(ConstBytes bytes, std::uint32_t initial) noexcept {
    Lookup3Stream stream(static_cast<std::uint32_t>(bytes.size()), initial);
    stream.update(bytes);
    return stream.finish();
}

std::uint32_t fletcher32(ConstBytes bytes) noexcept {
    std::uint32_t sum1 = 0;
    std::uint32_t sum2 = 0;
    const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
    const std::byte* at = bytes.data();
    std::size_t words = bytes.size() / 2;
    while (words > 0) {
        // 360 words are the most that cannot overflow 32 bits between two folds.
        std::size_t run = words < 360 ? words : 360;
        words -= run;
        for (; run > 0; --run, at += 2) {
            sum1 += (static_cast<std::uint32_t>(at[0]) << 8) | static_cast<std::uint32_t>(at[1]);
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    if (bytes.size() % 2 != 0) {
        sum1 += static_cast<std::uint32_t>(*at) << 8;
        sum2 += sum1;
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    return (fold(sum2) << 16) | fold(sum1);
}

}  // namespace h5mote
