// H5B - nodes of the version 1 B-tree, and how wide they are. Specification III.A.1.
//
//   0       "TREE"
//   4       node type: 0 group, 1 chunks | level, 0 for leaves | entries used 2
//   8       left sibling O | right sibling O           (O: size of offsets)
//   8+2*O   key 0 | child 0 | key 1 | ... | child n-1 | key n, with room for 2*K children
//
//   key of a group   offset of a name in the local heap L    (L: size of lengths)
//   key of chunks    bytes of the chunk 4 | filter mask 4 | (rank + 1) times: offset in elements 8; the last is 0
#pragma once

#include "file_shape.hpp"

#include <h5mote/btree_k.hpp>

namespace h5mote {

/// The prefix with which every node begins.
struct BTree1Node {
    static constexpr std::uint8_t kGroup = 0;
    static constexpr std::uint8_t kChunks = 1;

    Address left = kUndefinedAddress;
    Address right = kUndefinedAddress;
    std::uint16_t entries = 0;
    std::uint8_t type = kGroup;
    std::uint8_t level = 0;

    static std::size_t prefix_size(FileShape shape) noexcept { return 8U + 2U * shape.sizeof_addr; }
    /// Bytes of a whole node.
    static std::size_t size(FileShape shape, unsigned half_width, unsigned key_size) noexcept {
        return prefix_size(shape) + std::size_t{2} * half_width * (key_size + shape.sizeof_addr) + key_size;
    }
    /// Reads prefix_size() bytes; false when it is no node.
    bool decode(FileShape shape, ConstBytes prefix) noexcept;
    void encode(FileShape shape, Writer& writer) const noexcept;
    /// Offsets in the prefix: of the level, of the number of entries, and of the link to a sibling.
    static constexpr std::size_t kLevel = 5;
    static constexpr std::size_t kEntries = 6;
    static std::size_t link_offset(FileShape shape, bool right) noexcept {
        return 8U + (right ? shape.sizeof_addr : std::size_t{0});
    }
};

/// A key of the index of chunks; `rank` is that of the dataset.
struct ChunkBTree1Key {
    static constexpr std::size_t kMaxSize = 8 + 8 * 33;

    static constexpr unsigned size(unsigned rank) noexcept { return 8 + 8 * (rank + 1); }
    /// Bytes of the chunk in the file, and its filter mask.
    static std::uint32_t bytes(ConstBytes key) noexcept { return load_le<std::uint32_t>(key.data()); }
    static std::uint32_t mask(ConstBytes key) noexcept { return load_le<std::uint32_t>(key.data() + 4); }
    /// Offset in elements along a dimension, or with i == rank the number behind, which is 0 in the key of a chunk.
    static std::uint64_t offset(ConstBytes key, unsigned i) noexcept {
        return load_le<std::uint64_t>(key.data() + 8 + 8 * i);
    }
    static void store_bytes(std::byte* key, std::uint32_t bytes, std::uint32_t mask) noexcept {
        store_le(key, bytes);
        store_le(key + 4, mask);
    }
    static void store_offset(std::byte* key, unsigned i, std::uint64_t offset) noexcept {
        store_le(key + 8 + std::size_t{8} * i, offset);
    }
};

}  // namespace h5mote
