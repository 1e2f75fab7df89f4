// Mounting chips whose log is damaged or crafted, with right checksums; impossible geometries and formats; reads that
// fail while a chip is examined.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "cursor.hpp"
#include "flash_chip.hpp"

#include <cstring>
#include <functional>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
constexpr FlashGeometry kChip{32, 1024, 256, 4, 0xff};
constexpr FlashFormat kFormat{128, 12};
constexpr FlashOptions kOptions{32, false};

class Rig : public FlashChip {
public:
    Rig() : FlashChip(kChip, kFormat, kOptions) {}

    /// Makes `rounds` syncs, each of which fills the first 300 bytes with its number.
    void work(unsigned rounds) {
        ASSERT_EQ(driver.format(kFormat, kOptions), Status::ok);
        for (unsigned i = 1; i <= rounds; ++i) {
            ASSERT_EQ(fill(0, 300, i), Status::ok);
            ASSERT_EQ(driver.sync(), Status::ok);
        }
    }
    /// Returns the value of the first 300 bytes, or -1 if they differ or cannot be read.
    int held() {
        std::byte bytes[300];
        if (driver.read(kRaw, 0, bytes) != Status::ok) {
            return -1;
        }
        for (const std::byte each : bytes) {
            if (each != bytes[0]) {
                return -1;
            }
        }
        return std::to_integer<int>(bytes[0]);
    }
    const std::byte* at(std::uint32_t block, std::uint32_t offset) const {
        return simulator.contents().data() + std::size_t{block} * kChip.block_size + offset;
    }
    void put(std::uint32_t block, std::uint32_t offset, ConstBytes bytes) {
        for (std::uint32_t i = 0; i < bytes.size(); ++i) {
            simulator.flip(block, offset + i, std::to_integer<std::uint8_t>(bytes[i] ^ *at(block, offset + i)));
        }
    }
    std::uint32_t number(std::uint32_t block, std::uint32_t offset) const {
        return load_le<std::uint32_t>(at(block, offset));
    }
    void put_number(std::uint32_t block, std::uint32_t offset, std::uint32_t value, std::uint32_t width = 4) {
        std::byte bytes[4];
        store_le(bytes, value);
        put(block, offset, {bytes, width});
    }
    bool has_head(std::uint32_t block) const { return std::memcmp(at(block, 0), "h5mf", 4) == 0; }
    std::uint32_t newest() const {
        std::uint32_t found = 0;
        for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
            const bool newer = has_head(block) && (!has_head(found) || number(block, 12) > number(found, 12));
            found = newer ? block : found;
        }
        return found;
    }
    void seal_head(std::uint32_t block) { put_number(block, 28, lookup3({at(block, 0), 28})); }

    /// Returns the offsets of the commits in a block, the newest last.
    std::vector<std::uint32_t> commits(std::uint32_t block) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t offset = 32; offset + 32 <= kChip.block_size; offset += 4) {
            if (number(block, offset) == (6U | 19U << 20) && number(block, offset + 4) == commit_sum(block, offset)) {
                found.push_back(offset);
            }
        }
        return found;
    }
    void seal_commit(std::uint32_t block, std::uint32_t offset) {
        put_number(block, offset + 4, commit_sum(block, offset));
    }
    // Returns the checksum of a record with `length` bytes of contents: over everything but the checksum itself, seeded
    // with the record's position on the chip in words.
    std::uint32_t record_sum(std::uint32_t block, std::uint32_t offset, std::uint32_t length) const {
        std::byte bytes[28];
        std::memcpy(bytes, at(block, offset), 4);
        std::memcpy(bytes + 4, at(block, offset + 8), 4 + length);
        return lookup3({bytes, 8 + length}, block * (kChip.block_size / 4) + offset / 4);
    }

private:
    std::uint32_t commit_sum(std::uint32_t block, std::uint32_t offset) const { return record_sum(block, offset, 20); }
};

