// ARM semihosting - text and exit code for the debugger or emulator, without heap or newlib.
#pragma once

#include <cstdint>

namespace h5mote {
namespace semihosting {

/// Prints a text that ends with a null character.
void print(const char* text) noexcept;
/// Prints a number in decimal.
void print(std::uint64_t number) noexcept;
/// Ends the program with that exit code.
[[noreturn]] void exit(int code) noexcept;

}  // namespace semihosting
}  // namespace h5mote
