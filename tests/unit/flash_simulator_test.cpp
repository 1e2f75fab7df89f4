// The simulated flash chip itself: that it notices each forbidden access, and what interrupted operations leave behind.
#include "flash_simulator.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr FlashGeometry kChip{4, 512, 128, 4, 0xff};
alignas(8) std::byte memory[FlashSimulator::required_memory({4, 512, 128, 1, 0xff})];
alignas(8) std::byte other_memory[sizeof memory];

FlashSimulatorOptions options(std::uint32_t unit = 4, std::uint8_t erased = 0xff) {
    FlashSimulatorOptions result;
    result.geometry = kChip;
    result.geometry.program_unit = unit;
    result.geometry.erased_value = erased;
    return result;
}

// `size` bytes of the same value.
struct Filled {
    Filled(unsigned char value, std::size_t count) : size(count) { std::memset(bytes, value, sizeof bytes); }
    operator ConstBytes() const { return {bytes, size}; }
    std::byte bytes[160];
    std::size_t size;
};

unsigned byte_at(FlashSimulator& chip, std::uint32_t block, std::uint32_t offset) {
    std::byte byte{};
    const Status status = chip.read(block, offset, {&byte, 1});
    return status == Status::ok ? static_cast<unsigned>(byte) : 1000U + static_cast<unsigned>(status);
}

// Returns how many of the first `size` bytes of a block differ from `value`.
unsigned other_than(FlashSimulator& chip, std::uint32_t block, unsigned value, std::uint32_t size) {
    unsigned count = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        count += byte_at(chip, block, i) == value ? 0 : 1;
    }
    return count;
}

TEST(FlashSimulator, ProgramsAndErases) {
    for (const std::uint8_t erased : {std::uint8_t{0xff}, std::uint8_t{0}}) {
        FlashSimulator chip(options(4, erased), memory);
        EXPECT_EQ(byte_at(chip, 3, 511), erased);
        EXPECT_EQ(chip.program(1, 124, Filled(0x5a, 4)), Status::ok);
        EXPECT_EQ(chip.program(1, 128, Filled(0xa5, 128)), Status::ok);
        EXPECT_EQ(byte_at(chip, 1, 127), 0x5aU);
        EXPECT_EQ(byte_at(chip, 1, 255), 0xa5U);
        EXPECT_EQ(byte_at(chip, 1, 256), erased);
        EXPECT_EQ(chip.erase(1), Status::ok);
        EXPECT_EQ(other_than(chip, 1, erased, 512), 0U);
        EXPECT_EQ(chip.program(1, 124, Filled(0x5a, 4)), Status::ok);
        EXPECT_EQ(chip.counts().programs, 3U);
        EXPECT_EQ(chip.counts().bytes_programmed, 136U);
        EXPECT_EQ(chip.counts().erases, 1U);
        EXPECT_EQ(chip.counts().reads, 516U);
        EXPECT_EQ(chip.counts().bytes_read, 516U);
        EXPECT_EQ(chip.operations(), 4U);
        EXPECT_EQ(chip.erases(1), 1U);
        EXPECT_EQ(chip.erases(0), 0U);
        EXPECT_EQ(chip.counts().violations, 0U);
        EXPECT_EQ(chip.violation(), FlashViolation::none);
    }
}

