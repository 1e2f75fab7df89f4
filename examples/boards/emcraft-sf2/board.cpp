// Emcraft's SmartFusion2 module: Cortex-M3, and a S25FL128 (16 MiB) at the first SPI controller.
#include "mss_spi.hpp"

#include "../board.hpp"
#include "../power_off.hpp"
#include "../registers.hpp"
#include "../spi_nor.hpp"

namespace board {
namespace {

constexpr SpiNorChip kChip = {{256, 65536, 256, 1, 0xff}, {0x01, 0x20, 0x18}, 0xd8, false, false};

}  // namespace

h5mote::Status start_flash(h5mote::FlashDevice*& flash) noexcept {
    static MssSpi spi(0x40001000);
    static SpiNor chip(spi, kChip);
    constexpr std::uintptr_t kResets = 0x40038048;
    clear_bits(kResets, 1U << 9);  // lets the controller out of reset
    spi.start();
    flash = &chip;
    return chip.start();
}

}  // namespace board
