// A file on raw flash, on a chip that is small enough for boards: what calls return, and which data stays.
#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
constexpr FlashGeometry kChip{20, 1024, 256, 4, 0xff};
constexpr FlashFormat kFormat{128, 12};
constexpr FlashOptions kOptions{8, false};

alignas(8) std::byte chip_memory[FlashSimulator::required_memory(kChip)];
alignas(8) std::byte work[FlashDriver::required_memory(kChip, kFormat, kOptions)];

FlashSimulatorOptions chip_options() {
    FlashSimulatorOptions options;
    options.geometry = kChip;
    return options;
}

struct Rig {
    FlashSimulator chip{chip_options(), chip_memory};
    FlashDriver driver{chip, work};
};

std::uint64_t length(Driver& driver) {
    std::uint64_t size = 0;
    return driver.end_of_file(size) == Status::ok ? size : ~std::uint64_t{0};
}

// Writes `count` bytes that depend on `seed` and on their address.
Status write_pattern(Driver& driver, std::uint64_t address, std::size_t count, unsigned seed) {
    std::byte bytes[300];
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(seed * 31 + (address + i) * 7);
    }
    return driver.write(kRaw, address, {bytes, count});
}

bool has_pattern(Driver& driver, std::uint64_t address, std::size_t count, unsigned seed) {
    std::byte bytes[300];
    if (driver.read(kRaw, address, {bytes, count}) != Status::ok) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != static_cast<std::byte>(seed * 31 + (address + i) * 7)) {
            return false;
        }
    }
    return true;
}

bool has_zeros(Driver& driver, std::uint64_t address, std::size_t count) {
    std::byte bytes[300];
    if (driver.read(kRaw, address, {bytes, count}) != Status::ok) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != std::byte{0}) {
            return false;
        }
    }
    return true;
}

TEST(Flash, IsNeitherFormattedNorMountedWhileAFileIsOpen) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    ASSERT_EQ(write_pattern(rig.driver, 0, 100, 1), Status::ok);
    ASSERT_EQ(rig.driver.lock(true), Status::ok);
    EXPECT_EQ(rig.driver.format(kFormat, kOptions), Status::busy);
    EXPECT_EQ(rig.driver.mount(kOptions), Status::busy);
    EXPECT_TRUE(has_pattern(rig.driver, 0, 100, 1));
    EXPECT_EQ(rig.driver.unlock(), Status::ok);
    EXPECT_EQ(rig.driver.mount(kOptions), Status::ok);
    EXPECT_EQ(length(rig.driver), 0U);
}

TEST(Flash, NothingIsFormattedByItself) {
    Rig rig;
    EXPECT_EQ(rig.driver.mount(kOptions), Status::not_found);
    EXPECT_EQ(rig.driver.usage().finding, FlashFinding::blank);
    EXPECT_EQ(write_pattern(rig.driver, 0, 8, 1), Status::io_error);
    rig.chip.scramble(3);
    EXPECT_EQ(rig.driver.mount(kOptions), Status::corrupt_file);
    EXPECT_EQ(rig.driver.usage().finding, FlashFinding::foreign);
    EXPECT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    EXPECT_EQ(rig.driver.mount(kOptions), Status::ok);
    EXPECT_EQ(length(rig.driver), 0U);
    const std::uint64_t operations = rig.chip.operations();
    EXPECT_EQ(rig.driver.mount({8, true}), Status::ok);
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    EXPECT_EQ(write_pattern(rig.driver, 0, 8, 1), Status::read_only);
    EXPECT_EQ(rig.driver.truncate(1), Status::read_only);
    EXPECT_FALSE(rig.driver.capabilities().writable);
    EXPECT_EQ(rig.chip.operations(), operations);
    EXPECT_EQ(rig.chip.violation(), FlashViolation::none);
}

// On a chip with ECC, erased bytes cannot be read: mount() must find it blank, not broken.
TEST(Flash, BlankChipWithAnEcc) {
    FlashSimulatorOptions options = chip_options();
    options.blank_is_unreadable = true;
    FlashSimulator chip(options, chip_memory);
    FlashDriver driver(chip, work);
    EXPECT_EQ(driver.mount(kOptions), Status::not_found);
    EXPECT_EQ(driver.usage().finding, FlashFinding::blank);
    chip.cut_after(1, FlashCut::not_begun, 1);
    EXPECT_EQ(chip.erase(0), Status::io_error);
    EXPECT_EQ(driver.mount(kOptions), Status::io_error);
    chip.power_on(1);
    EXPECT_EQ(driver.format(kFormat, kOptions), Status::ok);
    EXPECT_EQ(driver.mount(kOptions), Status::ok);
}

