// H5G - symbol table nodes and entries: the links of old groups. Specification III.B, III.C.
//
//   node   "SNOD" | version 1 | 0 | number of symbols 2 | entries, sorted by name, with room for 2 * K
//   entry  offset of the name in the local heap L | object header address O | kind of the cached data 4: 0 nothing,
//          1 symbol table, 2 soft link | 0 4 | cached data ("scratch pad") 16
//
//   message of the group   address of the B-tree O | address of the local heap O          (IV.A.2.r)
#pragma once

#include "file_shape.hpp"

namespace h5mote {

struct SymbolEntry {
    enum class Cached : std::uint32_t { nothing = 0, symbol_table = 1, soft_link = 2 };
    static constexpr std::size_t kScratchSize = 16;
    static constexpr std::size_t kMaxSize = 8 + 8 + 8 + kScratchSize;

    Address name = 0;                    ///< offset of the name in the group's local heap
    Address header = kUndefinedAddress;  ///< object header; undefined for a soft link
    Cached cached = Cached::nothing;     ///< anything else is damage
    Address btree = kUndefinedAddress;   ///< symbol_table: address of the group's B-tree ...
    Address heap = kUndefinedAddress;    ///< ... and of its local heap
    std::uint32_t soft_link = 0;         ///< soft_link: offset of the path in the local heap

    static std::size_t size(FileShape shape) noexcept {
        return std::size_t{shape.sizeof_size} + shape.sizeof_addr + 8U + kScratchSize;
    }
    /// Reads size() bytes; false when they are no entry.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    void encode(FileShape shape, Writer& writer) const noexcept;
};

/// The message by which a group has a symbol table.
struct SymbolTableMessage {
    Address btree = kUndefinedAddress;
    Address heap = kUndefinedAddress;  ///< local heap of the names

    /// false: the message is too short.
    bool decode(FileShape shape, ConstBytes body) noexcept;
    void encode(FileShape shape, Writer& writer) const noexcept {
        shape.write_addr(writer, btree);
        shape.write_addr(writer, heap);
    }
};

struct SymbolNode {
    static constexpr std::size_t kPrefixSize = 8;
    /// Offset of the number of symbols.
    static constexpr std::size_t kCountOffset = 6;
    /// Number of symbols from kPrefixSize bytes; false when it is no node.
    static bool decode(ConstBytes prefix, std::uint16_t& symbols) noexcept;
    /// Writes kPrefixSize bytes.
    static void encode(Writer& writer, unsigned symbols) noexcept;
};

}  // namespace h5mote
