#include "aspeed_spi.hpp"

#include "../registers.hpp"

namespace board {
namespace {

// Registers.
constexpr std::uintptr_t kConfiguration = 0x00;
constexpr std::uintptr_t kControl = 0x10;  // of select line 0

constexpr std::uint32_t kWritable = 1U << 16;  // the chip at select line 0
constexpr std::uint32_t kUserMode = 3;
constexpr std::uint32_t kInactive = 1U << 2;  // the select line, in user mode

}  // namespace

void AspeedSpi::start() noexcept {
    set_bits(base_ + kConfiguration, kWritable);
    deselect();
}

void AspeedSpi::select(std::size_t) noexcept { store(base_ + kControl, kUserMode); }

void AspeedSpi::deselect() noexcept { store(base_ + kControl, kUserMode | kInactive); }

void AspeedSpi::send(h5mote::ConstBytes from) noexcept {
    for (const std::byte byte : from) {
        *reinterpret_cast<volatile std::byte*>(window_) = byte;
    }
}

void AspeedSpi::receive(h5mote::Bytes to) noexcept {
    // Each access reads four bytes, the first of which is the word's lowest; `to` need not be aligned.
    std::size_t at = 0;
    for (; to.size() - at >= 4; at += 4) {
        std::uint32_t word = load(window_);
        for (std::size_t i = 0; i < 4; ++i, word >>= 8) {
            to[at + i] = static_cast<std::byte>(word);
        }
    }
    for (; at < to.size(); ++at) {
        to[at] = *reinterpret_cast<volatile std::byte*>(window_);
    }
}

}  // namespace board
