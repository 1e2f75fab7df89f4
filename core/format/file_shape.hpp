// The widths of addresses and sizes, which every file chooses for itself, and access to fields of these widths.
#pragma once

#include "cursor.hpp"

#include <h5mote/address.hpp>

#include <cstdint>

namespace h5mote {

/// Widths of addresses ("offsets") and sizes ("lengths") in bytes: 2, 4 or 8 each. Specification II.A.
struct FileShape {
    std::uint8_t sizeof_addr = 8;
    std::uint8_t sizeof_size = 8;

    Address load_addr(const std::byte* from) const noexcept {
        const std::uint64_t value = load_size(from, sizeof_addr);
        return value == kAllOnes ? kUndefinedAddress : narrow(value);
    }
    Address read_addr(Reader& reader) const noexcept {
        const ConstBytes field = reader.bytes(sizeof_addr);
        return field.empty() ? 0 : load_addr(field.data());
    }
    /// A size in which all ones mean "unlimited".
    std::uint64_t load_size(const std::byte* from) const noexcept { return load_size(from, sizeof_size); }
    /// Whether a layout message of the file can state so many bytes of data.
    bool states(std::uint64_t bytes) const noexcept { return sizeof_size >= 8 || bytes <= max_size(); }
    /// The largest size of a dimension that a file can state: all ones mean "unlimited". libhdf5 opens no dataset with
    /// a dimension of 2^63 elements or more.
    std::uint64_t max_size() const noexcept {
        return sizeof_size >= 8 ? kAllOnes >> 1 : (kAllOnes >> (64 - 8 * sizeof_size)) - 1;
    }
    Address read_size(Reader& reader) const noexcept { return narrow(reader.uint(sizeof_size)); }
    void store_addr(std::byte* to, Address address) const noexcept { store_uint(to, sizeof_addr, widen(address)); }
    void write_addr(Writer& writer, Address address) const noexcept { writer.uint(sizeof_addr, widen(address)); }
    void write_size(Writer& writer, std::uint64_t size) const noexcept { writer.uint(sizeof_size, size); }

    /// Largest address that a field can hold; all ones stand for the undefined address.
    Address max_addr() const noexcept {
        return sizeof_addr >= sizeof(Address) ? kUndefinedAddress - 1 : (Address{1} << 8 * sizeof_addr) - 2;
    }

private:
    static constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

    static std::uint64_t widen(Address address) noexcept { return address == kUndefinedAddress ? kAllOnes : address; }
    static std::uint64_t load_size(const std::byte* from, unsigned width) noexcept {
        const std::uint64_t value = load_uint(from, width);
        return value == kAllOnes >> (64 - 8 * width) ? kAllOnes : value;
    }
};

}  // namespace h5mote
