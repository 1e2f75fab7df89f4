// One chip of a sweep of power cuts: what sweep_disks() of disk_machine.hpp does with disks.
#pragma once

#include "cuts.hpp"
#include "flash_machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace h5mote_test {

/// Lets the power fail everywhere in what `play(driver, operations)` does with a formatted chip; operations() counts
/// what the chip has done. `prepare(chip)` puts onto the chip what is there before. `number(operations)`: what the
/// state after so many operations is judged by; of equal chips with the same number one is judged, and none whose
/// number is 0. `judge(driver, operations)`: what is wrong with the chip that the cut has left, or an empty string.
template <typename Prepare, typename Play, typename Number, typename Judge>
void sweep_chip(const FlashChipOptions& options, Tally& tally, const Prepare& prepare, const Play& play,
                const Number& number, const Judge& judge) {
    FlashMachine base(options);
    FlashMachine trial(options);
    FlashMachine before(options);
    base.chip.scramble(7);
    ASSERT_EQ(base.format(), h5mote::Status::ok);
    prepare(base);
    before.chip.copy_from(base.chip);
    base.recorder.operations.clear();
    play(base.driver(), [&] { return base.recorder.operations.size(); });
    ASSERT_EQ(base.violation(), "");
    const std::vector<FlashOperation> operations = base.recorder.operations;
    base.chip.copy_from(before.chip);
    cut_operations(
        base, trial, operations, [&] { return tally.enough(); },
        [&](std::size_t done, FlashCut cut, const char* what, std::size_t which) {
            const std::size_t judged = number(done);
            const std::uint64_t hash = hash_of(trial, judged, done, cut, which);
            if (judged == 0 || !tally.is_new(hash)) {
                return;
            }
            tally.cut(true);
            const h5mote::Status status = trial.mount(hash);
            const std::string bad =
                status == h5mote::Status::ok ? judge(trial.driver(), done) : std::string("mount: ") + to_string(status);
            if (!bad.empty()) {
                tally.lost("cut in operation " + std::to_string(done) + ", " + what + " " + std::to_string(which) +
                           ": " + bad);
            }
        });
}

}  // namespace h5mote_test
