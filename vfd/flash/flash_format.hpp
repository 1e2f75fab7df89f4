// The bytes of a log on flash. All numbers little-endian; places are counted in words of four bytes from the start of
// the device, 0 is none, 1 what was lost.
//
// A block that was begun, and erased just before:
//
//   4  "h5mf"
//   1  version (1) | barrier << 4: a block without contents, see mount.cpp | erased value is 0 << 5
//   1  log2 of the block's size
//   1  log2 of a page of the file | log2 of the program unit << 4
//   1  reserve, percent
//   4  blocks
//   4  sequence: higher than that of every block begun before
//   4  block before it in the log; itself if there is none
//   4  times it was erased
//   4  KiB given to write() so far
//   4  checksum of the above (lookup3)
//   -  padding to the program unit
//
// Then records, each at a multiple of 4:
//
//   4  kind | weight << 3 | offset << 8 | (length - 1) << 20
//   4  checksum of all the rest, in this order (lookup3, started with the place)
//   4  index | level << 28
//   4  place of the previous piece, if the weight is not 0
//   -  `length` bytes, zeros to the next multiple of 4
//
//   1  piece   weight 0: bytes [0, length) of page `index`; what lies behind is zero. Else bytes [offset, offset +
//              length) of it, over what the previous piece has; `level` + 1 sixteenths of the page are not zero.
//              The weight is the number of pieces before, and more the farther they are
//   2  part    a piece, but not the page's newest: the rest follows in one that has this as the previous one
//   3  node    of 16 entries of the map: a word that tells which follow, and these. Weight 0: the others are 0, else as
//              the previous one has them. Level 1 has places of pages, level n of nodes of level n - 1. Index: that of
//              the first page >> 4 * level
//   4  gone    count (4): as many pages, or nodes, from index on are unmapped, all of which have the same node
//   5  lost    (4 bytes) page that could not be read when it was to be moved
//   6  commit  see Commit
//   7  filler  (4 bytes) nothing
//
// A commit stands in program units of its own, with padding before and behind (erased values). What it commits was
// programmed before it.
#pragma once

#include <h5mote/vfd/flash.hpp>

#include "cursor.hpp"

// A name of FlashRule: left out by one of the programs in tests/powercut, which must then see losses.
#ifndef H5MOTE_TEST_OMIT
#define H5MOTE_TEST_OMIT none
#endif

namespace h5mote {

// What keeps a power cut from losing anything that was committed.
enum class FlashRule : std::uint8_t {
    none,
    erase_first,    // a block is erased before use, whatever it looks like
    checksum_head,  // a block belongs to the log only if its header's checksum fits
    checksum,       // a record counts only if its checksum does
    commit_alone,   // what is committed does not stand in the same program unit
    free_last,      // what an earlier commit needs is not erased before a later one is complete
    leave_block,    // where a program may have been cut none follows
    barrier,        // what was never committed does not come back
    settle          // records before a mount are not gone through again by the next
};
constexpr bool keep(FlashRule rule) noexcept { return rule != FlashRule::H5MOTE_TEST_OMIT; }

enum class FlashRecord : std::uint8_t { piece = 1, part = 2, node = 3, gone = 4, lost = 5, commit = 6, filler = 7 };

struct FlashDriver::BlockHead {
    static constexpr std::uint32_t kSize = 32;

    FlashGeometry geometry;  // page_size: the program unit
    FlashFormat format;
    std::uint8_t version;
    bool barrier;
    std::uint32_t block;  // where it was found
    std::uint32_t sequence;
    std::uint32_t previous;
    std::uint32_t erases;
    std::uint32_t written;

    void encode(std::byte* to) const noexcept;
    bool decode(const std::byte* from) noexcept;
};

struct FlashDriver::Record {
    static constexpr std::uint32_t kSize = 12;      // without payload
    static constexpr std::uint32_t kSmallest = 16;  // of any
    static constexpr std::uint32_t kMostWeight = 31;

