// A strict flash chip, simulated in memory: it refuses operations whose result a real chip leaves undefined, counts
// erases, and can lose power in the middle of any program or erase. It works in memory that the caller lends, so that
// it runs on boards, too.
#pragma once

#include <h5mote/vfd/flash_device.hpp>

namespace h5mote_test {

struct FlashSimulatorOptions {
    h5mote::FlashGeometry geometry;
    std::uint8_t programs_per_page = 0;  ///< programs of one page allowed between two erases; 0: any number, 1: NAND
    bool units_once = true;              ///< a unit may be programmed once between two erases, as FlashDevice demands;
                                         ///< false: again and again, as long as no bit returns to the erased value
    bool blank_is_unreadable = false;    ///< the chip's ECC rejects program units that were not programmed, and
                                         ///< sometimes unstable ones: read() returns corrupt_file
    bool keeps_marks = true;             ///< mark_bad() is remembered; false: it does nothing
    bool overwrites = false;             ///< an EEPROM or FRAM: any bytes may be programmed, and an erase does nothing
    bool erase_fills = false;            ///< of such a chip: its erase writes erased_value, as FlashDevice demands
};

/// Why an operation was refused. Each is a mistake of the caller.
enum class FlashViolation : std::uint8_t {
    none,
    outside,         ///< beyond the device or the block
    unaligned,       ///< not of whole program units, or empty
    crosses_page,    ///< a program that reaches into a second page
    sets_bit,        ///< a program that would bring a bit back to the erased value
    unit_twice,      ///< a program of a unit that is programmed already (units_once)
    page_too_often,  ///< more programs of a page than programs_per_page
    not_erased,      ///< a program after an erase that failed or was interrupted
    marked_bad,      ///< a program or erase of a block known as bad
};

/// How the power fails in a program or an erase. Units count as programmed as soon as they may have been touched.
enum class FlashCut : std::uint8_t {
    not_begun,
    torn,      ///< the first `units` program units are complete, the rest is untouched
    partly,    ///< each bit that was to change either has changed or has not, and reads as such from then on
    unstable,  ///< as `partly`, but some of the bits read differently each time until the block is erased
};

struct FlashCounts {
    std::uint64_t reads = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t programs = 0;
    std::uint64_t bytes_programmed = 0;
    std::uint64_t erases = 0;
    std::uint64_t violations = 0;
};

class FlashSimulator final : public h5mote::FlashDevice {
public:
    /// Bytes of memory that a chip of this geometry takes: a little more than twice its capacity.
    static constexpr std::size_t required_memory(const h5mote::FlashGeometry& geometry) noexcept {
        const std::size_t capacity = static_cast<std::size_t>(geometry.capacity());
        return std::size_t{geometry.blocks} * sizeof(Block) + 2 * capacity + capacity / geometry.page_size +
               capacity / geometry.program_unit / 8 + 1;
    }

    /// A chip as it leaves the factory: all erased. `memory` is borrowed: required_memory() bytes, aligned to 8.
    FlashSimulator(const FlashSimulatorOptions& options, h5mote::Bytes memory) noexcept;

