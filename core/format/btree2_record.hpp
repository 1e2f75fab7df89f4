// H5B2 - records of the version 2 B-trees. Specification III.A.2.
//
//   1  huge object                    address O | length L | id L
//   2  huge object, filtered          address O | length L | filter mask 4 | length in memory L | id L
//   3  huge object, directly accessed address O | length L
//   4  the same, filtered             address O | length L | filter mask 4 | length in memory L
//   5  link by name                   hash of the name 4 | heap id 7
//   6  link by creation order         order 8 | heap id 7
//   7  shared message                 place 1 | hash 4 | in the heap: reference count 4, heap id 8
//                                     | in a header: 0 1, message type 1, index in the header 2, header address O
//   8  attribute by name              heap id 8 | message flags 1 | creation order 4 | hash of the name 4
//   9  attribute by creation order    heap id 8 | message flags 1 | creation order 4
//   10 chunk                          address O | chunk coordinates 8 each
//   11 chunk, filtered                address O | bytes in the file w | filter mask 4 | chunk coordinates 8 each
#pragma once

#include "checksum.hpp"
#include "chunk_element.hpp"

namespace h5mote {

enum class BTree2Type : std::uint8_t {
    testing = 0,
    huge_indirect = 1,
    huge_indirect_filtered = 2,
    huge_direct = 3,
    huge_direct_filtered = 4,
    link_name = 5,
    link_order = 6,
    shared_message = 7,
    attribute_name = 8,
    attribute_order = 9,
    chunk = 10,
    chunk_filtered = 11,
};

/// The hash by which the indexes of links and attributes are sorted: that of the name without its terminating zero.
inline std::uint32_t name_hash(ConstBytes name) noexcept { return lookup3(name); }

/// Every decode() below reads one record. false: the record is too short (one of a link, attribute or chunk may not be
/// too long either), or the place of a shared message is unknown.
struct HugeRecord {
    Address address = kUndefinedAddress;
    Address size = 0;         ///< bytes in the file
    Address memory_size = 0;  ///< bytes after decoding; the same as size when not filtered
    std::uint32_t mask = 0;   ///< bit i: filter i was skipped
    std::uint64_t id = 0;     ///< heap id of an indirectly accessed object, else 0

    bool decode(FileShape shape, BTree2Type type, ConstBytes record) noexcept;
    /// Writes a record of type huge_indirect or huge_direct.
    void encode(FileShape shape, BTree2Type type, Writer& writer) const noexcept {
        shape.write_addr(writer, address);
        shape.write_size(writer, size);
        if (type == BTree2Type::huge_indirect) {
            shape.write_size(writer, id);
        }
    }
};

struct LinkNameRecord {
    static constexpr std::size_t kHeapIdSize = 7;
    std::uint32_t hash = 0;
    ConstBytes heap_id;

    bool decode(ConstBytes record) noexcept;
};

struct LinkOrderRecord {
    std::uint64_t order = 0;
    ConstBytes heap_id;

    bool decode(ConstBytes record) noexcept;
};

struct SharedMessageRecord {
    bool in_heap = false;
    std::uint32_t hash = 0;
    std::uint32_t references = 0;        ///< in the heap
    ConstBytes heap_id;                  ///< in the heap: 8 bytes
    std::uint8_t message_type = 0;       ///< in a header
    std::uint16_t message_index = 0;     ///< in a header: creation index of the message
    Address header = kUndefinedAddress;  ///< in a header

    /// Bytes of a record, both in a B-tree and in the list form of the index.
    static std::size_t size(FileShape shape) noexcept {
        return 5U + (shape.sizeof_addr + 4U > 12U ? shape.sizeof_addr + 4U : 12U);
    }
    static constexpr std::size_t kMostSize = 17;
    bool decode(FileShape shape, ConstBytes record) noexcept;
    /// Writes size() bytes.
    void encode(FileShape shape, Writer& writer) const noexcept;
};

/// A record of the index by name or by creation order; the latter has no hash.
struct AttributeRecord {
    static constexpr std::size_t kHeapIdSize = 8;
    ConstBytes heap_id;      ///< of the attribute message, in the heap of the object or of shared messages
    std::uint8_t flags = 0;  ///< message flags; kMessageShared: the message is in the heap of shared messages
    std::uint32_t order = 0;
    std::uint32_t hash = 0;

    bool decode(BTree2Type type, ConstBytes record) noexcept;
};

struct ChunkRecord {
    /// `location` becomes the location of the chunk in the file; `scaled` gets its chunk coordinates, `rank` numbers.
    static bool decode(FileShape shape, BTree2Type type, unsigned rank, ConstBytes record, ChunkLocation& location,
                       std::uint64_t* scaled) noexcept;
    /// Chunk coordinate `i` of `rank` in a record of either type.
    static std::uint64_t coordinate(ConstBytes record, unsigned rank, unsigned i) noexcept {
        return load_le<std::uint64_t>(record.data() + record.size() - 8U * (rank - i));
    }
};

}  // namespace h5mote
