// Drivers around other drivers, whose calls fail in turn: each error is passed on, and no data is lost.
#include <h5mote/vfd/family.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/multi.hpp>
#include <h5mote/vfd/region.hpp>

#include <gtest/gtest.h>

#include "driver_bytes.hpp"
#include "failing_driver.hpp"

#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

DriverFault first_call() {
    DriverFault fault;
    fault.at = 1;
    return fault;
}

TEST(RegionFaults, ArePassedOn) {
    static std::byte bytes[256];
    MemoryDriver storage{bytes};
    ASSERT_EQ(fill(storage, 0, 5, 200), Status::ok);
    FailingDriver failing{storage};
    for (const bool bounded : {false, true}) {
        RegionDriver region{failing, 100, bounded ? 100 : kMost};
        std::byte to[10];
        std::uint64_t size = 0;
        failing.arm(first_call());
        EXPECT_EQ(region.read(kRaw, 0, to), Status::io_error);
        failing.arm(first_call());
        EXPECT_EQ(region.write(kRaw, 0, to), Status::io_error);
        failing.arm(first_call());
        EXPECT_EQ(region.end_of_file(size), Status::io_error);
        failing.arm(first_call());
        EXPECT_EQ(region.release(kRaw, 0, 10), Status::io_error);
        failing.arm(first_call());
        EXPECT_EQ(region.truncate(90), Status::io_error);
        failing.arm({2});
        EXPECT_EQ(region.truncate(bounded ? 100 : 90), bounded ? Status::ok : Status::io_error);
        failing.disarm();
        EXPECT_EQ(length(region), 100U);
        EXPECT_TRUE(holds(region, 0, 100, 5));
        EXPECT_EQ(region.release(kRaw, 100, 10), Status::ok);
        EXPECT_EQ(region.release(kRaw, kMost, kMost), Status::ok);
        EXPECT_EQ(region.truncate(kMost), Status::no_space);
        EXPECT_EQ(region.write(kRaw, kMost, to), Status::no_space);
        EXPECT_EQ(region.write(kRaw, 40, {to, 0}), Status::ok);
        EXPECT_EQ(length(region), 100U);
    }
    // A region that begins behind the end of the storage.
    RegionDriver behind{failing, 250};
    EXPECT_EQ(length(behind), 0U);
}

#if H5MOTE_OTHER_FILES

// Members whose calls fail, including the call that opens a member.
class Members final : public FamilyMembers {
public:
    Status member(std::uint32_t index, Driver*& driver) noexcept override {
        if (index >= 3) {
            return Status::not_found;
        }
        if (++calls == fails_at) {
            return Status::busy;
        }
        driver = list[index];
        return Status::ok;
    }
    std::int32_t last_error() const noexcept override { return 7; }

    std::byte bytes[3][8] = {};
    MemoryDriver storages[3] = {MemoryDriver{bytes[0], 8}, MemoryDriver{bytes[1], 8}, MemoryDriver{bytes[2], 8}};
    FailingDriver failing[3] = {FailingDriver{storages[0]}, FailingDriver{storages[1]}, FailingDriver{storages[2]}};
    Driver* list[3] = {&failing[0], &failing[1], &failing[2]};
    unsigned calls = 0;
    unsigned fails_at = 0;
};