// A chip that claims a given geometry and must not be accessed.
class Claims final : public FlashDevice {
public:
    explicit Claims(const FlashGeometry& geometry) noexcept : geometry_(geometry) {}
    FlashGeometry geometry() const noexcept override { return geometry_; }
    Status read(std::uint32_t, std::uint32_t, Bytes) noexcept override { return touched(); }
    Status program(std::uint32_t, std::uint32_t, ConstBytes) noexcept override { return touched(); }
    Status erase(std::uint32_t) noexcept override { return touched(); }

private:
    static Status touched() noexcept {
        ADD_FAILURE() << "touched";
        return Status::io_error;
    }
    FlashGeometry geometry_;
};

TEST(FlashMount, GeometriesThatMakeNoSense) {
    alignas(8) static std::byte work[8192];
    static constexpr FlashGeometry kWrong[] = {
        {16, 0, 256, 4, 0xff},
        {16, 256, 256, 4, 0xff},
        {16, 1000, 4, 4, 0xff},
        {16, 1U << 21, 256, 4, 0xff},
        {16, 1024, 0, 4, 0xff},
        {16, 1024, 96, 4, 0xff},
        {16, 1024, 2048, 4, 0xff},
        {16, 1024, 256, 0, 0xff},
        {16, 1024, 256, 3, 0xff},
        {16, 1024, 256, 512, 0xff},
        {16, 1024, 1024, 512, 0xff},
        {7, 1024, 256, 4, 0xff},
        {0xffffffff, 1024, 256, 4, 0xff},
        {16, 1024, 256, 4, 0x55},
        {64, 1U << 20, 65536, 65536, 0xff},
    };
    for (const FlashGeometry& wrong : kWrong) {
        Claims chip(wrong);
        FlashDriver driver(chip, work);
        EXPECT_EQ(driver.format(kFormat, kOptions), Status::invalid_argument) << &wrong - kWrong;
        EXPECT_EQ(driver.mount(kOptions), Status::invalid_argument) << &wrong - kWrong;
        EXPECT_FALSE(driver.mounted());
    }
    static constexpr FlashFormat kWrongFormats[] = {{0, 12},    {64, 12}, {100, 12}, {8192, 12},
                                                    {2048, 12}, {128, 4}, {128, 51}};
    for (const FlashFormat& wrong : kWrongFormats) {
        Claims chip(kChip);
        FlashDriver driver(chip, work);
        EXPECT_EQ(driver.format(wrong, kOptions), Status::invalid_argument) << wrong.page_size << " " << wrong.reserve;
    }
    for (const std::uint16_t changes : {std::uint16_t{7}, std::uint16_t{1025}}) {
        Rig rig;
        EXPECT_EQ(rig.driver.format(kFormat, {changes, false}), Status::invalid_argument);
        EXPECT_EQ(rig.simulator.operations(), 0U);
    }
}

struct Field {
    const char* name;
    std::uint32_t at;
    std::uint32_t width;
    std::uint32_t value;
    Status expected;
    FlashFinding finding;
};

