// What a driver for a flash chip implements: raw NOR or NAND, on-chip or behind SPI, without a file system.
#pragma once

#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>

namespace h5mote {

/// The part of a chip that is lent, as its data sheet has it.
struct FlashGeometry {
    std::uint32_t blocks = 0;        ///< erase blocks
    std::uint32_t block_size = 0;    ///< bytes of one, a power of two: 1 KiB to 1 MiB
    std::uint32_t page_size = 0;     ///< bytes within which one program must stay, a power of two: 256 for most SPI NOR
    std::uint32_t program_unit = 1;  ///< programs begin and end at multiples of this many bytes, a power of two up to
                                     ///< page_size. Each unit is programmed once between two erases: with an ECC a
                                     ///< word, NAND the page
    std::uint8_t erased_value = 0xff;  ///< 0xff or 0x00: what erased bytes read as

    constexpr std::uint64_t capacity() const noexcept { return std::uint64_t{blocks} * block_size; }
};

/// A flash chip. Every function returns when the operation is over, not when it was begun. Nothing is asked of what an
/// interrupted operation leaves behind: any bytes, and not the same ones every time they are read.
class FlashDevice {
public:
    virtual FlashGeometry geometry() const noexcept = 0;

    /// Fills `to` from `offset` of the block; the range lies within the block. corrupt_file: its own ECC cannot correct
    /// what it read, as that of many chips with what is erased. io_error: the chip does not answer; never for that.
    virtual Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept = 0;
    /// Whether the chip's ECC had to correct something in the last read() that returned ok. What was there is written
    /// elsewhere then, before more bits turn over. Default: it does not tell.
    virtual bool corrected() noexcept { return false; }
    /// Programs erased units; the range lies within one page and consists of whole units. io_error: the chip reports a
    /// failure, what the range holds is undefined.
    virtual Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept = 0;
    /// io_error: the chip reports a failure, what the block holds is undefined.
    virtual Status erase(std::uint32_t block) noexcept = 0;

    /// Whether the block must not be used: marked by the factory or by mark_bad(). Default: none is.
    virtual Status is_bad(std::uint32_t /*block*/, bool& bad) noexcept {
        bad = false;
        return Status::ok;
    }
    /// Keeps a mark that is_bad() finds, beside the data (NAND's spare bytes). Default: nowhere to keep it; an erase
    /// that fails is then tried again each time the block's turn comes.
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
