// A journal whose storages fail while it is opened and closed, whose log has impossible headers, or that is given
// arguments that it must refuse.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "driver_bytes.hpp"
#include "failing_driver.hpp"
#include "journal_files.hpp"
#include "journal_format.hpp"

#include <cstring>

namespace {

using namespace h5mote_test;
using journal::kFirstRecord;
using journal::kHeaderSize;
using journal::kSlotSize;

// Makes a home of 900 bytes and a log with two transactions that are not in the home yet: a truncation and a write.
void leave_transactions(Files& files) noexcept {
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 900), Status::ok);
    ASSERT_EQ(files.journal.close(), Status::ok);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 300, 2, 200), Status::ok);
    ASSERT_EQ(files.journal.truncate(600), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    ASSERT_EQ(fill(files.journal, 100, 3, 50), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
}

bool has_transactions(Driver& driver) noexcept {
    return length(driver) == 600 && holds(driver, 0, 100, 1) && holds(driver, 100, 150, 3) &&
           holds(driver, 150, 300, 1) && holds(driver, 300, 500, 2) && holds(driver, 500, 600, 1);
}

// Returns the offset of the slot with the newest header.
std::uint32_t newest_slot() noexcept {
    return load_le<std::uint32_t>(log_bytes + 12) > load_le<std::uint32_t>(log_bytes + kSlotSize + 12) ? 0 : kSlotSize;
}

void seal_header(std::uint32_t slot) noexcept {
    store_le(log_bytes + slot + kHeaderSize - 4, lookup3({log_bytes + slot, kHeaderSize - 4}));
}

// Whichever call of either storage fails while transactions are found and carried over to the home (or, read-only,
// shown): open() returns the error, and the next open() finds all transactions.
TEST(JournalFaults, OpeningFailsAtEachCall) {
    for (const bool read_only : {false, true}) {
        for (const bool home_fails : {false, true}) {
            unsigned told = 0;
            for (std::uint64_t at = 1;; ++at) {
                Files files;
                leave_transactions(files);
                FailingDriver home{files.home};
                FailingDriver log{files.log};
                FailingDriver& failing = home_fails ? home : log;
                JournalDriver journal{home, log, work_too};
                JournalOptions options = small();
                options.read_only = read_only;
                DriverFault fault;
                fault.at = at;
                failing.arm(fault);
                Status status = journal.open(options);
                if (status == Status::ok) {
                    std::byte all[600];
                    status = journal.read(kRaw, 0, all);
                }
                const bool failed = failing.failures() != 0;
                failing.disarm();
                EXPECT_EQ(status, failed ? Status::io_error : Status::ok) << at;
                ASSERT_EQ(journal.open(options), Status::ok) << at;
                EXPECT_TRUE(has_transactions(journal)) << at;
                if (!failed) {
                    break;
                }
                ++told;
            }
            EXPECT_GT(told, 4U);
        }
    }
}

// Either both storages are locked or none; a lock that cannot be released is reported, whichever storage it is.
TEST(JournalFaults, LocksFailAtEachCall) {
    for (const bool home_fails : {false, true}) {
        Files files;
        FailingDriver home{files.home};
        FailingDriver log{files.log};
        FailingDriver& failing = home_fails ? home : log;
        JournalDriver journal{home, log, work};
        JournalOptions options = small();
        ASSERT_EQ(journal.open(options), Status::ok);
        DriverFault fault;
        fault.at = 1;
        fault.calls = kLockCall | kUnlockCall;
        failing.arm(fault);
        EXPECT_EQ(journal.lock(true), Status::io_error);
        EXPECT_EQ(files.home.lock(true), Status::ok);
        EXPECT_EQ(files.home.unlock(), Status::ok);
        EXPECT_EQ(journal.lock(true), Status::ok);
        failing.arm(fault);
        EXPECT_EQ(journal.unlock(), Status::io_error);
        // The other storage was unlocked nevertheless.
        Driver& other = home_fails ? static_cast<Driver&>(files.log) : files.home;
        EXPECT_EQ(other.lock(true), Status::ok);
        EXPECT_EQ(other.unlock(), Status::ok);
    }
}

// After all was carried over, other programs may change the file only if the log's header says that it is empty. A
// header that could not be written is written by the next sync(), which close() includes.
TEST(JournalFaults, AClosedLogIsEmpty) {
    unsigned failures = 0;
    for (std::uint64_t at = 1; at < 40; ++at) {
        Files files;
        FailingDriver log{files.log};
        JournalDriver journal{files.home, log, work};
        ASSERT_EQ(journal.open(small()), Status::ok);
        ASSERT_EQ(fill(journal, 0, 1, 900), Status::ok);
        ASSERT_EQ(journal.sync(), Status::ok);
        ASSERT_EQ(fill(journal, 100, 2, 800), Status::ok);
        DriverFault fault;
        fault.at = at;
        log.arm(fault);
        const Status status = journal.sync();  // carries over to the home: the log is half full
        const bool failed = log.failures() != 0;
        log.disarm();
        EXPECT_EQ(status, failed ? Status::io_error : Status::ok) << at;
        ASSERT_EQ(journal.close(), Status::ok) << at;
        EXPECT_TRUE(holds(files.home, 100, 900, 2)) << at;
        // Change the file like a program that does not know of the log.
        ASSERT_EQ(fill(files.home, 600, 7, 100), Status::ok);
        ASSERT_EQ(journal.open(small()), Status::ok);
        EXPECT_EQ(journal.report().state, JournalState::clean) << at;
        EXPECT_TRUE(holds(journal, 600, 700, 7)) << at;
        if (!failed) {
            break;
        }
        ++failures;
    }
    EXPECT_GT(failures, 3U);
}

// A log of a later version is refused, even if an older header that this version can read is beside the newest one.
TEST(JournalFaults, AnOlderHeaderDoesNotStandForALaterVersion) {
    Files files;
    leave_transactions(files);
    const std::uint32_t slot = newest_slot();
    ASSERT_EQ(std::memcmp(log_bytes + kSlotSize - slot, journal::kMagic, sizeof journal::kMagic), 0);
    store_le<std::uint16_t>(log_bytes + slot + 8, 2);
    seal_header(slot);
    for (const bool both : {false, true}) {
        if (both) {
            store_le<std::uint16_t>(log_bytes + kSlotSize - slot + 8, 2);
            seal_header(kSlotSize - slot);
        }
        JournalDriver journal{files.home, files.log, work_too};
        EXPECT_EQ(journal.open(small()), Status::unsupported);
        EXPECT_EQ(journal.report().state, JournalState::newer);
    }
    EXPECT_TRUE(holds(files.home, 0, 900, 1));
}

struct Field {
    const char* name;
    std::uint32_t at;
    std::uint32_t width;
    std::uint64_t value;
    Status expected;
    JournalState state;
};

// Changed fields of the newest header, with a right checksum. The first record's checksum starts with that of the
// header, so that no record belongs to the changed header, and none is replayed.
TEST(JournalFaults, EachFieldOfTheHeader) {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    static constexpr Field kFields[] = {
        {"no lists", 10, 2, 0, Status::corrupt_file, JournalState::damaged},
        {"three lists", 10, 2, 3, Status::corrupt_file, JournalState::damaged},
        {"other lists", 10, 2, 64, Status::ok, JournalState::clean},
        {"most lists", 10, 2, 0x8000, Status::ok, JournalState::clean},
        {"last sequence", 12, 4, 0xffffffff, Status::ok, JournalState::clean},
        {"an empty file", 16, 8, 0, Status::ok, JournalState::clean},
        {"a longer file", 16, 8, 5000, Status::ok, JournalState::clean},
        {"the longest file", 16, 8, kMost, Status::ok, JournalState::clean},
        {"a sample behind all", 24, 8, kMost, Status::ok, JournalState::clean},
        {"other samples", 32, 8, kMost, Status::ok, JournalState::clean},
        {"more samples", 128, 4, 0xffffffff, Status::ok, JournalState::clean},
    };
    for (const Field& field : kFields) {
        Files files;
        leave_transactions(files);
        const std::uint32_t slot = newest_slot();
        for (std::uint32_t i = 0; i < field.width; ++i) {
            log_bytes[slot + field.at + i] = static_cast<std::byte>(field.value >> (8 * i));
        }
        seal_header(slot);
        JournalDriver journal{files.home, files.log, work_too};
        EXPECT_EQ(journal.open(small()), field.expected) << field.name;
        EXPECT_EQ(journal.report().state, field.state) << field.name;
        EXPECT_TRUE(holds(files.home, 0, 900, 1)) << field.name;
        if (field.expected == Status::ok) {
            EXPECT_EQ(length(journal), 900U) << field.name;
            EXPECT_EQ(fill(journal, 500, 5, 500), Status::ok) << field.name;
            EXPECT_EQ(journal.close(), Status::ok) << field.name;
            ASSERT_EQ(journal.open(small()), Status::ok) << field.name;
            EXPECT_TRUE(holds(journal, 500, 1000, 5)) << field.name;
            EXPECT_TRUE(holds(journal, 0, 500, 1)) << field.name;
        }
    }
}

// Opening a log read-only takes the number of lists that it was written with, and memory for as many.
TEST(JournalFaults, ReaderWithTooLittleMemory) {
    Files files;
    alignas(8) static std::byte large[1024];
    JournalOptions options = small();
    options.lists = 64;
    JournalDriver writer{files.home, files.log, large};
    ASSERT_EQ(writer.open(options), Status::ok);
    ASSERT_EQ(fill(writer, 0, 1, 300), Status::ok);
    ASSERT_EQ(writer.sync(), Status::ok);
    options.lists = 1;
    options.read_only = true;
    JournalDriver reader{files.home, files.log, Bytes(work_too, 400)};
    EXPECT_EQ(reader.open(options), Status::over_budget);
    EXPECT_EQ(length(reader), ~std::uint64_t{0});
    // Opening for writing carries over what is in the log and then uses the number of lists from its own options.
    options.read_only = false;
    EXPECT_EQ(reader.open(options), Status::ok);
    EXPECT_TRUE(holds(reader, 0, 300, 1));
}

TEST(JournalFaults, RefusesWhatCannotBe) {
    Files files;
    JournalOptions options = small();
    options.lists = 0;
    EXPECT_EQ(files.journal.open(options), Status::invalid_argument);
    JournalDriver none{files.home, files.log, Bytes(work, 200)};
    EXPECT_EQ(none.open(small()), Status::over_budget);  // less than a journal needs at least
    EXPECT_EQ(files.journal.close(), Status::invalid_handle);
    EXPECT_EQ(files.journal.keep_room(1, 100), Status::invalid_handle);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    EXPECT_EQ(fill(files.journal, kMost, 1, 2), Status::no_space);
    EXPECT_EQ(fill(files.journal, kMost - 100, 1, 50), Status::no_space);
    EXPECT_EQ(files.journal.truncate(kMost), Status::no_space);
    EXPECT_EQ(files.journal.keep_room(1, kMost / 2), Status::no_space);
    EXPECT_EQ(fill(files.journal, 50, 1, 0), Status::ok);
    EXPECT_EQ(length(files.journal), 0U);
    EXPECT_EQ(files.journal.keep_room(1, 100), Status::ok);
    EXPECT_EQ(files.journal.close(), Status::ok);
}

// A write of several records fails in the middle, and reading the log fails, too, so that the records already appended
// cannot be taken back. The journal refuses further changes until discard() has returned to the last commit.
TEST(JournalFaults, WhatCannotBeTakenBackIsDiscarded) {
    Files files;
    FailingDriver log{files.log};
    JournalDriver journal{files.home, log, work};
    ASSERT_EQ(journal.open(small()), Status::ok);
    ASSERT_EQ(fill(journal, 0, 1, 600), Status::ok);
    ASSERT_EQ(journal.sync(), Status::ok);
    DriverFault fault;
    fault.at = 2;
    fault.calls = kWriteCall | kReadCall;
    fault.persistent = true;
    log.arm(fault);
    EXPECT_EQ(fill(journal, 0, 2, 1024), Status::io_error);
    EXPECT_GT(log.failures(), 1U);
    log.disarm();
    EXPECT_EQ(fill(journal, 0, 3, 10), Status::io_error);
    EXPECT_EQ(journal.truncate(10), Status::io_error);
    // A part of the write is in the log: it is neither read nor committed.
    std::byte byte{};
    EXPECT_EQ(journal.read(Usage::raw_data, 0, {&byte, 1}), Status::io_error);
    EXPECT_EQ(journal.sync(), Status::io_error);
    ASSERT_EQ(journal.discard(), Status::ok);
    EXPECT_EQ(length(journal), 600U);
    EXPECT_TRUE(holds(journal, 0, 600, 1));
    ASSERT_EQ(fill(journal, 0, 3, 10), Status::ok);
    ASSERT_EQ(journal.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 0, 10, 3));
    EXPECT_TRUE(holds(files.home, 10, 600, 1));
}

TEST(JournalFaults, ErasingFailsAtEachCall) {
    unsigned told = 0;
    for (std::uint64_t at = 1;; ++at) {
        Files files;
        leave_transactions(files);
        FailingDriver log{files.log};
        JournalDriver journal{files.home, log, work_too};
        DriverFault fault;
        fault.at = at;
        log.arm(fault);
        const Status status = journal.erase_log();
        const bool failed = log.failures() != 0;
        log.disarm();
        EXPECT_EQ(status, failed ? Status::io_error : Status::ok);
        EXPECT_EQ(length(journal), ~std::uint64_t{0});
        ASSERT_EQ(journal.erase_log(), Status::ok);
        ASSERT_EQ(journal.open(small()), Status::ok);
        EXPECT_EQ(journal.report().state, JournalState::blank);
        EXPECT_TRUE(holds(journal, 0, 900, 1));
        if (!failed) {
            break;
        }
        ++told;
    }
    EXPECT_GT(told, 10U);
}

}  // namespace
