// H5FS - the free-space manager: its header, and the list of free sections. Specification III.H "Disk Format:
// Free-space Manager".
//
//   header        "FSHD" | version 0 | client 1 | free bytes L | sections L | serialized sections L | other sections L
//                 | section classes 2 | shrink % 2 | expand % 2 | address bits 2 | longest section L
//                 | section list O | its bytes in use L | its bytes L | checksum 4
//   section list  "FSSE" | version 0 | header O | groups of sections of one size | checksum 4
//   group         count C | size S | count times: address A | class 1
//                 C, S: as many bytes as the number of sections and the longest section need; A: as the address bits
#pragma once

#include "file_shape.hpp"

namespace h5mote {

/// What a manager's header tells about its list: all that is needed to go through the blocks of a file.
struct FreeSpaceListPlace {
    static constexpr std::size_t kChecksumSize = 4;

    Address list = kUndefinedAddress;
    Address list_used = 0;  ///< bytes of the list
    Address list_size = 0;  ///< bytes that the file has for it

    /// Bytes of the header.
    static std::size_t size(FileShape shape) noexcept {
        return 14U + 7U * shape.sizeof_size + shape.sizeof_addr + kChecksumSize;
    }
    /// Reads size() bytes; false when they are no header.
    bool decode(FileShape shape, ConstBytes header) noexcept;
};

struct FreeSpaceHeader : FreeSpaceListPlace {
    static constexpr std::uint8_t kClientHeap = 0;
    static constexpr std::uint8_t kClientFile = 1;

    std::uint8_t client = kClientFile;
    Address bytes = 0;               ///< bytes of all sections
    std::uint64_t sections = 0;      ///< number of sections ...
    std::uint64_t serialized = 0;    ///< ... of which so many are in the list
    std::uint16_t address_bits = 0;  ///< of the address space of the sections
    std::uint64_t longest = 0;       ///< most bytes that a section can have; may be more than an Address holds

    /// Reads size() bytes; false when they are no header, or its address space has no bits or more than 64.
    bool decode(FileShape shape, ConstBytes header) noexcept;
    /// Writes size() bytes, the checksum with them, of a manager whose list has all its sections. How many classes of
    /// sections its client has and when the list gets more or less space is what libhdf5 writes.
    void encode(FileShape shape, Writer& writer) const noexcept;

    /// Widths of the numbers in the list: how many sections a group has, and the size and the address of these.
    unsigned count_width() const noexcept { return uint_width(serialized); }
    unsigned size_width() const noexcept { return uint_width(longest); }
    unsigned address_width() const noexcept { return (address_bits + 7U) / 8U; }
};

struct FreeSpaceList {
    Address header = kUndefinedAddress;  ///< of the manager

    /// Bytes before the first group.
    static std::size_t prefix_size(FileShape shape) noexcept { return 5U + shape.sizeof_addr; }
    static constexpr std::uint32_t kSignature = 0x45535346U;  ///< "FSSE"
    /// Reads prefix_size() bytes; false when they begin no list.
    bool decode(FileShape shape, ConstBytes prefix) noexcept;
};

}  // namespace h5mote
