// Journals of files that are longer than an Address of the build can say, which is so where addresses have 32 bits.
// They are refused and left as they are: a record taken for the end of the log would be a lost commit.
#include "checksum.hpp"
#include "driver_bytes.hpp"
#include "forwarding_driver.hpp"
#include "journal_files.hpp"
#include "journal_format.hpp"
#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote_test;
using namespace h5mote::journal;

constexpr std::uint64_t kFar = std::uint64_t{5} << 30;
constexpr bool kFits = sizeof(Address) == sizeof kFar;
constexpr std::uint32_t kPayload = 50;

// Puts checksums right: of the header in the second slot and, behind it, of a piece and of the commit.
void seal() {
    std::byte* const header = log_bytes + kSlotSize;
    std::uint32_t sum = lookup3({header, kHeaderSize - 4});
    store_le(header + kHeaderSize - 4, sum);
    for (const std::uint32_t at : {kFirstRecord, kFirstRecord + kRecordSize + kPayload}) {
        const std::uint32_t length = at == kFirstRecord ? kPayload : 0;
        sum = lookup3({log_bytes + at + 4, kRecordSize - 4 + length}, sum);
        store_le(log_bytes + at, sum);
    }
}

class LongHome final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status end_of_file(std::uint64_t& size) noexcept override {
        size = kFar;
        return Status::ok;
    }
    Status truncate(std::uint64_t /*size*/) noexcept override { return Status::unsupported; }
};

}  // namespace

TEST(JournalLength, LogsOfLongFilesAreRefused) {
    static std::byte before[sizeof log_bytes];
    // The address of the piece, and the length of the file in the commit. Without a length of the home: the base in the
    // header.
    for (const std::uint32_t at : {kFirstRecord + 8, kFirstRecord + kRecordSize + kPayload + 8, kSlotSize + 16}) {
        Files files;
        ASSERT_EQ(fill(files.home, 0, 9, 700), Status::ok);
        JournalOptions options = small();
        options.home_has_end = at >= kFirstRecord;
        ASSERT_EQ(files.journal.open(options), Status::ok);
        ASSERT_EQ(fill(files.journal, 100, 1, kPayload), Status::ok);
        ASSERT_EQ(files.journal.sync(), Status::ok);
        const std::uint64_t home_length = length(files.home);
        seal();
        JournalDriver again{files.home, files.log, work_too};
        options.read_only = true;
        ASSERT_EQ(again.open(options), Status::ok);
        EXPECT_EQ(again.report().transactions, 1U);
        options.read_only = false;
        store_le(log_bytes + at, kFar);
        seal();
        std::memcpy(before, log_bytes, sizeof before);
        const Status status = again.open(options);
        EXPECT_EQ(status == Status::unsupported, !kFits);
        EXPECT_EQ(again.report().state == JournalState::newer, !kFits);
        if (!kFits) {
            EXPECT_EQ(std::memcmp(before, log_bytes, sizeof before), 0);
            EXPECT_EQ(length(files.home), home_length);
            EXPECT_TRUE(holds(files.home, 0, 700, 9));
        }
    }
}

TEST(JournalLength, LongHomes) {
    Files files;
    ASSERT_EQ(fill(files.home, 0, 9, 700), Status::ok);
    LongHome home{files.home};
    JournalDriver journal{home, files.log, work};
    EXPECT_EQ(journal.open(small()), kFits ? Status::ok : Status::unsupported);
    EXPECT_EQ(length(journal), kFits ? kFar : ~std::uint64_t{0});
    // A device may have more room than a file can need.
    JournalOptions options = small();
    options.home_has_end = false;
    ASSERT_EQ(journal.open(options), Status::ok);
    ASSERT_EQ(fill(journal, 0, 1, 100), Status::ok);
    EXPECT_EQ(length(journal), 100U);
    const std::uint64_t most = kFits ? ~std::uint64_t{0} : 0xffffffff;
    EXPECT_EQ(fill(journal, most - 1, 1, 1), Status::no_space);
    EXPECT_EQ(fill(journal, kFits ? most : kFar, 1, 1), Status::no_space);
    EXPECT_EQ(journal.truncate(kFits ? most : kFar), Status::no_space);
    std::byte one[1];
    EXPECT_EQ(journal.read(kRaw, kFar, one), Status::io_error);
    EXPECT_EQ(length(journal), 100U);
    EXPECT_EQ(journal.close(), Status::ok);
    EXPECT_TRUE(holds(files.home, 0, 100, 1));
}
