// H5FD H5F - the byte layout of the log that a FlashRecorder keeps on a chip. `h5mote extract` makes a file of it. All
// numbers are little-endian.
//
// The log goes through the chip block by block, round and round. A block in use begins with a RecordingHead, followed,
// if the blueprint has settings, by their values and a checksum of these (lookup3, started with the sequence). Then
// come frames, from `first` on, each at a multiple of four bytes and of the chip's program unit:
//
//   2  size: bytes of the frame, its checksum among them
//   1  kind | commit << 7
//   1  0x66
//   -  contents
//   4  checksum of all the above (lookup3, started with the sequence of the block)
//
//   1  rows       sections, each of them: 1 number of the dataset, 2 bytes of rows, the rows as the file holds them
//   2  settings   the values of all settings, one after the other
//   3  blueprint  4 offset, then bytes of the blueprint from this offset on
//
// A frame with the commit bit counts, and with it all frames before it. A frame lacks this bit only as long as its
// segment of the log does not have the whole blueprint, or, if rows or settings of other segments count, none itself.
//
// The blueprint is what a program needs to make the empty file:
//
//   4  size of the empty file
//   1  bytes of an address
//   1  bytes of the first block of a dataset's object header
//   1  offset of the dimension in it
//   1  segments: datasets of a ring, which take turns; 1 if there is no ring
//   2  pieces
//   2  datasets
//   2  settings
//   2  bytes of the values of all settings that a program sets
//   -  these values as they are before anybody sets them
//   -  for each dataset 28 bytes: the members of blueprint::RecordedDataset
//   -  for each setting 20 bytes: the members of blueprint::RecordedSetting, and the number of the ring's dataset whose
//      sequence the setting is, plus 1; 0 for a setting that a program sets
//   -  for each piece 8 bytes: the members of blueprint::Piece
//   -  the bytes of all pieces
#pragma once

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// The first bytes of a block in use, as a machine with the little end first has them in memory.
struct RecordingHead {
    static constexpr std::uint32_t kMagic = 0x726d3568;  // "h5mr"
    static constexpr std::uint32_t kVersion = 1;
    static constexpr std::uint32_t kNone = 0xffffffff;

    std::uint32_t magic;
    /// version | 0x20 if the erased value is 0 | log2 of the block's size << 8 | log2 of the program unit << 16 |
    /// segments << 24
    std::uint32_t shape;
    std::uint32_t blocks;     ///< of the chip
    std::uint32_t blueprint;  ///< lookup3 of the blueprint's bytes
    std::uint32_t window;     ///< no frame is larger
    std::uint32_t first;      ///< offset of the first frame
    /// One more than that of the block on the chip before this one, whether that was usable or not; the first block
    /// follows the last one. So a block has been erased once in each round, and one with a higher sequence is newer.
    std::uint32_t sequence;
    std::uint32_t start;     ///< sequence of the first block of this recording; older blocks are not part of it
    std::uint32_t previous;  ///< sequence of the block before this one in the log; kNone if this is the first one
    std::uint32_t end;       ///< in that block, the frames before this offset are part of the log
    std::uint32_t checksum;  ///< of all the above (lookup3)

    /// Number of the segment that a block of this sequence belongs to.
    constexpr std::uint32_t segment(std::uint32_t of) const noexcept { return (of - start) / (blocks / (shape >> 24)); }
};
static_assert(sizeof(RecordingHead) == 44);

/// What all frames have in common.
struct RecordingFrame {
    enum Kind : std::uint8_t { rows = 1, settings = 2, blueprint = 3 };
    static constexpr std::uint8_t kCommit = 0x80;
    static constexpr std::uint8_t kMark = 0x66;
    static constexpr std::uint32_t kHead = 4;
    static constexpr std::uint32_t kChecksum = 4;
    static constexpr std::uint32_t kSmallest = kHead + kChecksum;
    static constexpr std::uint32_t kSectionHead = 3;
};

}  // namespace h5mote
