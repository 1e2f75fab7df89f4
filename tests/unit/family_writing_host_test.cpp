// Families that are written: which member gets which byte, which members are synced, and what a failed call leaves.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_OTHER_FILES && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "family_members.hpp"
#include "hdf5_image.hpp"
#include "sweep.hpp"

#include <h5mote/vfd/journal.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;

std::vector<std::byte> counted(std::size_t size, unsigned from) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(from + i * 7);
    }
    return bytes;
}

// Members but the last are full, those behind it are empty, and the whole is what was written.
void expect_whole(Members& members, FamilyDriver& driver, const std::vector<std::byte>& expected, std::size_t size) {
    std::uint64_t end = 0;
    ASSERT_EQ(driver.end_of_file(end), Status::ok);
    ASSERT_EQ(end, expected.size());
    ASSERT_TRUE(image_of(driver) == expected);
    std::size_t left = expected.size();
    for (const std::size_t each : members.sizes()) {
        ASSERT_EQ(each, left < size ? left : size);
        left -= each;
    }
}

TEST(FamilyWriting, AnyChanges) {
    for (const std::size_t size : {std::size_t{512}, std::size_t{1024}, std::size_t{4096}}) {
        Members members;
        auto driver = std::make_unique<FamilyDriver>(members);
        ASSERT_EQ(driver->open_or_create(size), Status::ok);
        std::vector<std::byte> model;
        std::mt19937 random(7);
        const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
        for (unsigned i = 0; i < 600; ++i) {
            const std::size_t at = below(model.size() + 700);
            const auto kind = below(16);
            if (kind == 0) {
                model.resize(at);
                ASSERT_EQ(driver->truncate(at), Status::ok);
            } else if (kind == 1) {
                ASSERT_EQ(driver->sync(), Status::ok);
            } else if (kind == 2) {
                driver = std::make_unique<FamilyDriver>(members);
                ASSERT_EQ(driver->open_or_create(size), Status::ok);
            } else {
                const std::vector<std::byte> bytes = counted(below(3 * size), i);
                model.resize(bytes.empty() ? model.size() : std::max(model.size(), at + bytes.size()));
                std::copy(bytes.begin(), bytes.end(),
                          model.begin() + static_cast<std::ptrdiff_t>(bytes.empty() ? 0 : at));
                ASSERT_EQ(driver->write(kRaw, at, {bytes.data(), bytes.size()}), Status::ok);
            }
            expect_whole(members, *driver, model, size);
            if (HasFatalFailure()) {
                FAIL() << size << " " << i;
            }
        }
        ASSERT_EQ(driver->truncate(0), Status::ok);
        expect_whole(members, *driver, {}, size);
        EXPECT_EQ(driver->release(kRaw, 0, 10 * size), Status::ok);
    }
}

TEST(FamilyWriting, EveryMemberThatWasWrittenIsSynced) {
    Members members;
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open_or_create(512), Status::ok);
    ASSERT_EQ(driver.truncate(20 * 512), Status::ok);
    ASSERT_EQ(driver.sync(), Status::ok);
    members.faults.synced.clear();
    const std::vector<std::byte> bytes = counted(600, 1);
    for (const std::uint64_t at : {15 * 512, 3 * 512, 15 * 512, 9 * 512}) {
        ASSERT_EQ(driver.write(kRaw, at, {bytes.data(), bytes.size()}), Status::ok);
    }
    ASSERT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(members.faults.synced, (std::vector<std::size_t>{3, 4, 9, 10, 15, 16}));
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(members.faults.synced.size(), 6U);
    // What fails is synced again, and so is what comes after it; nothing else is.
    members.faults.synced.clear();
    for (std::uint64_t at = 0; at < 6; ++at) {
        ASSERT_EQ(driver.write(kRaw, at * 512, {bytes.data(), 512}), Status::ok);
    }
    members.faults.arm(6);  // the third sync: each follows the call that hands out its member
    EXPECT_EQ(driver.sync(), Status::io_error);
    members.faults.arm(0);
    EXPECT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(members.faults.synced, (std::vector<std::size_t>{0, 1, 2, 2, 3, 4, 5}));
    // More members than are remembered: the ones before are synced first.
    members.faults.synced.clear();
    for (std::uint64_t at = 0; at < 20; ++at) {
        ASSERT_EQ(driver.write(kRaw, (19 - at) * 512, {bytes.data(), 512}), Status::ok);
    }
    ASSERT_EQ(driver.sync(), Status::ok);
    std::vector<std::size_t> all = members.faults.synced;
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> twenty(20);
    std::iota(twenty.begin(), twenty.end(), 0U);
    EXPECT_EQ(all, twenty);
}

