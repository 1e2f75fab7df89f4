#include "ssi.hpp"

#include "../registers.hpp"

namespace board {
namespace {

// Which parts of the chip get a clock.
constexpr std::uintptr_t kClockPeripherals = 0x400fe104;
constexpr std::uintptr_t kClockPorts = 0x400fe108;
constexpr std::uint32_t kSsi0 = 1U << 4;
constexpr std::uint32_t kPortA = 1U << 0;
constexpr std::uint32_t kPortD = 1U << 3;

// GPIO. The address of an access to the data register tells which pins it reads or writes.
constexpr std::uintptr_t kA = 0x40004000;
constexpr std::uintptr_t kD = 0x40007000;
constexpr std::uintptr_t kDirection = 0x400;
constexpr std::uintptr_t kAlternate = 0x420;
constexpr std::uintptr_t kDigital = 0x51c;
constexpr std::uint32_t kBusPins = 0x34;    // A2 clock, A4 receive, A5 transmit
constexpr std::uint32_t kSelectPin = 0x01;  // D0

// The interface.
constexpr std::uintptr_t kControl0 = 0x40008000;
constexpr std::uintptr_t kControl1 = 0x40008004;
constexpr std::uintptr_t kData = 0x40008008;
constexpr std::uintptr_t kStatus = 0x4000800c;
constexpr std::uintptr_t kPrescale = 0x40008010;
constexpr std::uint32_t kReceived = 1U << 2;

void drive_select(bool high) noexcept { store(kD + (kSelectPin << 2), high ? kSelectPin : 0); }

std::byte exchange(std::byte out) noexcept {
    store(kData, std::to_integer<std::uint32_t>(out));
    while ((load(kStatus) & kReceived) == 0) {
    }
    return static_cast<std::byte>(load(kData));
}

}  // namespace

void Ssi::start() noexcept {
    set_bits(kClockPeripherals, kSsi0);
    set_bits(kClockPorts, kPortA | kPortD);
    (void)load(kClockPorts);  // a part can be used only some clocks after it got its own clock
    set_bits(kD + kDirection, kSelectPin);
    set_bits(kD + kDigital, kSelectPin);
    drive_select(true);
    set_bits(kA + kAlternate, kBusPins);
    set_bits(kA + kDigital, kBusPins);
    store(kControl1, 0);
    store(kPrescale, 32);   // 12.5 MHz / 32 = 390 kHz: slow enough to start a card, which may stay at it
    store(kControl0, 0x7);  // 8 bits, mode 0
    store(kControl1, 1U << 1);
    while ((load(kStatus) & kReceived) != 0) {
        (void)load(kData);
    }
}

void Ssi::select(std::size_t) noexcept { drive_select(false); }

void Ssi::deselect() noexcept {
    drive_select(true);
    (void)exchange(std::byte{0xff});  // a card lets go of the line at the next clocks only
}

void Ssi::send(h5mote::ConstBytes from) noexcept {
    for (const std::byte byte : from) {
        (void)exchange(byte);
    }
}

void Ssi::receive(h5mote::Bytes to) noexcept {
    for (std::byte& byte : to) {
        byte = exchange(std::byte{0xff});
    }
}

}  // namespace board
