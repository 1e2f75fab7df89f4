#include <h5mote/status.hpp>

#include "test.hpp"

#include <cstring>

namespace {

using namespace h5mote;

SourcePlace at_line(unsigned line) noexcept { return source_place("core/file/file_state.cpp", line); }

Status passes_on(Status status, int& reached) noexcept {
    H5MOTE_TRY(status);
    ++reached;
    return Status::ok;
}

TEST(Status, TryReturnsWhatFailed) {
    int reached = 0;
    EXPECT_EQ(passes_on(Status::no_space, reached), Status::no_space);
    EXPECT_EQ(reached, 0);
    EXPECT_EQ(passes_on(Status::ok, reached), Status::ok);
    EXPECT_EQ(reached, 1);
}

TEST(Status, EveryValueHasAName) {
    EXPECT_EQ(std::strcmp(to_string(Status::ok), "ok"), 0);
    EXPECT_EQ(std::strcmp(to_string(Status::out_of_memory), "out_of_memory"), 0);
    for (unsigned i = 0; i <= static_cast<unsigned>(Status::foreign_changes); ++i) {
        EXPECT_NE(std::strcmp(to_string(static_cast<Status>(i)), "unknown"), 0);
    }
    EXPECT_EQ(std::strcmp(to_string(static_cast<Status>(200)), "unknown"), 0);
    EXPECT_EQ(std::strcmp(to_string(Feature::dense_links), "dense_links"), 0);
    for (unsigned i = 0; i <= static_cast<unsigned>(Feature::type_conversion); ++i) {
        EXPECT_NE(std::strcmp(to_string(static_cast<Feature>(i)), "unknown"), 0);
    }
    EXPECT_EQ(std::strcmp(to_string(Module::dataset), "dataset"), 0);
    for (unsigned i = 0; i <= static_cast<unsigned>(Module::heap); ++i) {
        EXPECT_NE(std::strcmp(to_string(static_cast<Module>(i)), "unknown"), 0);
    }
}

TEST(ErrorTrail, FailReturnsItsStatus) {
    ErrorTrail trail;
    EXPECT_EQ(trail.size(), 0U);
    EXPECT_EQ(trail.newest().status, Status::ok);
    EXPECT_EQ(trail.fail(Module::object, at_line(12), Status::corrupt_file), Status::corrupt_file);
    // The status need not be known at compile time.
    volatile unsigned code = static_cast<unsigned>(Status::busy);
    EXPECT_EQ(trail.fail(Module::file, at_line(13), static_cast<Status>(static_cast<unsigned>(code)), 0, 0),
              Status::busy);
}

TEST(SourcePlace, IsOfTheLastThreeComponentsOfThePath) {
    constexpr std::uint32_t kNumber = source_place("core/file/file_state.cpp", 12).number;
    EXPECT_EQ(source_place("/home/somebody/h5mote/core/file/file_state.cpp", 12).number, kNumber);
    EXPECT_EQ(source_place("../../core/file/file_state.cpp", 12).number, kNumber);
    EXPECT_NE(source_place("vfd/file/file_state.cpp", 12).number, kNumber);
    EXPECT_NE(source_place("core/file/file_state.cpp", 13).number, kNumber);
    EXPECT_EQ(source_place("core/file/file_state.cpp", 12 + 1024).number, kNumber);
    EXPECT_TRUE(source_name({}) == nullptr);
}

TEST(SourcePlace, HereIsThisFileAndLine) {
    constexpr SourcePlace kHere = H5MOTE_HERE;
    EXPECT_EQ(kHere.number, source_place("tests/unit/status_test.cpp", __LINE__ - 1).number);
}

#if H5MOTE_ERROR_TRAIL > 1

TEST(ErrorTrail, RecordsHoldEveryField) {
    ErrorTrail trail;
    (void)trail.fail(Module::driver, at_line(1023), Status::overflow, 0xfedcba98U, 0x0123456789abcdefU);
    const ErrorRecord record = trail.newest();
    EXPECT_EQ(record.module, Module::driver);
    EXPECT_EQ(record.line, 1023U);
    EXPECT_EQ(std::strcmp(source_name(record), "core/file/file_state.cpp"), 0);
    EXPECT_EQ(record.status, Status::overflow);
    EXPECT_EQ(record.detail, 0xfedcba98U);
    EXPECT_EQ(record.value, 0x0123456789abcdefU);

    (void)trail.fail(Module::object, at_line(7), Status::io_error, 5);
    EXPECT_EQ(trail.newest().detail, 5U);
    EXPECT_EQ(trail.newest().value, 0U);
    volatile std::uint64_t zero = 0;
    (void)trail.fail(Module::object, at_line(8), Status::io_error, 6, zero);
    EXPECT_EQ(trail.newest().detail, 6U);
    EXPECT_EQ(trail.newest().value, 0U);
    (void)trail.fail(Module::object, at_line(9), Status::io_error, 0, 77);
    EXPECT_EQ(trail.newest().detail, 0U);
    EXPECT_EQ(trail.newest().value, 77U);
}

// Firmware may print a record as a number, which a host translates back.
TEST(ErrorTrail, TheNumberOfARecordIsTheRecord) {
    ErrorTrail trail;
    const SourcePlace place = source_place("core/storage/metadata_cache.cpp", 345);
    (void)trail.fail(Module::heap, place, Status::overflow, 5, 6);
    const ErrorRecord translated = error_record(trail.newest().number);
    EXPECT_EQ(translated.module, Module::heap);
    EXPECT_EQ(translated.status, Status::overflow);
    EXPECT_EQ(translated.line, 345U);
    EXPECT_EQ(std::strcmp(source_name(translated), "core/storage/metadata_cache.cpp"), 0);
}

TEST(ErrorTrail, RingKeepsTheNewest) {
    ErrorTrail trail;
    constexpr unsigned kTotal = 3 * H5MOTE_ERROR_TRAIL + 1;
    for (unsigned i = 1; i <= kTotal; ++i) {
        (void)trail.fail(Module::storage, at_line(i), Status::io_error, i);
        EXPECT_EQ(trail.size(), i < H5MOTE_ERROR_TRAIL ? i : H5MOTE_ERROR_TRAIL);
        for (unsigned back = 0; back < trail.size(); ++back) {
            EXPECT_EQ(trail.newest(back).detail, i - back);
            EXPECT_EQ(trail.newest(back).line, i - back);
        }
        EXPECT_EQ(trail.newest(trail.size()).status, Status::ok);
    }
    trail.clear();
    EXPECT_EQ(trail.size(), 0U);
    EXPECT_EQ(trail.newest().status, Status::ok);
    (void)trail.fail(Module::storage, at_line(1), Status::busy, 99);
    EXPECT_EQ(trail.size(), 1U);
    EXPECT_EQ(trail.newest().detail, 99U);
}

#endif

}  // namespace