// Damages each field of the newest header, which names the geometry and format of the log.
TEST(FlashMount, EachFieldOfTheNewestHeader) {
    static constexpr Field kFields[] = {
        {"version 2", 4, 1, 2, Status::unsupported, FlashFinding::version},
        {"version 15", 4, 1, 15, Status::unsupported, FlashFinding::version},
        {"erased value 0", 4, 1, 0x21, Status::corrupt_file, FlashFinding::geometry},
        {"smaller blocks", 5, 1, 9, Status::corrupt_file, FlashFinding::geometry},
        {"blocks of 2 GiB", 5, 1, 31, Status::corrupt_file, FlashFinding::geometry},
        {"pages of 64 bytes", 6, 1, 0x26, Status::corrupt_file, FlashFinding::geometry},
        {"pages larger than a block", 6, 1, 0x2b, Status::corrupt_file, FlashFinding::geometry},
        {"pages of 32 KiB", 6, 1, 0x2f, Status::corrupt_file, FlashFinding::geometry},
        {"units of 8 bytes", 6, 1, 0x37, Status::corrupt_file, FlashFinding::geometry},
        {"reserve 4", 7, 1, 4, Status::corrupt_file, FlashFinding::geometry},
        {"reserve 51", 7, 1, 51, Status::corrupt_file, FlashFinding::geometry},
        {"fewer blocks", 8, 4, 31, Status::corrupt_file, FlashFinding::geometry},
        {"most blocks", 8, 4, 0xffffffff, Status::corrupt_file, FlashFinding::geometry},
        {"larger pages", 6, 1, 0x29, Status::over_budget, FlashFinding::none},
        {"most erases", 20, 4, 0xffffffff, Status::ok, FlashFinding::none},
        {"most written", 24, 4, 0xffffffff, Status::ok, FlashFinding::none},
    };
    for (const Field& field : kFields) {
        Rig rig;
        rig.work(20);
        const std::uint32_t newest = rig.newest();
        rig.put_number(newest, field.at, field.value, field.width);
        rig.seal_head(newest);
        EXPECT_EQ(rig.driver.mount(kOptions), field.expected) << field.name;
        EXPECT_EQ(rig.driver.usage().finding, field.finding) << field.name;
        EXPECT_EQ(rig.driver.mounted(), field.expected == Status::ok) << field.name;
        if (field.finding != FlashFinding::none) {
            EXPECT_EQ(rig.driver.usage().finding_block, newest) << field.name;
        }
        EXPECT_EQ(rig.held(), field.expected == Status::ok ? 20 : -1) << field.name;
        // Formatting makes the chip usable, whatever was on it.
        ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok) << field.name;
        ASSERT_EQ(rig.fill(0, 300, 99), Status::ok) << field.name;
        ASSERT_EQ(rig.driver.sync(), Status::ok) << field.name;
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << field.name;
        EXPECT_EQ(rig.held(), 99) << field.name;
    }
}

// A commit with impossible fields is ignored even if its checksum is right: the previous commit counts.
TEST(FlashMount, EachFieldOfTheNewestCommit) {
    struct Change {
        const char* name;
        std::uint32_t at;  // offset in the payload; the key is at -4
        std::uint32_t value;
    };
    static constexpr Change kChanges[] = {
        {"no level", 8, 0U << 28},
        {"too many levels", 8, 8U << 28},
        {"tail behind the chip", 28, 32},
        {"last tail", 28, 0x00ffffff},
        {"kept too many", 28, 32U << 24},
        {"kept most", 28, 255U << 24},
        {"replay behind the chip", 20, 32 * 256},
        {"last place to replay", 20, 0xffffffff},
    };
    for (const Change& change : kChanges) {
        Rig rig;
        rig.work(20);
        const std::uint32_t newest = rig.newest();
        const std::vector<std::uint32_t> commits = rig.commits(newest);
        ASSERT_GE(commits.size(), 2U);
        rig.put_number(newest, commits.back() + change.at, change.value);
        rig.seal_commit(newest, commits.back());
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << change.name;
        EXPECT_EQ(rig.held(), 19) << change.name;
        ASSERT_EQ(rig.fill(0, 300, 99), Status::ok) << change.name;
        ASSERT_EQ(rig.driver.sync(), Status::ok) << change.name;
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << change.name;
        EXPECT_EQ(rig.held(), 99) << change.name;
        EXPECT_EQ(rig.simulator.violation(), FlashViolation::none) << change.name;
    }
}