TEST(FamilyFaults, ArePassedOn) {
    Members members;
    FamilyDriver family{members};
    std::byte to[24];
    for (unsigned at = 1; at <= 3; ++at) {
        members.calls = 0;
        members.fails_at = at;
        EXPECT_EQ(family.open(), Status::busy) << at;
        EXPECT_EQ(family.last_error(), 7);
        members.fails_at = 0;
        members.failing[at - 1].arm(first_call());
        EXPECT_EQ(family.open(), Status::io_error) << at;
        members.failing[at - 1].disarm();
        ASSERT_EQ(family.open(), Status::ok);
        members.failing[at - 1].arm(first_call());
        EXPECT_EQ(family.read(kRaw, 0, to), Status::io_error) << at;
        members.failing[at - 1].disarm();
        members.calls = 0;
        members.fails_at = at;
        EXPECT_EQ(family.read(kRaw, 0, to), Status::busy) << at;
        members.fails_at = 0;
        EXPECT_EQ(family.read(kRaw, 0, to), Status::ok);
    }
    for (const bool locking : {true, false}) {
        for (const bool hands_out : {false, true}) {
            EXPECT_EQ(locking ? Status::ok : family.lock(false), Status::ok);
            members.calls = 0;
            members.fails_at = hands_out ? 1 : 0;
            if (!hands_out) {
                members.failing[0].arm(first_call());
            }
            EXPECT_EQ(locking ? family.lock(false) : family.unlock(), hands_out ? Status::busy : Status::io_error);
            members.fails_at = 0;
            members.failing[0].disarm();
            EXPECT_EQ(members.failing[0].lock(true), Status::ok);  // nobody has it
            EXPECT_EQ(members.failing[0].unlock(), Status::ok);
        }
    }
    // A member size in the superblock that makes addresses overflow.
    std::byte info[8];
    std::memset(info, 0xff, sizeof info);
    std::uint64_t end = 0;
    EXPECT_EQ(family.use_superblock_info("NCSAfami", {info, 7}, end), Status::corrupt_file);
    EXPECT_EQ(family.use_superblock_info("NCSAfami", info, end), Status::ok);
    EXPECT_EQ(family.end_of_file(end), Status::overflow);
}

class Parts final : public MultiParts {
public:
    Status open(unsigned index, std::string_view, Driver*& driver) noexcept override {
        driver = list[index];
        return Status::ok;
    }
    void close(unsigned) noexcept override {}

    std::byte bytes[2][8] = {};
    MemoryDriver storages[2] = {MemoryDriver{bytes[0], 8}, MemoryDriver{bytes[1], 8}};
    FailingDriver failing[2] = {FailingDriver{storages[0]}, FailingDriver{storages[1]}};
    Driver* list[2] = {&failing[0], &failing[1]};
};

TEST(MultiFaults, ArePassedOn) {
    Parts parts;
    MultiDriver multi{parts};
    const MultiDriver closed{parts};
    EXPECT_FALSE(multi.same_storage(closed));
    MultiLayout layout;
    layout.map[2] = kMostParts;
    EXPECT_EQ(multi.open(layout), Status::invalid_argument);
    std::byte to[4];
    EXPECT_EQ(multi.read(kRaw, 0, to), Status::io_error);
    layout.map[2] = 1;
    layout.parts[0].start = 100;
    layout.parts[1].start = 1000;
    ASSERT_EQ(multi.open(layout), Status::ok);
    EXPECT_EQ(multi.read(kRaw, 0, to), Status::io_error);  // before all parts
    EXPECT_EQ(multi.truncate(0), Status::read_only);
    EXPECT_EQ(multi.write(kRaw, 100, to), Status::read_only);
    std::uint64_t end = 0;
    for (const unsigned part : {0U, 1U}) {
        parts.failing[part].arm(first_call());
        EXPECT_EQ(multi.end_of_file(end), Status::io_error);
        parts.failing[part].arm(first_call());
        EXPECT_EQ(multi.read(kRaw, part == 0 ? 104 : 1004, to), Status::io_error);
        parts.failing[part].arm(first_call());
        EXPECT_EQ(multi.lock(false), Status::io_error);
        parts.failing[part].disarm();
        // After the failure no part may stay locked.
        EXPECT_EQ(parts.storages[0].lock(true), Status::ok);
        EXPECT_EQ(parts.storages[0].unlock(), Status::ok);
        EXPECT_EQ(multi.read(kRaw, part == 0 ? 104 : 1004, to), Status::ok);
    }
    EXPECT_EQ(multi.end_of_file(end), Status::ok);
    EXPECT_EQ(end, 1008U);
    layout.parts[1].start = kMost - 3;
    ASSERT_EQ(multi.open(layout), Status::ok);
    EXPECT_EQ(multi.end_of_file(end), Status::overflow);
}

#endif

}  // namespace
