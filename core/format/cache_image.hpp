// H5C (metadata cache image) - the block of a file that holds a copy of metadata, which counts in place of the file's
// own.
//
//   cache image  "MDCI" | version 0 | flags 1 | bytes L | entries 4 | entries | checksum
//   entry        type 1 | flags 1 | ring 1 | age 1 | children 2 | dirty children 2 | parents 2 | rank 4 | address O
//                | length L | address of each parent O | the bytes that belong at the address
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct CacheImageHeader {
    static constexpr std::size_t kMaxSize = 6 + 8 + 4;

    std::uint32_t entries = 0;

    static std::size_t size(FileShape shape) noexcept { return 10U + shape.sizeof_size; }
    /// Reads size() bytes; false when they begin no cache image.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
};

/// Lengths and addresses are 64 bits wide: they are compared with those of reads, which are, too.
struct CacheImageEntry {
    static constexpr std::size_t kMaxSize = 14 + 8 + 8;

    std::uint16_t parents = 0;  ///< number of addresses before the bytes
    std::uint64_t address = 0;
    std::uint64_t size = 0;  ///< bytes that belong at `address`

    /// Bytes before the addresses of parents.
    static std::size_t prefix_size(FileShape shape) noexcept { return 14U + shape.sizeof_addr + shape.sizeof_size; }
    /// Reads prefix_size() bytes.
    void decode(FileShape shape, ConstBytes bytes) noexcept;
};

}  // namespace h5mote
