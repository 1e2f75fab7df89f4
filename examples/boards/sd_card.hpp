// A SD card over SPI: blocks of 512 bytes.
#pragma once

#include "spi.hpp"

#include <h5mote/status.hpp>

#include <cstdint>

namespace board {

/// Cards of standard and of high capacity. The bus must be able to do Spi::kOpen.
class SdCard {
public:
    static constexpr std::size_t kBlock = 512;
    using Block = std::byte[kBlock];

    /// The bus is borrowed.
    constexpr explicit SdCard(Spi& spi) noexcept : spi_(spi) {}

    /// To be called once before everything else: brings the card into SPI mode. io_error: none answers, or one that
    /// cannot be used.
    h5mote::Status start() noexcept;
    /// Blocks of the card.
    std::uint32_t blocks() const noexcept { return blocks_; }

    /// io_error: the card reports an error or does not answer.
    h5mote::Status read(std::uint32_t block, Block& to) noexcept;
    /// Returns when the card has stored it. io_error: what the block holds is undefined.
    h5mote::Status write(std::uint32_t block, const Block& from) noexcept;

private:
    std::uint8_t receive() noexcept;
    bool receive_until(std::uint8_t value) noexcept;
    std::uint8_t command(std::uint8_t index, std::uint32_t argument) noexcept;
    std::uint8_t simple_command(std::uint8_t index, std::uint32_t argument) noexcept;
    h5mote::Status receive_data(h5mote::Bytes to) noexcept;
    h5mote::Status leave_idle(bool version_2) noexcept;
    h5mote::Status find_size() noexcept;
    std::uint32_t address(std::uint32_t block) const noexcept { return by_block_ ? block : block * 512; }

    Spi& spi_;
    std::uint32_t blocks_ = 0;
    bool by_block_ = false;  // addresses count blocks (high capacity), else bytes
};

}  // namespace board
