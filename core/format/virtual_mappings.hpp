// H5D (virtual) - the object in the global heap that has the mappings of a virtual dataset. Specification III.F.
//
//   heap object   version 0, 1 | mappings L | per mapping | checksum
//   mapping       [version 1: flags] | source file | source dataset | source selection | virtual selection
//                 names end in NUL. Flags: 1: the dataset's name is that of an earlier mapping, whose number L stands
//                 here; 2: the same of the file's name; 4: the source is in this file, no name
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct VirtualMappings {
    static constexpr std::size_t kVersionSize = 1;
    static constexpr std::uint8_t kNewest = 1;
    static constexpr std::size_t kChecksumSize = 4;

    /// Bytes of an object without mappings.
    static std::size_t least_size(FileShape shape) noexcept { return kVersionSize + shape.sizeof_size + kChecksumSize; }
};

struct VirtualMappingFlags {
    static constexpr unsigned kDatasetShared = 1;
    static constexpr unsigned kFileShared = 2;
    static constexpr unsigned kSameFile = 4;

    /// Bytes of the flags of a mapping in an object of that version.
    static constexpr std::size_t size(std::uint8_t version) noexcept { return version > 0 ? 1 : 0; }
};

}  // namespace h5mote
