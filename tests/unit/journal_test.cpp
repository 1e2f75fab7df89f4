#include <h5mote/vfd/region.hpp>

#include "counting_driver.hpp"
#include "driver_bytes.hpp"
#include "failing_driver.hpp"
#include "journal_files.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote_test;

TEST(Journal, MemoryIsKnownWhileCompiling) {
    static_assert(JournalDriver::required_memory() == 1024);
    static_assert(JournalDriver::required_memory(256, {1024, 4096, 4, true, false}) == 272);
    Files files;
    JournalDriver tight{files.home, files.log, Bytes(work, 272)};
    EXPECT_EQ(tight.open(small()), Status::ok);
    JournalDriver tighter{files.home, files.log, Bytes(work, 100)};
    EXPECT_EQ(tighter.open(small()), Status::over_budget);
    JournalDriver crooked{files.home, files.log, Bytes(work + 1, 400)};
    EXPECT_EQ(crooked.open(small()), Status::invalid_argument);
    JournalDriver itself{files.home, files.home, work};
    EXPECT_EQ(itself.open(small()), Status::invalid_argument);
    JournalOptions odd = small();
    odd.lists = 3;
    EXPECT_EQ(tight.open(odd), Status::invalid_argument);
}

TEST(Journal, MustBeOpened) {
    Files files;
    std::uint64_t size = 0;
    EXPECT_EQ(fill(files.journal, 0, 1, 1), Status::invalid_handle);
    EXPECT_EQ(files.journal.sync(), Status::invalid_handle);
    EXPECT_EQ(files.journal.truncate(0), Status::invalid_handle);
    EXPECT_EQ(files.journal.end_of_file(size), Status::invalid_handle);
    EXPECT_EQ(files.journal.read(kRaw, 0, Bytes(work, 0)), Status::invalid_handle);
    EXPECT_TRUE(files.journal.capabilities().sync_is_commit);
    EXPECT_EQ(files.journal.capabilities().atomic_unit, 512U);
    EXPECT_TRUE(files.journal.same_storage(files.home));
}

TEST(Journal, IsNotOpenedAnewWhileAFileIsOpen) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 50), Status::ok);
    ASSERT_EQ(files.journal.lock(true), Status::ok);
    EXPECT_EQ(files.journal.open(small()), Status::busy);
    EXPECT_EQ(files.journal.erase_log(), Status::busy);
    EXPECT_EQ(files.journal.close(), Status::busy);
    EXPECT_TRUE(holds(files.journal, 0, 50, 1));
    EXPECT_EQ(files.journal.unlock(), Status::ok);
    EXPECT_EQ(files.journal.close(), Status::ok);
}

TEST(Journal, HomeIsNotTouchedBeforeTheCommit) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::blank);
    EXPECT_EQ(fill(files.journal, 100, 1, 50), Status::ok);
    EXPECT_EQ(fill(files.journal, 150, 2, 50), Status::ok);
    EXPECT_EQ(fill(files.journal, 120, 3, 10), Status::ok);
    EXPECT_EQ(length(files.journal), 200U);
    EXPECT_TRUE(holds(files.journal, 0, 100, 0));
    EXPECT_TRUE(holds(files.journal, 100, 120, 1));
    EXPECT_TRUE(holds(files.journal, 120, 130, 3));
    EXPECT_TRUE(holds(files.journal, 130, 150, 1));
    EXPECT_TRUE(holds(files.journal, 150, 200, 2));
    EXPECT_EQ(files.journal.read(kRaw, 199, Bytes(work_too, 2)), Status::io_error);
    EXPECT_TRUE(holds(files.home, 0, 200, 0));
    // After a power cut nothing of the uncommitted transaction is there.
    JournalDriver again{files.home, files.log, work_too};
    ASSERT_EQ(again.open(small()), Status::ok);
    EXPECT_EQ(again.report().state, JournalState::clean);
    EXPECT_EQ(length(again), 0U);
}

TEST(Journal, CommittedIsReplayed) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 100, 1, 50), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 2, 400), Status::ok);
    EXPECT_TRUE(holds(files.home, 0, 200, 0));
    JournalDriver again{files.home, files.log, work_too};
    ASSERT_EQ(again.open(small()), Status::ok);
    EXPECT_EQ(again.report().state, JournalState::replayed);
    EXPECT_EQ(again.report().transactions, 1U);
    EXPECT_EQ(again.report().records, 2U);
    EXPECT_EQ(again.report().file_size, 150U);
    EXPECT_EQ(length(files.home), 150U);
    EXPECT_TRUE(holds(files.home, 0, 100, 0));
    EXPECT_TRUE(holds(files.home, 100, 150, 1));
    ASSERT_EQ(again.open(small()), Status::ok);
    EXPECT_EQ(again.report().state, JournalState::clean);
    EXPECT_FALSE(again.report().unfinished);
}

