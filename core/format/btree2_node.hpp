// H5B2 - the header and the nodes of the version 2 B-tree, and how wide the numbers in them are. Specification III.A.2.
//
//   header    BTHD | version 0 | type | node size 4 | record size 2 | depth 2 | split % | merge % | root address O
//             | records in the root 2 | records in the tree L | checksum
//   leaf      BTLF | 0 | type | records | checksum
//   internal  BTIN | 0 | type | records | child pointers, one more: address O | records in the child w1
//             | records below the child w2, only if it is internal itself | checksum
//
// w1 is the width of a number that counts the records of a full leaf, w2 that of a number that counts the records of a
// full subtree of the child's depth. The checksum follows the last record or pointer of a node; the rest of the node's
// space is not read.
#pragma once

#include "btree2_record.hpp"

namespace h5mote {

struct BTree2Header {
    /// Where the first field that changes begins: the depth.
    static constexpr std::size_t kChanging = 12;
    /// Longest record: a filtered chunk of the highest rank.
    static constexpr std::size_t kMaxRecordSize = 8 + 8 + 4 + 8 * 32;

    Address root = kUndefinedAddress;
    std::uint64_t records = 0;  ///< in the tree
    std::uint32_t node_size = 0;
    std::uint16_t record_size = 0;
    std::uint16_t root_records = 0;  ///< in the root node itself
    std::uint16_t depth = 0;         ///< levels of internal nodes
    BTree2Type type = BTree2Type::testing;
    std::uint8_t split_percent = 0;  ///< a node that is fuller is split ...
    std::uint8_t merge_percent = 0;  ///< ... and one that is emptier is merged with another

    static std::size_t size(FileShape shape) noexcept { return 22U + shape.sizeof_addr + shape.sizeof_size; }
    /// Reads size() bytes; false when they are no header, or a node has no room for a record.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes everything but the checksum.
    void encode(FileShape shape, Writer& writer) const noexcept;
};

/// The prefix of a node, and where its records are.
struct BTree2Node {
    static constexpr std::size_t kPrefixSize = 6;
    static constexpr std::size_t kChecksumSize = 4;

    /// Whether kPrefixSize bytes begin a node of such a tree, of depth 0 (a leaf) or more.
    static bool is_node(BTree2Type type, unsigned depth, ConstBytes prefix) noexcept;
    /// Stores the prefix of such a node.
    static void begin(BTree2Type type, unsigned depth, std::byte* prefix) noexcept;
};

/// Limits of a node that follow from its depth.
struct BTree2Level {
    std::uint64_t most_below = 0;  ///< records in a full node and below
    std::uint32_t most = 0;        ///< records in a full node
    std::uint8_t count_width = 0;  ///< w1: bytes of the number of records of a node
    std::uint8_t total_width = 0;  ///< w2 in a pointer to such a node; 0 for leaves, which have no w2

    /// Computes them. false: nodes of this depth cannot have two children and a record.
    bool compute(FileShape shape, const BTree2Header& header, unsigned depth) noexcept;
    /// A node with so many records is split before another one is inserted.
    std::uint32_t split(const BTree2Header& header) const noexcept { return most * header.split_percent / 100; }
    /// A node with so few records is filled up or merged before one is removed.
    std::uint32_t merge(const BTree2Header& header) const noexcept { return most * header.merge_percent / 100; }
    /// Whether nodes of this level can be split and merged so that each half has a record: libhdf5 makes no others.
    bool can_change(const BTree2Header& header) const noexcept;
    /// Bytes of a pointer to a node of this level.
    std::size_t pointer_size(FileShape shape) const noexcept {
        return std::size_t{shape.sizeof_addr} + count_width + total_width;
    }
};

struct BTree2Pointer {
    Address address = kUndefinedAddress;
    std::uint32_t records = 0;  ///< in the node itself
    std::uint64_t total = 0;    ///< in it and below

    /// Reads a pointer to a node of that level. false: the numbers contradict each other or the level.
    bool decode(FileShape shape, const BTree2Level& level, ConstBytes bytes) noexcept;
    void store(FileShape shape, const BTree2Level& level, std::byte* to) const noexcept;
};

}  // namespace h5mote
