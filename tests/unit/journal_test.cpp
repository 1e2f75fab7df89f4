#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/region.hpp>

#include "counting_driver.hpp"
#include "driver_bytes.hpp"
#include "failing_driver.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr Usage kRaw = Usage::raw_data;

std::byte home_bytes[3072];
std::byte log_bytes[4096];
alignas(8) std::byte work[512];
alignas(8) std::byte work_too[512];

JournalOptions small() noexcept {
    JournalOptions options;
    options.checkpoint = 2048;
    options.limit = sizeof log_bytes;
    options.lists = 4;
    // After what stands for a power cut a second driver opens what the first one has open still.
    options.file_locking = false;
    return options;
}

// A journal over two files in memory, as empty as they can be.
struct Files {
    MemoryDriver home{home_bytes};
    MemoryDriver log{log_bytes};
    JournalDriver journal{home, log, work};

    Files() noexcept {
        std::memset(home_bytes, 0xdd, sizeof home_bytes);
        std::memset(log_bytes, 0xdd, sizeof log_bytes);
    }
};

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
    // A power cut: nothing of it was committed.
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
    // A hundred rows, each durable: 64 + 20 bytes of data and 8 + 20 of a counter, 20 of a commit.
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
    // The transaction is larger than the log. What was accepted of it can be committed.
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

// A log that is full of what is committed is emptied when there is need.
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

// What room is kept for fits, whatever else is written before; more than that is refused.
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

// The same in a log that grows: it ends with what arrived.
TEST(Journal, VeryFirstHeaderIsTornWhereTheLogEnds) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 10), Status::ok);
    static std::byte header[140];
    std::memcpy(header, log_bytes + 512, sizeof header);
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

// The very first header may arrive in parts, any of them.
TEST(Journal, VeryFirstHeaderIsTorn) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 10), Status::ok);
    static std::byte header[140];
    std::memcpy(header, log_bytes + 512, sizeof header);
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
            // Where anything else stands it is left alone.
            std::memset(log_bytes, 0, sizeof log_bytes);
            std::memcpy(log_bytes + 512 + 100, header + 100, 40);
            log_bytes[from < 100 ? from : 700 + from] = std::byte{'x'};
            EXPECT_EQ(again.journal.open(small()), Status::corrupt_file);
            EXPECT_EQ(again.journal.report().state, JournalState::not_a_journal);
        }
    }
}

// A program was killed, and the storage may not have yet what it wrote: nothing is built on that before it is synced.
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

// Whatever call fails, once or for good: the error is returned, and what was acknowledged is there afterwards.
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
    options.lists = 64;  // those of the log count
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

// As newlib's files without ftruncate().
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

// What a transaction needs of the home that is never committed goes when the journal is closed, whoever closes it.
TEST(Journal, ClosedHomeEndsWhereTheFileEnds) {
    for (const bool discards : {false, true}) {
        Files files;
        ASSERT_EQ(files.journal.open(small()), Status::ok);
        ASSERT_EQ(fill(files.journal, 0, 1, 100), Status::ok);
        ASSERT_EQ(files.journal.close(), Status::ok);
        ASSERT_EQ(files.journal.open(small()), Status::ok);
        ASSERT_EQ(fill(files.journal, 100, 2, 500), Status::ok);
        EXPECT_EQ(length(files.home), 600U);
        if (discards) {
            ASSERT_EQ(files.journal.discard(), Status::ok);
        } else {
            ASSERT_EQ(files.journal.open(small()), Status::ok);  // by another program: this one was killed
        }
        EXPECT_EQ(length(files.journal), 100U);
        ASSERT_EQ(files.journal.close(), Status::ok);
        EXPECT_EQ(length(files.home), 100U);
        EXPECT_TRUE(holds(files.home, 0, 100, 1));
    }
}

TEST(Journal, NeverReplayedOntoAnotherFile) {
    Files files;
    ASSERT_EQ(fill(files.home, 0, 9, 1000), Status::ok);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 600), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    static std::byte other_bytes[3072];
    MemoryDriver other{other_bytes};
    JournalDriver wrong{other, files.log, work_too};
    EXPECT_EQ(wrong.open(small()), Status::invalid_argument);
    EXPECT_EQ(wrong.report().state, JournalState::other_file);
    EXPECT_EQ(fill(wrong, 0, 1, 1), Status::invalid_handle);
    ASSERT_EQ(fill(other, 0, 8, 1000), Status::ok);
    EXPECT_EQ(wrong.open(small()), Status::invalid_argument);
    // The same, but a byte near its end; and longer.
    ASSERT_EQ(fill(other, 0, 9, 1000), Status::ok);
    ASSERT_EQ(fill(other, 950, 8, 1), Status::ok);
    EXPECT_EQ(wrong.open(small()), Status::invalid_argument);
    ASSERT_EQ(fill(other, 950, 9, 51), Status::ok);
    EXPECT_EQ(wrong.open(small()), Status::invalid_argument);
    EXPECT_TRUE(holds(other, 0, 1001, 9));
    ASSERT_EQ(other.truncate(1000), Status::ok);
    EXPECT_EQ(wrong.open(small()), Status::ok);
    EXPECT_EQ(wrong.report().state, JournalState::replayed);
}

