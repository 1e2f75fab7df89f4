// The recorder on storages in memory: blank ones, those of others, full ones; which calls fail and what they leave.
#include "blueprints.hpp"
#include "checksum.hpp"
#include "counting_driver.hpp"
#include "cursor.hpp"
#include "failing_driver.hpp"
#include "promising_driver.hpp"
#include "test.hpp"

#include <h5mote/vfd/memory.hpp>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

using blueprint::Image;

constexpr std::size_t kStorage = 12000;
std::byte storage[kStorage];

// The gaps of a struct have no value: here they are zero, so that files are the same each time. A copy need not keep
// them.
const Sample& sample(std::uint32_t i) {
    static Sample value;
    std::memset(static_cast<void*>(&value), 0, sizeof value);
    value.t_ms = i;
    value.accel[0] = static_cast<std::int16_t>(i);
    value.accel[1] = static_cast<std::int16_t>(-2 * static_cast<int>(i));
    value.temp_c = static_cast<float>(i) * 0.25F;
    return value;
}
const Padded& padded(std::uint8_t i) {
    static Padded value;
    std::memset(static_cast<void*>(&value), 0, sizeof value);
    value.kind = i;
    value.value = i * 0.5;
    value.mode = i % 2 == 0 ? Mode::idle : Mode::run;
    value.name.assign("ab");
    return value;
}

constexpr auto& kFile = kFlight<8, true>;
constexpr std::size_t kImu = blueprint::dataset_number<kFile>("flight/imu");
constexpr std::size_t kTime = blueprint::dataset_number<kFile>("flight/t_us");
constexpr std::size_t kOdd = blueprint::dataset_number<kFile>("odd");
constexpr std::size_t kSerial = blueprint::setting_number<kFile>("", "serial");
constexpr std::size_t kGain = blueprint::setting_number<kFile>("flight/imu", "gain");

void fill_storage(std::byte value) { std::memset(storage, static_cast<int>(value), sizeof storage); }

bool holds_new_file(const MemoryDriver& driver) {
    const ConstBytes bytes = Image<kFile>::bytes();
    return driver.contents().size() == bytes.size() &&
           std::memcmp(driver.contents().data(), bytes.data(), bytes.size()) == 0;
}

// A workload with everything. Returns the first error.
Status work(Recorder<kFile>& recorder, std::uint32_t first) {
    for (std::uint32_t i = first; i < first + 60; ++i) {
        H5MOTE_TRY(recorder.append<kImu>(sample(i)));
        if (i % 3 == 0) {
            H5MOTE_TRY(recorder.append<kTime>(i * std::uint64_t{1000000007}));
        }
        if (i % 4 == 0) {
            H5MOTE_TRY(recorder.append<kOdd>(padded(static_cast<std::uint8_t>(i))));
        }
        if (i % 20 == 7) {
            H5MOTE_TRY(recorder.set<kSerial>(i));
            H5MOTE_TRY(recorder.flush());
        }
    }
    return recorder.set<kGain>(0.125F);
}

}  // namespace

TEST(Recorder, MakesTheFileOnBlankStorage) {
    static Recorder<kFile> recorder;
    // Nothing at all, a few bytes, and storages that are zero or erased throughout.
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{33}, std::size_t{512},
                                   std::size_t{5000}, kStorage}) {
        for (const std::byte value : {std::byte{0}, std::byte{0xff}}) {
            fill_storage(value);
            MemoryDriver memory(storage, size);
            Capabilities capabilities = memory.capabilities();
            capabilities.erased_value = static_cast<std::uint8_t>(value);
            PromisingDriver driver(memory, capabilities);
            EXPECT_EQ(recorder.open(driver), Status::ok);
            EXPECT_TRUE(recorder.is_open());
            EXPECT_EQ(recorder.rows<kImu>(), Address{0});
            EXPECT_TRUE(holds_new_file(memory));
            EXPECT_EQ(recorder.close(), Status::ok);
            EXPECT_FALSE(recorder.is_open());
            EXPECT_TRUE(holds_new_file(memory));
        }
    }
    // What is neither zero nor this storage's erased value is no blank storage.
    for (const std::byte value : {std::byte{0xff}, std::byte{1}}) {
        fill_storage(value);
        MemoryDriver memory(storage, 600);
        EXPECT_EQ(recorder.open(memory), Status::not_hdf5);
        EXPECT_EQ(recorder.difference(), Address{0});
        EXPECT_TRUE(storage[0] == value && storage[599] == value && memory.contents().size() == 600);
    }
}

