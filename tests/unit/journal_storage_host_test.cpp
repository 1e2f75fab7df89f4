// A journal over storages of many kinds (full, unable to shrink, changed by others), each of whose calls fails in turn.
#include <gtest/gtest.h>

#include "driver_bytes.hpp"
#include "failing_driver.hpp"
#include "journal_files.hpp"
#include "journal_format.hpp"
#include "promising_driver.hpp"

#include <cstring>
#include <vector>

namespace {

using namespace h5mote_test;

using Content = std::vector<std::byte>;

Content content(Driver& driver) {
    Content all(static_cast<std::size_t>(length(driver)));
    EXPECT_EQ(driver.read(kRaw, 0, {all.data(), all.size()}), Status::ok);
    return all;
}

// A storage that can grow but not shrink.
class GrowingOnly final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status truncate(std::uint64_t size) noexcept override {
        return size < length(inner()) ? Status::unsupported : inner().truncate(size);
    }
};

// A sequence of changes through a journal, and a model of the file's content.
class Program {
public:
    explicit Program(JournalDriver& journal) : journal_(journal) {}

    Status run() {
        H5MOTE_TRY(fill(0, 1, 900));
        H5MOTE_TRY(sync());
        H5MOTE_TRY(fill(300, 2, 700));
        H5MOTE_TRY(truncate(600));
        H5MOTE_TRY(sync());
        H5MOTE_TRY(fill(10, 3, 20));
        H5MOTE_TRY(sync());
        // Keep room that is only free while the log is empty.
        H5MOTE_TRY(journal_.keep_room(1, 100));
        H5MOTE_TRY(journal_.keep_room(0, 0));
        H5MOTE_TRY(fill(100, 3, 50));
        H5MOTE_TRY(fill(550, 4, 400));
        H5MOTE_TRY(truncate(200));
        H5MOTE_TRY(truncate(250));
        H5MOTE_TRY(sync());
        for (unsigned char i = 5; i < 9; ++i) {
            H5MOTE_TRY(fill(50U * i, i, 450));
            H5MOTE_TRY(fill(20U * i, i, 10));
            H5MOTE_TRY(sync());
        }
        H5MOTE_TRY(truncate(70));
        syncing_ = true;
        H5MOTE_TRY(journal_.close());
        committed = now_;
        return Status::ok;
    }
    /// Whether the content is allowed after a failure: that of the last commit, or of the commit that failed.
    bool may_be(const Content& found) const { return found == committed || (syncing_ && found == now_); }

    Content committed;

private:
    Status fill(std::uint64_t address, unsigned char value, std::size_t count) {
        H5MOTE_TRY(h5mote_test::fill(journal_, address, value, count));
        const auto end = static_cast<std::size_t>(address) + count;
        now_.resize(end > now_.size() ? end : now_.size());
        std::memset(now_.data() + address, value, count);
        return Status::ok;
    }
    Status truncate(std::size_t size) {
        H5MOTE_TRY(journal_.truncate(size));
        now_.resize(size);
        return Status::ok;
    }
    Status sync() {
        syncing_ = true;
        H5MOTE_TRY(journal_.sync());
        syncing_ = false;
        committed = now_;
        return Status::ok;
    }

    JournalDriver& journal_;
    Content now_;
    bool syncing_ = false;
};

struct Storages {
    explicit Storages(bool grows_only) {
        home = grows_only ? static_cast<Driver*>(&growing_home) : &files.home;
        log = grows_only ? static_cast<Driver*>(&growing_log) : &files.log;
    }
    Files files;
    GrowingOnly growing_home{files.home};
    GrowingOnly growing_log{files.log};
    Driver* home;
    Driver* log;
};