TEST(Journal, CutAndGrownAgainReadsAsZeros) {
    Files files;
    ASSERT_EQ(fill(files.home, 0, 9, 1000), Status::ok);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    EXPECT_EQ(length(files.journal), 1000U);
    ASSERT_EQ(fill(files.journal, 300, 1, 400), Status::ok);
    ASSERT_EQ(files.journal.truncate(500), Status::ok);
    ASSERT_EQ(files.journal.truncate(900), Status::ok);
    ASSERT_EQ(fill(files.journal, 600, 2, 100), Status::ok);
    ASSERT_EQ(files.journal.truncate(650), Status::ok);
    ASSERT_EQ(files.journal.truncate(800), Status::ok);
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(length(files.journal), 800U);
        EXPECT_TRUE(holds(files.journal, 0, 300, 9));
        EXPECT_TRUE(holds(files.journal, 300, 500, 1));
        EXPECT_TRUE(holds(files.journal, 500, 600, 0));
        EXPECT_TRUE(holds(files.journal, 600, 650, 2));
        EXPECT_TRUE(holds(files.journal, 650, 800, 0));
        ASSERT_EQ(files.journal.sync(), Status::ok);
        if (round == 0) {
            EXPECT_TRUE(holds(files.home, 0, 1000, 9));
            ASSERT_EQ(files.journal.open(small()), Status::ok);
            EXPECT_EQ(length(files.home), 800U);
        }
    }
}

TEST(Journal, FewSyncs) {
    Files files;
    CountingDriver home{files.home};
    CountingDriver log{files.log};
    JournalDriver journal{home, log, work};
    ASSERT_EQ(journal.open(small()), Status::ok);
    EXPECT_EQ(home.total().writes + log.total().writes + home.syncs() + log.syncs(), 0U);
    ASSERT_EQ(fill(journal, 0, 1, 64), Status::ok);
    ASSERT_EQ(journal.sync(), Status::ok);
    home.reset();
    log.reset();
    // Commit a hundred rows one by one. Each takes 64 + 20 bytes of data, 8 + 20 of a counter and 20 of a commit.
    for (unsigned char i = 0; i < 100; ++i) {
        ASSERT_EQ(fill(journal, 64U + i % 32U * 64U, i, 64), Status::ok);
        ASSERT_EQ(fill(journal, 16, i, 8), Status::ok);
        ASSERT_EQ(journal.sync(), Status::ok);
        EXPECT_TRUE(holds(journal, 64U + i % 32U * 64U, 128U + i % 32U * 64U, i));
        EXPECT_TRUE(holds(journal, 16, 24, i));
    }
    EXPECT_EQ(log.syncs() - home.syncs(), 100U);
    EXPECT_EQ(home.syncs(), 12U);
    EXPECT_EQ(log.total().bytes_written, 100U * 132 + 12 * 140);
    EXPECT_LE(home.total().bytes_written, 100U * 72 + 64);
    home.reset();
    log.reset();
    ASSERT_EQ(journal.sync(), Status::ok);
    EXPECT_EQ(home.syncs() + log.syncs() + log.total().writes, 0U);
    ASSERT_EQ(journal.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 16, 24, 99));
    EXPECT_EQ(journal.sync(), Status::invalid_handle);
    EXPECT_EQ(length(files.log), 1024U);
}

TEST(Journal, WhatDoesNotFitChangesNothing) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 1000), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 2, 1000), Status::ok);
    // The transaction exceeds the log. The part that was accepted can be committed.
    EXPECT_EQ(fill(files.journal, 500, 3, 1000), Status::no_space);
    EXPECT_EQ(length(files.journal), 1000U);
    EXPECT_TRUE(holds(files.journal, 0, 1000, 2));
    ASSERT_EQ(files.journal.sync(), Status::ok);
    ASSERT_EQ(fill(files.journal, 500, 3, 1000), Status::ok);
    // The home is full.
    EXPECT_EQ(fill(files.journal, sizeof home_bytes - 5, 4, 6), Status::no_space);
    EXPECT_EQ(files.journal.truncate(sizeof home_bytes + 1), Status::no_space);
    EXPECT_EQ(files.journal.truncate(~std::uint64_t{0}), Status::no_space);
    EXPECT_EQ(fill(files.journal, ~std::uint64_t{0} - 2, 4, 6), Status::no_space);
    EXPECT_EQ(fill(files.journal, sizeof home_bytes - 6, 4, 6), Status::ok);
    ASSERT_EQ(files.journal.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 0, 500, 2));
    EXPECT_TRUE(holds(files.home, 500, 1000, 3));
    EXPECT_TRUE(holds(files.home, sizeof home_bytes - 6, sizeof home_bytes, 4));
}