TEST(Recorder, TheSameFileOnEveryMachine) {
    static Recorder<kFile> recorder;
    fill_storage(std::byte{0});
    MemoryDriver driver(storage);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    ASSERT_EQ(work(recorder, 0), Status::ok);
    EXPECT_EQ(recorder.rows<kImu>(), Address{60});
    EXPECT_EQ(recorder.rows<kTime>(), Address{20});
    EXPECT_EQ(recorder.rows<kOdd>(), Address{15});
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(recorder.rows<kImu>(), Address{0});
    const std::size_t size = driver.contents().size();
    EXPECT_EQ(lookup3(driver.contents()), 440861464U);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.rows<kImu>(), Address{60});
    EXPECT_EQ(recorder.rows<kTime>(), Address{20});
    EXPECT_EQ(recorder.rows<kOdd>(), Address{15});
    // Opening and closing changes nothing.
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(driver.contents().size(), size);
    EXPECT_EQ(lookup3(driver.contents()), 440861464U);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    ASSERT_EQ(work(recorder, 60), Status::ok);
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(lookup3(driver.contents()), 4221077957U);
}

TEST(Recorder, RefusesWhatIsNotItsFile) {
    static Recorder<kFile> recorder;
    fill_storage(std::byte{0});
    MemoryDriver driver(storage);
    static Recorder<kFlight<8, false>> other;
    ASSERT_EQ(other.open(driver), Status::ok);
    ASSERT_EQ(other.close(), Status::ok);
    const std::uint32_t sum = lookup3(driver.contents());
    EXPECT_EQ(recorder.open(driver), Status::other_blueprint);
    EXPECT_GE(recorder.difference(), Address{8});
    EXPECT_FALSE(recorder.is_open());
    EXPECT_EQ(recorder.append<kTime>(std::uint64_t{1}), Status::invalid_handle);
    EXPECT_EQ(recorder.flush(), Status::invalid_handle);
    EXPECT_EQ(lookup3(driver.contents()), sum);
    // A file that ends before its objects do.
    MemoryDriver short_one(Bytes(storage, 700), 700);
    EXPECT_EQ(other.open(short_one), Status::foreign_changes);
    EXPECT_GE(other.difference(), Address{700} - 64);
    // Text.
    std::memcpy(storage, "this is no file of HDF5, but it is somebody's", 45);
    EXPECT_EQ(recorder.open(driver), Status::not_hdf5);
    EXPECT_EQ(recorder.difference(), Address{0});
}

