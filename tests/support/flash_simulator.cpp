#include "flash_simulator.hpp"

#include <cstring>

namespace h5mote_test {

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Status;

namespace {

// Random numbers of a seed (splitmix64), the same on every machine.
class Random {
public:
    explicit Random(std::uint64_t& state) noexcept : state_(state) {}
    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        return z ^ z >> 31;
    }
    std::byte bits() noexcept { return static_cast<std::byte>(next() >> 56); }
    // Each bit is set with a probability of one in 128.
    std::byte few_bits() noexcept {
        const std::uint64_t all = next();
        return static_cast<std::byte>(all & all >> 8 & all >> 16 & all >> 24 & all >> 32 & all >> 40 & all >> 48);
    }

private:
    std::uint64_t& state_;
};

constexpr std::uint32_t kWholeBlock = 0xffffffff;

}  // namespace

FlashSimulator::FlashSimulator(const FlashSimulatorOptions& options, Bytes memory) noexcept
    : options_(options),
      capacity_(static_cast<std::size_t>(options.geometry.capacity())),
      memory_size_(required_memory(options.geometry)) {
    std::byte* next = memory.data();
    const auto take = [&](std::size_t size) {
        std::byte* const taken = next;
        next += size;
        return taken;
    };
    blocks_ = reinterpret_cast<Block*>(take(options.geometry.blocks * sizeof(Block)));
    stored_ = take(capacity_);
    wavering_ = take(capacity_);
    programs_ = reinterpret_cast<std::uint8_t*>(take(capacity_ / options.geometry.page_size));
    used_ = reinterpret_cast<std::uint8_t*>(next);
    std::memset(memory.data(), 0, memory_size_);
    std::memset(stored_, options.geometry.erased_value, capacity_);
}

void FlashSimulator::copy_from(const FlashSimulator& other) noexcept {
    std::memcpy(blocks_, other.blocks_, memory_size_);
    counts_ = other.counts_;
    operations_ = other.operations_;
    failing_ = other.failing_;
    failing_read_ = other.failing_read_;
    cut_at_ = other.cut_at_;
    cut_seed_ = other.cut_seed_;
    cut_units_ = other.cut_units_;
    cut_ = other.cut_;
    powered_ = other.powered_;
    noise_ = other.noise_;
    violation_ = other.violation_;
    violation_block_ = other.violation_block_;
    violation_offset_ = other.violation_offset_;
    weak_ = other.weak_;
}

void FlashSimulator::scramble(std::uint64_t seed) noexcept {
    Random random(seed);
    for (std::size_t i = 0; i < capacity_; ++i) {
        stored_[i] = random.bits();
    }
    use_units(0, capacity_ / options_.geometry.program_unit);
    std::memset(programs_, 0xff, capacity_ / options_.geometry.page_size);
}

void FlashSimulator::set_bad(std::uint32_t block, std::uint64_t seed) noexcept {
    Random random(seed);
    const std::size_t size = options_.geometry.block_size;
    for (std::size_t i = 0; i < size; ++i) {
        stored_[block * size + i] = random.bits();
    }
    use_units(block * size / options_.geometry.program_unit, size / options_.geometry.program_unit);
    blocks_[block].bad = true;
}

void FlashSimulator::fail_block(std::uint32_t block, std::uint32_t operation) noexcept {
    blocks_[block].fails_from = operation == 0 ? 0 : blocks_[block].operations + operation;
}

void FlashSimulator::cut_after(std::uint64_t operation, FlashCut cut, std::uint64_t seed,
                               std::uint32_t units) noexcept {
    cut_at_ = operation == 0 ? 0 : operations_ + operation;
    cut_ = cut;
    cut_seed_ = seed;
    cut_units_ = units;
}

void FlashSimulator::power_on(std::uint64_t seed) noexcept {
    powered_ = true;
    cut_at_ = 0;
    noise_ = seed;
}

void FlashSimulator::flip(std::uint32_t block, std::uint32_t offset, std::uint8_t bits) noexcept {
    stored_[std::size_t{block} * options_.geometry.block_size + offset] ^= std::byte{bits};
}

Status FlashSimulator::refuse(FlashViolation what, std::uint32_t block, std::uint32_t offset) noexcept {
    if (counts_.violations++ == 0) {
        violation_ = what;
        violation_block_ = block;
        violation_offset_ = offset;
    }
    return Status::invalid_argument;
}

void FlashSimulator::use_units(std::size_t first, std::size_t count) noexcept {
    for (std::size_t i = first; i < first + count; ++i) {
        used_[i / 8] = static_cast<std::uint8_t>(used_[i / 8] | 1U << i % 8);
    }
}

