// How a board with a serial flash ends; its main source includes this once.
//
// The emulator hands what the chip has been told to program to threads of its own. When semihosting ends the program it
// does not wait for them, when the machine goes down it does (toolchains/run-board lets no reset start it again).
#pragma once

#include "registers.hpp"

extern "C" [[gnu::used]] void h5mote_power_off() {
    constexpr std::uintptr_t kAircr = 0xe000ed0c;
    board::store(kAircr, 0x05fa0004);  // key and reset request
    for (;;) {
    }
}