    h5mote::FlashGeometry geometry() const noexcept override { return options_.geometry; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override;
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override;
    h5mote::Status erase(std::uint32_t block) noexcept override;
    h5mote::Status is_bad(std::uint32_t block, bool& bad) noexcept override;
    h5mote::Status mark_bad(std::uint32_t block) noexcept override;

    /// Takes over the state of another chip with the same options, counters included.
    void copy_from(const FlashSimulator& other) noexcept;
    /// Fills the chip with random bytes that count as programmed, as on a used chip.
    void scramble(std::uint64_t seed) noexcept;

    /// Marks a block as bad, as the factory does: is_bad() reports it, and the block holds random bytes.
    void set_bad(std::uint32_t block, std::uint64_t seed = 1) noexcept;
    /// Lets a block wear out: its `operation`-th program or erase from now (counted from 1) fails, and so does every
    /// later one. 0: none fails.
    void fail_block(std::uint32_t block, std::uint32_t operation) noexcept;
    /// Only the `operation`-th program or erase of the chip from now fails, counted from 1. 0: none.
    void fail_operation(std::uint64_t operation) noexcept { failing_ = operation == 0 ? 0 : operations_ + operation; }

    /// The `read`-th read() from now fails with io_error, counted from 1. 0: none.
    void fail_read(std::uint64_t read) noexcept { failing_read_ = read == 0 ? 0 : counts_.reads + read; }

    /// The power fails in the `operation`-th program or erase from now, counted from 1. From then until power_on(),
    /// every call returns io_error. 0: the power never fails. For the cuts `partly` and `unstable`, `units` modulo 3
    /// chooses how many of the bits in question have changed: 0: about half, 1: nearly all, 2: few.
    void cut_after(std::uint64_t operation, FlashCut cut, std::uint64_t seed, std::uint32_t units = 0) noexcept;
    bool powered() const noexcept { return powered_; }
    /// From now on, unstable bits read as random numbers of `seed` say.
    void power_on(std::uint64_t seed) noexcept;

    /// Until its block is erased, the chip's ECC has to correct something in each read of this program unit, and
    /// corrected() says so. A chip has one such unit at most: the last one named.
    void weaken(std::uint32_t block, std::uint32_t offset) noexcept {
        weak_ = std::uint64_t{block} * options_.geometry.block_size + offset;
    }
    bool corrected() noexcept override { return corrected_; }

    /// Inverts these bits of the byte stored there.
    void flip(std::uint32_t block, std::uint32_t offset, std::uint8_t bits) noexcept;

    std::uint32_t erases(std::uint32_t block) const noexcept { return blocks_[block].erases; }
    /// Whether bits of the block read differently each time.
    bool unstable(std::uint32_t block) const noexcept { return blocks_[block].unstable; }
    const FlashCounts& counts() const noexcept { return counts_; }
    /// Programs and erases so far that were not refused.
    std::uint64_t operations() const noexcept { return operations_; }
    void reset_counts() noexcept { counts_ = {}; }
    /// The first thing that was refused, and where; an offset of 0xffffffff for an erase.
    FlashViolation violation() const noexcept { return violation_; }
    std::uint32_t violation_block() const noexcept { return violation_block_; }
    std::uint32_t violation_offset() const noexcept { return violation_offset_; }
    /// All bytes of the chip, for saving as an image. Unstable bits have one fixed value here.
    h5mote::ConstBytes contents() const noexcept { return {stored_, capacity_}; }

private:
    static constexpr std::uint64_t kNothingWeak = ~std::uint64_t{0};

    struct Block {
        std::uint32_t erases;
        std::uint32_t operations;
        std::uint32_t fails_from;  // 0: never
        bool bad;
        bool unstable;
        bool half_erased;
    };

    h5mote::Status refuse(FlashViolation what, std::uint32_t block, std::uint32_t offset) noexcept;
    FlashViolation judge(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) const noexcept;
    bool unit_used(std::size_t unit) const noexcept { return (used_[unit / 8] >> unit % 8 & 1U) != 0; }
    void use_units(std::size_t first, std::size_t count) noexcept;
    bool fails(Block& block) noexcept;
    void change(std::uint32_t block, std::size_t at, std::size_t size, const std::byte* to, FlashCut cut,
                std::uint64_t seed) noexcept;

    FlashSimulatorOptions options_;
    std::size_t capacity_;
    Block* blocks_;
    std::byte* stored_;
    std::byte* wavering_;     // for each stored byte, a mask of its unstable bits
    std::uint8_t* programs_;  // for each page, the programs since its last erase
    std::uint8_t* used_;      // a bit for each program unit: whether it is programmed
    std::size_t memory_size_;
    FlashCounts counts_;
    std::uint64_t operations_ = 0;
    std::uint64_t failing_ = 0;
    std::uint64_t failing_read_ = 0;
    std::uint64_t cut_at_ = 0;
    std::uint64_t cut_seed_ = 0;
    std::uint32_t cut_units_ = 0;
    FlashCut cut_ = FlashCut::not_begun;
    bool powered_ = true;
    bool corrected_ = false;
    std::uint64_t weak_ = kNothingWeak;  // the offset in the chip of some byte of the unit given to weaken()
    std::uint64_t noise_ = 1;
    FlashViolation violation_ = FlashViolation::none;
    std::uint32_t violation_block_ = 0;
    std::uint32_t violation_offset_ = 0;
};

}  // namespace h5mote_test