// Every call of a member fails, once and for good, in every kind of change.
TEST(FamilyWriting, EachCallFails) {
    constexpr std::size_t kSize = 512;
    struct Change {
        std::uint64_t at;
        std::size_t bytes;  // 0: truncate() to `at`
    };
    unsigned refused = 0;
    for (const Change& change :
         {Change{700, 10}, Change{400, 1300}, Change{900, 900}, Change{1300, 1000}, Change{3000, 100}, Change{4000, 0},
          Change{1400, 0}, Change{100, 0}, Change{1536, 0}}) {
        for (const bool persistent : {false, true}) {
            bool failed = true;
            for (unsigned k = 1; failed; ++k) {
                Members members;
                FamilyDriver driver(members);
                ASSERT_EQ(driver.open_or_create(kSize), Status::ok);
                const std::vector<std::byte> before = counted(1300, 3);
                ASSERT_EQ(driver.write(kRaw, 0, {before.data(), before.size()}), Status::ok);
                const std::vector<std::byte> bytes = counted(change.bytes, 99);
                const auto run = [&] {
                    return change.bytes == 0 ? driver.truncate(change.at)
                                             : driver.write(kRaw, change.at, {bytes.data(), bytes.size()});
                };
                members.faults.arm(k, persistent);
                const Status status = run();
                failed = members.faults.failures != 0;
                members.faults.arm(0);
                ASSERT_EQ(status != Status::ok, failed) << change.at << " " << k;
                refused += failed ? 1 : 0;
                std::uint64_t end = 0;
                ASSERT_EQ(driver.end_of_file(end), Status::ok);
                if (failed && !persistent && (change.bytes != 0 || change.at > before.size())) {
                    EXPECT_EQ(end, before.size()) << change.at << " " << k;
                }
                if (failed) {
                    // Outside the range nothing has changed.
                    std::vector<std::byte> found(static_cast<std::size_t>(end));
                    ASSERT_EQ(driver.read(kRaw, 0, {found.data(), found.size()}), Status::ok);
                    for (std::size_t i = 0; i < std::min(found.size(), before.size()); ++i) {
                        ASSERT_TRUE(found[i] == before[i] || (i >= change.at && i < change.at + change.bytes));
                    }
                    ASSERT_EQ(run(), Status::ok) << change.at << " " << k;
                }
                std::vector<std::byte> after = before;
                after.resize(change.bytes == 0 ? static_cast<std::size_t>(change.at)
                                               : std::max<std::size_t>(before.size(), change.at + change.bytes));
                std::copy(bytes.begin(), bytes.end(),
                          after.begin() + static_cast<std::ptrdiff_t>(change.bytes == 0 ? 0 : change.at));
                std::vector<std::byte> found = image_of(driver);
                if (persistent && found.size() > after.size() && change.bytes != 0) {
                    found.resize(after.size());  // a storage that could not shrink back
                }
                ASSERT_TRUE(found == after) << change.at << " " << k;
            }
        }
    }
    EXPECT_GT(refused, 100U);
}

TEST(FamilyWriting, Full) {
    Members members;
    members.most = 3;
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open_or_create(512), Status::ok);
    const std::vector<std::byte> bytes = counted(1400, 3);
    ASSERT_EQ(driver.write(kRaw, 0, {bytes.data(), 600}), Status::ok);
    EXPECT_EQ(driver.write(kRaw, 300, {bytes.data(), 1400}), Status::no_space);
    EXPECT_EQ(driver.truncate(1537), Status::no_space);
    EXPECT_EQ(driver.write(kRaw, ~std::uint64_t{0} - 5, {bytes.data(), 100}), Status::no_space);
    EXPECT_EQ(driver.write(kRaw, ~std::uint64_t{0} - 5, {bytes.data(), 2}), Status::no_space);
    expect_whole(members, driver, {bytes.begin(), bytes.begin() + 600}, 512);
    ASSERT_EQ(driver.write(kRaw, 0, {bytes.data(), 1400}), Status::ok);
    expect_whole(members, driver, bytes, 512);
}