TEST(Flash, RefusesWhatMakesNoSense) {
    Rig rig;
    EXPECT_EQ(rig.driver.format({100, 12}, kOptions), Status::invalid_argument);
    EXPECT_EQ(rig.driver.format({128, 60}, kOptions), Status::invalid_argument);
    EXPECT_EQ(rig.driver.format(kFormat, {4, false}), Status::invalid_argument);
    EXPECT_EQ(rig.driver.format({512, 12}, kOptions), Status::over_budget);
    FlashDriver small(rig.chip, Bytes(work).first(sizeof work - 8));
    EXPECT_EQ(small.format(kFormat, kOptions), Status::over_budget);
    EXPECT_EQ(rig.chip.operations(), 0U);
}

TEST(Flash, KeepsWhatWasSynced) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    EXPECT_EQ(write_pattern(rig.driver, 10, 300, 1), Status::ok);
    EXPECT_EQ(write_pattern(rig.driver, 1000, 20, 2), Status::ok);
    EXPECT_TRUE(has_pattern(rig.driver, 10, 300, 1));
    EXPECT_TRUE(has_zeros(rig.driver, 0, 10));
    EXPECT_TRUE(has_zeros(rig.driver, 800, 200));
    EXPECT_EQ(length(rig.driver), 1020U);
    std::byte beyond{};
    EXPECT_EQ(rig.driver.read(kRaw, 1020, {&beyond, 1}), Status::io_error);
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    const std::uint64_t operations = rig.chip.operations();
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    EXPECT_EQ(rig.chip.operations(), operations);
    EXPECT_EQ(write_pattern(rig.driver, 100, 50, 3), Status::ok);
    EXPECT_TRUE(has_pattern(rig.driver, 100, 50, 3));
    FlashDriver again(rig.chip, work);
    ASSERT_EQ(again.mount(kOptions), Status::ok);
    EXPECT_EQ(length(again), 1020U);
    EXPECT_TRUE(has_pattern(again, 10, 300, 1));
    EXPECT_TRUE(has_pattern(again, 1000, 20, 2));
    EXPECT_EQ(again.truncate(100), Status::ok);
    EXPECT_EQ(again.truncate(1100), Status::ok);
    EXPECT_TRUE(has_pattern(again, 10, 90, 1));
    EXPECT_TRUE(has_zeros(again, 100, 300));
    EXPECT_EQ(again.usage().live, 128U);
    EXPECT_EQ(rig.chip.violation(), FlashViolation::none);
}

TEST(Flash, FullDeviceIsSafeAndCanBeUsedAgain) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    const std::uint64_t capacity = rig.driver.usage().capacity;
    ASSERT_GE(capacity, 3000U);
    for (unsigned round = 1; round < 6; ++round) {
        std::uint64_t end = 0;
        for (Status status = Status::ok; status == Status::ok; end += 128) {
            status = write_pattern(rig.driver, end, 128, round);
            if (status == Status::ok) {
                status = rig.driver.sync();
            }
        }
        end -= 128;
        EXPECT_EQ(end, capacity);
        EXPECT_EQ(write_pattern(rig.driver, end, 1, round), Status::no_space);
        EXPECT_EQ(rig.driver.sync(), Status::ok);
        for (unsigned change = 0; change < 100; ++change) {
            EXPECT_EQ(write_pattern(rig.driver, 128 * (change * 17 % (end / 128)), 60, round), Status::ok);
            EXPECT_EQ(rig.driver.sync(), Status::ok);
        }
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
        EXPECT_EQ(length(rig.driver), end);
        for (std::uint64_t at = 0; at < end; at += 128) {
            EXPECT_TRUE(has_pattern(rig.driver, at, 128, round));
        }
        EXPECT_EQ(rig.driver.release(kRaw, 128, end / 2), Status::ok);
        EXPECT_EQ(rig.driver.sync(), Status::ok);
        EXPECT_EQ(write_pattern(rig.driver, end, 100, round), Status::ok);
        EXPECT_EQ(rig.driver.sync(), Status::ok);
        EXPECT_EQ(rig.driver.truncate(0), Status::ok);
        EXPECT_EQ(rig.driver.sync(), Status::ok);
        EXPECT_EQ(rig.driver.usage().live, 0U);
    }
    EXPECT_EQ(rig.chip.violation(), FlashViolation::none);
}