// An empty log is none: others may have changed the file meanwhile.
// A log that was copied when it held transactions, and put back when these and later ones are in the file: wherever the
// file was changed, the transactions do not come a second time.
TEST(Journal, OlderLogIsNotReplayed) {
    static std::byte older[sizeof log_bytes];
    for (const std::uint64_t first : {0, 100, 1300, 1500, 2400}) {
        for (const std::uint64_t second : {0, 100, 1300, 1500, 2400}) {
            Files files;
            ASSERT_EQ(fill(files.home, 0, 9, 1000), Status::ok);
            ASSERT_EQ(fill(files.home, 1000, 9, 1000), Status::ok);
            ASSERT_EQ(fill(files.home, 2000, 9, 900), Status::ok);
            ASSERT_EQ(files.journal.open(small()), Status::ok);
            ASSERT_EQ(fill(files.journal, first, 1, 40), Status::ok);
            ASSERT_EQ(files.journal.sync(), Status::ok);
            const auto size = static_cast<std::size_t>(length(files.log));
            std::memcpy(older, log_bytes, size);
            // It is a good one as yet.
            JournalDriver again{files.home, files.log, work_too};
            ASSERT_EQ(again.open(small()), Status::ok);
            ASSERT_EQ(again.report().state, JournalState::replayed);
            ASSERT_EQ(fill(again, second, 2, 40), Status::ok);
            ASSERT_EQ(again.close(), Status::ok);
            ASSERT_EQ(files.log.write(kRaw, 0, {older, size}), Status::ok);
            EXPECT_EQ(files.journal.open(small()), Status::invalid_argument);
            EXPECT_EQ(files.journal.report().state, JournalState::other_file);
            EXPECT_TRUE(holds(files.home, second, second + 40, 2));
        }
    }
}

TEST(Journal, FileMayChangeWhileTheLogIsEmpty) {
    Files files;
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    ASSERT_EQ(fill(files.journal, 0, 1, 600), Status::ok);
    ASSERT_EQ(files.journal.close(), Status::ok);
    ASSERT_EQ(fill(files.home, 0, 2, 900), Status::ok);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::clean);
    EXPECT_EQ(length(files.journal), 900U);
    EXPECT_TRUE(holds(files.journal, 0, 900, 2));
    ASSERT_EQ(fill(files.journal, 100, 3, 100), Status::ok);
    ASSERT_EQ(files.journal.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 100, 200, 3));
    EXPECT_TRUE(holds(files.home, 200, 900, 2));
}