// A record of removed pages covers pages of one node of the map only. If it names more, with a right checksum, the
// other pages must stay.
TEST(FlashMount, PagesThatGoAreOfOneNode) {
    for (const std::uint32_t count : {9U, 16U, 17U, 0xffffffffU}) {
        Rig rig;
        rig.work(20);
        ASSERT_EQ(rig.fill(1024, 512, 7), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        ASSERT_EQ(rig.driver.truncate(1024), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        unsigned found = 0;
        for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
            for (std::uint32_t offset = 32; rig.has_head(block) && offset + 16 <= kChip.block_size; offset += 4) {
                if (rig.number(block, offset) == (4U | 3U << 20) && rig.number(block, offset + 12) == 4 &&
                    rig.number(block, offset + 4) == rig.record_sum(block, offset, 4)) {
                    ++found;
                    rig.put_number(block, offset + 12, count);
                    rig.put_number(block, offset + 4, rig.record_sum(block, offset, 4));
                }
            }
        }
        ASSERT_EQ(found, 1U);
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << count;
        EXPECT_EQ(rig.held(), 20) << count;
        // Write the changes that are pending in memory into nodes of the map.
        ASSERT_EQ(rig.fill(512, 100, 3), Status::ok) << count;
        ASSERT_EQ(rig.driver.sync(), Status::ok) << count;
        EXPECT_EQ(rig.held(), 20) << count;
        ASSERT_EQ(rig.driver.mount(kOptions), Status::ok) << count;
        EXPECT_EQ(rig.held(), 20) << count;
    }
}

// An unreadable node of the map loses its own pages and nothing else. The rest can be written for as long as the chip
// lasts, which requires freeing the blocks with the lost pages.
TEST(FlashMount, ADamagedNodeDoesNotFillTheChip) {
    Rig rig;
    ASSERT_EQ(rig.driver.format(kFormat, kOptions), Status::ok);
    // Write all pages of three nodes of the map.
    constexpr unsigned kPages = 40;
    for (unsigned i = 1; i <= 6; ++i) {
        for (unsigned page = 0; page < kPages; ++page) {
            ASSERT_EQ(rig.fill(std::uint64_t{page} * 128, 128, page + i), Status::ok) << page;
            if (page % 4 == 3) {
                ASSERT_EQ(rig.driver.sync(), Status::ok);
            }
        }
    }
    // The first sync after a mount writes all changes that are pending in memory into the map.
    ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
    ASSERT_EQ(rig.fill(0, 128, 6), Status::ok);
    ASSERT_EQ(rig.driver.sync(), Status::ok);
    unsigned damaged = 0;
    for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
        for (std::uint32_t offset = 32; rig.has_head(block) && offset + 32 <= kChip.block_size; offset += 4) {
            const std::uint32_t word = rig.number(block, offset);
            // Damage node 1 of the lowest level, of any size.
            if ((word & 0x7f) == 3 && rig.number(block, offset + 8) == (1U << 28 | 1)) {
                ++damaged;
                rig.put_number(block, offset + 4, rig.number(block, offset + 4) ^ 0x55);
            }
        }
    }
    ASSERT_GT(damaged, 0U);
    ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
    std::byte bytes[128];
    unsigned lost = 0;
    for (unsigned page = 0; page < kPages; ++page) {
        lost += rig.driver.read(kRaw, std::uint64_t{page} * 128, bytes) != Status::ok ? 1 : 0;
    }
    EXPECT_EQ(lost, 16U);
    for (unsigned i = 0; i < 500; ++i) {
        ASSERT_EQ(rig.fill(4096 + i % 8 * 128, 128, i), Status::ok) << i;
        ASSERT_EQ(rig.driver.sync(), Status::ok) << i;
    }
    // Lost pages give an error and can be written again.
    for (unsigned page = 0; page < kPages; ++page) {
        const Status status = rig.driver.read(kRaw, std::uint64_t{page} * 128, bytes);
        EXPECT_TRUE(status == Status::ok ? page < 16 || page >= 32 : page >= 16 && page < 32) << page;
        ASSERT_EQ(rig.fill(std::uint64_t{page} * 128, 128, page), Status::ok);
        ASSERT_EQ(rig.driver.sync(), Status::ok);
        ASSERT_EQ(rig.driver.read(kRaw, std::uint64_t{page} * 128, bytes), Status::ok);
    }
}