// keep_room() refuses more than the device holds, also if the sum with the map's overhead exceeds 64 bits.
TEST(Flash, NoRoomForMoreThanTheDeviceHolds) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    ASSERT_EQ(rig.driver.keep_room(1, 600), Status::ok);
    // Find the smallest size that, with 72 bytes of overhead for each of its pages, exceeds 64 bits.
    std::uint64_t low = 0;
    std::uint64_t high = ~std::uint64_t{0};
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (middle + middle / kFormat.page_size * 72 < middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    for (std::uint64_t bytes = low - 20; bytes < low + 200; ++bytes) {
        EXPECT_EQ(rig.driver.keep_room(1, bytes), Status::no_space);
    }
    EXPECT_EQ(rig.driver.keep_room(1, 500), Status::ok);
    EXPECT_EQ(write_pattern(rig.driver, 0, 300, 1), Status::ok);
    EXPECT_EQ(rig.driver.sync(), Status::ok);
}

TEST(Flash, DamageStaysWhereItIs) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    for (unsigned page = 0; page < 16; ++page) {
        EXPECT_EQ(write_pattern(rig.driver, 128 * page, 128, page), Status::ok);
    }
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    // Find page 5 on the chip and flip a bit in its first byte: this page is unreadable from then on, also after it was
    // moved, and all other pages stay readable.
    bool found = false;
    for (std::uint32_t block = 0; block < kChip.blocks && !found; ++block) {
        for (std::uint32_t at = 0; at + 32 < kChip.block_size && !found; at += 4) {
            std::byte bytes[32];
            EXPECT_EQ(rig.chip.read(block, at, bytes), Status::ok);
            found = true;
            for (unsigned i = 0; i < sizeof bytes; ++i) {
                found = found && bytes[i] == static_cast<std::byte>(5 * 31 + (640 + i) * 7);
            }
            if (found) {
                rig.chip.flip(block, at, 0x10);
            }
        }
    }
    ASSERT_TRUE(found);
    ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
    for (unsigned round = 0; round < 40; ++round) {
        for (unsigned page = 0; page < 16; ++page) {
            std::byte bytes[128];
            EXPECT_EQ(rig.driver.read(kRaw, 128 * page, bytes), page == 5 ? Status::io_error : Status::ok);
            if (page != 5) {
                EXPECT_TRUE(has_pattern(rig.driver, 128 * page, 128, page));
            }
        }
        EXPECT_EQ(write_pattern(rig.driver, 640, 60, 5), Status::io_error);
        // Write enough that all blocks are collected and their pages moved.
        for (unsigned i = 0; i < 20; ++i) {
            EXPECT_EQ(write_pattern(rig.driver, 0, 128, 0), Status::ok);
            EXPECT_EQ(rig.driver.sync(), Status::ok);
        }
    }
    EXPECT_GT(rig.driver.usage().collected, 0U);
    ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
    EXPECT_EQ(write_pattern(rig.driver, 640, 128, 6), Status::ok);
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
    EXPECT_TRUE(has_pattern(rig.driver, 640, 128, 6));
    EXPECT_TRUE(has_pattern(rig.driver, 768, 128, 6));
    EXPECT_EQ(rig.chip.violation(), FlashViolation::none);
}

// Data in which the ECC had to correct bits is written elsewhere by the next sync, before more bits fail.
TEST(Flash, CorrectedBitsAreWrittenElsewhere) {
    unsigned moved = 0;
    for (std::uint32_t at = 0; at < kChip.capacity(); at += 52) {
        Rig rig;
        ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
        for (unsigned i = 0; i < 24; ++i) {
            ASSERT_EQ(write_pattern(rig.driver, i * 128, 128, i), Status::ok);
            ASSERT_EQ(write_pattern(rig.driver, i / 2 * 128, 16, i / 2), Status::ok);
            ASSERT_EQ(i % 3 == 0 ? rig.driver.sync() : Status::ok, Status::ok);
        }
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        const std::uint32_t block = at / kChip.block_size;
        const std::uint32_t offset = at % kChip.block_size;
        rig.chip.weaken(block, offset);
        if (at % 3 == 0) {
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
        }
        for (unsigned i = 0; i < 24; ++i) {
            ASSERT_TRUE(has_pattern(rig.driver, i * 128, 128, i));
        }
        const std::uint64_t operations = rig.chip.operations();
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        EXPECT_TRUE(rig.driver.usage().corrected == 0 || rig.chip.operations() != operations);
        if (rig.chip.operations() != operations) {
            ++moved;
            rig.chip.flip(block, offset, 0x5a);
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
            for (unsigned i = 0; i < 24; ++i) {
                EXPECT_TRUE(has_pattern(rig.driver, i * 128, 128, i));
            }
        }
        EXPECT_EQ(rig.chip.violation(), FlashViolation::none);
    }
    EXPECT_GT(moved, 20U);
}