TEST(Journal, ForeignAndDamagedLogs) {
    Files files;
    ASSERT_EQ(fill(files.log, 0, 'x', 40), Status::ok);
    EXPECT_EQ(files.journal.open(small()), Status::corrupt_file);
    EXPECT_EQ(files.journal.report().state, JournalState::not_a_journal);
    EXPECT_TRUE(holds(files.log, 0, 40, 'x'));
    ASSERT_EQ(files.journal.erase_log(), Status::ok);
    ASSERT_EQ(files.journal.open(small()), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::blank);
    ASSERT_EQ(fill(files.journal, 0, 1, 600), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    // A version that is not known, in the only header.
    std::byte version[1] = {std::byte{2}};
    ASSERT_EQ(files.log.write(kRaw, 512 + 8, version), Status::ok);
    EXPECT_EQ(files.journal.open(small()), Status::corrupt_file);
    EXPECT_EQ(files.journal.report().state, JournalState::damaged);
}

// From open() on nobody else recovers or uses the same storages: not only while a file is open.
TEST(Journal, LocksWhatItOpens) {
    Files files;
    JournalOptions options = small();
    options.file_locking = true;
    ASSERT_EQ(files.journal.open(options), Status::ok);
    EXPECT_EQ(files.home.lock(false), Status::busy);
    EXPECT_EQ(files.log.lock(false), Status::busy);
    EXPECT_EQ(files.journal.lock(true), Status::ok);
    EXPECT_EQ(files.journal.unlock(), Status::ok);
    EXPECT_EQ(files.log.lock(false), Status::busy);
    ASSERT_EQ(fill(files.journal, 0, 1, 100), Status::ok);
    ASSERT_EQ(files.journal.sync(), Status::ok);
    {
        JournalDriver other{files.home, files.log, work_too};
        EXPECT_EQ(other.open(options), Status::busy);
        EXPECT_EQ(fill(other, 0, 2, 1), Status::invalid_handle);
        options.read_only = true;
        EXPECT_EQ(other.open(options), Status::busy);
        EXPECT_EQ(length(files.home), 100U);
        EXPECT_TRUE(holds(files.home, 0, 100, 0));
    }
    EXPECT_EQ(files.home.lock(false), Status::busy);
    // Those who only read share.
    ASSERT_EQ(files.journal.open(options), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::pending);
    {
        JournalDriver other{files.home, files.log, work_too};
        EXPECT_EQ(other.open(options), Status::ok);
        options.read_only = false;
        EXPECT_EQ(other.open(options), Status::busy);
    }
    // Open again for writing, and closed: the locks are gone.
    ASSERT_EQ(files.journal.open(options), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::replayed);
    ASSERT_EQ(files.journal.close(), Status::ok);
    EXPECT_EQ(files.home.lock(true), Status::ok);
    // One of the two is taken: neither is held, and nothing was looked at.
    EXPECT_EQ(files.journal.open(options), Status::busy);
    EXPECT_EQ(files.log.lock(true), Status::ok);
    EXPECT_EQ(files.log.unlock(), Status::ok);
    EXPECT_EQ(files.home.unlock(), Status::ok);
    // An open() that fails for another reason holds nothing either.
    for (const std::uint64_t at : {0U, 1000U}) {
        ASSERT_EQ(fill(files.log, at, 7, 1000), Status::ok);
    }
    EXPECT_EQ(files.journal.open(options), Status::corrupt_file);
    EXPECT_EQ(files.log.lock(true), Status::ok);
    EXPECT_EQ(files.home.lock(true), Status::ok);
    EXPECT_EQ(files.log.unlock(), Status::ok);
    EXPECT_EQ(files.home.unlock(), Status::ok);
}

// What was not committed is taken back, whatever it was; what was is there.
TEST(Journal, DiscardGoesBackToTheLastCommit) {
    for (const std::size_t more : {0U, 1U, 600U}) {
        Files files;
        JournalOptions options = small();
        options.file_locking = true;
        EXPECT_EQ(files.journal.discard(), Status::invalid_handle);
        ASSERT_EQ(files.journal.open(options), Status::ok);
        ASSERT_EQ(fill(files.journal, 0, 1, 700), Status::ok);
        ASSERT_EQ(files.journal.sync(), Status::ok);
        ASSERT_EQ(files.journal.keep_room(1, 100), Status::ok);
        ASSERT_EQ(fill(files.journal, 100, 2, 50), Status::ok);
        ASSERT_EQ(files.journal.truncate(400), Status::ok);
        ASSERT_EQ(fill(files.journal, 350, 3, more), Status::ok);
        ASSERT_EQ(files.journal.discard(), Status::ok);
        EXPECT_EQ(files.home.lock(false), Status::busy);
        EXPECT_EQ(length(files.journal), 700U);
        EXPECT_TRUE(holds(files.journal, 0, 700, 1));
        // What is committed next has none of it.
        ASSERT_EQ(fill(files.journal, 300, 4, 10), Status::ok);
        ASSERT_EQ(files.journal.sync(), Status::ok);
        ASSERT_EQ(files.journal.discard(), Status::ok);
        EXPECT_TRUE(holds(files.journal, 300, 310, 4));
        ASSERT_EQ(files.journal.close(), Status::ok);
        EXPECT_EQ(length(files.home), 700U);
        EXPECT_TRUE(holds(files.home, 0, 300, 1));
        EXPECT_TRUE(holds(files.home, 300, 310, 4));
        EXPECT_TRUE(holds(files.home, 310, 700, 1));
    }
}

TEST(Journal, InARegionBeforeTheFile) {
    static std::byte card_bytes[8192];
    std::memset(card_bytes, 0, sizeof card_bytes);
    MemoryDriver card{card_bytes, sizeof card_bytes};
    RegionDriver log{card, 0, 4096};
    RegionDriver home{card, 4096, 4096};
    JournalOptions options = small();
    options.home_has_end = false;
    JournalDriver journal{home, log, work};
    ASSERT_EQ(journal.open(options), Status::ok);
    EXPECT_EQ(length(journal), 0U);
    ASSERT_EQ(fill(journal, 10, 1, 300), Status::ok);
    ASSERT_EQ(journal.sync(), Status::ok);
    ASSERT_EQ(fill(journal, 310, 2, 300), Status::ok);
    RegionDriver log_again{card, 0, 4096};
    RegionDriver home_again{card, 4096, 4096};
    JournalDriver again{home_again, log_again, work_too};
    ASSERT_EQ(again.open(options), Status::ok);
    EXPECT_EQ(again.report().state, JournalState::replayed);
    EXPECT_EQ(length(again), 310U);
    EXPECT_TRUE(holds(again, 10, 310, 1));
    EXPECT_TRUE(holds(card, 4096 + 10, 4096 + 310, 1));
    EXPECT_EQ(fill(again, 4090, 1, 7), Status::no_space);
    ASSERT_EQ(again.truncate(200), Status::ok);
    ASSERT_EQ(again.close(), Status::ok);
    ASSERT_EQ(journal.open(options), Status::ok);
    EXPECT_EQ(journal.report().state, JournalState::clean);
    EXPECT_EQ(length(journal), 200U);
}

}  // namespace
