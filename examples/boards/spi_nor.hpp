// Serial NOR flash with the usual commands: 24-bit addresses, status register, write-enable latch.
#pragma once

#include "spi.hpp"

#include <h5mote/vfd/flash_device.hpp>

namespace board {

/// A part, as its data sheet has it.
struct SpiNorChip {
    h5mote::FlashGeometry geometry;
    std::uint8_t id[3];          ///< manufacturer and device (command 9Fh)
    std::uint8_t erase_command;  ///< erases geometry.block_size bytes
    bool word_programming;       ///< two bytes a program with an address that counts up (ADh, the SST25 family); else
                                 ///< up to a page (02h)
    bool protected_after_reset;  ///< the block protection bits of the status register must be cleared first
};

/// A chip of at most 16 MiB. Geometry's program_unit is 2 with word_programming.
class SpiNor final : public h5mote::FlashDevice {
public:
    /// Bus and description are borrowed.
    SpiNor(Spi& spi, const SpiNorChip& chip) noexcept : spi_(spi), chip_(chip) {}

    /// To be called once before everything else. io_error: no chip answers, or another one.
    h5mote::Status start() noexcept;

    h5mote::FlashGeometry geometry() const noexcept override { return chip_.geometry; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override;
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override;
    h5mote::Status erase(std::uint32_t block) noexcept override;

private:
    void command(std::uint8_t code) noexcept;
    void command(std::uint8_t code, std::uint32_t address, h5mote::ConstBytes from) noexcept;
    h5mote::Status wait() noexcept;
    h5mote::Status program_words(std::uint32_t address, h5mote::ConstBytes from) noexcept;

    Spi& spi_;
    const SpiNorChip& chip_;
};

}  // namespace board
