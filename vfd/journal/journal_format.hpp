// H5FD - the byte layout of a journal. All numbers are little-endian. The home is the storage of the file, the log that
// of the journal; committed records are carried over from the log into the home.
//
// Header, at 0 and at 512, written in turns; the valid one with the higher sequence counts:
//
//    0  8  "h5mote-j"
//    8  2  version, 1
//   10  2  number of lists
//   12  4  sequence: one more than that of the header before. A header begins a round: all records written after it
//   16  8  base: bytes of the file when the round began, all of which are in the home
//   24  8  address of the piece that was carried over last
//   32  96 checksums of 24 cells of 64 bytes of the file: 8 each from the aligned 512 bytes that begin the file, that
//          hold its last byte, and that hold the address before
//  128  4  bit i: cell i lies within the file and was summed
//  132  4  salt: checksum of the 20 bytes that were in place of the first record, so that records from earlier, whose
//          header was lost, are not taken for those of this round
//  136  4  checksum of all before
//
// Records, from 1024 on, without gaps:
//
//    0  4  checksum of all that follows in this record, seeded with that of the record before; the first: of the header
//    4  2  length of the payload
//    6  1  type: 1 piece of the file, 2 cut: the file becomes shorter, 3 commit, 4 commit after which the home is
//          changed: until then it is as it was when the round began
//    7  1  zero
//    8  8  address of the piece; new length of the file
//   16  4  piece: position of the previous piece of the same list, 0: none; the list of an address is its 4 KiB page
//          modulo the number of lists. cut: position of the previous cut. commit: 80000000 hex, so that one whose last
//          bytes did not arrive does not become whole when the log is made longer with zeros, or-ed with the witness:
//          the checksum of what the home held, when the round began, where the pieces of the round go, 16 bytes from
//          the address of each on, as far as the base reaches, each checksum the seed of the next. "done" in logs that
//          have no witness
//   20  -  payload, for a piece, which never crosses a boundary of 4 KiB
//
// The first record whose checksum does not fit ends the log, and what counts ends with the last commit before it.
// Checksums are lookup3. As each is the seed of the next, a record that was lost or is of an earlier round is noticed.
#pragma once

#include "cursor.hpp"

#include "redo_log.hpp"

namespace h5mote {
namespace journal {

enum class Rule : std::uint8_t {
    none,
    sync_log,     // a commit is durable before sync() returns ok
    sync_home,    // records that were carried over are durable in the home before the log forgets them
    sync_header,  // the header of a new round is durable before records of the old round are overwritten
    announce,     // the home is not changed before a commit says that it will be
    chain         // each record's checksum is the seed of the next
};
// A build for tests leaves one rule out, and must then lose something.
constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

constexpr std::byte kMagic[8] = {std::byte{'h'}, std::byte{'5'}, std::byte{'m'}, std::byte{'o'},
                                 std::byte{'t'}, std::byte{'e'}, std::byte{'-'}, std::byte{'j'}};
constexpr std::uint32_t kSlotSize = 512;
constexpr std::uint32_t kHeaderSize = 140;
constexpr std::uint32_t kFirstRecord = 1024;
constexpr std::uint32_t kRecordSize = 20;
constexpr std::uint32_t kPage = 4096;
constexpr std::size_t kMostGathered = 16 * 1024;
constexpr unsigned kCells = 24;
constexpr std::uint32_t kCellSize = 64;
constexpr unsigned kCellsAt = 32;  // in the header
constexpr std::uint16_t kVersion = 1;
constexpr std::uint32_t kWitness = 0x80000000;
constexpr std::uint32_t kWitnessed = 16;  // bytes of the home from the address of a piece on
constexpr std::uint32_t kNone = 0xffffffff;
// The longest file, so that no sum of an address and a length within a page overflows.
constexpr Address kMostSize = ~Address{2 * kPage};

enum Type : std::uint8_t { kPiece = 1, kCut = 2, kCommit = 3, kCommitAndChange = 4 };

}  // namespace journal

struct RedoLog::Record {
    std::uint32_t checksum;
    std::uint16_t length;
    std::uint8_t type;
    Address address;
    std::uint32_t previous;
};

/// A place in the log to go back to.
struct RedoLog::Place {
    std::uint32_t position;
    std::uint32_t chain;
    std::uint32_t witness;
};

/// What open() takes from a header. The checksums of cells stay in the log until they are asked for.
struct RedoLog::Header {
    std::uint32_t at;  // offset of its slot in the log
    std::uint16_t lists;
    std::uint32_t sequence;
    Address base;
    Address newest;
    std::uint32_t cells;
    std::uint32_t checksum;

    /// Where a cell lies in the file.
    static Address cell(unsigned i, Address base, Address newest) noexcept {
        const Address sample = i < 8 ? 0 : i < 16 ? (base == 0 ? 0 : base - 1) : newest;
        return (sample & ~Address{511}) + i % 8 * journal::kCellSize;
    }
};

inline std::uint32_t& RedoLog::list(Address address) noexcept {
    return lists_[static_cast<std::size_t>(address / journal::kPage) & (options_.lists - 1U)];
}

}  // namespace h5mote
