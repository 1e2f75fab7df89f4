// The flash of a nRF51 that the program does not need, through the non-volatile memory controller (NVMC).
#pragma once

#include <h5mote/vfd/flash_device.hpp>

namespace board {

/// `blocks` pages of 1 KiB from address `begin` on, programmed by words. The processor stands still meanwhile.
class Nrf51Flash final : public h5mote::FlashDevice {
public:
    constexpr Nrf51Flash(std::uint32_t begin, std::uint32_t blocks) noexcept : begin_(begin), blocks_(blocks) {}

    h5mote::FlashGeometry geometry() const noexcept override { return {blocks_, kBlock, kBlock, 4, 0xff}; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override;
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override;
    h5mote::Status erase(std::uint32_t block) noexcept override;

private:
    static constexpr std::uint32_t kBlock = 1024;

    std::uint32_t begin_;
    std::uint32_t blocks_;
};

}  // namespace board