// Each failed call is reported, and the committed content is found, by discard() as well as by another open().
TEST(JournalStorage, EveryCallOfAProgramFails) {
    unsigned told = 0;
    for (unsigned variant = 0; variant < 16; ++variant) {
        const bool of_home = (variant & 1) != 0;
        const bool discards = (variant & 2) != 0;
        const bool full = (variant & 8) != 0;
        JournalOptions options = small();
        options.limit = 2450;
        for (std::uint64_t at = 1;; ++at) {
            SCOPED_TRACE(::testing::Message() << "variant " << variant << ", call " << at);
            Storages storages((variant & 4) != 0);
            FailingDriver home{*storages.home};
            FailingDriver log{*storages.log};
            FailingDriver& failing = of_home ? home : log;
            JournalDriver journal{home, log, work};
            ASSERT_EQ(journal.open(options), Status::ok);
            DriverFault fault;
            fault.at = at;
            fault.status = full ? Status::no_space : Status::io_error;
            fault.calls = full ? kWriteCall | kTruncateCall : kAllCalls;
            fault.torn_bytes = full ? 0 : 30;
            failing.arm(fault);
            Program program(journal);
            const Status status = program.run();
            const bool failed = failing.failures() != 0;
            failing.disarm();
            if (!failed) {
                ASSERT_EQ(status, Status::ok);
                break;
            }
            // Errors of calls that only shorten an empty log are ignored.
            EXPECT_TRUE(status == fault.status || status == Status::ok) << to_string(status);
            ++told;
            if (discards && length(journal) != ~std::uint64_t{0}) {
                ASSERT_EQ(journal.discard(), Status::ok);
                EXPECT_TRUE(program.may_be(content(journal)));
                ASSERT_EQ(fill(journal, 10, 77, 20), Status::ok);
                ASSERT_EQ(journal.discard(), Status::ok);
                EXPECT_TRUE(program.may_be(content(journal)));
            }
            JournalDriver again{home, log, work_too};
            ASSERT_EQ(again.open(options), Status::ok);
            EXPECT_TRUE(program.may_be(content(again)));
            ASSERT_EQ(fill(again, 5, 99, 90), Status::ok);
            ASSERT_EQ(again.close(), Status::ok);
            EXPECT_TRUE(holds(*storages.home, 5, 95, 99));
        }
    }
    EXPECT_GT(told, 500U);
}

// keep_room() refuses more than the log can hold, also if the sum with the records' overhead exceeds 64 bits.
TEST(JournalStorage, NoRoomForMoreThanALogHolds) {
    Files files;
    JournalOptions options = small();
    options.limit = 0xffffffff;
    ASSERT_EQ(files.journal.open(options), Status::ok);
    const std::size_t gathered = sizeof work - options.lists * sizeof(std::uint32_t);
    const auto wanted = [&](std::uint64_t bytes) {
        return bytes + (bytes / (gathered - journal::kRecordSize) + bytes / journal::kPage + 2) * journal::kRecordSize;
    };
    // Find the smallest size that, with the headers of its records, exceeds 64 bits.
    std::uint64_t low = 0;
    std::uint64_t high = ~std::uint64_t{0};
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (wanted(middle) < middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    for (std::uint64_t bytes = low - 5; bytes < low + 20; ++bytes) {
        EXPECT_EQ(files.journal.keep_room(1, bytes), Status::no_space) << bytes;
    }
    EXPECT_EQ(files.journal.keep_room(1, 100), Status::ok);
    EXPECT_EQ(files.journal.close(), Status::ok);
}

// The log is changed by others while the journal reads with it: the content is undefined, but reading returns.
TEST(JournalStorage, LogThatChangesByItself) {
    for (std::uint32_t offset = journal::kFirstRecord; offset < 1400; ++offset) {
        for (const unsigned value : {0x00, 0x01, 0x04, 0x14, 0x7f, 0xff}) {
            Files files;
            ASSERT_EQ(files.journal.open(small()), Status::ok);
            for (unsigned char i = 1; i < 5; ++i) {
                ASSERT_EQ(fill(files.journal, 100U * i, i, 60), Status::ok);
            }
            ASSERT_EQ(files.journal.truncate(400), Status::ok);
            ASSERT_EQ(fill(files.journal, 500, 9, 30), Status::ok);
            ASSERT_EQ(files.journal.sync(), Status::ok);
            log_bytes[offset] = static_cast<std::byte>(value);
            Content all(530);
            const Status status = files.journal.read(kRaw, 0, {all.data(), all.size()});
            EXPECT_TRUE(status == Status::ok || status == Status::io_error) << to_string(status);
        }
    }
}

// A raw device as a log, larger than positions in a log can address.
class LongLog final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status end_of_file(std::uint64_t& size) noexcept override {
        size = std::uint64_t{5} << 32;
        return Status::ok;
    }
};