// A dataset that somebody extended to more rows than this machine can count is refused, and not cut short.
TEST(Recorder, MoreRowsThanItCanCount) {
    static Recorder<kFile> recorder;
    constexpr auto& table = Image<kFile>::kTable;
    for (const std::uint64_t rows : {std::uint64_t{77}, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 5,
                                     ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
        fill_storage(std::byte{0});
        MemoryDriver driver(storage);
        ASSERT_EQ(recorder.open(driver), Status::ok);
        recorder.abandon();
        std::byte* const header = storage + table.datasets[kImu].header;
        store_uint(header + table.dimension, 8, rows);
        store_le(header + table.header_size - 4, lookup3({header, table.header_size - 4U}));
        const std::uint32_t sum = lookup3(driver.contents());
        const bool fits = rows < ~std::uint64_t{0} - 1 && static_cast<Address>(rows) == rows;
        EXPECT_EQ(recorder.open(driver), fits ? Status::ok : Status::corrupt_file);
        EXPECT_EQ(recorder.is_open(), fits);
        if (fits) {
            EXPECT_EQ(recorder.rows<kImu>(), static_cast<Address>(rows));
            // The block of the chunk index that so many rows need does not fit into this storage.
            EXPECT_EQ(recorder.append<kImu>(sample(1)), Status::ok);
            EXPECT_EQ(recorder.flush(), rows == 77 ? Status::ok : Status::no_space);
        } else {
            EXPECT_EQ(lookup3(driver.contents()), sum);
        }
        recorder.abandon();
    }
}

TEST(Recorder, BusyAndReadOnly) {
    static Recorder<kFile> recorder;
    static Recorder<kFile> second;
    fill_storage(std::byte{0});
    MemoryDriver driver(storage);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.open(driver), Status::busy);
    EXPECT_TRUE(recorder.is_open());
    EXPECT_EQ(second.open(driver), Status::busy);
    EXPECT_FALSE(second.is_open());
    EXPECT_EQ(recorder.append<kTime>(std::uint64_t{1}), Status::ok);
    recorder.abandon();
    recorder.abandon();
    EXPECT_EQ(second.open(driver), Status::ok);
    EXPECT_EQ(second.rows<kTime>(), Address{0});
    EXPECT_EQ(second.close(), Status::ok);
    EXPECT_EQ(second.close(), Status::invalid_handle);
    MemoryDriver read_only(storage, 4000, MemoryAccess::read_only);
    EXPECT_EQ(recorder.open(read_only), Status::read_only);
    EXPECT_FALSE(recorder.is_open());
    // The lock is given back after every refusal.
    EXPECT_EQ(driver.lock(true), Status::ok);
    EXPECT_EQ(driver.unlock(), Status::ok);
}

TEST(Recorder, RefusesStoragesThatPromiseTooLittle) {
    static Recorder<kFile> recorder;
    struct Promise {
        Capabilities capabilities;
        bool enough;
    };
    const auto promise = [](std::uint32_t unit, bool overwrite, bool ordered, bool barrier, bool commit) {
        Capabilities result;
        result.atomic_unit = unit;
        result.overwrite = overwrite;
        result.ordered = ordered;
        result.sync_is_barrier = barrier;
        result.sync_is_commit = commit;
        return result;
    };
    const Promise promises[] = {
        {promise(512, true, false, true, false), true},   {promise(512, true, true, false, false), true},
        {promise(4096, true, false, true, false), true},  {promise(1536, true, false, true, false), true},
        {promise(512, true, false, false, false), false}, {promise(512, false, false, true, false), false},
        {promise(256, true, false, true, false), false},  {promise(1, true, true, true, false), false},
        {promise(768, true, false, true, false), false},  {promise(0, true, false, true, false), false},
        {promise(1, false, false, false, true), true},    {promise(0, false, false, false, true), true},
    };
    for (const Promise& each : promises) {
        fill_storage(std::byte{0});
        MemoryDriver memory(storage);
        PromisingDriver driver(memory, each.capabilities);
        EXPECT_EQ(recorder.open(driver), each.enough ? Status::ok : Status::unsupported);
        EXPECT_EQ(recorder.is_open(), each.enough);
        recorder.abandon();
        EXPECT_EQ(memory.lock(true), Status::ok);
        EXPECT_EQ(memory.unlock(), Status::ok);
    }
}

