// On a storage that commits, the writes of a session whose last commit failed are lost, and must not be committed by
// the next session.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/region.hpp>

#include "failing_driver.hpp"
#include "flash_chip.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#if H5MOTE_WRITE

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kAttributes = 24;

std::string name_of(unsigned i) { return "attribute" + std::to_string(i); }

// Makes commits fail. `storage` commits; the driver with the faults is in front of it.
void refuse_a_close(Driver& storage) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    FailingDriver failing{storage};
    FileAccess access;
    access.metadata_cache = 2048;  // so small that most changes are written before the close
    for (const bool create : {false, true}) {
        auto file = File::create(library, failing, access);
        ASSERT_EQ(file.status(), Status::ok);
        for (unsigned i = 0; i < kAttributes; ++i) {
            ASSERT_EQ(file->root().write_attribute(name_of(i), 1U), Status::ok);
        }
        ASSERT_EQ(file->close(), Status::ok);
        std::uint64_t size = 0;
        ASSERT_EQ(storage.end_of_file(size), Status::ok);

        DriverFault fault;
        fault.at = 1;
        fault.persistent = true;
        fault.calls = kSyncCall;
        failing.arm(fault);
        if (create) {
            EXPECT_EQ(File::create(library, failing, access).status(), Status::io_error);
        } else {
            file = File::open(library, failing, access);
            ASSERT_EQ(file.status(), Status::ok);
            for (unsigned i = 0; i < kAttributes; ++i) {
                ASSERT_EQ(file->root().write_attribute(name_of(i), 2U), Status::ok);
                ASSERT_EQ(file->root().create_group("group" + std::to_string(i)).status(), Status::ok);
            }
            EXPECT_EQ(file->close(), Status::io_error);
        }
        EXPECT_EQ(failing.failures(), 1U);
        failing.disarm();

        std::uint64_t now = 0;
        ASSERT_EQ(storage.end_of_file(now), Status::ok);
        EXPECT_EQ(now, size);
        file = File::open(library, failing, access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->root().write_attribute("later", 3U), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
        file = File::open(library, failing, access);
        ASSERT_EQ(file.status(), Status::ok);
        std::uint32_t links = 0;
        ASSERT_EQ(file->root().link_count(links), Status::ok);
        EXPECT_EQ(links, 0U);
        for (unsigned i = 0; i < kAttributes; ++i) {
            unsigned value = 0;
            ASSERT_EQ(file->root().read_attribute(name_of(i), value), Status::ok);
            EXPECT_EQ(value, 1U);
        }
        EXPECT_EQ(file->close(), Status::ok);
    }
}

constexpr FlashGeometry kGeometry{24, 4096, 256, 4, 0xff};

TEST(RefusedClose, OnFlash) {
    FlashChip chip(kGeometry);
    ASSERT_EQ(chip.driver.format(), Status::ok);
    refuse_a_close(chip.driver);
}

TEST(RefusedClose, InARegionOfFlash) {
    FlashChip chip(kGeometry);
    ASSERT_EQ(chip.driver.format(), Status::ok);
    RegionDriver region{chip.driver, 4096};
    refuse_a_close(region);
}

TEST(RefusedClose, UnderAJournal) {
    MallocAllocator memory;
    GrowingMemoryDriver home{memory};
    GrowingMemoryDriver log{memory};
    alignas(8) std::byte work[JournalDriver::required_memory()];
    JournalDriver journal{home, log, work};
    ASSERT_EQ(journal.open(), Status::ok);
    refuse_a_close(journal);
    EXPECT_EQ(journal.close(), Status::ok);
}

TEST(FlashDriver, DiscardGoesBackToTheLastCommit) {
    FlashChip chip(kGeometry);
    EXPECT_EQ(chip.driver.discard(), Status::io_error);
    ASSERT_EQ(chip.driver.format(), Status::ok);
    std::vector<std::byte> ones(3000, std::byte{1});
    std::vector<std::byte> twos(3000, std::byte{2});
    std::vector<std::byte> found(3000);
    for (unsigned round = 0; round < 50; ++round) {
        ASSERT_EQ(chip.driver.write(Usage::raw_data, 0, {ones.data(), ones.size()}), Status::ok);
        ASSERT_EQ(chip.driver.sync(), Status::ok);
        ASSERT_EQ(chip.driver.keep_room(2, 1000), Status::ok);
        ASSERT_EQ(chip.driver.write(Usage::raw_data, 100 * round % 2500, {twos.data(), 500}), Status::ok);
        ASSERT_EQ(chip.driver.truncate(2900 - round), Status::ok);
        ASSERT_EQ(chip.driver.discard(), Status::ok);
        std::uint64_t size = 0;
        ASSERT_EQ(chip.driver.end_of_file(size), Status::ok);
        ASSERT_EQ(size, 3000U);
        ASSERT_EQ(chip.driver.read(Usage::raw_data, 0, {found.data(), found.size()}), Status::ok);
        ASSERT_EQ(found, ones);
    }
}

}  // namespace

#endif
