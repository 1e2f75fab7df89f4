// H5checksum - the mixing of Jenkins' lookup3, for checksums that are made while the program runs or is compiled.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote::detail {

/// The three words that lookup3 mixes. Published by Bob Jenkins, "lookup3.c", May 2006, public domain.
struct Lookup3State {
    std::uint32_t a, b, c;

    /// Adds a block of 12 bytes.
    constexpr void add(const std::byte* block) noexcept {
        a += word(block);
        b += word(block + 4);
        c += word(block + 8);
    }
    // mix() of lookup3.c. Each step subtracts z from x, mixes in z rotated, and adds y to z. All steps can be reversed,
    // so that none of the 96 bits of the state is lost.
    constexpr void mix() noexcept {
        mix_step(a, b, c, 4);
        mix_step(b, c, a, 6);
        mix_step(c, a, b, 8);
        mix_step(a, b, c, 16);
        mix_step(b, c, a, 19);
        mix_step(c, a, b, 4);
    }
    /// The state before mix().
    constexpr void unmix() noexcept {
        unmix_step(c, a, b, 4);
        unmix_step(b, c, a, 19);
        unmix_step(a, b, c, 16);
        unmix_step(c, a, b, 8);
        unmix_step(b, c, a, 6);
        unmix_step(a, b, c, 4);
    }
    constexpr void final() noexcept {
        final_step(c, b, 14);
        final_step(a, c, 11);
        final_step(b, a, 25);
        final_step(c, b, 16);
        final_step(a, c, 4);
        final_step(b, a, 14);
        final_step(c, b, 24);
    }

private:
    static constexpr std::uint32_t word(const std::byte* from) noexcept {
        return static_cast<std::uint32_t>(from[0]) | static_cast<std::uint32_t>(from[1]) << 8 |
               static_cast<std::uint32_t>(from[2]) << 16 | static_cast<std::uint32_t>(from[3]) << 24;
    }
    static constexpr std::uint32_t rotate(std::uint32_t x, unsigned k) noexcept { return (x << k) | (x >> (32 - k)); }
    static constexpr void mix_step(std::uint32_t& x, std::uint32_t y, std::uint32_t& z, unsigned k) noexcept {
        x -= z;
        x ^= rotate(z, k);
        z += y;
    }
    static constexpr void unmix_step(std::uint32_t& x, std::uint32_t y, std::uint32_t& z, unsigned k) noexcept {
        z -= y;
        x ^= rotate(z, k);
        x += z;
    }
    static constexpr void final_step(std::uint32_t& x, std::uint32_t y, unsigned k) noexcept {
        x ^= y;
        x -= rotate(y, k);
    }
};

/// The checksum of `count` bytes, also while compiling.
constexpr std::uint32_t lookup3_constant(const std::byte* bytes, std::size_t count,
                                         std::uint32_t initial = 0) noexcept {
    const std::uint32_t start = 0xdeadbeefU + static_cast<std::uint32_t>(count) + initial;
    Lookup3State state{start, start, start};
    if (count == 0) {
        return state.c;
    }
    // The last block, of 1 to 12 bytes, goes through final().
    for (; count > 12; count -= 12, bytes += 12) {
        state.add(bytes);
        state.mix();
    }
    std::byte last[12]{};
    for (std::size_t i = 0; i < count; ++i) {
        last[i] = bytes[i];
    }
    state.add(last);
    state.final();
    return state.c;
}

}  // namespace h5mote::detail
