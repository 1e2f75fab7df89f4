// A flash chip in memory that forgives nothing: it refuses whatever a real one would leave undefined, counts wear, and
// loses power within any program or erase. Runs on boards, too: its memory is lent.
#pragma once

#include <h5mote/vfd/flash_device.hpp>

namespace h5mote_test {

struct FlashSimulatorOptions {
    h5mote::FlashGeometry geometry;
    std::uint8_t programs_per_page = 0;  ///< between two erases; 0: any number, 1: NAND
    bool units_once = true;              ///< a unit is programmed once between two erases, as FlashDevice has it; else
                                         ///< bits may be taken away again and again
    bool blank_is_unreadable = false;    ///< an ECC fails on units that are not programmed, and at times on
                                         ///< unstable ones: corrupt_file
    bool keeps_marks = true;             ///< mark_bad() is remembered; else no block is ever bad
};

/// What was refused. Each is a mistake of the caller.
enum class FlashViolation : std::uint8_t {
    none,
    outside,         ///< beyond the device or the block
    unaligned,       ///< not of whole program units, or empty
    crosses_page,    ///< a program in two pages
    sets_bit,        ///< would bring a bit back to the erased value
    unit_twice,      ///< a unit programmed already
    page_too_often,  ///< programs_per_page
    not_erased,      ///< a program after an erase that failed or was interrupted
    marked_bad,      ///< a program or erase of a block known as bad
};

/// How the power fails in a program or an erase. Units count as programmed as soon as they may have been touched.
enum class FlashCut : std::uint8_t {
    not_begun,
    torn,      ///< the first `units` program units are done, the rest not begun
    partly,    ///< each bit that was to change has changed or not, for good
    unstable,  ///< as `partly`, and some bits, in between, read differently each time until the block is erased
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

    /// A chip as it leaves the factory: all erased. `memory`, of required_memory() bytes aligned to 8, is borrowed.
    FlashSimulator(const FlashSimulatorOptions& options, h5mote::Bytes memory) noexcept;

    h5mote::FlashGeometry geometry() const noexcept override { return options_.geometry; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override;
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override;
    h5mote::Status erase(std::uint32_t block) noexcept override;
    h5mote::Status is_bad(std::uint32_t block, bool& bad) noexcept override;
    h5mote::Status mark_bad(std::uint32_t block) noexcept override;

    /// The same state as another chip of the same options has; the counters, too.
    void copy_from(const FlashSimulator& other) noexcept;
    /// Fills the chip with bytes that mean nothing, as programmed ones.
    void scramble(std::uint64_t seed) noexcept;

    /// The factory's mark: is_bad() finds it, and the block holds bytes that mean nothing.
    void set_bad(std::uint32_t block, std::uint64_t seed = 1) noexcept;
    /// From the `operation`-th program or erase of this block on, counted from 1 and from now, all of these fail: the
    /// block wears out. 0: never.
    void fail_block(std::uint32_t block, std::uint32_t operation) noexcept;
    /// The `operation`-th program or erase from now fails, counted from 1, and no other. 0: none.
    void fail_operation(std::uint64_t operation) noexcept { failing_ = operation == 0 ? 0 : operations_ + operation; }

    /// The chip does not answer the `read`-th read() from now, counted from 1. 0: all are answered.
    void fail_read(std::uint64_t read) noexcept { failing_read_ = read == 0 ? 0 : counts_.reads + read; }

    /// The power fails in the `operation`-th program or erase from now, counted from 1. Everything returns io_error
    /// then until power_on(). 0: never. `units` of a cut that is not torn: half of all bits have changed if it is
    /// divisible by 3, one more: nearly all, two more: few.
    void cut_after(std::uint64_t operation, FlashCut cut, std::uint64_t seed, std::uint32_t units = 0) noexcept;
    bool powered() const noexcept { return powered_; }
    /// `seed` is of what unstable bits read as from now on.
    void power_on(std::uint64_t seed) noexcept;

    /// The chip's ECC corrects something in each read of this program unit until its block is erased. One at a time.
    void weaken(std::uint32_t block, std::uint32_t offset) noexcept {
        weak_ = std::uint64_t{block} * options_.geometry.block_size + offset;
    }
    bool corrected() noexcept override { return corrected_; }

    /// Turns bits over that are stored there.
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
    /// What is stored, unstable bits as they happened to come out. For images.
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
    std::byte* wavering_;     // bits that read differently each time
    std::uint8_t* programs_;  // of each page
    std::uint8_t* used_;      // a bit for each unit
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
    std::uint64_t weak_ = kNothingWeak;  // a byte of the unit
    std::uint64_t noise_ = 1;
    FlashViolation violation_ = FlashViolation::none;
    std::uint32_t violation_block_ = 0;
    std::uint32_t violation_offset_ = 0;
};

}  // namespace h5mote_test