// When a log is full of committed transactions, they are carried over to the home to make room.
TEST(Journal, FullLogIsCarriedOver) {
    Files files;
    JournalOptions options = small();
    options.checkpoint = 1 << 20;
    options.limit = 1 << 20;
    ASSERT_EQ(files.journal.open(options), Status::ok);
    for (unsigned char i = 1; i < 20; ++i) {
        ASSERT_EQ(fill(files.journal, i * 100U, i, 500), Status::ok);
        ASSERT_EQ(files.journal.sync(), Status::ok);
    }
    EXPECT_TRUE(holds(files.journal, 1800, 1900, 18));
    EXPECT_TRUE(holds(files.journal, 1900, 2400, 19));
}

// Room that keep_room() has promised is there, whatever is written before; larger requests are refused.
TEST(Journal, RoomThatWasKeptIsThere) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    for (unsigned round = 0; round < 20; ++round) {
        std::uint32_t ranges = 0;
        while (ranges < 3 && files.journal.keep_room(ranges + 1, (ranges + 1) * 100) == Status::ok) {
            ++ranges;
        }
        ASSERT_GE(ranges, 1U);
        Status status = Status::ok;
        for (unsigned i = 0; i < 200 && status == Status::ok; ++i) {
            status = fill(files.journal, 1000 + 40 * (i % 25), 5, 30);
        }
        ASSERT_EQ(status, Status::no_space);
        EXPECT_EQ(files.journal.keep_room(40, 4000), Status::no_space);
        for (std::uint32_t left = ranges; left > 0; --left) {
            ASSERT_EQ(files.journal.keep_room(left - 1, (left - 1) * 100), Status::ok);
            ASSERT_EQ(fill(files.journal, 100 * (left - 1), static_cast<unsigned char>(round + 1), 100), Status::ok);
            ASSERT_EQ(fill(files.journal, 2100 + 200 * left, 7, 192), Status::ok);
        }
        ASSERT_EQ(files.journal.sync(), Status::ok);
        EXPECT_TRUE(holds(files.journal, 0, 100 * ranges, static_cast<unsigned char>(round + 1)));
    }
}

// A copy of the very first header of a log, which is 512 bytes from its start.
std::byte header[140];

void keep_first_header() {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 10), Status::ok);
    std::memcpy(header, log_bytes + 512, sizeof header);
}

// A log that grew by its very first header, of which only the end arrived, is still a new log.
TEST(Journal, VeryFirstHeaderIsTornWhereTheLogEnds) {
    keep_first_header();
    for (std::size_t from = 1; from < sizeof header; ++from) {
        Files again;
        ASSERT_EQ(again.log.truncate(512 + sizeof header), Status::ok);
        std::memset(log_bytes, 0, sizeof log_bytes);
        std::memcpy(log_bytes + 512 + from, header + from, sizeof header - from);
        ASSERT_EQ(again.journal.open(small()), Status::ok);
        EXPECT_EQ(again.journal.report().state, JournalState::blank);
        ASSERT_EQ(fill(again.journal, 0, 2, 10), Status::ok);
        ASSERT_EQ(again.journal.sync(), Status::ok);
        EXPECT_TRUE(holds(again.journal, 0, 10, 2));
    }
}

