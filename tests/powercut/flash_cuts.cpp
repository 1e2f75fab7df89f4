#include "flash_cuts.hpp"

#include "workload_allocator.hpp"

#include <gtest/gtest.h>

namespace h5mote_test {

using namespace h5mote;

namespace {

class Sweep {
public:
    Sweep(const std::string& name, const Scenario& scenario, const FlashCutOptions& options)
        : options_(options), tally(name), base_(options), trial_(options), before_(options), twice_(options) {
        base_.chip.scramble(7);
        for (std::uint32_t i = 1; i <= options.geometry.blocks; ++i) {
            if (options.bad_every != 0 && i % options.bad_every == 0) {
                base_.chip.set_bad(i - 1, i);
            } else if (options.worn_every != 0 && i % options.worn_every == 0) {
                base_.chip.fail_block(i - 1, 5 + i);
            }
        }
        const Status formatted = base_.format();
        before_.chip.copy_from(base_.chip);
        base_.recorder.operations.clear();
        WorkloadAllocator allocator;
        NullPort port;
        Library library{allocator, port, all_filters()};
        allocator.prepare(library);
        Scene scene{library, base_.driver(), history_, [this] { return base_.recorder.operations.size(); }};
        scenario(scene);
        history_.finish();
        if (expects_losses() && !base_.violation().empty()) {
            tally.lost(base_.violation());
        } else {
            EXPECT_EQ(formatted, Status::ok) << name;
            EXPECT_EQ(scene.failure, "") << name;
            EXPECT_EQ(base_.violation(), "") << name;
        }
        operations_ = std::move(base_.recorder.operations);
        const FlashUsage usage = base_.usage();
        std::printf("%s: %zu operations, %llu blocks erased, %llu of %llu bytes live, %llu programmed to free blocks\n",
                    name.c_str(), operations_.size(), static_cast<unsigned long long>(usage.erased_blocks),
                    static_cast<unsigned long long>(usage.live), static_cast<unsigned long long>(usage.capacity),
                    static_cast<unsigned long long>(usage.collected));
        EXPECT_TRUE(expects_losses() || (usage.corrected != 0) == (options.weak_every != 0)) << name;
        base_.chip.copy_from(before_.chip);
        recover_every_ =
            std::max<std::size_t>(8 * operations_.size() / (options.recoveries * (long_run() ? 10 : 1) + 1), 1);
    }

    void run() {
        cut_all(base_, trial_, operations_, [&](std::size_t done, FlashCut cut, const char* what, std::size_t number) {
            check(trial_, history_, done, cut, what, number, true);
        });
    }

private:
    void cut_all(FlashMachine& base, FlashMachine& trial, const std::vector<FlashOperation>& operations,
                 const AfterFlashCut& then) {
        cut_operations(
            base, trial, operations, [this] { return tally.enough(); }, then);
    }

    // Mounts the chip as after switching on; `seed` decides what unstable bits read as.
    static std::string mount(FlashMachine& machine, std::uint64_t seed) {
        const Status status = machine.mount(seed);
        return status == Status::ok ? "" : std::string("mount: ") + to_string(status) + "; ";
    }

    void lost(std::size_t done, const char* what, std::size_t number, const std::string& why) {
        tally.lost("cut in operation " + std::to_string(done) + ", " + what + " " + std::to_string(number) + ": " +
                   why);
    }

    // Judges what a cut left on `machine`, and logs on from there. `first`: a cut of the workload, not of a recovery.
    void check(FlashMachine& machine, const History& history, std::size_t done, FlashCut cut, const char* what,
               std::size_t number, bool first) {
        const History::Interval& allowed = history.at(done);
        const std::uint64_t hash =
            hash_of(machine, (first ? 1 : recovery_ * 0x100000001U) + allowed.operations, done, cut, number);
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        Found found;
        std::string bad = mount(machine, hash);
        if (bad.empty()) {
            bad = compare(machine.driver(), allowed, found) + find_problems(machine.driver());
        }
        if (!bad.empty()) {
            lost(done, what, number, (first ? "" : "in the recovery: ") + bad);
            return;
        }
        if (only_read_) {
            return;
        }
        const bool whole = hash / 64 % recover_every_ == 0;
        const bool again = first && (whole || tally.cuts_recovery(hash, options_.recovery_of));
        if (again) {
            before_.chip.copy_from(machine.chip);
        }
        // Mount a second time: unstable bits read differently, so that another allowed state may be found. Logging goes
        // on from that one.
        machine.recorder.operations.clear();
        bad = mount(machine, hash + 1);
        if (bad.empty()) {
            bad = compare(machine.driver(), allowed, found);
        }
        if (!bad.empty()) {
            lost(done, what, number, "mounted again: " + bad);
            return;
        }
        // Until something is acknowledged, the next cut may bring back any state that was allowed before.
        Items items = allowed.items;
        for (auto& [key, item] : items) {
            item.states.push_back(found[key]);
        }
        History next(History::Interval{0, found["/"].generation != 0 && allowed.created, items});
        bad = resume(
            machine.driver(), next, [&machine] { return machine.recorder.operations.size(); }, options_.fills_up,
            options_.reclaim && hash / 4 % 2 == 0);
        next.finish();
        const std::size_t end = machine.recorder.operations.size();
        for (std::uint64_t n = 2; n < 4 && bad.empty(); ++n) {
            bad = mount(machine, hash + n);
            if (bad.empty()) {
                Found last;
                bad = compare(machine.driver(), next.at(end), last) + find_problems(machine.driver());
            }
        }
        if (bad.empty() && options_.reclaim) {
            bad = reclaim_all(machine.driver());
            bad += bad.empty() ? mount(machine, hash + 4) : "";
            if (bad.empty()) {
                Found last;
                bad = compare(machine.driver(), next.at(end), last);
            }
            machine.recorder.operations.resize(end);
        }
        bad += machine.violation();
        if (!bad.empty()) {
            lost(done, what, number, (first ? "afterwards: " : "after the recovery: ") + bad);
            return;
        }
        if (again) {
            before_.chip.power_on(hash + 1);
            cut_recovery(machine, next, whole);
        }
    }

    // Cuts the recovery itself: as a rule up to its first flush of new rows, and what these cuts leave is only read. If
    // `whole`, up to the close, and after each cut logging goes on.
    void cut_recovery(const FlashMachine& machine, const History& next, bool whole) {
        ++recovery_;
        tally.recovery();
        only_read_ = !whole;
        std::vector<FlashOperation> operations = machine.recorder.operations;
        if (!whole) {
            operations.resize(std::min(operations.size(), next.resumed()));
        }
        cut_all(before_, twice_, operations, [&](std::size_t then, FlashCut how, const char* twice, std::size_t which) {
            check(twice_, next, then, how, twice, which, false);
        });
        only_read_ = false;
    }

    const FlashCutOptions& options_;
    History history_;
    std::vector<FlashOperation> operations_;
    std::uint64_t recovery_ = 0;
    bool only_read_ = false;  // what a cut leaves is compared, but no logging goes on from there
    std::size_t recover_every_ = 1;

public:
    Tally tally;

private:
    FlashMachine base_;
    FlashMachine trial_;
    FlashMachine before_;
    FlashMachine twice_;
};

}  // namespace

void cut_flash(const std::string& name, const Scenario& scenario, std::size_t floor, const FlashCutOptions& options) {
    Sweep sweep(name, scenario, options);
    sweep.run();
    sweep.tally.report(floor);
}

}  // namespace h5mote_test