Status FlashSimulator::read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept {
    const h5mote::FlashGeometry& chip = options_.geometry;
    if (!powered_) {
        return Status::io_error;
    }
    if (block >= chip.blocks || offset > chip.block_size || to.size() > chip.block_size - offset) {
        return refuse(FlashViolation::outside, block, offset);
    }
    ++counts_.reads;
    if (counts_.reads == failing_read_) {
        return Status::io_error;
    }
    counts_.bytes_read += to.size();
    const std::size_t at = std::size_t{block} * chip.block_size + offset;
    if (options_.blank_is_unreadable && !to.empty()) {
        for (std::size_t unit = at / chip.program_unit; unit <= (at + to.size() - 1) / chip.program_unit; ++unit) {
            if (!unit_used(unit)) {
                return Status::corrupt_file;
            }
        }
    }
    corrected_ = false;
    if (to.empty()) {
        return Status::ok;
    }
    const auto unit = static_cast<std::size_t>(weak_ / chip.program_unit);
    corrected_ =
        weak_ != kNothingWeak && unit >= at / chip.program_unit && unit <= (at + to.size() - 1) / chip.program_unit;
    std::memcpy(to.data(), stored_ + at, to.size());
    if (blocks_[block].unstable) {
        Random random(noise_);
        bool uncorrectable = false;
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (wavering_[at + i] != std::byte{0}) {
                to[i] ^= wavering_[at + i] & random.bits();
                uncorrectable = options_.blank_is_unreadable && (random.bits() & std::byte{3}) == std::byte{0};
            }
            if (uncorrectable) {
                return Status::corrupt_file;
            }
        }
    }
    return Status::ok;
}

FlashViolation FlashSimulator::judge(std::uint32_t block, std::uint32_t offset, ConstBytes from) const noexcept {
    const h5mote::FlashGeometry& chip = options_.geometry;
    if (block >= chip.blocks || offset > chip.block_size || from.size() > chip.block_size - offset) {
        return FlashViolation::outside;
    }
    if (from.empty() || offset % chip.program_unit != 0 || from.size() % chip.program_unit != 0) {
        return FlashViolation::unaligned;
    }
    if (offset / chip.page_size != (offset + from.size() - 1) / chip.page_size) {
        return FlashViolation::crosses_page;
    }
    if (blocks_[block].bad) {
        return FlashViolation::marked_bad;
    }
    if (options_.overwrites) {
        return FlashViolation::none;
    }
    if (blocks_[block].half_erased) {
        return FlashViolation::not_erased;
    }
    const std::size_t at = std::size_t{block} * chip.block_size + offset;
    if (options_.programs_per_page != 0 && programs_[at / chip.page_size] >= options_.programs_per_page) {
        return FlashViolation::page_too_often;
    }
    if (options_.units_once) {
        for (std::size_t i = 0; i < from.size(); i += chip.program_unit) {
            if (unit_used((at + i) / chip.program_unit)) {
                return FlashViolation::unit_twice;
            }
        }
    }
    const std::byte erased{chip.erased_value};
    for (std::size_t i = 0; i < from.size(); ++i) {
        // Only erase() may return a bit to the erased value, but this program would: for a bit that is programmed, or
        // for one that is unstable and may read as programmed.
        if ((((stored_[at + i] ^ erased) | wavering_[at + i]) & ~(from[i] ^ erased)) != std::byte{0}) {
            return FlashViolation::sets_bit;
        }
    }
    return FlashViolation::none;
}

// Counts a program or erase, and says whether it fails because of fail_operation() or fail_block(). Power cuts are
// checked by the caller.
bool FlashSimulator::fails(Block& block) noexcept {
    ++operations_;
    ++block.operations;
    return (failing_ != 0 && operations_ == failing_) ||
           (block.fails_from != 0 && block.operations >= block.fails_from);
}

// Does a program or erase incompletely: of the bits that were to change to `to` (nullptr: to the erased value), a
// random part changes. After a cut of kind `unstable`, some of these bits waver from then on.
void FlashSimulator::change(std::uint32_t block, std::size_t at, std::size_t size, const std::byte* to, FlashCut cut,
                            std::uint64_t seed) noexcept {
    const std::byte erased{options_.geometry.erased_value};
    Random random(seed);
    for (std::size_t i = at; i < at + size; ++i) {
        const std::byte changing = (stored_[i] ^ (to == nullptr ? erased : to[i - at])) | wavering_[i];
        const std::byte some = changing & (cut_units_ % 3 == 0 ? random.bits() : random.few_bits());
        stored_[i] ^= cut_units_ % 3 == 1 ? changing ^ some : some;
        if (cut == FlashCut::unstable) {
            wavering_[i] |= cut_units_ % 3 == 0 ? changing & random.bits() : some;
        }
    }
    blocks_[block].unstable = blocks_[block].unstable || cut == FlashCut::unstable;
}