// Records of removals that were never committed are still in the log when its blocks are freed. They name parts of a
// map that had more levels than the committed one, and must be ignored.
TEST(FlashMount, WhatWasRemovedWithoutACommitIsNothing) {
    Rig rig;
    rig.work(5);
    // Write three nodes of the map and remove two of them entirely.
    ASSERT_EQ(rig.fill(2048, 4096, 9), Status::ok);
    ASSERT_EQ(rig.driver.truncate(2048), Status::ok);
    for (unsigned i = 0; i < 500; ++i) {
        // The first sync after a mount writes all changes that are pending in memory into the map.
        ASSERT_EQ(i % 10 == 0 ? rig.driver.mount(kOptions) : Status::ok, Status::ok) << i;
        ASSERT_EQ(rig.fill(1024 + i % 8 * 128, 128, i), Status::ok) << i;
        ASSERT_EQ(rig.driver.sync(), Status::ok) << i;
        ASSERT_EQ(rig.held(), 5) << i;
    }
}

// No block has a commit, and the references between blocks form a circle, leave the chip, or lead to a newer block.
TEST(FlashMount, NoStateIsFound) {
    struct Way {
        const char* name;
        std::function<void(Rig&, std::uint32_t)> damage;
    };
    const Way ways[] = {
        {"none", [](Rig&, std::uint32_t) {}},
        {"itself", [](Rig& rig, std::uint32_t newest) { rig.put_number(newest, 16, newest); }},
        {"behind the chip", [](Rig& rig, std::uint32_t newest) { rig.put_number(newest, 16, 32); }},
        {"to a newer one",
         [](Rig& rig, std::uint32_t newest) {
             const std::uint32_t before = rig.number(newest, 16);
             rig.put_number(before, 12, rig.number(newest, 12));
             rig.put_number(before, 16, newest);
             rig.seal_head(before);
         }},
    };
    for (const Way& way : ways) {
        Rig rig;
        rig.work(40);
        const std::uint32_t newest = rig.newest();
        for (std::uint32_t block = 0; block < kChip.blocks; ++block) {
            for (const std::uint32_t offset : rig.commits(block)) {
                rig.put_number(block, offset, 0);
                rig.put_number(block, offset + 4, 0);
            }
        }
        way.damage(rig, newest);
        rig.seal_head(newest);
        EXPECT_EQ(rig.driver.mount(kOptions), Status::corrupt_file) << way.name;
        EXPECT_EQ(rig.driver.usage().finding, FlashFinding::no_commit) << way.name;
        EXPECT_EQ(rig.held(), -1) << way.name;
        EXPECT_EQ(rig.driver.format(kFormat, kOptions), Status::ok) << way.name;
    }
}

// All blocks are bad, or so many that a file does not fit.
TEST(FlashMount, BadBlocks) {
    for (const std::uint32_t good : {0U, 1U, 4U}) {
        Rig rig;
        for (std::uint32_t block = good; block < kChip.blocks; ++block) {
            rig.simulator.set_bad(block);
        }
        EXPECT_EQ(rig.driver.mount(kOptions), good == 0 ? Status::io_error : Status::not_found) << good;
        EXPECT_EQ(rig.driver.format(kFormat, kOptions), good == 0 ? Status::io_error : Status::no_space) << good;
        EXPECT_FALSE(rig.driver.mounted());
    }
}

