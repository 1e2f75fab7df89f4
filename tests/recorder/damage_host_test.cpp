// A recorder's file is damaged in every byte and bit, and cut everywhere: open() says what is wrong and leaves the file
// alone, or goes on. It never crashes, and never takes another file for its own.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "play.hpp"
#include "sweep.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <map>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

struct Outcomes {
    std::map<Status, std::size_t> opened;
    std::size_t tried = 0;
};

// Opens, appends to every dataset, flushes and closes. What is refused must stay as it is.
void use(Recording& recording, const Blob& image, Outcomes& outcomes) {
    // A copy of exactly the file's size with room behind it, so that a sanitizer sees accesses beyond.
    MallocAllocator allocator;
    GrowingMemoryDriver driver(allocator, image.size() + 20000);
    ASSERT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
    const Status opened = recording.open(driver);
    ++outcomes.opened[opened];
    ++outcomes.tried;
    if (opened != Status::ok) {
        ASSERT_TRUE(opened == Status::not_hdf5 || opened == Status::other_blueprint ||
                    opened == Status::foreign_changes || opened == Status::corrupt_file)
            << to_string(opened);
        ASSERT_EQ(Blob(driver.contents().begin(), driver.contents().end()), image);
        ASSERT_FALSE(recording.is_open());
        return;
    }
    for (std::size_t i = 0; i < recording.described().datasets.size(); ++i) {
        Blob row(recording.described().datasets[i].row);
        for (unsigned k = 0; k < 2 * recording.described().datasets[i].chunk + 3; ++k) {
            (void)recording.append(i, {row.data(), row.size()});
        }
    }
    (void)recording.flush();
    (void)recording.close();
    ASSERT_FALSE(recording.is_open());
}

// What open() accepts although a bit changed must be read by libhdf5 as before, unless the bit is in values, in
// attributes or in free space, which open() does not look at.
void damage(const char* name, const MakeRecording& make, const Workload& workload) {
    const std::unique_ptr<Recording> recording = make();
    MallocAllocator allocator;
    GrowingMemoryDriver driver(allocator);
    Play play(*recording, driver, empty_contents(recording->described()), 0, [] { return 0; });
    workload(play);
    ASSERT_EQ(play.failure, "");
    recording->abandon();
    const Blob sound(driver.contents().begin(), driver.contents().end());
    Outcomes outcomes;
    for (std::size_t at = 0; at < sound.size() && !testing::Test::HasFatalFailure(); at += sweep_step()) {
        Blob image = sound;
        for (unsigned bit = 0; bit < 8; ++bit) {
            image[at] = sound[at] ^ static_cast<std::byte>(1U << bit);
            SCOPED_TRACE(std::string(name) + ": bit " + std::to_string(bit) + " of byte " + std::to_string(at));
            use(*recording, image, outcomes);
        }
        for (const std::byte value : {std::byte{0}, std::byte{0xff}, std::byte{0x7f}}) {
            image[at] = value;
            use(*recording, image, outcomes);
        }
        image.resize(at);
        SCOPED_TRACE(std::string(name) + ": cut to " + std::to_string(at));
        use(*recording, image, outcomes);
    }
    std::printf("%s: %zu damaged files:", name, outcomes.tried);
    for (const auto& [status, count] : outcomes.opened) {
        std::printf(" %s %zu", to_string(status), count);
    }
    std::printf("\n");
    EXPECT_GE(outcomes.tried, sound.size() * 11 / sweep_step());
}

void nothing(Play& play) { (void)play.open(); }
void rows(Play& play) {
    (void)play.open();
    for (std::size_t i = 0; i < play.described().datasets.size(); ++i) {
        (void)play.append(i, 11 * play.described().datasets[i].chunk);
    }
    (void)play.flush();
}

}  // namespace

TEST(RecorderDamage, NewFile) {
    damage("one", recordings<kOne>(), nothing);
    damage("flight", recordings<kFlight<4, true>>(), nothing);
    damage("turns", recordings<kTurns>(), nothing);
    damage("empty", recordings<kEmpty>(), nothing);
}
TEST(RecorderDamage, Rows) {
    damage("turns with rows", recordings<kTurns>(), rows);
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
    damage("filtered with rows", recordings<kFiltered<4>>(), rows);
#endif
    damage("bytes with rows", recordings<kBytes8>(), [](Play& play) {
        (void)play.open();
        (void)play.append(0, 250);
        (void)play.flush();
    });
}