Status FlashSimulator::program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept {
    if (!powered_) {
        return Status::io_error;
    }
    if (const FlashViolation what = judge(block, offset, from); what != FlashViolation::none) {
        return refuse(what, block, offset);
    }
    const h5mote::FlashGeometry& chip = options_.geometry;
    const std::size_t at = std::size_t{block} * chip.block_size + offset;
    const bool failed = fails(blocks_[block]);
    const bool cut = cut_at_ != 0 && operations_ >= cut_at_;
    powered_ = !cut;
    std::size_t size = from.size();
    if (cut && (cut_ == FlashCut::not_begun || cut_ == FlashCut::torn)) {
        const std::size_t arrived = cut_ == FlashCut::torn ? std::size_t{cut_units_} * chip.program_unit : 0;
        size = arrived < size ? arrived : size;
    }
    if (size == 0) {
        return Status::io_error;
    }
    ++programs_[at / chip.page_size];
    use_units(at / chip.program_unit, size / chip.program_unit);
    // What a program was to change may all be there although it failed: one time in four.
    const bool all_there = failed && !cut && operations_ % 4 == 0;
    if ((failed && !all_there) || (cut && (cut_ == FlashCut::partly || cut_ == FlashCut::unstable))) {
        change(block, at, size, from.data(), cut ? cut_ : FlashCut::partly, cut ? cut_seed_ : operations_);
        return Status::io_error;
    }
    std::memcpy(stored_ + at, from.data(), size);
    if (options_.overwrites) {
        std::memset(wavering_ + at, 0, size);
    }
    if (cut || failed) {
        return Status::io_error;
    }
    ++counts_.programs;
    counts_.bytes_programmed += size;
    return Status::ok;
}

Status FlashSimulator::erase(std::uint32_t block) noexcept {
    const h5mote::FlashGeometry& chip = options_.geometry;
    if (!powered_) {
        return Status::io_error;
    }
    if (block >= chip.blocks || blocks_[block].bad) {
        return refuse(block >= chip.blocks ? FlashViolation::outside : FlashViolation::marked_bad, block, kWholeBlock);
    }
    Block& state = blocks_[block];
    const bool failed = fails(state);
    const bool cut = cut_at_ != 0 && operations_ >= cut_at_;
    powered_ = !cut;
    if (cut && cut_ == FlashCut::not_begun) {
        return Status::io_error;
    }
    if (options_.overwrites && !options_.erase_fills) {
        state.erases += cut || failed ? 0U : 1U;
        return cut || failed ? Status::io_error : Status::ok;
    }
    const std::size_t at = std::size_t{block} * chip.block_size;
    std::size_t size = chip.block_size;
    if (cut && cut_ == FlashCut::torn) {
        const std::size_t arrived = std::size_t{cut_units_} * chip.program_unit;
        size = arrived < size ? arrived : size;
    }
    ++state.erases;
    if (failed || (cut && cut_ != FlashCut::torn)) {
        change(block, at, size, nullptr, cut ? cut_ : FlashCut::partly, cut ? cut_seed_ : operations_);
        use_units(at / chip.program_unit, size / chip.program_unit);
        state.half_erased = true;
        return Status::io_error;
    }
    if (weak_ >= at && weak_ - at < size) {
        weak_ = kNothingWeak;
    }
    std::memset(stored_ + at, chip.erased_value, size);
    std::memset(wavering_ + at, 0, size);
    if (cut) {
        state.half_erased = true;
        return Status::io_error;
    }
    std::memset(programs_ + at / chip.page_size, 0, size / chip.page_size);
    for (std::size_t unit = at / chip.program_unit; unit < (at + size) / chip.program_unit; ++unit) {
        used_[unit / 8] = static_cast<std::uint8_t>(used_[unit / 8] & ~(1U << unit % 8));
    }
    state.unstable = false;
    state.half_erased = false;
    ++counts_.erases;
    return Status::ok;
}

Status FlashSimulator::is_bad(std::uint32_t block, bool& bad) noexcept {
    bad = false;
    if (!powered_) {
        return Status::io_error;
    }
    if (block >= options_.geometry.blocks) {
        return refuse(FlashViolation::outside, block, kWholeBlock);
    }
    bad = blocks_[block].bad;
    return Status::ok;
}

Status FlashSimulator::mark_bad(std::uint32_t block) noexcept {
    if (!powered_) {
        return Status::io_error;
    }
    if (block >= options_.geometry.blocks) {
        return refuse(FlashViolation::outside, block, kWholeBlock);
    }
    blocks_[block].bad = blocks_[block].bad || options_.keeps_marks;
    return Status::ok;
}

}  // namespace h5mote_test
