#include "mss_spi.hpp"

#include "../registers.hpp"

namespace board {
namespace {

// Registers.
constexpr std::uintptr_t kControl = 0x00;
constexpr std::uintptr_t kFrameSize = 0x04;
constexpr std::uintptr_t kStatus = 0x08;
constexpr std::uintptr_t kReceive = 0x10;
constexpr std::uintptr_t kTransmit = 0x14;
constexpr std::uintptr_t kClock = 0x18;
constexpr std::uintptr_t kSelect = 0x1c;

// Control.
constexpr std::uint32_t kEnable = 1U << 0;
constexpr std::uint32_t kMaster = 1U << 1;
constexpr unsigned kFrameCount = 8;
constexpr std::uint32_t kMode = 3U << 24;          // clock idles high, data taken at the rising edge
constexpr std::uint32_t kStaySelected = 1U << 26;  // between the frames of one count
constexpr std::uint32_t kReset = 1U << 31;
// Status.
constexpr std::uint32_t kNothingReceived = 1U << 6;

}  // namespace

void MssSpi::start() noexcept {
    store(base_ + kControl, kReset);
    store(base_ + kControl, kMaster | kMode | kStaySelected);
    store(base_ + kFrameSize, 8);
    store(base_ + kClock, 7);
    store(base_ + kSelect, 1);
}

void MssSpi::select(std::size_t bytes) noexcept {
    // The count can only be set while the controller is off.
    const std::uint32_t control = kMaster | kMode | kStaySelected | static_cast<std::uint32_t>(bytes) << kFrameCount;
    store(base_ + kControl, control);
    store(base_ + kControl, control | kEnable);
}

std::byte MssSpi::exchange(std::byte out) noexcept {
    store(base_ + kTransmit, std::to_integer<std::uint32_t>(out));
    while ((load(base_ + kStatus) & kNothingReceived) != 0) {
    }
    return static_cast<std::byte>(load(base_ + kReceive));
}

void MssSpi::send(h5mote::ConstBytes from) noexcept {
    for (const std::byte byte : from) {
        (void)exchange(byte);
    }
}

void MssSpi::receive(h5mote::Bytes to) noexcept {
    for (std::byte& byte : to) {
        byte = exchange(std::byte{0xff});
    }
}

}  // namespace board
