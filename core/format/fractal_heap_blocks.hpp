// H5HF - the blocks of the fractal heap, and the ids of its objects. Specification III.G.
//
//   header    FRHP | version 0 | id length 2 | length of the filters 2 | flags 1 | largest managed object 4
//             | next huge id L | huge objects' B-tree O | free space L | free space manager O | managed space L
//             | allocated L | iterator L | managed objects L | huge: bytes L, objects L | tiny: bytes L, objects L
//             | table width 2 | first block size L | largest direct block L | log2 of the address space 2
//             | first rows 2 | root block O | rows of the root block, 0: it is direct 2
//             | [filtered: root block size L | filter mask 4 | filter pipeline message] | checksum
//   direct    FHDB | 0 | header O | offset in the address space w | [checksum, of the block with 0 here] | objects
//   indirect  FHIB | 0 | header O | offset w | direct blocks: address O [| size L | filter mask 4]
//             | indirect blocks: address O | checksum
//
//   id        first byte: version 0 in bits 6 and 7, kind in bits 4 and 5: 0 managed, 1 huge, 2 tiny
//     managed kind | offset in the address space w | length, as wide as the longest managed object needs
//     huge    kind | address O | length L | [filtered: filter mask 4 | length in memory L]; if ids are too short for
//             that: kind | number by which the B-tree of huge objects has it
//     tiny    kind and low 4 bits: length - 1 | data; ids of more than 18 bytes: kind and high 4 bits of length - 1
//             | low 8 bits of it | data
#pragma once

#include "file_shape.hpp"

namespace h5mote {

/// How the address space of a heap is cut into blocks, and how wide the numbers in them are. Rows have `width` blocks
/// each. The blocks of the first two rows have the starting block size; from then on it doubles with each row.
struct FractalHeapTable {
    static constexpr std::size_t kChecksumSize = 4;

    Address huge_index = kUndefinedAddress;  ///< B-tree of huge objects
    Address root = kUndefinedAddress;        ///< root block
    Address root_stored = 0;                 ///< bytes of a filtered direct root block in the file
    std::uint32_t root_mask = 0;             ///< its filter mask
    std::uint32_t max_managed = 0;           ///< most bytes of a managed object
    std::uint16_t filters_length = 0;        ///< bytes of the filter pipeline message; 0: not filtered
    std::uint16_t id_length = 0;
    std::uint16_t width = 0;        ///< blocks of a row
    std::uint16_t root_rows = 0;    ///< 0: the root is a direct block
    std::uint8_t start_bits = 0;    ///< log2 of the starting block size
    std::uint8_t width_bits = 0;    ///< log2 of width
    std::uint8_t direct_bits = 0;   ///< log2 of the size of the largest direct blocks
    std::uint8_t heap_bits = 0;     ///< log2 of the address space
    std::uint8_t length_width = 0;  ///< bytes of a managed object's length in its id
    bool checksums = false;         ///< direct blocks have checksums

    bool filtered() const noexcept { return filters_length != 0; }
    /// Bytes of an offset in the address space.
    unsigned offset_width() const noexcept { return (heap_bits + 7U) / 8U; }
    /// log2 of the size of the first row, and of all rows together that are as large as the second row.
    unsigned first_row_bits() const noexcept { return 0U + start_bits + width_bits; }
    unsigned row_bits(unsigned row) const noexcept { return row == 0 ? start_bits : start_bits + row - 1U; }
    /// Bytes of the address space that a block of that row takes.
    Address row_size(unsigned row) const noexcept { return Address{1} << row_bits(row); }
    /// Where a row begins, from the start of the indirect block's part of the address space.
    Address row_offset(unsigned row) const noexcept {
        return row == 0 ? 0 : Address{1} << (first_row_bits() + row - 1U);
    }
    /// The row that has that offset.
    unsigned row_of(Address offset) const noexcept {
        return offset >> first_row_bits() == 0 ? 0 : floor_log2(offset) - first_row_bits() + 1;
    }
    /// The most rows of an indirect block that consist of direct blocks; the rows behind them are indirect blocks.
    unsigned direct_rows() const noexcept { return direct_bits - start_bits + 2U; }

    /// Bytes before the contents of a block; a direct block's checksum, if it has one, is not included.
    std::size_t prefix_size(FileShape shape) const noexcept { return 5U + shape.sizeof_addr + offset_width(); }
    /// Bytes of an entry for a direct block; that for an indirect block is an address.
    std::size_t direct_entry_size(FileShape shape) const noexcept {
        return std::size_t{shape.sizeof_addr} + (filtered() ? shape.sizeof_size + 4U : 0U);
    }
    /// Where the entries of a row begin in an indirect block. As a block ends with a checksum: its size without that.
    Address row_entries(FileShape shape, unsigned row) const noexcept;
    /// Bytes of an indirect block of so many rows.
    Address indirect_size(FileShape shape, unsigned rows) const noexcept {
        return row_entries(shape, rows) + kChecksumSize;
    }
    /// Whether ids are long enough to tell where a huge object is, so that it need not be looked up in the B-tree.
    bool huge_ids_direct(FileShape shape) const noexcept {
        const unsigned place = 0U + shape.sizeof_addr + shape.sizeof_size + (filtered() ? 4U + shape.sizeof_size : 0U);
        return place + 1 <= id_length;
    }
};

struct FractalHeapHeader : FractalHeapTable {
    /// So many bytes tell how long the header is.
    static constexpr std::size_t kPrefixSize = 9;

