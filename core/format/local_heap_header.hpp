// H5HL - the local heap: its header, and the free blocks in its data segment. Specification III.D.
//
//   header      "HEAP" | version 0 | 0 3 | size of the data segment L | offset of the first free block L (1: none)
//               | address of the data segment O; the file has a multiple of 8 bytes for it
//   free block  offset of the next one L (1: none) | bytes of this one L | nothing that is read
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct LocalHeapHeader {
    static constexpr Address kNoFree = 1;  ///< in place of the offset of a free block: there is no further one

    Address data_size = 0;
    Address free = kNoFree;  ///< offset of the first free block in the data segment
    Address data = kUndefinedAddress;

    /// Bytes of the fields, and the bytes that the file has for them.
    static std::size_t size(FileShape shape) noexcept { return 8U + 2U * shape.sizeof_size + shape.sizeof_addr; }
    static Address stored_size(FileShape shape) noexcept { return (size(shape) + 7U) & ~std::size_t{7}; }
    /// Reads size() bytes; false when they are no header.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes size() bytes.
    void encode(FileShape shape, Writer& writer) const noexcept;
};

struct LocalHeapFreeBlock {
    Address next = LocalHeapHeader::kNoFree;
    Address size = 0;  ///< with these fields

    /// Bytes of the fields: no free block is smaller.
    static std::size_t fields_size(FileShape shape) noexcept { return 2U * shape.sizeof_size; }
    /// Reads fields_size() bytes.
    void decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes fields_size() bytes.
    void encode(FileShape shape, Writer& writer) const noexcept;
};

}  // namespace h5mote