TEST(FamilyWriting, WhatCannotBeWritten) {
    std::byte storage[3][1024] = {};
    MemoryDriver members[] = {MemoryDriver{storage[0], 700}, MemoryDriver{storage[1], 700}, MemoryDriver{storage[2]}};
    Driver* list[] = {&members[0], &members[1], &members[2]};
    FamilySpan span{{list, 3}};
    FamilyDriver driver(span);
    const std::byte byte[1] = {};
    EXPECT_FALSE(driver.capabilities().writable);
    EXPECT_EQ(driver.write(kRaw, 0, byte), Status::read_only);
    for (const std::uint64_t size : {0U, 1U, 700U, 513U}) {
        EXPECT_EQ(driver.open_or_create(size), Status::invalid_argument);
    }
    ASSERT_EQ(driver.open(), Status::ok);
    EXPECT_EQ(driver.write(kRaw, 0, byte), Status::unsupported);
    EXPECT_EQ(driver.truncate(0), Status::unsupported);
    // That size may be what a power cut has left of the first member, until the superblock says the same.
    EXPECT_EQ(driver.capabilities().atomic_unit, 512U);
    const std::byte size_of_members[8] = {std::byte{700 & 0xff}, std::byte{700 >> 8}};
    std::uint64_t end_of_file = 0;
    ASSERT_EQ(driver.use_superblock_info("NCSAfami", size_of_members, end_of_file), Status::ok);
    EXPECT_EQ(driver.write(kRaw, 0, byte), Status::unsupported);
    EXPECT_EQ(driver.capabilities().atomic_unit, 1U);
    // One member, and nobody knows yet how large it may become.
    FamilySpan one{{list, 1}};
    FamilyDriver alone(one);
    ASSERT_EQ(alone.open(), Status::ok);
    EXPECT_EQ(alone.write(kRaw, 0, byte), Status::read_only);
    std::byte info[8] = {std::byte{0}, std::byte{4}};  // 1024
    std::uint64_t end = 0;
    ASSERT_EQ(alone.use_superblock_info("NCSAfami", info, end), Status::ok);
    EXPECT_EQ(alone.write(kRaw, 1023, byte), Status::ok);
    EXPECT_EQ(alone.write(kRaw, 1024, byte), Status::no_space);
    // A commit of two members is not one commit; and the weakest member decides what is promised.
    Members own;
    FamilyDriver family(own);
    ASSERT_EQ(family.open_or_create(512), Status::ok);
    ASSERT_EQ(family.truncate(1024), Status::ok);
    EXPECT_EQ(family.capabilities().atomic_unit, 512U);
    own.members[1]->unit = 128;
    ASSERT_EQ(family.open(), Status::ok);
    EXPECT_EQ(family.capabilities().atomic_unit, 128U);
    EXPECT_FALSE(family.capabilities().ordered);
    own.members[1]->commits = true;
    ASSERT_EQ(family.open(), Status::ok);
    EXPECT_FALSE(family.capabilities().writable);
}

// A power cut may have left a member short although the next one has bytes, and members behind one that is missing.
TEST(FamilyWriting, ShortMembersAreMadeFull) {
    Members members;
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open_or_create(512), Status::ok);
    std::vector<std::byte> bytes = counted(2000, 3);
    ASSERT_EQ(driver.write(kRaw, 0, {bytes.data(), bytes.size()}), Status::ok);
    ASSERT_EQ(members.storages[1]->truncate(100), Status::ok);
    ASSERT_EQ(members.storages[2]->truncate(0), Status::ok);
    FamilyDriver again(members);
    ASSERT_EQ(again.open_or_create(512), Status::ok);
    std::fill(bytes.begin() + 612, bytes.begin() + 1536, std::byte{});
    EXPECT_TRUE(image_of(again) == bytes);
    ASSERT_EQ(again.write(kRaw, 0, {bytes.data(), 1}), Status::ok);
    expect_whole(members, again, bytes, 512);
}

