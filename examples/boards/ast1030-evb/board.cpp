// Aspeed's AST1030 evaluation board: Cortex-M4, and a SST25VF032B (4 MiB) at the firmware memory controller.
#include "aspeed_spi.hpp"

#include "../board.hpp"
#include "../power_off.hpp"
#include "../spi_nor.hpp"

namespace board {
namespace {

// The chip knows no pages; 256 bytes keep a program short.
constexpr SpiNorChip kChip = {{1024, 4096, 256, 2, 0xff}, {0xbf, 0x25, 0x4a}, 0x20, true, true};

}  // namespace

h5mote::Status start_flash(h5mote::FlashDevice*& flash) noexcept {
    static AspeedSpi spi(0x7e620000, 0x80000000);
    static SpiNor chip(spi, kChip);
    spi.start();
    flash = &chip;
    return chip.start();
}

}  // namespace board
