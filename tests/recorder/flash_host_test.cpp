// The recorder over a FlashDriver, which commits: the power fails within every program and erase of a NOR chip.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "play.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#if H5MOTE_ALL_FORMATS
#include "flash_machine.hpp"

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

Image file_of(Driver& driver) {
    std::uint64_t size = 0;
    Image image;
    if (driver.end_of_file(size) == Status::ok) {
        image.resize(static_cast<std::size_t>(size));
        if (driver.read(Usage::raw_data, 0, {image.data(), image.size()}) != Status::ok) {
            image.clear();
        }
    }
    return image;
}

void work(Play& play) {
    for (unsigned session = 0; session < 4 && play.failure.empty(); ++session) {
        (void)play.open();
        for (std::size_t i = 0; i < 24 && play.failure.empty(); ++i) {
            (void)play.append(i % play.described().datasets.size(), 1 + i % 4);
            if (i % 3 == 0) {
                (void)play.set(i % 2);
            }
            if (i % 5 == session) {
                (void)play.flush();
            }
        }
        if (session % 2 == 0) {
            (void)play.close();
        } else {
            play.abandon();
        }
    }
}

}  // namespace

TEST(RecorderFlash, PowerCuts) {
    FlashChipOptions options;
    options.geometry.blocks = 96;
    FlashMachine base(options);
    FlashMachine trial(options);
    FlashMachine before(options);
    ASSERT_EQ(base.format(), Status::ok);
    before.chip.copy_from(base.chip);
    base.recorder.operations.clear();
    RecordingOf<kTurns> recorded;
    Play play(recorded, base.driver(), empty_contents(recorded.described()), 0,
              [&base] { return base.recorder.operations.size(); });
    work(play);
    recorded.abandon();
    ASSERT_EQ(play.failure, "");
    const std::vector<FlashOperation> operations = std::move(base.recorder.operations);
    base.chip.copy_from(before.chip);
    RecordingOf<kTurns> next;
    std::size_t cuts = 0;
    std::size_t judged = 0;
    const std::size_t step = one_in("H5MOTE_POWERCUT_ONE_IN") * (long_run() ? 1 : 4);
    cut_operations(
        base, trial, operations, [] { return testing::Test::HasFailure(); },
        [&](std::size_t done, FlashCut, const char* what, std::size_t number) {
            if (cuts++ % step != 0) {
                return;
            }
            ++judged;
            SCOPED_TRACE(std::string("cut in operation ") + std::to_string(done) + ", " + what + " " +
                         std::to_string(number));
            ASSERT_EQ(trial.mount(cuts), Status::ok);
            const Contents contents = play.at(done);
            Image image = file_of(trial.driver());
            Seen seen;
            ASSERT_EQ(compare_by_libhdf5({image.data(), image.size()}, next.described(), contents, seen), "");
            Play again(next, trial.driver(), contents_as(contents, seen), 1000, [] { return 0; });
            (void)again.open();
            (void)again.set(0);
            for (std::size_t i = 0; i < next.described().datasets.size(); ++i) {
                (void)again.append(i, 5);
            }
            (void)again.close();
            ASSERT_EQ(again.failure, "");
            ASSERT_EQ(trial.mount(cuts + 1), Status::ok);
            image = file_of(trial.driver());
            ASSERT_EQ(compare_by_libhdf5({image.data(), image.size()}, next.described(), again.now(), seen), "");
        });
    std::printf("flash: %zu operations, %zu cuts, %zu judged\n", operations.size(), cuts, judged);
    EXPECT_GE(judged * step, 1000U);
}
#endif