// The smallest chip works, and so does each that is larger. A smaller one is refused before anything is changed.
TEST(FlashMount, TheSmallestChip) {
    for (const FlashGeometry& blocks :
         {FlashGeometry{0, 512, 256, 1, 0xff}, FlashGeometry{0, 1024, 256, 16, 0x00},
          FlashGeometry{0, 4096, 256, 1, 0xff}, FlashGeometry{0, 8192, 2048, 2048, 0xff}}) {
        for (const FlashFormat& format : {FlashFormat{128, 50}, FlashFormat{512, 12}, FlashFormat{512, 5}}) {
            for (const FlashOptions& options : {FlashOptions{8, false}, FlashOptions{32, false}}) {
                FlashGeometry geometry = blocks;
                const std::uint32_t fewest = FlashDriver::fewest_blocks(geometry, format, options);
                for (geometry.blocks = fewest - 1; geometry.blocks < fewest + 40; ++geometry.blocks) {
                    FlashChip chip(geometry, format, options);
                    const bool works = geometry.blocks >= fewest;
                    EXPECT_EQ(chip.driver.format(format, options), works ? Status::ok : Status::no_space);
                    EXPECT_EQ(chip.simulator.operations() == 0, !works);
                    EXPECT_EQ(chip.fill(0, 1, 1), works ? Status::ok : Status::io_error);
                }
            }
        }
    }
}

// The header of a block has room for the logarithm of this unit, and of no larger one.
TEST(FlashMount, TheLargestUnit) {
    FlashChip chip(FlashGeometry{32, 131072, 32768, 32768, 0xff});
    ASSERT_EQ(chip.driver.format(), Status::ok);
    ASSERT_EQ(chip.fill(0, 100, 7), Status::ok);
    ASSERT_EQ(chip.driver.sync(), Status::ok);
    ASSERT_EQ(chip.driver.mount(), Status::ok);
    std::byte byte{};
    ASSERT_EQ(chip.driver.read(kRaw, 99, {&byte, 1}), Status::ok);
    EXPECT_EQ(byte, std::byte{7});
}

// However many blocks have become bad, what the others hold can be read. Without room for a page nothing is changed.
TEST(FlashMount, WornChip) {
    constexpr FlashGeometry kWorn{16, 4096, 256, 1, 0xff};
    unsigned full = 0;
    for (std::uint32_t bad = 1; bad < 15; ++bad) {
        FlashChip chip(kWorn);
        ASSERT_EQ(chip.driver.format(), Status::ok);
        ASSERT_EQ(chip.fill(0, 512, 7), Status::ok);
        ASSERT_EQ(chip.driver.sync(), Status::ok);
        for (std::uint32_t block = 0; block < bad; ++block) {
            chip.simulator.set_bad(15 - block);
        }
        ASSERT_EQ(chip.driver.mount(), Status::ok) << bad;
        const FlashUsage usage = chip.driver.usage();
        EXPECT_EQ(usage.blocks_bad, bad);
        EXPECT_LE(usage.transaction, usage.capacity);
        EXPECT_NE(chip.driver.worst_case(1, 10).reads, 0U);
        std::byte byte{};
        EXPECT_EQ(chip.driver.read(kRaw, 511, {&byte, 1}), Status::ok);
        EXPECT_EQ(byte, std::byte{7});
        if (usage.capacity != 0) {
            continue;
        }
        ++full;
        EXPECT_EQ(chip.fill(0, 512, 8), Status::no_space) << bad;
        EXPECT_EQ(chip.driver.truncate(100), Status::no_space) << bad;
        EXPECT_EQ(chip.driver.release(kRaw, 0, 512), Status::no_space) << bad;
        EXPECT_EQ(chip.driver.keep_room(1, 10), Status::no_space) << bad;
        const Status synced = chip.driver.sync();
        EXPECT_TRUE(synced == Status::ok || synced == Status::no_space) << bad << to_string(synced);
        ASSERT_EQ(chip.driver.mount(), Status::ok) << bad;
        EXPECT_EQ(chip.driver.read(kRaw, 511, {&byte, 1}), Status::ok);
        EXPECT_EQ(byte, std::byte{7});
    }
    EXPECT_GE(full, 10U);
}

