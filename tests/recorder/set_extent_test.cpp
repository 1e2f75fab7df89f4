// Datasets that a recorder makes shorter: what is recorded then is what would be there if the longer one had never
// been.
#include "blueprints.hpp"
#include "test.hpp"

#include <h5mote/recorder.hpp>
#include <h5mote/vfd/memory.hpp>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

namespace bp = blueprint;

constexpr auto kTimed = bp::file(
    bp::FileOptions{4, false},
    bp::group("flight", bp::dataset<std::uint32_t>("t", 3), bp::dataset<std::uint16_t>("value", 3, bp::scale("t"))));
constexpr std::size_t kTime = bp::dataset_number<kTimed>("flight/t");
constexpr std::size_t kValue = bp::dataset_number<kTimed>("flight/value");

constexpr std::size_t kStorage = 8000;
std::byte storage[kStorage];
std::byte expected[kStorage];
Recorder<kTimed> recorder;

// Values of rows: those that stay, and those that are taken back.
Status append_times(std::uint32_t first, std::uint32_t end, std::uint32_t add = 0) {
    for (std::uint32_t i = first; i < end; ++i) {
        H5MOTE_TRY(recorder.append<kTime>(4000 * i + add));
    }
    return Status::ok;
}
Status append_values(std::uint32_t first, std::uint32_t end, std::uint32_t add = 0) {
    for (std::uint32_t i = first; i < end; ++i) {
        H5MOTE_TRY(recorder.append<kValue>(static_cast<std::uint16_t>(i + add)));
    }
    return Status::ok;
}

// A session with the times 0 to `times` and as many values, of which those from `good` on are others; killed after its
// flush. Returns the first error.
Status first_session(Driver& driver, std::uint32_t times, std::uint32_t values, std::uint32_t good, std::uint32_t add) {
    H5MOTE_TRY(recorder.open(driver));
    H5MOTE_TRY(append_times(0, times < good ? times : good));
    H5MOTE_TRY(append_values(0, values < good ? values : good));
    H5MOTE_TRY(append_times(good, times, add));
    H5MOTE_TRY(append_values(good, values, add));
    H5MOTE_TRY(recorder.flush());
    recorder.abandon();
    return Status::ok;
}

// Both are continued up to the same row.
Status last_session(std::uint32_t end) {
    H5MOTE_TRY(append_times(static_cast<std::uint32_t>(recorder.rows<kTime>()), end));
    H5MOTE_TRY(append_values(static_cast<std::uint32_t>(recorder.rows<kValue>()), end));
    return recorder.close();
}

void blank() { std::memset(storage, 0, sizeof storage); }

}  // namespace

TEST(RecorderSetExtent, LeavesNothingOfWhatItTookBack) {
    for (const std::uint32_t good : {0U, 1U, 3U, 11U, 12U, 13U, 60U, 63U}) {
        for (std::uint32_t more = 0; more < 20; ++more) {
            for (const bool is_time : {false, true}) {
                const std::uint32_t times = good + (is_time ? more : 0);
                const std::uint32_t values = good + (is_time ? 0 : more);
                const std::uint32_t end = good + more + 5;
                blank();
                MemoryDriver without(storage, 0);
                ASSERT_EQ(first_session(without, times, values, good, 0), Status::ok);
                ASSERT_EQ(recorder.open(without), Status::ok);
                ASSERT_EQ(last_session(end), Status::ok);
                const std::size_t size = without.contents().size();
                std::memcpy(expected, storage, size);

                blank();
                MemoryDriver with(storage, 0);
                ASSERT_EQ(first_session(with, times, values, good, 7), Status::ok);
                ASSERT_EQ(recorder.open(with), Status::ok);
                ASSERT_EQ(is_time ? recorder.set_extent<kTime>(good) : recorder.set_extent<kValue>(good), Status::ok);
                EXPECT_EQ(recorder.rows<kTime>(), Address{good});
                EXPECT_EQ(recorder.rows<kValue>(), Address{good});
                ASSERT_EQ(last_session(end), Status::ok);
                ASSERT_EQ(with.contents().size(), size);
                EXPECT_EQ(std::memcmp(storage, expected, size), 0);
            }
        }
    }
}

TEST(RecorderSetExtent, IsDurableWithTheNextFlush) {
    blank();
    MemoryDriver driver(storage, 0);
    ASSERT_EQ(first_session(driver, 9, 5, 9, 0), Status::ok);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    ASSERT_EQ(recorder.set_extent<kTime>(5), Status::ok);
    recorder.abandon();
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.rows<kTime>(), Address{9});
    ASSERT_EQ(recorder.set_extent<kTime>(5), Status::ok);
    ASSERT_EQ(recorder.flush(), Status::ok);
    recorder.abandon();
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.rows<kTime>(), Address{5});
    EXPECT_EQ(recorder.rows<kValue>(), Address{5});
    ASSERT_EQ(recorder.close(), Status::ok);
}

TEST(RecorderSetExtent, RefusesWhatItCannotDo) {
    EXPECT_EQ(recorder.set_extent<kTime>(0), Status::invalid_handle);
    blank();
    MemoryDriver driver(storage, 0);
    ASSERT_EQ(first_session(driver, 9, 9, 9, 0), Status::ok);
    ASSERT_EQ(recorder.open(driver), Status::ok);
    EXPECT_EQ(recorder.set_extent<kTime>(10), Status::invalid_argument);
    EXPECT_EQ(recorder.set_extent<kTime>(9), Status::ok);
    ASSERT_EQ(recorder.append<kTime>(36000U), Status::ok);
    EXPECT_EQ(recorder.set_extent<kTime>(9), Status::invalid_argument);
    EXPECT_EQ(recorder.rows<kTime>(), Address{10});
    ASSERT_EQ(recorder.flush(), Status::ok);
    EXPECT_EQ(recorder.set_extent<kTime>(9), Status::ok);
    EXPECT_EQ(recorder.rows<kTime>(), Address{9});
    ASSERT_EQ(recorder.close(), Status::ok);
}