TEST(Recorder, SyncsNoMoreThanItPromises) {
    static Recorder<kFile> recorder;
    for (const unsigned kind : {0U, 1U, 2U}) {
        fill_storage(std::byte{0});
        MemoryDriver memory(storage);
        Capabilities capabilities = memory.capabilities();
        capabilities.ordered = kind == 1;
        capabilities.sync_is_commit = kind == 2;
        PromisingDriver promising(memory, capabilities);
        CountingDriver driver(promising);
        const std::uint64_t once = kind == 0 ? 2 : 1;
        ASSERT_EQ(recorder.open(driver), Status::ok);
        EXPECT_EQ(driver.syncs(), once);
        driver.reset();
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs() + driver.total().writes, 0U);
        ASSERT_EQ(recorder.append<kImu>(sample(0)), Status::ok);
        EXPECT_EQ(driver.total().writes, 0U);
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs(), kind == 0 ? 4U : 1U);
        driver.reset();
        ASSERT_EQ(recorder.append<kImu>(sample(1)), Status::ok);
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs(), once);
        EXPECT_EQ(driver.total().writes, 2U);
        driver.reset();
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs() + driver.total().writes, 0U);
        ASSERT_EQ(recorder.set<kSerial>(1U), Status::ok);
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs(), 1U);
        recorder.abandon();
        // What was found may be of a session that was killed: one sync, and no other.
        driver.reset();
        ASSERT_EQ(recorder.open(driver), Status::ok);
        EXPECT_EQ(driver.syncs() + driver.total().writes, 0U);
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs(), 1U);
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(driver.syncs(), 1U);
        recorder.abandon();
    }
}

// The storage ends at every size. What no longer fits is not taken, what was flushed stays, and everything goes on once
// there is more room.
TEST(Recorder, FullAtEverySize) {
    static Recorder<kTurns> recorder;
    constexpr std::size_t kEnd = 6000;
    for (std::size_t size = 0; size < kEnd; size += size < Image<kTurns>::kSize - 40 ? 97
                                                    : sizeof(void*) == 4             ? 13
                                                                                     : 3) {
        fill_storage(std::byte{0});
        MemoryDriver driver(Bytes(storage, size));
        const Status opened = recorder.open(driver);
        EXPECT_EQ(opened, size < Image<kTurns>::kSize ? Status::no_space : Status::ok);
        if (opened != Status::ok) {
            EXPECT_FALSE(recorder.is_open());
            continue;
        }
        std::array<std::uint8_t, 100> wide{};
        Address flushed[3] = {};
        bool full = false;
        for (std::uint32_t i = 0; i < 40 && !full; ++i) {
            wide[0] = static_cast<std::uint8_t>(i);
            const Status status = i % 3 == 0   ? recorder.append<0>(static_cast<std::uint8_t>(i))
                                  : i % 3 == 1 ? recorder.append<1>(sample(i))
                                               : recorder.append<2>(wide);
            const Status flush = status == Status::ok ? recorder.flush() : status;
            EXPECT_TRUE(flush == Status::ok || flush == Status::no_space);
            full = flush != Status::ok;
            if (!full) {
                flushed[0] = recorder.rows<0>();
                flushed[1] = recorder.rows<1>();
                flushed[2] = recorder.rows<2>();
            }
        }
        EXPECT_TRUE(full || size > 3000);
        // Settings need no room.
        EXPECT_EQ(recorder.set<0>(7U), Status::ok);
        recorder.abandon();
        // A larger storage with what is there.
        MemoryDriver larger(Bytes(storage, kStorage), driver.contents().size());
        ASSERT_EQ(recorder.open(larger), Status::ok);
        EXPECT_EQ(recorder.rows<0>(), flushed[0]);
        EXPECT_EQ(recorder.rows<1>(), flushed[1]);
        EXPECT_EQ(recorder.rows<2>(), flushed[2]);
        EXPECT_EQ(recorder.append<0>(std::uint8_t{1}), Status::ok);
        EXPECT_EQ(recorder.append<1>(sample(1)), Status::ok);
        EXPECT_EQ(recorder.append<2>(wide), Status::ok);
        EXPECT_EQ(recorder.close(), Status::ok);
    }
}