// Whether each of 60 sessions with 40 syncs on an EEPROM finds what the one before it has left.
bool keeps_on_eeprom(bool erase_fills) {
    FlashSimulatorOptions options;
    options.geometry = {32, 4096, 256, 1, 0xff};
    options.overwrites = true;
    options.erase_fills = erase_fills;
    std::vector<std::uint64_t> chip_memory(FlashSimulator::required_memory(options.geometry) / 8 + 1);
    std::vector<std::uint64_t> work(FlashDriver::required_memory(options.geometry) / 8 + 1);
    FlashSimulator chip(options, {reinterpret_cast<std::byte*>(chip_memory.data()), chip_memory.size() * 8});
    FlashDriver driver(chip, {reinterpret_cast<std::byte*>(work.data()), work.size() * 8});
    EXPECT_EQ(driver.format(), Status::ok);
    std::uint32_t count = 0;
    for (unsigned session = 0; session < 60; ++session) {
        std::byte bytes[4] = {};
        if (driver.mount() != Status::ok || (count != 0 && driver.read(kRaw, 0, bytes) != Status::ok) ||
            load_le<std::uint32_t>(bytes) != count) {
            return false;
        }
        for (unsigned i = 0; i < 40; ++i) {
            store_le<std::uint32_t>(bytes, ++count);
            EXPECT_EQ(driver.write(kRaw, 0, bytes), Status::ok);
            const std::vector<std::byte> data(300, bytes[0]);
            EXPECT_EQ(driver.write(kRaw, 512 + count % 8 * 300, {data.data(), data.size()}), Status::ok);
            EXPECT_EQ(driver.sync(), Status::ok);
        }
    }
    return true;
}

// FlashDevice::erase() says that it must write erased bytes there, too: records of the round before would count.
TEST(FlashMount, AnEepromMustBeErased) {
    EXPECT_TRUE(keeps_on_eeprom(true));
    EXPECT_FALSE(keeps_on_eeprom(false));
}

// Bad blocks do not count, and a mount needs as many blocks as format() with the same options.
TEST(FlashMount, TheSmallestChipForEachMount) {
    constexpr FlashFormat kPages{512, 12};
    constexpr FlashOptions kFew{8, false};
    FlashGeometry geometry{0, 1024, 256, 4, 0xff};
    geometry.blocks = FlashDriver::fewest_blocks(geometry, kPages, kFew) + 1;
    FlashChip chip(geometry, kPages, {64, false});
    chip.simulator.set_bad(3);
    chip.simulator.set_bad(5);
    EXPECT_EQ(chip.driver.format(kPages, kFew), Status::no_space);
    EXPECT_EQ(chip.simulator.operations(), 0U);
    FlashChip sound(geometry, kPages, {64, false});
    ASSERT_EQ(sound.driver.format(kPages, kFew), Status::ok);
    EXPECT_EQ(sound.driver.mount({64, false}), Status::no_space);
    EXPECT_FALSE(sound.driver.mounted());
    EXPECT_EQ(sound.driver.mount({64, true}), Status::ok);
    EXPECT_EQ(sound.driver.mount(kFew), Status::ok);
}

