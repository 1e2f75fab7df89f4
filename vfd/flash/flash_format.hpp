// H5FD - the byte layout of the flash driver's log. All numbers are little-endian. A place counts words of four bytes
// from the start of the device; place 0 stands for none, place 1 for a page or node whose contents are lost.
//
// A block in use begins with a header, which is written right after the block was erased:
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
//   1  piece   weight 0: bytes [0, length) of page `index`; the rest of the page is zero. Else bytes [offset, offset +
//              length) of it, over what the previous piece has; `level` + 1 sixteenths of the page are not zero.
//              The weight grows with the number of earlier pieces and with their distance in the log
//   2  part    a piece that did not fit into its block: the rest is in a record that has this as the previous piece
//   3  node    of the map, 16 entries: a word with a bit for each entry that follows, then these. The others are 0 if
//              the weight is 0, else as in the previous record. Entries of level 1 are places of pages, those of level
//              n of nodes of level n - 1. Index: that of the first page >> 4 * level
//   4  gone    count (4): so many pages (or nodes) from index on are unmapped, all of them entries of one node
//   5  lost    (4 bytes) page that could not be read when it was to be moved
//   6  commit  see Commit
//   7  filler  (4 bytes) nothing
//
// A commit occupies program units of its own, padded before and after with erased values. Everything that it commits
// was programmed before it.
#pragma once

#include "cursor.hpp"
#include "flash_log.hpp"

namespace h5mote {

// The rules that keep a power cut from losing anything that was committed.
enum class FlashRule : std::uint8_t {
    none,
    erase_first,     // a block is erased before use, whatever it looks like
    checksum_head,   // a block belongs to the log only if its header's checksum fits
    checksum,        // a record counts only if its checksum does
    commit_alone,    // a commit does not share a program unit with what it commits
    free_last,       // a block that an earlier commit needs is not erased before a later commit is complete
    leave_block,     // after a mount nothing is added to the block with the commit: a program there may have been cut
    barrier,         // records that were never committed do not come back
    own_records,     // records from before a mount are not replayed by the mount after it
    lasting_commit,  // a mount sees from how far the log has come which blocks the session before it could erase
    regain           // what a cut has interrupted finds the room again that it had
};
// A build for tests leaves one of them out. Each program in tests/powercut that is built without a rule must see
// losses.
constexpr bool keep(FlashRule rule) noexcept { return rule != FlashRule::H5MOTE_TEST_OMIT; }

enum class FlashRecord : std::uint8_t { piece = 1, part = 2, node = 3, gone = 4, lost = 5, commit = 6, filler = 7 };

struct FlashLog::BlockHead {
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

struct FlashLog::Record {
    static constexpr std::uint32_t kSize = 12;      // without payload
    static constexpr std::uint32_t kSmallest = 16;  // of any
    static constexpr std::uint32_t kMostWeight = 31;

    std::uint32_t word;
    std::uint32_t checksum;
    std::uint32_t key;
    std::uint32_t link;  // place of the previous piece if chained(), else the first word of the payload

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
struct FlashLog::Walk {
    std::uint32_t block;
    std::uint32_t offset;  // where step() begins to look; then that of `record`
    Record record;
    std::uint32_t suspect = 0;  // offset of a damaged record that looks like a commit, or 0
};

// Payload of a commit. The level in the record's key is the height of the map, the index bits 32 to 39 of the file's
// size.
//
//   4  size of the file, low part
//   4  root of the map
//   4  place of the first record to replay: from there to the commit they are changes that the map does not have yet
//   4  pages that are mapped
//   4  tail: oldest block with anything that is needed | blocks before it that an earlier commit may need << 24
struct FlashLog::Commit {
    static constexpr std::uint32_t kSize = 20;

    std::uint64_t file_size;
    std::uint32_t root, live_pages, tail, kept, replay, height;
    Place place;  // where it was found

    void encode(std::byte* to) const noexcept;
    void decode(const std::byte* from) noexcept;
};

// Repairs a single flipped bit: inverts one bit after the other until holds() is true. If it never is, the bytes are
// left as they were and the result is false.
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

inline constexpr std::uint32_t kFlashGone = 0x80000000;  // flag in Change::place: the page or node is no longer there
inline constexpr std::uint32_t kFlashLost = 1;           // place of a page or node that could not be read
inline constexpr std::uint32_t kNoFlashPage = 0xffffffff;
inline constexpr unsigned kFlashWeightLimit = 28;  // above it, a page is written whole instead of another piece
inline constexpr unsigned kFlashFanOutLog2 = 4;    // log2 of the entries of a node of the map
inline constexpr unsigned kFlashHeight = 7;        // most levels of the map
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
