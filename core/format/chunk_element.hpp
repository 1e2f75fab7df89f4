// H5D - where a chunk stands: one element of a chunk index. Specification VII.
//
//   unfiltered  address
//   filtered    address | size of the filtered chunk (w bytes) | filter mask 4
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct ChunkLocation {
    Address address = kUndefinedAddress;  ///< undefined: the chunk does not exist
    Address size = 0;                     ///< bytes in the file; filtered chunks only
    std::uint32_t mask = 0;               ///< bit i: filter i was skipped
};

struct ChunkElementFormat {
    FileShape shape;
    std::uint8_t size_width = 0;  ///< bytes of the size of a filtered chunk; 0 when unfiltered

    /// Whether the element has size and filter mask. A constant in builds without filters.
    bool filtered() const noexcept { return H5MOTE_FILTERS != 0 && size_width != 0; }
    unsigned size() const noexcept { return shape.sizeof_addr + (filtered() ? size_width + 4U : 0U); }
    /// 0 for plain chunks, 1 for filtered ones: the "client ID" of the arrays.
    unsigned client() const noexcept { return filtered() ? 1 : 0; }

    ChunkLocation load(const std::byte* from) const noexcept {
        ChunkLocation location;
        location.address = shape.load_addr(from);
        if (filtered()) {
            location.size = narrow(load_uint(from + shape.sizeof_addr, size_width));
            location.mask = load_le<std::uint32_t>(from + shape.sizeof_addr + size_width);
        }
        return location;
    }
    void store(std::byte* to, const ChunkLocation& location) const noexcept {
        shape.store_addr(to, location.address);
        if (filtered()) {
            store_uint(to + shape.sizeof_addr, size_width, location.size);
            store_le<std::uint32_t>(to + shape.sizeof_addr + size_width, location.mask);
        }
    }
    /// Stores `count` elements of chunks that do not exist.
    void fill_undefined(std::byte* to, std::size_t count) const noexcept {
        for (; count > 0; --count, to += size()) {
            store(to, ChunkLocation{});
        }
    }
    /// Width in bytes of the size field of a filtered chunk before layout version 5: what the unfiltered size needs and
    /// one byte more, because filters can make a chunk larger.
    static std::uint8_t width_for(Address chunk_bytes) noexcept {
        const unsigned width = 1 + (floor_log2(chunk_bytes) + 8) / 8;
        return static_cast<std::uint8_t>(width > 8 ? 8 : width);
    }
};

}  // namespace h5mote