// A damaged byte in any block header loses nothing that was synced and brings no older state back.
TEST(Flash, DamagedHeadersHideNothing) {
    for (std::uint32_t at = 0; at < FlashDriver::kIdentification; ++at) {
        Rig rig;
        ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
        for (unsigned i = 0; i < 40; ++i) {
            EXPECT_EQ(write_pattern(rig.driver, 128 * (i % 8), 128, i), Status::ok);
            EXPECT_EQ(rig.driver.sync(), Status::ok);
        }
        unsigned seen = 0;
        for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
            FlashBlockInfo info;
            EXPECT_EQ(rig.driver.block_info(block, info), Status::ok);
            if (info.state != FlashBlockInfo::State::used) {
                continue;
            }
            rig.chip.flip(block, at, 0x04);
            FlashDriver again(rig.chip, work);
            const Status status = again.mount(kOptions);
            EXPECT_EQ(status, Status::ok);
            for (unsigned i = 32; status == Status::ok && i < 40; ++i) {
                EXPECT_TRUE(has_pattern(again, 128 * (i % 8), 128, i));
                ++seen;
            }
            rig.chip.flip(block, at, 0x04);
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
        }
        EXPECT_GT(seen, 8U);
    }
}

// Every bit of the newest block is flipped, at various fill levels: reading gives the last synced data or an error.
TEST(Flash, NoBitBringsBackAnOlderState) {
    unsigned told = 0;
    unsigned whole = 0;
    for (unsigned syncs = 1; syncs < 60; syncs += 13) {
        Rig rig;
        ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
        for (unsigned i = 0; i < syncs; ++i) {
            EXPECT_EQ(write_pattern(rig.driver, 128 * (i % 5), 60, i), Status::ok);
            EXPECT_EQ(write_pattern(rig.driver, 128 * (i % 5) + 60, 68, i), Status::ok);
            EXPECT_EQ(rig.driver.sync(), Status::ok);
        }
        std::uint32_t newest = 0;
        FlashBlockInfo info;
        for (std::uint32_t block = 0, highest = 0; block < kChip.blocks; ++block) {
            EXPECT_EQ(rig.driver.block_info(block, info), Status::ok);
            if (info.known && info.sequence > highest) {
                highest = info.sequence;
                newest = block;
            }
        }
        for (std::uint32_t bit = 0; bit < 8 * kChip.block_size; ++bit) {
            const auto bits = static_cast<std::uint8_t>(1U << bit % 8);
            rig.chip.flip(newest, bit / 8, bits);
            FlashDriver again(rig.chip, work);
            const Status status = again.mount(kOptions);
            for (unsigned i = syncs < 5 ? 0 : syncs - 5; i < syncs; ++i) {
                std::byte byte{};
                if (status != Status::ok || again.read(kRaw, 128 * (i % 5), {&byte, 1}) != Status::ok) {
                    ++told;
                } else {
                    ++whole;
                    ASSERT_TRUE(has_pattern(again, 128 * (i % 5), 128, i));
                }
            }
            rig.chip.flip(newest, bit / 8, bits);
        }
    }
    EXPECT_GT(told, 100U);
    EXPECT_GT(whole, 10 * told);
}

TEST(Flash, BlocksTellWhatTheyHold) {
    Rig rig;
    rig.chip.set_bad(3);
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    for (unsigned i = 0; i < 12; ++i) {
        EXPECT_EQ(write_pattern(rig.driver, 128 * (i % 8), 128, i), Status::ok);
    }
    EXPECT_EQ(rig.driver.sync(), Status::ok);
    std::uint32_t live = 0;
    std::uint32_t dead = 0;
    std::uint32_t bad = 0;
    for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
        FlashBlockInfo info;
        EXPECT_EQ(rig.driver.block_info(block, info), Status::ok);
        live += info.live_pages;
        dead += info.dead_pages;
        bad += info.state == FlashBlockInfo::State::bad ? 1 : 0;
        EXPECT_EQ(info.erases, rig.chip.erases(block));
    }
    EXPECT_GE(live, 8U);  // some pages are stored in two pieces
    EXPECT_LE(live, 10U);
    EXPECT_GE(dead, 4U);
    EXPECT_LE(live + dead, 14U);
    EXPECT_EQ(bad, 1U);
    EXPECT_EQ(rig.driver.usage().blocks_bad, 1U);
    std::byte first[FlashDriver::kIdentification];
    EXPECT_EQ(rig.chip.read(0, 0, first), Status::ok);
    FlashGeometry geometry;
    FlashFormat format;
    EXPECT_TRUE(FlashDriver::identify(first, geometry, format));
    EXPECT_EQ(geometry.blocks, kChip.blocks);
    EXPECT_EQ(geometry.block_size, kChip.block_size);
    EXPECT_EQ(geometry.program_unit, kChip.program_unit);
    EXPECT_EQ(format.page_size, kFormat.page_size);
    EXPECT_FALSE(FlashDriver::identify(Bytes(work), geometry, format));
}

}  // namespace