// Room comes back while the recorder is open: what could not be flushed then can.
TEST(Recorder, GoesOnWhenThereIsRoomAgain) {
    static Recorder<kTurns> recorder;
    fill_storage(std::byte{0});
    MemoryDriver memory(storage);
    FailingDriver driver(memory);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    ASSERT_EQ(recorder.append<1>(sample(0)), Status::ok);
    ASSERT_EQ(recorder.flush(), Status::ok);
    DriverFault full;
    full.at = 1;
    full.persistent = true;
    full.status = Status::no_space;
    full.calls = kTruncateCall;
    driver.arm(full);
    std::uint32_t taken = 1;
    while (recorder.append<1>(sample(taken)) == Status::ok) {
        ++taken;
        ASSERT_LT(taken, 100U);
    }
    EXPECT_EQ(recorder.append<1>(sample(taken)), Status::no_space);
    EXPECT_EQ(recorder.flush(), Status::no_space);
    EXPECT_EQ(recorder.rows<1>(), Address{taken});
    driver.disarm();
    EXPECT_EQ(recorder.append<1>(sample(taken)), Status::ok);
    EXPECT_EQ(recorder.flush(), Status::ok);
    EXPECT_EQ(recorder.rows<1>(), Address{taken} + 1);
    EXPECT_EQ(recorder.close(), Status::ok);
    ASSERT_EQ(recorder.open(memory), Status::ok);
    EXPECT_EQ(recorder.rows<1>(), Address{taken} + 1);
    recorder.abandon();
}

// After a sync that failed nobody knows what the storage has, so that nothing is taken that could get lost.
TEST(Recorder, TakesNothingAfterASyncThatFailed) {
    static Recorder<kFile> recorder;
    fill_storage(std::byte{0});
    MemoryDriver memory(storage);
    FailingDriver driver(memory);
    for (const bool unsaved : {false, true}) {
        ASSERT_EQ(recorder.open(driver), Status::ok);
        ASSERT_EQ(recorder.append<kImu>(sample(0)), Status::ok);
        ASSERT_EQ(recorder.flush(), Status::ok);
        const Address rows = recorder.rows<kImu>();
        ASSERT_EQ(unsaved ? recorder.append<kImu>(sample(1)) : recorder.set<kSerial>(7), Status::ok);
        DriverFault fault;
        fault.at = 1;
        fault.calls = kSyncCall;
        driver.arm(fault);
        EXPECT_EQ(recorder.flush(), Status::io_error);
        EXPECT_EQ(driver.failures(), 1U);
        std::size_t taken = 99;
        const Sample more[2] = {sample(2), sample(3)};
        for (unsigned i = 0; i < 100; ++i) {
            ASSERT_EQ(recorder.append<kImu>(sample(2)), Status::io_error);
        }
        EXPECT_EQ(recorder.append<kImu>(Span<const Sample>(more, 2), &taken), Status::io_error);
        EXPECT_EQ(taken, 0U);
        EXPECT_EQ(recorder.append<kTime>(5), Status::io_error);
        EXPECT_EQ(recorder.append<kOdd>(padded(1)), Status::io_error);
        EXPECT_EQ(recorder.set<kGain>(0.5F), Status::io_error);
        EXPECT_EQ(recorder.set_extent<kImu>(0), Status::io_error);
        EXPECT_EQ(recorder.flush(), Status::io_error);
        EXPECT_EQ(recorder.close(), Status::io_error);
        EXPECT_FALSE(recorder.is_open());
        ASSERT_EQ(recorder.open(driver), Status::ok);
        EXPECT_GE(recorder.rows<kImu>(), rows);
        EXPECT_EQ(recorder.append<kImu>(sample(4)), Status::ok);
        EXPECT_EQ(recorder.append<kTime>(5), Status::ok);
        EXPECT_EQ(recorder.close(), Status::ok);
    }
}

