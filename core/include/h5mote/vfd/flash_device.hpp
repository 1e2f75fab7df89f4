// H5FD - the interface that a driver for a flash chip implements: raw NOR or NAND, on-chip or behind SPI, without a
// file system.
#pragma once

#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>

namespace h5mote {

/// The part of a chip that the driver may use, with the numbers of the chip's data sheet. The driver needs at least 8
/// blocks, and at least 4 program units in each.
struct FlashGeometry {
    std::uint32_t blocks = 0;      ///< erase blocks
    std::uint32_t block_size = 0;  ///< bytes of a block, a power of two: 512 to 1 MiB
    std::uint32_t page_size = 0;   ///< bytes within which one program must stay, a power of two: 256 for most SPI NOR
    /// Programs begin and end at multiples of this many bytes, a power of two up to page_size, for FlashDriver at most
    /// 32768. Each unit is programmed once between two erases. It is a word on chips with an ECC, the page on NAND.
    std::uint32_t program_unit = 1;
    std::uint8_t erased_value = 0xff;  ///< 0xff or 0x00: what erased bytes read as

    constexpr std::uint64_t capacity() const noexcept { return std::uint64_t{blocks} * block_size; }
};

/// A flash chip. Every function returns when the operation is over, not when it has begun. The driver expects nothing
/// of what an interrupted program or erase leaves behind: that may be any bytes, and others every time they are read.
class FlashDevice {
public:
    virtual FlashGeometry geometry() const noexcept = 0;

    /// Fills `to` from `offset` of the block; the range lies within the block. corrupt_file: the chip's ECC cannot
    /// correct what it read; on many chips that is so for erased bytes. io_error: the chip does not answer, and for no
    /// other reason.
    virtual Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept = 0;
    /// Whether the chip's ECC had to correct something in the last read() that returned ok. The driver then writes
    /// those bytes elsewhere, before more bits turn over. Default: the chip does not tell.
    virtual bool corrected() noexcept { return false; }
    /// Programs erased units; the range lies within one page and consists of whole units. io_error: the chip reports a
    /// failure, and what the range holds is undefined.
    virtual Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept = 0;
    /// Erases a block: all of its bytes read as erased_value afterwards, unless the chip's ECC cannot read erased
    /// bytes. io_error: the chip reports a failure, and what the block holds is undefined.
    ///
    /// For an EEPROM or FRAM, any byte of which can be programmed at any time, this function must write erased_value
    /// over the whole block. FlashDriver relies on that: it takes what stands behind its newest record for a record,
    /// too, if the checksum fits, and the checksum does not tell a record from one that an earlier round of the log has
    /// left in the same place. Such a record would bring an older state of the file back at the next mount. Only for a
    /// FlashRecorder may the function do nothing, because that recorder looks whether the block is blank.
    virtual Status erase(std::uint32_t block) noexcept = 0;

    /// Whether the block must not be used, because the factory or mark_bad() marked it. Default: no block is bad.
    virtual Status is_bad(std::uint32_t /*block*/, bool& bad) noexcept {
        bad = false;
        return Status::ok;
    }
    /// Marks a block as bad, beside its data (in NAND's spare bytes), where is_bad() finds the mark. Default: there is
    /// no place for a mark; an erase that failed is then tried again each time the block's turn comes.
    virtual Status mark_bad(std::uint32_t /*block*/) noexcept { return Status::ok; }

    /// The chip's or the bus's own code for the last failure. Default: it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    FlashDevice() = default;
    FlashDevice(const FlashDevice&) = delete;
    FlashDevice& operator=(const FlashDevice&) = delete;
    ~FlashDevice() = default;
};

}  // namespace h5mote
