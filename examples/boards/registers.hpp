// Registers of a chip, by address; 32 bits each.
#pragma once

#include <cstdint>

namespace board {

inline std::uint32_t load(std::uintptr_t address) noexcept {
    return *reinterpret_cast<const volatile std::uint32_t*>(address);
}

inline void store(std::uintptr_t address, std::uint32_t value) noexcept {
    *reinterpret_cast<volatile std::uint32_t*>(address) = value;
}

inline void set_bits(std::uintptr_t address, std::uint32_t bits) noexcept { store(address, load(address) | bits); }

inline void clear_bits(std::uintptr_t address, std::uint32_t bits) noexcept { store(address, load(address) & ~bits); }

}  // namespace board
