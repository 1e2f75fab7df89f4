// H5HG - the global heap: its collections, the objects in them, and the ids by which variable-length data and
// references name these. Specification III.E.
//
//   collection  "GCOL" | version 1 | 0 3 | bytes of the collection, with this L | objects
//   object      index 2 | reference count 2 | 0 4 | bytes of the data L | data, padded to a multiple of 8
//   id          address of the collection O | index 4
//
// Index 0 is the free space that ends a collection; its size counts the header, which it lacks if it is too short for
// one. The headers of collections and of objects are padded to a multiple of 8 as well.
//
// Nobody uses reference counts: libhdf5 writes 0. An object that was removed from between others cannot become free
// space, of which a collection has one piece. It keeps its header, with a reference count that no other object has.
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct GlobalHeapCollection {
    /// Bytes of a collection, unless it is made for an object that needs more.
    static constexpr Address kUsualSize = 4096;

    /// Bytes of a header: of the collection, or of an object in it.
    static constexpr std::size_t kHeaderSize = 16;

    Address size = 0;  ///< bytes of the collection, with its header

    /// Bytes of the fields, and with their padding: objects begin there. Both are the same for an object.
    static std::size_t fields_size(FileShape shape) noexcept { return 8U + shape.sizeof_size; }
    static Address header_size(FileShape shape) noexcept { return (15U + shape.sizeof_size) & ~7U; }
    /// Writes kHeaderSize bytes; `shape` has sizes of at most 8 bytes.
    void encode(FileShape shape, std::byte* to) const noexcept;
    /// Reads fields_size() bytes; false when it is no collection.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
};

struct GlobalHeapObject {
    /// The reference count of an object that was removed.
    static constexpr std::uint16_t kRemoved = 0xffff;
    static constexpr std::uint16_t kMaxIndex = 0xffff;
    /// Offset of the reference count, which has two bytes.
    static constexpr std::size_t kReferencesOffset = 2;

    std::uint16_t index = 0;  ///< 0: free space
    std::uint16_t references = 0;
    Address size = 0;  ///< bytes of the data; free space: bytes with the header

    /// Reads fields_size() bytes of a header that lies `room` bytes before the end of its collection; false when the
    /// object does not fit there.
    bool decode(FileShape shape, ConstBytes bytes, Address room) noexcept;
    /// Writes kHeaderSize bytes.
    void encode(FileShape shape, std::byte* to) const noexcept;
    /// Whether the object was removed.
    bool removed() const noexcept { return index != 0 && references == kRemoved; }
    /// Bytes from the header of the object to that of the next one. decode() returned true.
    Address space(FileShape shape) const noexcept {
        return index == 0 ? size : GlobalHeapCollection::header_size(shape) + padded(size);
    }

    static constexpr Address padded(Address size) noexcept { return (size + 7) & ~Address{7}; }
};

struct GlobalHeapId {
    Address collection = kUndefinedAddress;
    std::uint32_t index = 0;

    static std::size_t size(FileShape shape) noexcept { return 4U + shape.sizeof_addr; }
    /// Reads the first size() bytes; false when there are fewer.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes size() bytes.
    void encode(FileShape shape, std::byte* to) const noexcept;
    /// Whether there is no object.
    bool is_nil() const noexcept { return collection == 0 || collection == kUndefinedAddress; }
};

}  // namespace h5mote
