#include "flash_cuts.hpp"

#include <h5mote/port/malloc.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace h5mote_test {

using namespace h5mote;

namespace {

struct FlashOperation {
    bool erase;
    std::uint32_t block;
    std::uint32_t offset;
    std::vector<std::byte> bytes;
};

// Passes on to a chip, and records what changes it.
class FlashRecorder final : public FlashDevice {
public:
    explicit FlashRecorder(FlashDevice& chip) : chip_(chip) {}
    FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept override {
        return chip_.read(block, offset, to);
    }
    Status program(std::uint32_t block, std::uint32_t offset, ConstBytes from) noexcept override {
        operations.push_back({false, block, offset, {from.begin(), from.end()}});
        return chip_.program(block, offset, from);
    }
    Status erase(std::uint32_t block) noexcept override {
        operations.push_back({true, block, 0, {}});
        return chip_.erase(block);
    }
    Status is_bad(std::uint32_t block, bool& bad) noexcept override { return chip_.is_bad(block, bad); }
    Status mark_bad(std::uint32_t block) noexcept override { return chip_.mark_bad(block); }

    std::vector<FlashOperation> operations;

private:
    FlashDevice& chip_;
};

// A chip with its driver.
class Machine {
public:
    explicit Machine(const FlashCutOptions& options)
        : options_(options),
          memory_(FlashSimulator::required_memory(options.geometry) / 8 + 1),
          chip(simulated(options), {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8}),
          recorder(chip) {
        mount_.changes = options.changes;
        work_.resize(FlashDriver::required_memory(options.geometry, options.format, mount_) / 8 + 1);
        begin();
    }

    Status format() {
        begin();
        return driver_->format(options_.format, mount_);
    }
    // As after switching on: what is unstable reads in another way.
    std::string mount(std::uint64_t seed) {
        chip.power_on(seed);
        begin();
        const Status status = driver_->mount(mount_);
        return status == Status::ok ? "" : std::string("mount: ") + to_string(status) + "; ";
    }
    Driver& driver() { return *driver_; }
    const FlashUsage usage() const { return driver_->usage(); }
    std::string violation() const {
        return chip.counts().violations == 0 ? ""
                                             : "violation " + std::to_string(static_cast<int>(chip.violation())) +
                                                   " in block " + std::to_string(chip.violation_block()) + " at " +
                                                   std::to_string(chip.violation_offset()) + "; ";
    }
    Status apply(const FlashOperation& operation) {
        return operation.erase
                   ? chip.erase(operation.block)
                   : chip.program(operation.block, operation.offset, {operation.bytes.data(), operation.bytes.size()});
    }

private:
    static FlashSimulatorOptions simulated(const FlashCutOptions& options) {
        FlashSimulatorOptions result;
        result.geometry = options.geometry;
        result.blank_is_unreadable = options.blank_is_unreadable;
        result.programs_per_page = options.programs_per_page;
        return result;
    }
    void begin() {
        driver_ = std::make_unique<FlashDriver>(recorder,
                                                Bytes(reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8));
    }

    const FlashCutOptions& options_;
    std::vector<std::uint64_t> memory_;
    std::vector<std::uint64_t> work_;
    FlashOptions mount_;
    std::unique_ptr<FlashDriver> driver_;

public:
    FlashSimulator chip;
    FlashRecorder recorder;
};

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
        MallocAllocator allocator;
        NullPort port;
        Library library{allocator, port, all_filters()};
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
    using Check = std::function<void(std::size_t done, FlashCut cut, const char* what, std::size_t number)>;