// After a power cut within the very first header any parts of it may be in the log, which still counts as a new one.
TEST(Journal, VeryFirstHeaderIsTorn) {
    keep_first_header();
    for (std::size_t from = 0; from < sizeof header; ++from) {
        for (const std::size_t step : {1U, 2U, 16U}) {
            Files again;
            ASSERT_EQ(again.log.truncate(sizeof log_bytes), Status::ok);
            std::memset(log_bytes, 0, sizeof log_bytes);
            for (std::size_t i = from; i < sizeof header; i += step) {
                log_bytes[512 + i] = header[i];
            }
            if (from == 0 && step == 1) {
                continue;
            }
            ASSERT_EQ(again.journal.open(small()), Status::ok);
            EXPECT_EQ(again.journal.report().state, JournalState::blank);
            ASSERT_EQ(fill(again.journal, 0, 2, 10), Status::ok);
            ASSERT_EQ(again.journal.sync(), Status::ok);
            EXPECT_TRUE(holds(again.journal, 0, 10, 2));
            // If anything else is there, too, the log is refused.
            std::memset(log_bytes, 0, sizeof log_bytes);
            std::memcpy(log_bytes + 512 + 100, header + 100, 40);
            log_bytes[from < 100 ? from : 700 + from] = std::byte{'x'};
            EXPECT_EQ(again.journal.open(small()), Status::corrupt_file);
            EXPECT_EQ(again.journal.report().state, JournalState::not_a_journal);
        }
    }
}

// What a killed program has written may not be durable yet: it must be synced before anything relies on it.
TEST(Journal, WhatAKilledProgramWroteIsSyncedFirst) {
    DriverFault no_sync;
    no_sync.at = 1;
    no_sync.persistent = true;
    no_sync.calls = kSyncCall;
    for (const bool commits : {false, true}) {
        Files files;
        ASSERT_EQ(files.journal.open(small()), Status::ok);
        ASSERT_EQ(fill(files.journal, 0, 1, 900), Status::ok);
        ASSERT_EQ(files.journal.sync(), Status::ok);
        ASSERT_EQ(files.journal.close(), Status::ok);
        {
            FailingDriver log{files.log};
            JournalDriver killed{files.home, log, work_too};
            ASSERT_EQ(killed.open(small()), Status::ok);
            ASSERT_EQ(fill(killed, 100, 2, 300), Status::ok);
            if (commits) {
                ASSERT_EQ(killed.sync(), Status::ok);
                log.arm(no_sync);
                EXPECT_EQ(killed.close(), Status::io_error);
            }
        }
        static std::byte before[sizeof log_bytes];
        std::memcpy(before, log_bytes, sizeof before);
        FailingDriver log{files.log};
        JournalDriver journal{files.home, log, work};
        log.arm(no_sync);
        if (commits) {
            EXPECT_EQ(journal.open(small()), Status::io_error);
        } else {
            ASSERT_EQ(journal.open(small()), Status::ok);
            EXPECT_EQ(fill(journal, 500, 3, 10), Status::io_error);
        }
        EXPECT_TRUE(holds(files.home, 0, 900, 1));
        EXPECT_EQ(std::memcmp(before, log_bytes, sizeof before), 0);
        log.disarm();
        ASSERT_EQ(journal.open(small()), Status::ok);
        EXPECT_TRUE(holds(journal, 100, 400, commits ? 2 : 1));
        ASSERT_EQ(fill(journal, 500, 3, 10), Status::ok);
    }
}

TEST(Journal, FailedWriteIsTakenBack) {
    for (std::uint64_t at = 1;; ++at) {
        Files files;
        FailingDriver log{files.log};
        JournalDriver journal{files.home, log, work};
        ASSERT_EQ(journal.open(small()), Status::ok);
        ASSERT_EQ(fill(journal, 0, 1, 900), Status::ok);
        ASSERT_EQ(fill(journal, 100, 2, 30), Status::ok);
        DriverFault fault;
        fault.at = at;
        fault.calls = kWriteCall;
        fault.torn_bytes = 100;
        log.arm(fault);
        const Status status = fill(journal, 200, 3, 1000);
        EXPECT_EQ(status, log.failures() > 0 ? Status::io_error : Status::ok);
        log.disarm();
        if (status == Status::ok) {
            EXPECT_GE(at, 3U);
            break;
        }
        EXPECT_EQ(length(journal), 900U);
        ASSERT_EQ(fill(journal, 150, 4, 10), Status::ok);
        for (int round = 0; round < 2; ++round) {
            EXPECT_TRUE(holds(journal, 0, 100, 1));
            EXPECT_TRUE(holds(journal, 100, 130, 2));
            EXPECT_TRUE(holds(journal, 130, 150, 1));
            EXPECT_TRUE(holds(journal, 150, 160, 4));
            EXPECT_TRUE(holds(journal, 160, 900, 1));
            ASSERT_EQ(journal.sync(), Status::ok);
            ASSERT_EQ(journal.open(small()), Status::ok);
        }
    }
}

