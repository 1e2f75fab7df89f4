// H5R - references as elements and the global heap have them. Specification VIII.B, VIII.C.
//
//   object 1   object header address O
//   region 1   heap id of: object header address O | selection
//   revised    type 1 | flags 1 (1: of another file), then
//              object 2 of this file: token
//              others: bytes 4 | heap id of: token | [other file: name] | region 2: bytes 4, rank 4, selection;
//              attribute: name
//   token      length of the address 1 | object header address
//   name       length 2 | characters
#pragma once

#include "file_shape.hpp"

namespace h5mote {

/// What a revised reference begins with.
struct RevisedReference {
    /// Bytes between what decode() reads and the heap id, where there is one.
    static constexpr std::size_t kBytesField = 4;
    /// Bytes that decode() reads, and of the largest reference of any kind.
    static constexpr std::size_t kHeadSize = 2;
    static constexpr std::size_t kMostSize = 24;

    unsigned type = 0;
    bool other_file = false;

    /// Reads from the beginning on. With too few bytes the type is 0, which no revised reference has.
    void decode(Reader& reader) noexcept {
        constexpr unsigned kOtherFile = 1;
        type = reader.u8();
        other_file = (reader.u8() & kOtherFile) != 0;
    }
};

/// Bytes of a reference as an element.
inline std::size_t reference_bytes(FileShape shape, bool revised, bool region) noexcept {
    return revised ? 10U + shape.sizeof_addr : shape.sizeof_addr + (region ? 4U : 0U);
}

/// Which object a revised reference leads to.
struct ReferenceToken {
    static std::size_t size(FileShape shape) noexcept { return 1U + shape.sizeof_addr; }
    static void encode(FileShape shape, Writer& writer, Address address) noexcept {
        writer.u8(shape.sizeof_addr);
        shape.write_addr(writer, address);
    }
    /// false: too few bytes, or an address of another width than the file's.
    static bool decode(FileShape shape, Reader& reader, Address& address) noexcept {
        const unsigned length = reader.u8();
        const ConstBytes token = reader.bytes(length);
        if (!reader.ok() || length != shape.sizeof_addr) {
            return false;
        }
        address = shape.load_addr(token.data());
        return true;
    }
};

/// A name in the heap bytes of a revised reference.
struct ReferenceName {
    static constexpr std::size_t kLengthSize = 2;

    /// Characters of the name, from kLengthSize bytes.
    static std::uint16_t length(ConstBytes head) noexcept { return load_le<std::uint16_t>(head.data()); }
};

/// What stands before the selection of a revised region reference.
struct ReferenceRegion {
    static constexpr std::size_t kHeadSize = 8;

    /// The rank of the selection, from kHeadSize bytes.
    static unsigned rank(ConstBytes head) noexcept { return load_le<std::uint32_t>(head.data() + 4); }
};

}  // namespace h5mote
