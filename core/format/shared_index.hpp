// H5SM - messages that a whole file shares: the master table, the list form of an index, and what stands in a header in
// place of a shared message. Specification III.H "Shared Object Header Message Table", IV.A.2 ("shared message").
//
//   master table           SMTB | per index: version 0 | type: 0 list, 1 B-tree | kinds of message 2 | least size 4
//                          | most in a list 2 | fewest in a B-tree 2 | messages 2 | index address O | heap address O
//                          | checksum
//   list                   SMLI | SharedMessageRecords, as many as there may be | checksum behind those that there are
//   in place of the body   version 3 | place: 1 heap, 2 header | heap id 8, or header address O
//                          version 2 | 0 | header address O
//                          version 1 | 0 | 0 6 | 0 L | header address O
#pragma once

#include "btree2_record.hpp"
#include "message_type.hpp"

namespace h5mote {

/// One index of shared messages, as the master table describes it.
struct SharedIndex {
    bool btree = false;       ///< else a list
    std::uint16_t kinds = 0;  ///< bit n: messages of type n
    std::uint32_t least_size = 0;
    std::uint16_t list_max = 0;
    std::uint16_t btree_min = 0;
    std::uint16_t messages = 0;
    Address index = kUndefinedAddress;
    Address heap = kUndefinedAddress;

    /// Whether the index has messages of that type. Any type may be asked for: in a damaged header any message may be
    /// marked as shared.
    bool holds(MessageType type) const noexcept {
        return static_cast<unsigned>(type) < 16 && (kinds >> static_cast<unsigned>(type) & 1U) != 0;
    }
    /// Bytes of an index in the table.
    static std::size_t size(FileShape shape) noexcept { return 14U + 2U * shape.sizeof_addr; }
    /// Reads size() bytes; false when they describe no index.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes size() bytes.
    void encode(FileShape shape, Writer& writer) const noexcept;
    /// Changes, in the size() bytes of an index, what its messages change.
    void store(FileShape shape, std::byte* to) const noexcept;
};

struct SharedTable {
    static constexpr std::size_t kPrefixSize = 4;

    /// Bytes of a table, and where an index is in it.
    static Address size(FileShape shape, unsigned indexes) noexcept { return offset(shape, indexes) + 4; }
    static Address offset(FileShape shape, unsigned index) noexcept {
        return kPrefixSize + index * SharedIndex::size(shape);
    }
    /// Whether kPrefixSize bytes begin a table.
    static bool is_table(ConstBytes prefix) noexcept;
    static void encode_prefix(Writer& writer) noexcept;
};

struct SharedList {
    static constexpr std::size_t kPrefixSize = 4;

    /// Bytes of a list of so many records, and where a record is in it.
    static Address size(FileShape shape, unsigned records) noexcept { return offset(shape, records) + 4; }
    static Address offset(FileShape shape, unsigned record) noexcept {
        return kPrefixSize + Address{record} * SharedMessageRecord::size(shape);
    }
    /// Whether kPrefixSize bytes begin a list.
    static bool is_list(ConstBytes prefix) noexcept;
    static void encode_prefix(Writer& writer) noexcept;
};

/// What a shared message has in place of its body.
struct SharedReference {
    /// No reference is longer.
    static constexpr std::size_t kMaxSize = 24;
    /// Bytes of a reference to the heap, and of the id in it.
    static constexpr std::size_t kHeapSize = 10;
    static constexpr std::size_t kHeapIdSize = 8;

    unsigned version = 0;
    bool in_heap = false;                ///< in the file's heap of shared messages, not in another header
    ConstBytes heap_id;                  ///< in_heap: begins here
    Address header = kUndefinedAddress;  ///< else: the header that has the message

    /// false: the bytes are too few. known_version() says whether the rest has a meaning.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    bool known_version() const noexcept { return version != 0 && version <= kNewest; }
    /// Writes kHeapSize bytes.
    static void encode_heap(Bytes to, ConstBytes id) noexcept;
    /// Whether at least two bytes begin a reference to the heap; the id follows behind kHeapPrefix bytes.
    static constexpr std::size_t kHeapPrefix = 2;
    static bool leads_to_heap(ConstBytes bytes) noexcept {
        return bytes[0] == std::byte{kNewest} && bytes[1] == std::byte{kHeap};
    }

private:
    static constexpr unsigned kNewest = 3;
    static constexpr unsigned kHeap = 1;
};

}  // namespace h5mote