TEST(Recorder, AppendsManyRowsAtOnce) {
    static Recorder<kOne> recorder;
    static Sample rows[150];
    for (std::uint32_t i = 0; i < 150; ++i) {
        rows[i] = sample(i);
    }
    fill_storage(std::byte{0});
    MemoryDriver driver(Bytes(storage, Image<kOne>::kSize + 64 * 16 + 100));
    std::size_t taken = 99;
    EXPECT_EQ(recorder.append<0>(Span<const Sample>(rows, 2), &taken), Status::invalid_handle);
    EXPECT_EQ(taken, 0U);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.append<0>(Span<const Sample>(rows, 0), &taken), Status::ok);
    EXPECT_EQ(taken, 0U);
    // There is room for one chunk in the file and for another one in memory.
    EXPECT_EQ(recorder.append<0>(Span<const Sample>(rows, 150), &taken), Status::no_space);
    EXPECT_EQ(taken, 128U);
    EXPECT_EQ(recorder.rows<0>(), Address{128});
    EXPECT_EQ(recorder.flush(), Status::no_space);
    recorder.abandon();
}

// After close(), the file is as long as its rows need; the chunks that were placed in advance are gone.
TEST(Recorder, GivesBackWhatItDoesNotNeed) {
    static Recorder<kTall> recorder;
    for (std::uint32_t rows = 1; rows < 130; ++rows) {
        fill_storage(std::byte{0});
        MemoryDriver driver(storage);
        std::array<std::uint8_t, 40> row{};
        ASSERT_EQ(recorder.open(driver), Status::ok);
        for (std::uint32_t i = 0; i < rows; ++i) {
            ASSERT_EQ(recorder.append<0>(row), Status::ok);
        }
        ASSERT_EQ(recorder.close(), Status::ok);
        // Data blocks of 16, 32, 32, 32, 64 addresses of 4 bytes with 18 more each; each may be there twice.
        std::size_t most = Image<kTall>::kSize + rows * 40;
        std::uint32_t first = 4;
        for (const std::uint32_t elements : {16U, 32U, 32U, 32U, 64U}) {
            if (rows > first) {
                most += 18 + elements * 4;
            }
            // Fewer unused chunks than their addresses take are kept.
            if (rows > first && rows < first + elements) {
                most += 18 + elements * 4;
            }
            first += elements;
        }
        EXPECT_LE(driver.contents().size(), most);
        ASSERT_EQ(recorder.open(driver), Status::ok);
        EXPECT_EQ(recorder.rows<0>(), Address{rows});
        recorder.abandon();
    }
}

// Every dataset gives back what it does not need, in whatever order they grew.
TEST(Recorder, GivesBackOfAllDatasets) {
    static Recorder<kTurns> recorder;
    for (const unsigned order : {0U, 1U}) {
        fill_storage(std::byte{0});
        MemoryDriver driver(storage);
        std::array<std::uint8_t, 100> wide{};
        ASSERT_EQ(recorder.open(driver), Status::ok);
        if (order == 0) {
            ASSERT_EQ(recorder.append<2>(wide), Status::ok);
            ASSERT_EQ(recorder.flush(), Status::ok);
        }
        ASSERT_EQ(recorder.append<1>(sample(0)), Status::ok);
        ASSERT_EQ(recorder.flush(), Status::ok);
        if (order == 1) {
            ASSERT_EQ(recorder.append<2>(wide), Status::ok);
            ASSERT_EQ(recorder.flush(), Status::ok);
        }
        const std::size_t size = driver.contents().size();
        EXPECT_EQ(size, Image<kTurns>::kSize + 4 * 700 + std::size_t{4 * 32});
        ASSERT_EQ(recorder.close(), Status::ok);
        // One chunk of each that has rows; what lies before the other's chunk stays.
        EXPECT_EQ(driver.contents().size(), Image<kTurns>::kSize + (order == 0 ? 4U * 700 + 32 : 4U * 32 + 700));
    }
}
