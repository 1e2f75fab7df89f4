// BBC micro:bit: nRF51822, Cortex-M0, 256 KiB of flash, 16 KiB of RAM. The program has a fixed share of the flash, so
// that recordings, which get the rest, stay in place when the program grows.
#include "nrf51_flash.hpp"

#include "../board.hpp"

namespace board {
namespace {

constexpr std::uint32_t kFlash = 256 * 1024;
constexpr std::uint32_t kProgram = BOARD_PROGRAM_SIZE;
static_assert(kProgram % 1024 == 0 && kProgram < kFlash);

}  // namespace

h5mote::Status start_flash(h5mote::FlashDevice*& flash) noexcept {
    static Nrf51Flash device(kProgram, (kFlash - kProgram) / 1024);
    flash = &device;
    return h5mote::Status::ok;
}

}  // namespace board
