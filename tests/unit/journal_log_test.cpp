// Which file a journal's log belongs to, who may open the two, and how uncommitted changes are taken back.
#include <h5mote/vfd/region.hpp>

#include "counting_driver.hpp"
#include "driver_bytes.hpp"
#include "failing_driver.hpp"
#include "journal_files.hpp"
#include "promising_driver.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote_test;

// Space that the home was extended by for a transaction that is not committed is cut off when the journal is closed,
// also by the next program.
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
    // Homes with the same bytes except one near the end, and with one byte more.
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

// A log is copied with a transaction in it and put back when the file has this and a later transaction. It must not be
// replayed, wherever the file was changed: it would undo the later one.
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
            // As yet the log belongs to the file.
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

// While the log is empty, other programs may change the file: their changes must stay.
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
    // The only header has an unknown version.
    std::byte version[1] = {std::byte{2}};
    ASSERT_EQ(files.log.write(kRaw, 512 + 8, version), Status::ok);
    EXPECT_EQ(files.journal.open(small()), Status::corrupt_file);
    EXPECT_EQ(files.journal.report().state, JournalState::damaged);
}

// From open() on nobody else may recover or use the two storages, whether or not a file is open on the journal.
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
    // Several read-only journals share the storages.
    ASSERT_EQ(files.journal.open(options), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::pending);
    {
        JournalDriver other{files.home, files.log, work_too};
        EXPECT_EQ(other.open(options), Status::ok);
        options.read_only = false;
        EXPECT_EQ(other.open(options), Status::busy);
    }
    // Opening for writing and closing again releases the locks.
    ASSERT_EQ(files.journal.open(options), Status::ok);
    EXPECT_EQ(files.journal.report().state, JournalState::replayed);
    ASSERT_EQ(files.journal.close(), Status::ok);
    EXPECT_EQ(files.home.lock(true), Status::ok);
    // If one storage is locked by others, open() locks neither and reads nothing.
    EXPECT_EQ(files.journal.open(options), Status::busy);
    EXPECT_EQ(files.log.lock(true), Status::ok);
    EXPECT_EQ(files.log.unlock(), Status::ok);
    EXPECT_EQ(files.home.unlock(), Status::ok);
    // Nor does an open() that fails for another reason keep a lock.
    for (const std::uint64_t at : {0U, 1000U}) {
        ASSERT_EQ(fill(files.log, at, 7, 1000), Status::ok);
    }
    EXPECT_EQ(files.journal.open(options), Status::corrupt_file);
    EXPECT_EQ(files.log.lock(true), Status::ok);
    EXPECT_EQ(files.home.lock(true), Status::ok);
    EXPECT_EQ(files.log.unlock(), Status::ok);
    EXPECT_EQ(files.home.unlock(), Status::ok);
}

// discard() takes back all uncommitted changes of any kind, and keeps the committed ones.
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
        // The next commit contains none of the discarded changes.
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
    RegionDriver region{card, 4096, 4096};
    PromisingDriver home{region, Capabilities{}};
    JournalOptions options = small();
    options.home_has_end = false;
    JournalDriver journal{home, log, work};
    ASSERT_EQ(journal.open(options), Status::ok);
    EXPECT_EQ(length(journal), 0U);
    // Behind the file lies what the card held before.
    EXPECT_TRUE(home.capabilities().extends_with_zeros);
    EXPECT_FALSE(journal.capabilities().extends_with_zeros);
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