TEST(JournalStorage, LogAndMemoryLargerThanAreUsed) {
    Files files;
    std::memset(log_bytes, 0, sizeof log_bytes);
    ASSERT_EQ(files.log.truncate(sizeof log_bytes), Status::ok);
    LongLog log{files.log};
    std::vector<std::uint64_t> memory(8192);
    const Bytes work_memory{reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    JournalDriver journal{files.home, log, work_memory};
    ASSERT_EQ(journal.open(small()), Status::ok);
    ASSERT_EQ(fill(journal, 0, 1, 900), Status::ok);
    ASSERT_EQ(journal.sync(), Status::ok);
    ASSERT_EQ(fill(journal, 100, 2, 50), Status::ok);
    ASSERT_EQ(journal.sync(), Status::ok);
    JournalDriver again{files.home, log, work_too};
    ASSERT_EQ(again.open(small()), Status::ok);
    EXPECT_EQ(again.report().state, JournalState::replayed);
    EXPECT_TRUE(holds(again, 0, 100, 1));
    EXPECT_TRUE(holds(again, 100, 150, 2));
    EXPECT_TRUE(holds(files.home, 150, 900, 1));
}

// A storage without a whole header is used as a new log only if it holds nothing but parts of a very first header.
TEST(JournalStorage, WhatIsNoTornHeaderIsLeftAlone) {
    std::byte header[journal::kHeaderSize];
    {
        Files files;
        ASSERT_EQ(files.journal.open(small()), Status::ok);
        ASSERT_EQ(fill(files.journal, 0, 1, 10), Status::ok);
        std::memcpy(header, log_bytes + journal::kSlotSize, sizeof header);
    }
    unsigned blank = 0;
    for (std::uint32_t at = 0; at < 700; ++at) {
        for (const bool foreign : {false, true}) {
            Files files;
            std::memset(log_bytes, 0, sizeof log_bytes);
            ASSERT_EQ(files.log.truncate(journal::kFirstRecord), Status::ok);
            // All of the header but its first 8 bytes is there, and one byte more anywhere.
            std::memcpy(log_bytes + journal::kSlotSize + 8, header + 8, sizeof header - 8);
            const std::uint32_t in_header = at - journal::kSlotSize;
            log_bytes[at] = foreign ? std::byte{0x55} : in_header < sizeof header ? header[in_header] : std::byte{0xff};
            const Status status = files.journal.open(small());
            const bool unknown = in_header >= 16 && in_header < sizeof header;
            EXPECT_EQ(status, foreign && !unknown ? Status::corrupt_file : Status::ok) << at;
            EXPECT_EQ(files.journal.report().state,
                      status == Status::ok ? JournalState::blank : JournalState::not_a_journal)
                << at;
            blank += status == Status::ok ? 1 : 0;
        }
    }
    EXPECT_GT(blank, 700U);
}

// The journal's capabilities need properties of both storages: both are rewritten, and synced in order.
TEST(JournalStorage, PromisesWhatBothCanKeep) {
    Files files;
    for (unsigned lacks = 0; lacks < 8; ++lacks) {
        for (const bool of_home : {false, true}) {
            Capabilities capabilities;
            capabilities.overwrite = (lacks & 1) == 0;
            capabilities.writable = (lacks & 2) == 0;
            capabilities.sync_is_barrier = (lacks & 4) == 0;
            for (const bool ordered : {false, true}) {
                capabilities.ordered = ordered;
                PromisingDriver other(of_home ? static_cast<Driver&>(files.home) : files.log, capabilities);
                JournalDriver journal{of_home ? static_cast<Driver&>(other) : files.home,
                                      of_home ? static_cast<Driver&>(files.log) : other, work};
                const Capabilities told = journal.capabilities();
                EXPECT_EQ(told.writable, capabilities.writable);
                EXPECT_EQ(told.sync_is_commit, capabilities.overwrite && (ordered || capabilities.sync_is_barrier));
                ASSERT_EQ(journal.open(small()), Status::ok);
                EXPECT_EQ(fill(journal, 0, 1, 1), capabilities.writable ? Status::ok : Status::read_only);
                EXPECT_EQ(journal.close(), Status::ok);
            }
        }
    }
}

}  // namespace