    // Every cut within these operations. `base` comes as the chip before them; `trial` is where it happens.
    void cut_all(Machine& base, Machine& trial, const std::vector<FlashOperation>& operations, const Check& then) {
        Random random(operations.size());
        for (std::size_t i = 0; i < operations.size() && !tally.enough(); ++i) {
            const FlashOperation& operation = operations[i];
            const std::size_t bytes = operation.erase ? options_.geometry.block_size : operation.bytes.size();
            const std::size_t units = bytes / options_.geometry.program_unit;
            const auto cut = [&](FlashCut how, const char* what, std::size_t number) {
                trial.chip.copy_from(base.chip);
                trial.chip.cut_after(1, how, random.next(), static_cast<std::uint32_t>(number));
                (void)trial.apply(operation);
                then(i, how, what, number);
            };
            cut(FlashCut::not_begun, "not begun", 0);
            for (std::size_t n = 1; n <= units; ++n) {
                if (units <= 4 || n == 1 || n == units / 2 || n >= units - 1) {
                    cut(FlashCut::torn, operation.erase ? "erase torn after units" : "torn after units", n);
                }
            }
            for (std::size_t n = 0; n < 2; ++n) {
                cut(FlashCut::partly, operation.erase ? "partly erased" : "partly programmed", n);
                cut(FlashCut::unstable, operation.erase ? "unstable after an erase" : "unstable", n);
            }
            (void)base.apply(operation);  // a worn block fails again
        }
    }

    void lost(std::size_t done, const char* what, std::size_t number, const std::string& why) {
        tally.lost("cut in operation " + std::to_string(done) + ", " + what + " " + std::to_string(number) + ": " +
                   why);
    }

    // One cut that `machine` has suffered. `first`: it is one of the workload, not of a recovery.
    void check(Machine& machine, const History& history, std::size_t done, FlashCut cut, const char* what,
               std::size_t number, bool first) {
        const History::Interval& allowed = history.at(done);
        std::uint64_t hash =
            hash_of(machine.chip.contents(), (first ? 1 : recovery_ * 0x100000001U) + allowed.operations);
        hash += cut == FlashCut::unstable ? done * 7 + number : 0;
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        Found found;
        std::string bad = machine.mount(hash);
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
        // Once more, and what is found now is what is gone on from. It need not be what was found before.
        machine.recorder.operations.clear();
        bad = machine.mount(hash + 1);
        if (bad.empty()) {
            bad = compare(machine.driver(), allowed, found);
        }
        if (!bad.empty()) {
            lost(done, what, number, "mounted again: " + bad);
            return;
        }
        // The next cut may find either again, until something is acknowledged.
        Items items = allowed.items;
        for (auto& [key, item] : items) {
            item.states.push_back(found[key]);
        }
        History next(History::Interval{0, found["/"].generation != 0 && allowed.created, items});
        bad = resume(
            machine.driver(), next, [&machine] { return machine.recorder.operations.size(); }, options_.fills_up);
        next.finish();
        const std::size_t end = machine.recorder.operations.size();
        for (std::uint64_t n = 2; n < 4 && bad.empty(); ++n) {
            bad = machine.mount(hash + n);
            if (bad.empty()) {
                Found last;
                bad = compare(machine.driver(), next.at(end), last) + find_problems(machine.driver());
            }
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

    // Up to the first flush afterwards what a cut leaves is only read; of some, it is cut until all is closed again,
    // and each time gone on from.
    void cut_recovery(const Machine& machine, const History& next, bool whole) {
        ++recovery_;
        tally.recovery();
        only_read_ = !whole;
        std::vector<FlashOperation> operations = machine.recorder.operations;
        if (!whole) {
            operations.resize(std::min(operations.size(), next.flushed()));
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
    bool only_read_ = false;  // what a cut in a recovery leaves
    std::size_t recover_every_ = 1;

public:
    Tally tally;

private:
    Machine base_;
    Machine trial_;
    Machine before_;
    Machine twice_;
};

}  // namespace

void cut_flash(const std::string& name, const Scenario& scenario, std::size_t floor, const FlashCutOptions& options) {
    Sweep sweep(name, scenario, options);
    sweep.run();
    sweep.tally.report(floor);
}

}  // namespace h5mote_test