TEST(FlashSimulator, RefusesWhatLiesOutside) {
    FlashSimulator chip(options(), memory);
    std::byte bytes[16];
    EXPECT_EQ(chip.read(4, 0, bytes), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::outside);
    EXPECT_EQ(chip.violation_block(), 4U);
    EXPECT_EQ(chip.read(0, 500, bytes), Status::invalid_argument);
    EXPECT_EQ(chip.read(0, 0xfffffff8, bytes), Status::invalid_argument);
    EXPECT_EQ(chip.program(0, 512, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.program(4, 0, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.erase(4), Status::invalid_argument);
    bool bad = false;
    EXPECT_EQ(chip.is_bad(4, bad), Status::invalid_argument);
    EXPECT_EQ(chip.mark_bad(4), Status::invalid_argument);
    EXPECT_EQ(chip.counts().violations, 8U);
    EXPECT_EQ(chip.read(0, 496, bytes), Status::ok);
}

TEST(FlashSimulator, RefusesUnalignedPrograms) {
    FlashSimulator chip(options(), memory);
    EXPECT_EQ(chip.program(0, 2, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::unaligned);
    EXPECT_EQ(chip.violation_offset(), 2U);
    EXPECT_EQ(chip.program(0, 4, Filled(0, 6)), Status::invalid_argument);
    EXPECT_EQ(chip.program(0, 4, Filled(0, 0)), Status::invalid_argument);
    EXPECT_EQ(chip.counts().violations, 3U);
    EXPECT_EQ(other_than(chip, 0, 0xff, 512), 0U);
    EXPECT_EQ(chip.operations(), 0U);
}

TEST(FlashSimulator, RefusesProgramsOfTwoPages) {
    FlashSimulator chip(options(), memory);
    EXPECT_EQ(chip.program(0, 124, Filled(0, 8)), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::crosses_page);
    EXPECT_EQ(chip.program(0, 0, Filled(0, 132)), Status::invalid_argument);
    EXPECT_EQ(chip.program(0, 0, Filled(0, 128)), Status::ok);
}

TEST(FlashSimulator, RefusesUnitsTwice) {
    FlashSimulator chip(options(), memory);
    EXPECT_EQ(chip.program(0, 8, Filled(0xff, 4)), Status::ok);  // programmed, though it looks blank
    EXPECT_EQ(chip.program(0, 4, Filled(0, 8)), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::unit_twice);
    EXPECT_EQ(chip.program(0, 12, Filled(0, 4)), Status::ok);
    EXPECT_EQ(chip.erase(0), Status::ok);
    EXPECT_EQ(chip.program(0, 8, Filled(0, 4)), Status::ok);
}

TEST(FlashSimulator, RefusesToSetBits) {
    for (const std::uint8_t erased : {std::uint8_t{0xff}, std::uint8_t{0}}) {
        FlashSimulatorOptions chosen = options(1, erased);
        chosen.units_once = false;
        FlashSimulator chip(chosen, memory);
        const auto value = [&](unsigned changed) { return static_cast<unsigned char>(erased ^ changed); };
        EXPECT_EQ(chip.program(2, 7, Filled(value(0x11), 1)), Status::ok);
        EXPECT_EQ(chip.program(2, 7, Filled(value(0x31), 1)), Status::ok);
        EXPECT_EQ(chip.program(2, 7, Filled(value(0x30), 1)), Status::invalid_argument);
        EXPECT_EQ(chip.violation(), FlashViolation::sets_bit);
        EXPECT_EQ(chip.violation_block(), 2U);
        EXPECT_EQ(chip.violation_offset(), 7U);
        EXPECT_EQ(byte_at(chip, 2, 7), value(0x31));
    }
}

TEST(FlashSimulator, RefusesTooManyProgramsOfOnePage) {
    FlashSimulatorOptions chosen = options();
    chosen.programs_per_page = 2;
    FlashSimulator chip(chosen, memory);
    EXPECT_EQ(chip.program(0, 128, Filled(0, 4)), Status::ok);
    EXPECT_EQ(chip.program(0, 132, Filled(0, 4)), Status::ok);
    EXPECT_EQ(chip.program(0, 136, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::page_too_often);
    EXPECT_EQ(chip.program(0, 256, Filled(0, 4)), Status::ok);
    EXPECT_EQ(chip.erase(0), Status::ok);
    EXPECT_EQ(chip.program(0, 136, Filled(0, 4)), Status::ok);
}

TEST(FlashSimulator, BlankUnitsAreUnreadableWithAnEcc) {
    FlashSimulatorOptions chosen = options();
    chosen.blank_is_unreadable = true;
    FlashSimulator chip(chosen, memory);
    std::byte bytes[8];
    EXPECT_EQ(chip.read(0, 0, bytes), Status::corrupt_file);
    EXPECT_EQ(chip.program(0, 4, Filled(0, 4)), Status::ok);
    EXPECT_EQ(chip.read(0, 0, bytes), Status::corrupt_file);
    EXPECT_EQ(chip.read(0, 4, bytes), Status::corrupt_file);
    EXPECT_EQ(chip.read(0, 4, Bytes(bytes, 4)), Status::ok);
    EXPECT_EQ(chip.read(0, 6, Bytes(bytes, 1)), Status::ok);
    EXPECT_EQ(chip.counts().violations, 0U);
}

TEST(FlashSimulator, BadBlocksAreNotTouched) {
    FlashSimulator chip(options(), memory);
    chip.set_bad(2);
    bool bad = false;
    EXPECT_EQ(chip.is_bad(2, bad), Status::ok);
    EXPECT_TRUE(bad);
    EXPECT_EQ(chip.is_bad(1, bad), Status::ok);
    EXPECT_FALSE(bad);
    EXPECT_GT(other_than(chip, 2, 0xff, 512), 400U);
    EXPECT_EQ(chip.erase(2), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::marked_bad);
    EXPECT_EQ(chip.program(2, 0, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.mark_bad(1), Status::ok);
    EXPECT_EQ(chip.erase(1), Status::invalid_argument);
    EXPECT_EQ(chip.counts().violations, 3U);

    FlashSimulatorOptions forgetful = options();
    forgetful.keeps_marks = false;
    FlashSimulator nor(forgetful, memory);
    EXPECT_EQ(nor.mark_bad(1), Status::ok);
    EXPECT_EQ(nor.is_bad(1, bad), Status::ok);
    EXPECT_FALSE(bad);
    EXPECT_EQ(nor.erase(1), Status::ok);
}

TEST(FlashSimulator, BlocksWearOut) {
    FlashSimulator chip(options(), memory);
    chip.fail_block(1, 3);
    EXPECT_EQ(chip.erase(1), Status::ok);
    EXPECT_EQ(chip.program(1, 0, Filled(0, 128)), Status::ok);
    EXPECT_EQ(chip.program(1, 128, Filled(0, 128)), Status::io_error);
    EXPECT_EQ(chip.program(1, 256, Filled(0, 128)), Status::io_error);
    EXPECT_EQ(chip.erase(1), Status::io_error);
    EXPECT_EQ(chip.program(1, 0, Filled(0, 128)), Status::invalid_argument);
    EXPECT_EQ(chip.violation(), FlashViolation::not_erased);
    EXPECT_EQ(chip.erase(2), Status::ok);
    chip.fail_block(1, 0);
    chip.fail_operation(2);
    EXPECT_EQ(chip.erase(1), Status::ok);
    EXPECT_EQ(chip.program(1, 0, Filled(0, 4)), Status::io_error);
    EXPECT_EQ(chip.program(1, 4, Filled(0, 4)), Status::ok);
}

TEST(FlashSimulator, PowerFailsInAProgram) {
    FlashSimulator chip(options(), memory);
    chip.cut_after(2, FlashCut::not_begun, 1);
    EXPECT_EQ(chip.program(0, 0, Filled(0, 64)), Status::ok);
    EXPECT_EQ(chip.program(0, 64, Filled(0, 64)), Status::io_error);
    EXPECT_FALSE(chip.powered());
    bool bad = false;
    EXPECT_EQ(byte_at(chip, 0, 0), 1000U + static_cast<unsigned>(Status::io_error));
    EXPECT_EQ(chip.program(0, 128, Filled(0, 4)), Status::io_error);
    EXPECT_EQ(chip.erase(1), Status::io_error);
    EXPECT_EQ(chip.is_bad(1, bad), Status::io_error);
    EXPECT_EQ(chip.mark_bad(1), Status::io_error);
    chip.power_on(1);
    EXPECT_EQ(byte_at(chip, 0, 63), 0U);
    EXPECT_EQ(byte_at(chip, 0, 64), 0xffU);
    EXPECT_EQ(chip.program(0, 64, Filled(0, 64)), Status::ok);

    chip.cut_after(1, FlashCut::torn, 1, 3);
    EXPECT_EQ(chip.program(0, 128, Filled(0, 64)), Status::io_error);
    chip.power_on(1);
    EXPECT_EQ(byte_at(chip, 0, 139), 0U);
    EXPECT_EQ(byte_at(chip, 0, 140), 0xffU);
    EXPECT_EQ(chip.program(0, 136, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.program(0, 140, Filled(0, 4)), Status::ok);

    for (const FlashCut cut : {FlashCut::partly, FlashCut::unstable}) {
        EXPECT_EQ(chip.erase(1), Status::ok);
        chip.cut_after(1, cut, 7);
        EXPECT_EQ(chip.program(1, 0, Filled(0, 128)), Status::io_error);
        chip.power_on(1);
        EXPECT_EQ(chip.unstable(1), cut == FlashCut::unstable);
        EXPECT_GT(other_than(chip, 1, 0xff, 128), 100U);
        EXPECT_GT(other_than(chip, 1, 0, 128), 100U);
        EXPECT_EQ(byte_at(chip, 1, 128), 0xffU);
        EXPECT_EQ(chip.program(1, 124, Filled(0, 4)), Status::invalid_argument);
    }
    EXPECT_EQ(chip.violation(), FlashViolation::unit_twice);
    EXPECT_EQ(chip.counts().violations, 3U);
}

TEST(FlashSimulator, UnstableBitsReadDifferently) {
    FlashSimulator chip(options(), memory);
    chip.cut_after(1, FlashCut::unstable, 3);
    EXPECT_EQ(chip.program(0, 0, Filled(0x0f, 128)), Status::io_error);
    std::byte reads[4][160];
    chip.power_on(5);
    EXPECT_EQ(chip.read(0, 0, reads[0]), Status::ok);
    EXPECT_EQ(chip.read(0, 0, reads[1]), Status::ok);
    chip.power_on(6);
    EXPECT_EQ(chip.read(0, 0, reads[2]), Status::ok);
    chip.power_on(5);
    EXPECT_EQ(chip.read(0, 0, reads[3]), Status::ok);
    EXPECT_NE(std::memcmp(reads[0], reads[1], 128), 0);
    EXPECT_NE(std::memcmp(reads[0], reads[2], 128), 0);
    EXPECT_EQ(std::memcmp(reads[0], reads[3], 128), 0);
    for (const auto& read : reads) {
        for (std::size_t i = 0; i < 160; ++i) {
            EXPECT_EQ(read[i] & std::byte{0x0f}, std::byte{0x0f});  // bits that were not programmed stay
            EXPECT_TRUE(i < 128 || read[i] == std::byte{0xff});
        }
    }
    EXPECT_EQ(chip.erase(0), Status::ok);
    EXPECT_EQ(other_than(chip, 0, 0xff, 160), 0U);
    EXPECT_FALSE(chip.unstable(0));
}

TEST(FlashSimulator, PowerFailsInAnErase) {
    FlashSimulator chip(options(), memory);
    for (const FlashCut cut : {FlashCut::not_begun, FlashCut::torn, FlashCut::partly, FlashCut::unstable}) {
        EXPECT_EQ(chip.erase(0), Status::ok);
        EXPECT_EQ(chip.program(0, 0, Filled(0, 128)), Status::ok);
        chip.cut_after(1, cut, 9, 2);
        EXPECT_EQ(chip.erase(0), Status::io_error);
        chip.power_on(2);
        const unsigned left = 128 - other_than(chip, 0, 0, 128);
        const unsigned gone = 128 - other_than(chip, 0, 0xff, 128);
        if (cut == FlashCut::not_begun) {
            EXPECT_EQ(left, 128U);
            EXPECT_EQ(chip.program(0, 128, Filled(0, 4)), Status::ok);
            continue;
        }
        EXPECT_EQ(chip.unstable(0), cut == FlashCut::unstable);
        EXPECT_EQ(left, cut == FlashCut::torn ? 120U : left);
        EXPECT_EQ(gone, cut == FlashCut::torn ? 8U : gone);
        EXPECT_LT(left, 128U);
        EXPECT_LT(gone, 128U);
        const std::uint64_t before = chip.counts().violations;
        EXPECT_EQ(chip.program(0, 256, Filled(0, 4)), Status::invalid_argument);
        EXPECT_EQ(chip.counts().violations, before + 1);
    }
    EXPECT_EQ(chip.violation(), FlashViolation::not_erased);
}

TEST(FlashSimulator, CopiesItsState) {
    FlashSimulator chip(options(), memory);
    chip.cut_after(1, FlashCut::unstable, 3);
    EXPECT_EQ(chip.program(0, 0, Filled(0x0f, 128)), Status::io_error);
    chip.power_on(5);
    FlashSimulator copy(options(), other_memory);
    copy.copy_from(chip);
    std::byte reads[2][160];
    EXPECT_EQ(chip.read(0, 0, reads[0]), Status::ok);
    EXPECT_EQ(copy.read(0, 0, reads[1]), Status::ok);
    EXPECT_EQ(std::memcmp(reads[0], reads[1], 160), 0);
    EXPECT_EQ(copy.program(0, 0, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(copy.counts().violations, 1U);
    EXPECT_EQ(chip.counts().violations, 0U);
    EXPECT_EQ(copy.erase(0), Status::ok);
    EXPECT_NE(byte_at(chip, 0, 3) & byte_at(chip, 0, 60) & byte_at(chip, 0, 90), 0xffU);
}

TEST(FlashSimulator, BitsFlipAndScramble) {
    FlashSimulator chip(options(), memory);
    EXPECT_EQ(chip.program(0, 0, Filled(0x0f, 128)), Status::ok);
    chip.flip(0, 5, 0x81);
    EXPECT_EQ(byte_at(chip, 0, 5), 0x8eU);
    EXPECT_EQ(byte_at(chip, 0, 6), 0x0fU);
    chip.scramble(4);
    EXPECT_GT(other_than(chip, 3, 0xff, 512), 400U);
    EXPECT_EQ(chip.program(3, 0, Filled(0, 4)), Status::invalid_argument);
    EXPECT_EQ(chip.erase(3), Status::ok);
    EXPECT_EQ(chip.program(3, 0, Filled(0, 4)), Status::ok);
}

}  // namespace