// Calls before mount(), and with addresses outside the file.
TEST(FlashMount, RefusesWhatIsNotThere) {
    Rig rig;
    FlashBlockInfo info;
    std::byte bytes[4] = {};
    std::uint64_t size = 0;
    EXPECT_EQ(rig.driver.read(kRaw, 0, bytes), Status::io_error);
    EXPECT_EQ(rig.driver.sync(), Status::io_error);
    EXPECT_EQ(rig.driver.discard(), Status::io_error);
    EXPECT_EQ(rig.driver.truncate(0), Status::io_error);
    EXPECT_EQ(rig.driver.release(kRaw, 0, 10), Status::io_error);
    EXPECT_EQ(rig.driver.keep_room(1, 10), Status::io_error);
    EXPECT_EQ(rig.driver.end_of_file(size), Status::io_error);
    EXPECT_EQ(rig.driver.block_info(0, info), Status::invalid_argument);
    EXPECT_FALSE(rig.driver.capabilities().writable);
    rig.work(3);
    EXPECT_EQ(rig.driver.block_info(kChip.blocks, info), Status::invalid_argument);
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    EXPECT_EQ(rig.driver.write(kRaw, kMost, bytes), Status::no_space);
    EXPECT_EQ(rig.driver.write(kRaw, std::uint64_t{1} << 35, bytes), Status::no_space);
    EXPECT_EQ(rig.driver.write(kRaw, kMost, {bytes, 0}), Status::ok);
    EXPECT_EQ(rig.driver.truncate(kMost), Status::no_space);
    EXPECT_EQ(rig.driver.release(kRaw, 300, 1), Status::ok);
    EXPECT_EQ(rig.driver.release(kRaw, kMost, kMost), Status::ok);
    EXPECT_EQ(rig.driver.keep_room(1, kMost / 4), Status::no_space);
    EXPECT_EQ(rig.driver.read(kRaw, kMost, bytes), Status::io_error);
    EXPECT_EQ(rig.driver.read(kRaw, 298, bytes), Status::io_error);
    EXPECT_EQ(rig.held(), 3);
    EXPECT_EQ(rig.driver.discard(), Status::ok);
    EXPECT_EQ(rig.held(), 3);
}

// Each read fails in turn during a call: the call returns an error, and succeeds when it is repeated.
TEST(FlashMount, EachReadFails) {
    Rig full;
    full.work(60);
    ASSERT_EQ(full.fill(5000, 300, 7), Status::ok);
    ASSERT_EQ(full.driver.sync(), Status::ok);
    struct Question {
        const char* name;
        std::function<Status(Rig&)> ask;
    };
    const Question questions[] = {
        {"block_info",
         [](Rig& rig) {
             FlashBlockInfo info;
             Status status = Status::ok;
             for (std::uint32_t block = 0; block < kChip.blocks && status == Status::ok; ++block) {
                 status = rig.driver.block_info(block, info);
             }
             return status;
         }},
        {"truncate", [](Rig& rig) { return rig.driver.truncate(100); }},
        {"write", [](Rig& rig) { return rig.fill(5100, 400, 9); }},
        {"sync",
         [](Rig& rig) {
             const Status status = rig.fill(100, 800, 9);
             return status == Status::ok ? rig.driver.sync() : status;
         }},
    };
    for (const Question& question : questions) {
        unsigned told = 0;
        for (std::uint64_t read = 1;; ++read) {
            Rig rig;
            rig.simulator.copy_from(full.simulator);
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
            const std::uint64_t reads = rig.simulator.counts().reads;
            rig.simulator.fail_read(read);
            const Status status = question.ask(rig);
            const bool failed = rig.simulator.counts().reads >= reads + read;
            rig.simulator.fail_read(0);
            EXPECT_TRUE(status == Status::ok || (failed && status == Status::io_error)) << question.name << read;
            told += status != Status::ok ? 1 : 0;
            ASSERT_EQ(question.ask(rig), Status::ok) << question.name << read;
            ASSERT_EQ(rig.driver.sync(), Status::ok) << question.name << read;
            ASSERT_EQ(rig.driver.mount(kOptions), Status::ok);
            std::byte some[100];
            ASSERT_EQ(rig.driver.read(kRaw, 0, some), Status::ok) << question.name << read;
            EXPECT_EQ(some[0], std::byte{60});
            EXPECT_EQ(some[99], std::byte{60});
            if (!failed) {
                break;
            }
        }
        EXPECT_GT(told, 0U) << question.name;
    }
}

}  // namespace