// Whichever call fails, once or permanently: the error is returned, and committed changes are found afterwards.
TEST(Journal, EveryCallFails) {
    for (const unsigned home_fails : {0U, 1U}) {
        bool failed = true;
        for (std::uint64_t at = 1; failed; ++at) {
            Files files;
            FailingDriver home{files.home};
            FailingDriver log{files.log};
            FailingDriver& failing = home_fails != 0 ? home : log;
            JournalDriver journal{home, log, work};
            DriverFault fault;
            fault.at = at;
            failing.arm(fault);
            Status status = journal.open(small());
            unsigned char acknowledged = 0;
            unsigned char written = 0;
            for (unsigned char i = 1; i <= 10 && status == Status::ok; ++i) {
                written = i;
                for (const std::uint64_t address : {0, 1000, 2000}) {
                    status = status == Status::ok ? fill(journal, address, i, 300) : status;
                }
                status = status == Status::ok ? journal.sync() : status;
                acknowledged = status == Status::ok ? i : acknowledged;
            }
            status = status == Status::ok ? journal.close() : status;
            failed = failing.failures() > 0;
            EXPECT_EQ(status, failed ? Status::io_error : Status::ok);
            failing.disarm();
            JournalDriver again{home, log, work_too};
            ASSERT_EQ(again.open(small()), Status::ok);
            if (length(again) != 0 || acknowledged > 0) {
                unsigned char value = acknowledged;
                value = holds(again, 0, 300, value) ? value : written;
                EXPECT_TRUE(holds(again, 0, 300, value));
                EXPECT_TRUE(holds(again, 1000, 1300, value));
                EXPECT_TRUE(holds(again, 2000, 2300, value));
            }
        }
    }
}

TEST(Journal, ReadOnlyShowsWhatIsInTheLog) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 600), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    ASSERT_EQ(files.journal.truncate(500), Status::ok);
    ASSERT_EQ(fill(files.journal, 550, 2, 50), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    JournalOptions options = small();
    options.read_only = true;
    options.lists = 64;  // for reading, the number of lists of the log counts
    JournalDriver reader{files.home, files.log, work_too};
    ASSERT_EQ(reader.open(options), Status::ok);
    EXPECT_EQ(reader.report().state, JournalState::pending);
    EXPECT_FALSE(reader.capabilities().writable);
    EXPECT_EQ(length(reader), 600U);
    EXPECT_TRUE(holds(reader, 0, 500, 1));
    EXPECT_TRUE(holds(reader, 500, 550, 0));
    EXPECT_TRUE(holds(reader, 550, 600, 2));
    EXPECT_EQ(fill(reader, 0, 1, 1), Status::read_only);
    EXPECT_EQ(reader.truncate(1), Status::read_only);
    EXPECT_EQ(reader.sync(), Status::ok);
    EXPECT_EQ(reader.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 0, 600, 0));
}

// Like files of newlib without ftruncate(): they can only grow.
class GrowingOnly final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status truncate(std::uint64_t size) noexcept override {
        return size < length(inner()) ? Status::unsupported : inner().truncate(size);
    }
};

TEST(Journal, HomeThatCannotBecomeShorter) {
    Files files;
    GrowingOnly home{files.home};
    GrowingOnly log{files.log};
    JournalDriver journal{home, log, work};
    ASSERT_EQ(journal.open(small()), Status::ok);
    ASSERT_EQ(fill(journal, 0, 1, 900), Status::ok);
    ASSERT_EQ(journal.close(), Status::ok);
    ASSERT_EQ(journal.open(small()), Status::ok);
    ASSERT_EQ(journal.truncate(100), Status::ok);
    ASSERT_EQ(journal.close(), Status::ok);
    EXPECT_EQ(length(files.home), 900U);
    ASSERT_EQ(journal.open(small()), Status::ok);
    EXPECT_EQ(length(journal), 100U);
    ASSERT_EQ(fill(journal, 300, 2, 100), Status::ok);
    ASSERT_EQ(journal.close(), Status::ok);
    ASSERT_EQ(journal.open(small()), Status::ok);
    EXPECT_EQ(length(journal), 400U);
    EXPECT_TRUE(holds(journal, 0, 100, 1));
    EXPECT_TRUE(holds(journal, 100, 300, 0));
    EXPECT_TRUE(holds(journal, 300, 400, 2));
}

}  // namespace
