// H5HG - the global heap: its collections, the objects in them, and the ids by which variable-length data and
// references name these. Specification III.E.
//
//   collection  "GCOL" | version 1 | 0 3 | bytes of the collection, with this L | objects
//   object      index 2 | reference count 2 | 0 4 | bytes of the data L | data, padded to a multiple of 8
//   id          address of the collection O | index 4
//
// Index 0 is the free space that ends a collection; its size counts the header, which it lacks if it is too short for
// one. The headers of collections and of objects are padded to a multiple of 8 as well.
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct GlobalHeapCollection {
    /// Bytes of a collection, unless it is made for an object that needs more.
    static constexpr Address kUsualSize = 4096;

    Address size = 0;  ///< bytes of the collection, with its header

    /// Bytes of the fields, and with their padding: objects begin there. Both are the same for an object.
    static std::size_t fields_size(FileShape shape) noexcept { return 8U + shape.sizeof_size; }
    static Address header_size(FileShape shape) noexcept { return (15U + shape.sizeof_size) & ~7U; }
    /// Reads fields_size() bytes; false when it is no collection.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
};

struct GlobalHeapObject {
    std::uint16_t index = 0;  ///< 0: free space
    std::uint16_t references = 0;
    Address size = 0;  ///< bytes of the data; free space: bytes with the header

    /// Reads fields_size() bytes of a header that lies `room` bytes before the end of its collection; false when the
    /// object does not fit there.
    bool decode(FileShape shape, ConstBytes bytes, Address room) noexcept;
    /// Bytes from the header of the object to that of the next one. decode() returned true.
    Address space(FileShape shape) const noexcept {
        return index == 0 ? size : GlobalHeapCollection::header_size(shape) + padded(size);
    }

private:
    static constexpr Address padded(Address size) noexcept { return (size + 7) & ~Address{7}; }
};

struct GlobalHeapId {
    Address collection = kUndefinedAddress;
    std::uint32_t index = 0;

    static std::size_t size(FileShape shape) noexcept { return 4U + shape.sizeof_addr; }
    /// Reads the first size() bytes; false when there are fewer.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
};

}  // namespace h5mote