// A program that was killed may have written what the storage need not have yet: the first sync() after open() makes
// durable what was found.
TEST(FamilyWriting, FirstSyncReachesAllMembers) {
    Members members;
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open_or_create(512), Status::ok);
    const std::vector<std::byte> bytes = counted(1800, 3);
    ASSERT_EQ(driver.write(kRaw, 0, {bytes.data(), bytes.size()}), Status::ok);
    FamilyDriver again(members);
    ASSERT_EQ(again.open_or_create(512), Status::ok);
    members.faults.synced.clear();
    members.faults.arm(4);  // the second sync: each follows the call that hands out its member
    EXPECT_EQ(again.sync(), Status::io_error);
    members.faults.arm(0);
    EXPECT_EQ(again.sync(), Status::ok);
    EXPECT_EQ(again.sync(), Status::ok);
    EXPECT_EQ(members.faults.synced, (std::vector<std::size_t>{0, 1, 1, 2, 3}));
}

// A file is made on a family, under a journal, and found again.
TEST(FamilyWriting, UnderAJournal) {
    Members members;
    MallocAllocator heap;
    NullPort port;
    GrowingMemoryDriver log(heap);
    for (const bool again : {false, true}) {
        FamilyDriver family(members);
        ASSERT_EQ(family.open_or_create(512), Status::ok);
        std::vector<std::byte> memory(JournalDriver::required_memory());
        JournalDriver journal(family, log, {memory.data(), memory.size()});
        ASSERT_EQ(journal.open(), Status::ok);
        {
            Library library{heap, port, {}, formats::all};
            auto file = again ? File::open(library, journal) : File::create(library, journal);
            ASSERT_EQ(file.status(), Status::ok);
            FileInfo info;
            ASSERT_EQ(file->info(info), Status::ok);
            EXPECT_TRUE(info.has_driver_info);
            ASSERT_EQ(append(*file, again ? kRows : 0), Status::ok);
            expect_rows(*file, again ? 2 * kRows : kRows);
            ASSERT_EQ(file->close(), Status::ok);
        }
        ASSERT_EQ(journal.close(), Status::ok);
    }
}

Status log_some(Library& library, Driver& driver) {
    for (const bool again : {false, true}) {
        auto file = again ? File::open(library, driver) : File::create(library, driver);
        H5MOTE_TRY(file.status());
        H5MOTE_TRY(append(*file, again ? kRows : 0));
        H5MOTE_TRY(file->flush());
        H5MOTE_TRY(file->close());
    }
    return Status::ok;
}

// Every call of every member fails while a file is made and continued: an error, if and only if something failed that
// counts, and the family is whole or holds no file.
TEST(FamilyWriting, EachCallFailsWhileLogging) {
    unsigned refused = 0;
    for (const bool persistent : {false, true}) {
        bool failed = true;
        for (unsigned k = 1; failed; k += static_cast<unsigned>(sweep_step())) {
            Members members;
            MallocAllocator heap;
            NullPort port;
            FamilyDriver driver(members);
            ASSERT_EQ(driver.open_or_create(1024), Status::ok);
            {
                Library library{heap, port, {}, formats::all};
                members.faults.arm(k, persistent);
                const Status status = log_some(library, driver);
                failed = members.faults.failures != 0;
                members.faults.arm(0);
                // What is only given up, or what takes back a change, may fail without anybody being told.
                EXPECT_TRUE(failed || status == Status::ok) << k;
                refused += status == Status::ok ? 0 : 1;
            }
            ASSERT_EQ(heap.usage().now, 0U) << k;
            members.reopen();
            FamilyDriver left(members);
            ASSERT_EQ(left.open_or_create(1024), Status::ok);
            Library library{heap, port, {}, formats::all};
            auto file = File::open_or_create(library, left);
            ASSERT_EQ(file.status(), Status::ok) << k;
            const Findings findings = findings_in(*file);
            EXPECT_TRUE(findings.none()) << k << ": " << findings.last_kind << " at " << findings.last_address;
            ASSERT_EQ(file->root().create_group("more").status(), Status::ok) << k;
            ASSERT_EQ(file->close(), Status::ok) << k;
        }
    }
    EXPECT_GT(refused * sweep_step(), 100U);
}

}  // namespace

#endif
