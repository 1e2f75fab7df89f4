// Hostile logs with right checksums: whatever they contain, open() returns, accesses only its own memory and the two
// storages, and either refuses the log or leaves a file that can be read and written.
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include "checksum.hpp"
#include "journal_format.hpp"
#include "test.hpp"

#include <cstdio>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote::journal;

using Image = std::vector<std::byte>;

constexpr std::size_t kRoom = 8192;

struct Files {
    Image home_bytes = Image(kRoom);
    Image log_bytes = Image(kRoom);
    MemoryDriver home{{home_bytes.data(), kRoom}};
    MemoryDriver log{{log_bytes.data(), kRoom}};
    alignas(8) std::byte work[1024];
    JournalDriver journal{home, log, work};
    JournalOptions options;

    Files() {
        options.limit = kRoom;
        options.lists = 4;
    }
    void load(const Image& home_image, const Image& log_image) {
        EXPECT_EQ(home.truncate(0), Status::ok);
        EXPECT_EQ(log.truncate(0), Status::ok);
        EXPECT_EQ(home.write(Usage::raw_data, 0, {home_image.data(), home_image.size()}), Status::ok);
        EXPECT_EQ(log.write(Usage::raw_data, 0, {log_image.data(), log_image.size()}), Status::ok);
    }
};

Image copy(const MemoryDriver& driver) { return {driver.contents().begin(), driver.contents().end()}; }

// Repairs the checksums of headers and records, as far as the records' lengths lead.
void repair(Image& log) {
    std::uint32_t chain = 0;
    std::uint32_t newest = 0;
    for (const std::uint32_t slot : {0U, kSlotSize}) {
        const std::uint32_t sum = lookup3({log.data() + slot, kHeaderSize - 4});
        const auto sequence = load_le<std::uint32_t>(log.data() + slot + 12);
        if (std::memcmp(log.data() + slot, kMagic, sizeof kMagic) == 0) {
            store_le(log.data() + slot + kHeaderSize - 4, sum);
            chain = sequence >= newest ? sum : chain;
            newest = sequence >= newest ? sequence : newest;
        }
    }
    for (std::size_t at = kFirstRecord; at + kRecordSize <= log.size();) {
        const std::size_t length = load_le<std::uint16_t>(log.data() + at + 4);
        if (log[at + 6] == std::byte{0} || length > log.size() - at - kRecordSize) {
            break;
        }
        chain = lookup3({log.data() + at + 4, kRecordSize - 4 + length}, chain);
        store_le(log.data() + at, chain);
        at += kRecordSize + length;
    }
}

TEST(JournalDamage, HostileLogs) {
    Files files;
    std::mt19937 engine(1);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine); };
    const Image first(700, std::byte{1});
    files.load(first, {});
    ASSERT_EQ(files.journal.open(files.options), Status::ok);
    for (unsigned i = 0; i < 12; ++i) {
        const Image bytes(1 + below(150), static_cast<std::byte>(i));
        ASSERT_EQ(files.journal.write(Usage::raw_data, below(1500), {bytes.data(), bytes.size()}), Status::ok);
        if (i % 5 == 2) {
            ASSERT_EQ(files.journal.truncate(below(1500)), Status::ok);
        }
        if (i % 3 == 2) {
            ASSERT_EQ(files.journal.sync(), Status::ok);
        }
    }
    const Image home = copy(files.home);
    Image log = copy(files.log);
    log.resize(3000);
    unsigned opened = 0;
    unsigned refused = 0;
    for (unsigned round = 0; round < 40000; ++round) {
        Image hostile = log;
        for (std::size_t n = 1 + below(3); n > 0; --n) {
            // Damage the fields of headers and records rather than their contents.
            std::size_t at = below(2) == 0 ? kSlotSize + below(kHeaderSize) : kFirstRecord + below(1900);
            static constexpr unsigned char kOdd[] = {0, 1, 2, 3, 4, 0x7f, 0x80, 0xff};
            hostile[at] = static_cast<std::byte>(below(2) == 0 ? kOdd[below(8)] : below(256));
        }
        if (below(4) != 0) {
            repair(hostile);
        }
        files.load(home, hostile);
        files.options.read_only = round % 3 == 0;
        const Status status = files.journal.open(files.options);
        std::uint64_t size = 0;
        if (status != Status::ok) {
            ++refused;
            ASSERT_EQ(files.journal.end_of_file(size), Status::invalid_handle);
            continue;
        }
        ++opened;
        ASSERT_EQ(files.journal.end_of_file(size), Status::ok);
        Image bytes(static_cast<std::size_t>(size < kRoom ? size : kRoom));
        ASSERT_EQ(files.journal.read(Usage::raw_data, 0, {bytes.data(), bytes.size()}), Status::ok);
        if (!files.options.read_only) {
            ASSERT_EQ(files.journal.write(Usage::raw_data, 100, {home.data(), 50}), Status::ok);
            ASSERT_EQ(files.journal.close(), Status::ok);
        }
    }
    std::printf("%u opened, %u refused\n", opened, refused);
    EXPECT_GT(opened, 1000U);
    EXPECT_GT(refused, 1000U);
}

}  // namespace
