// The two widths that a file chooses for itself, and the fields that depend on them.
#pragma once

#include "cursor.hpp"

#include <cstdint>

namespace h5mote {

/// Address that points nowhere: all bits set, whatever the width in the file.
inline constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};

/// Widths of addresses ("offsets") and sizes ("lengths") in bytes: 2, 4 or 8 each. Specification II.A.
struct FileShape {
    std::uint8_t sizeof_addr = 8;
    std::uint8_t sizeof_size = 8;

    std::uint64_t load_addr(const std::byte* from) const noexcept {
        return widen(load_uint(from, sizeof_addr), sizeof_addr);
    }
    std::uint64_t read_addr(Reader& reader) const noexcept { return widen(reader.uint(sizeof_addr), sizeof_addr); }
    /// A size in which all ones mean "unlimited" or "undefined".
    std::uint64_t load_size(const std::byte* from) const noexcept {
        return widen(load_uint(from, sizeof_size), sizeof_size);
    }
    std::uint64_t read_size(Reader& reader) const noexcept { return reader.uint(sizeof_size); }
    void write_addr(Writer& writer, std::uint64_t address) const noexcept { writer.uint(address, sizeof_addr); }
    void write_size(Writer& writer, std::uint64_t size) const noexcept { writer.uint(size, sizeof_size); }

    /// Largest address that can be expressed; all ones is taken.
    std::uint64_t max_addr() const noexcept { return (kUndefinedAddress >> (64 - 8 * sizeof_addr)) - 1; }

private:
    static std::uint64_t widen(std::uint64_t value, unsigned width) noexcept {
        const std::uint64_t ones = kUndefinedAddress >> (64 - 8 * width);
        return value == ones ? kUndefinedAddress : value;
    }
};

}  // namespace h5mote