    std::uint32_t word;
    std::uint32_t checksum;
    std::uint32_t key;
    std::uint32_t link;  // previous piece, or the first word of the payload

    static constexpr std::uint32_t make(FlashRecord kind, std::uint32_t length, std::uint32_t offset = 0,
                                        unsigned weight = 0) noexcept {
        return static_cast<std::uint32_t>(kind) | weight << 3 | offset << 8 | (length - 1) << 20;
    }
    FlashRecord kind() const noexcept { return static_cast<FlashRecord>(word & 7); }
    unsigned weight() const noexcept { return word >> 3 & 31; }
    std::uint32_t offset() const noexcept { return word >> 8 & 0xfff; }
    std::uint32_t length() const noexcept { return (word >> 20) + 1; }
    bool piece() const noexcept { return kind() <= FlashRecord::part; }
    bool chained() const noexcept { return kind() <= FlashRecord::node && weight() != 0; }
    std::uint32_t head() const noexcept { return chained() ? kSize + 4 : kSize; }
    std::uint32_t size() const noexcept { return (head() + length() + 3) & ~3U; }
    void decode(const std::byte* from) noexcept;
    std::uint32_t index() const noexcept { return key & 0x0fffffff; }
    std::uint32_t level() const noexcept { return key >> 28; }
};

// Goes through the records of a block.
struct FlashDriver::Walk {
    std::uint32_t block;
    std::uint32_t offset;  // of the record; behind the last one at the end
    Record record;
    std::uint32_t suspect = 0;  // offset of what looked like a commit and was damaged
};

// Payload of a commit; its level is the number of levels of the map, its index bits 32 to 39 of the size of the file.
//
//   4  size of the file, low part
//   4  root of the map
//   4  place from which the records up to the commit are changes to the map
//   4  pages that are mapped
//   4  tail: oldest block with anything that is needed | blocks before it that an earlier commit may need << 24
struct FlashDriver::Commit {
    static constexpr std::uint32_t kSize = 20;

    std::uint64_t file_size;
    std::uint32_t root, live_pages, tail, kept, replay, height;
    Place place;  // where it was found

    void encode(std::byte* to) const noexcept;
    void decode(const std::byte* from) noexcept;
};

// Turns over each bit until `holds`; all are as they were if it never does.
template <typename Holds>
bool repair_flash_bit(std::byte* bytes, std::uint32_t size, Holds&& holds) noexcept {
    for (std::uint32_t i = 0; i < 8 * size; ++i) {
        const auto bit = static_cast<std::byte>(1U << (i & 7));
        bytes[i >> 3] ^= bit;
        if (holds()) {
            return true;
        }
        bytes[i >> 3] ^= bit;
    }
    return false;
}

inline constexpr std::uint32_t kFlashGone = 0x80000000;  // of a Change: no longer there
inline constexpr std::uint32_t kFlashLost = 1;           // place of what could not be read
inline constexpr std::uint32_t kNoFlashPage = 0xffffffff;
inline constexpr unsigned kFlashWeightLimit = 28;  // of a piece that is not split
inline constexpr unsigned kFlashFanOutLog2 = 4;    // of the map
inline constexpr unsigned kFlashHeight = 7;        // most levels of it
// Bytes of the largest record of a node: a head, the mask of its entries, all of them.
inline constexpr std::uint32_t kFlashNodeRecord = 12 + 4 + (4U << kFlashFanOutLog2);

inline constexpr std::uint32_t flash_key(std::uint32_t level, std::uint32_t index) noexcept {
    return level << 28 | index;
}
// Key of the node that holds the entry of `key`.
inline constexpr std::uint32_t flash_parent(std::uint32_t key) noexcept {
    return flash_key((key >> 28) + 1, (key & 0x0fffffff) >> kFlashFanOutLog2);
}

}  // namespace h5mote