    std::uint64_t next_huge_id = 0;
    Address free_space = 0;  ///< free bytes in direct blocks
    Address free_space_manager = kUndefinedAddress;
    Address managed_space = 0;  ///< bytes of the address space
    Address allocated = 0;      ///< bytes of the address space that direct blocks take
    Address iterator = 0;       ///< offset at which the next direct block is made
    std::uint64_t managed = 0;  ///< number of managed objects
    Address huge_bytes = 0;
    std::uint64_t huge = 0;  ///< number of huge objects
    Address tiny_bytes = 0;
    std::uint64_t tiny = 0;        ///< number of tiny objects
    std::uint16_t start_rows = 0;  ///< rows that the first indirect root block is made with

    /// Bytes of a header before its filter pipeline message, which is followed by the checksum.
    static Address fixed_size(FileShape shape, bool filtered) noexcept {
        return 22U + 12U * shape.sizeof_size + 3U * shape.sizeof_addr + (filtered ? shape.sizeof_size + 4U : 0U);
    }
    /// Reads the length of the filter pipeline message from kPrefixSize bytes; false when they begin no header.
    static bool decode_prefix(ConstBytes prefix, std::uint16_t& filters_length) noexcept;
    /// Reads fixed_size() bytes that begin a header; false when the numbers contradict each other.
    bool decode(FileShape shape, ConstBytes bytes) noexcept;
    /// Writes fixed_size() bytes of the header of a heap without filters.
    void encode(FileShape shape, Writer& writer) const noexcept;
};

/// The prefix of a direct or indirect block.
struct HeapBlockPrefix {
    static constexpr std::uint32_t kDirect = 0x42444846U;    // "FHDB"
    static constexpr std::uint32_t kIndirect = 0x42494846U;  // "FHIB"

    std::uint32_t signature = kDirect;
    Address heap = kUndefinedAddress;  ///< header
    std::uint64_t offset = 0;          ///< of the block in the address space

    /// Whether FractalHeapTable::prefix_size() bytes are this prefix.
    bool is(FileShape shape, const FractalHeapTable& table, ConstBytes bytes) const noexcept;
    void encode(FileShape shape, const FractalHeapTable& table, Writer& writer) const noexcept;
};

/// What an indirect block says about one of its blocks.
struct HeapBlockEntry {
    Address address = kUndefinedAddress;
    Address stored = 0;      ///< a filtered direct block: bytes in the file
    std::uint32_t mask = 0;  ///< and its filter mask

    /// Reads the entry for an indirect block or, with `filtered`, for a filtered direct block; false: too few bytes.
    bool decode(FileShape shape, bool filtered, ConstBytes bytes) noexcept;
};

/// Where ids say that objects are. `id` has FractalHeapTable::id_length bytes.
struct FractalHeapId {
    enum class Kind : std::uint8_t { managed = 0, huge = 1, tiny = 2, unknown };

    static Kind kind(ConstBytes id) noexcept;

    /// Offset and length of a managed object in the address space.
    static void managed(const FractalHeapTable& table, ConstBytes id, Address& offset, Address& length) noexcept;
    /// The number by which the B-tree of huge objects has an object, unless FractalHeapTable::huge_ids_direct().
    static std::uint64_t huge(ConstBytes id) noexcept;
    /// The bytes of a tiny object, which are in the id; empty: the id is shorter than it says.
    static ConstBytes tiny(ConstBytes id) noexcept;

    /// Most bytes of a tiny object in ids of that length, up to 18 bytes.
    static constexpr unsigned max_tiny(unsigned id_length) noexcept { return id_length < 18 ? id_length - 1 : 16; }
    /// Write an id: of a managed object, of a huge one that the B-tree has under `number` or whose record is `place`
    /// (FractalHeapTable::huge_ids_direct()), of a tiny one.
    static void encode_managed(const FractalHeapTable& table, Bytes id, Address offset, Address length) noexcept;
    static void encode_huge(Bytes id, std::uint64_t number) noexcept;
    static void encode_huge(Bytes id, ConstBytes place) noexcept;
    static void encode_tiny(Bytes id, ConstBytes object) noexcept;
};

}  // namespace h5mote
