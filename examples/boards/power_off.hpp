// How a program on a board with a serial flash ends; the board's main source includes this once.
//
// The emulator writes what the chip was told to program in threads of its own. It does not wait for them when
// semihosting ends the program, but it does when the machine goes down. So the program ends with a reset, at which
// toolchains/run-board lets the emulator stop.
#pragma once

#include "registers.hpp"

extern "C" [[gnu::used]] void h5mote_power_off() {
    constexpr std::uintptr_t kAircr = 0xe000ed0c;
    board::store(kAircr, 0x05fa0004);  // key and reset request
    for (;;) {
    }
}
