// The power fails within format(). Until its commit, a mount finds what was on the chip before or no file at all, and
// afterwards an empty file; and the chip can be formatted again, which is cut as well.
#include "flash_cuts.hpp"

#include <h5mote/port/malloc.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

enum class Holds { nothing, foreign_bytes, a_file, another_format };

class FormatSweep {
public:
    FormatSweep(std::string name, const FlashCutOptions& options, Holds holds)
        : options_(options),
          old_options_(options),
          tally(std::move(name)),
          base_(options),
          trial_(options),
          twice_(options) {
        if (holds == Holds::foreign_bytes) {
            base_.chip.scramble(11);
        }
        if (options.bad_every != 0) {
            for (std::uint32_t i = options.bad_every; i < options.geometry.blocks; i += options.bad_every) {
                base_.chip.set_bad(i, i);
            }
        }
        if (holds == Holds::a_file || holds == Holds::another_format) {
            old_options_.format.page_size = holds == Holds::a_file ? options.format.page_size : 128;
            write_file();
        }
        before_ = std::make_unique<FlashMachine>(options_);
        before_->chip.copy_from(base_.chip);
        base_.chip.power_on(1);
        base_.recorder.operations.clear();
        EXPECT_EQ(base_.format(), Status::ok) << tally.name();
        EXPECT_EQ(base_.violation(), "") << tally.name();
        operations_ = base_.recorder.operations;
        base_.chip.copy_from(before_->chip);
    }

    void run() {
        cut_operations(
            base_, trial_, operations_, [] { return false; },
            [&](std::size_t done, FlashCut cut, const char* what, std::size_t number) {
                check(trial_, done, cut, what, number, true);
            });
    }

private:
    void write_file() {
        FlashMachine old(old_options_);
        old.chip.copy_from(base_.chip);
        EXPECT_EQ(old.format(), Status::ok);
        MallocAllocator allocator;
        NullPort port;
        Library library{allocator, port, all_filters()};
        Scene scene{library, old.driver(), history_, [] { return std::size_t{0}; }};
        appending({8, false, 120})(scene);
        EXPECT_EQ(scene.failure, "") << tally.name();
        history_.acknowledge(0);
        base_.chip.copy_from(old.chip);
    }

    // Mounts the chip and says what is wrong. Allowed are the file that was there before, no file, and, if format() had
    // begun its commit (`committing`), an empty file.
    std::string look(FlashMachine& machine, std::uint64_t seed, bool committing, bool& formatted, bool& mounted) {
        const Status status = machine.mount(seed);
        std::uint64_t size = 0;
        mounted = status == Status::ok;
        formatted = mounted && machine.driver().end_of_file(size) == Status::ok && size == 0;
        if (formatted) {
            return committing ? "" : "empty before the commit; ";
        }
        if (!mounted) {
            const bool blank = status == Status::io_error && options_.blank_is_unreadable;
            return blank || status == Status::not_found || status == Status::corrupt_file
                       ? ""
                       : std::string("mount: ") + to_string(status) + "; ";
        }
        Found found;
        return history_.acknowledgements() == 0 ? "a file that never was; "
                                                : compare(machine.driver(), history_.at(0), found);
    }

    // Logs on in the file that is there, or creates one, and compares it after two mounts.
    static std::string go_on(FlashMachine& machine, History history, std::uint64_t seed) {
        std::string bad = resume(
            machine.driver(), history, [&] { return machine.recorder.operations.size(); }, false);
        history.finish();
        for (int n = 0; n < 2 && bad.empty(); ++n) {
            Found found;
            bad = machine.mount(seed + static_cast<std::uint64_t>(n)) != Status::ok
                      ? "cannot be mounted; "
                      : compare(machine.driver(), history.at(machine.recorder.operations.size()), found) +
                            find_problems(machine.driver());
        }
        return bad + machine.violation();
    }

    void check(FlashMachine& machine, std::size_t done, FlashCut cut, const char* what, std::size_t number,
               bool first) {
        const std::uint64_t hash = hash_of(machine, first ? 1 : recovery_ * 0x100000001U, done, cut, number);
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        // The last operation of format() is its commit. When a second format() is cut, the first one may have begun its
        // commit already.
        const bool committing = !first || done + 1 == operations_.size();
        bool formatted = false;
        bool mounted = false;
        std::string bad = look(machine, hash, committing, formatted, mounted);
        bad += look(machine, hash + 1, committing, formatted, mounted);
        if (first && done == 0 && history_.acknowledgements() != 0 && !mounted) {
            bad += "what was there is gone before anything was programmed; ";
        }
        FlashMachine& again = first ? again_ : last_;
        again.chip.copy_from(machine.chip);
        if (bad.empty() && mounted) {
            machine.recorder.operations.clear();
            bad = go_on(machine, formatted ? History() : History(history_.at(0)), hash + 2);
        }
        std::vector<FlashOperation> operations;
        if (bad.empty()) {
            again.chip.power_on(hash + 5);
            before_->chip.copy_from(again.chip);
            again.recorder.operations.clear();
            const Status status = again.format();
            operations = again.recorder.operations;
            std::uint64_t size = 1;
            bad = status != Status::ok ? std::string("formatted again: ") + to_string(status) + "; " : "";
            if (bad.empty() && (again.driver().end_of_file(size) != Status::ok || size != 0)) {
                bad = "not empty; ";
            }
        }
        if (bad.empty()) {
            again.recorder.operations.clear();
            bad = go_on(again, History(), hash + 6);
        }
        if (!bad.empty()) {
            tally.lost("cut in operation " + std::to_string(done) + " of " + std::to_string(operations_.size()) + ", " +
                       what + " " + std::to_string(number) + ": " + bad);
            return;
        }
        if (first) {
            ++recovery_;
            tally.recovery();
            FlashMachine base(options_);
            base.chip.copy_from(before_->chip);
            cut_operations(
                base, twice_, operations, [] { return false; },
                [&](std::size_t then, FlashCut how, const char* twice, std::size_t which) {
                    check(twice_, then, how, twice, which, false);
                });
        }
    }

    const FlashCutOptions& options_;
    FlashCutOptions old_options_;
    History history_;
    std::vector<FlashOperation> operations_;
    std::uint64_t recovery_ = 0;

public:
    Tally tally;

private:
    FlashMachine base_;
    FlashMachine trial_;
    FlashMachine twice_;
    FlashMachine again_{options_};
    FlashMachine last_{options_};
    std::unique_ptr<FlashMachine> before_;
};

void cut_format(const std::string& name, const FlashCutOptions& options, std::size_t floor) {
    const std::pair<const char*, Holds> all[] = {{"blank", Holds::nothing},
                                                 {"foreign", Holds::foreign_bytes},
                                                 {"file", Holds::a_file},
                                                 {"other", Holds::another_format}};
    for (const auto& [what, holds] : all) {
        FormatSweep sweep(name + "-" + what, options, holds);
        sweep.run();
        sweep.tally.report(floor);
    }
}

FlashCutOptions chip(std::uint32_t blocks, std::uint32_t block_size, std::uint32_t page, std::uint32_t unit) {
    FlashCutOptions result;
    result.geometry = {blocks, block_size, page, unit, 0xff};
    result.format = {256, 25};
    result.changes = 8;
    return result;
}

}  // namespace

TEST(PowerCut, FormatNor) { cut_format("format-nor", chip(64, 1024, 256, 4), 20); }
TEST(PowerCut, FormatPages) {
    FlashCutOptions options = chip(32, 4096, 256, 256);
    options.geometry.erased_value = 0;
    options.blank_is_unreadable = true;
    cut_format("format-pages", options, 20);
}
TEST(PowerCut, FormatNand) {
    FlashCutOptions options = chip(24, 16384, 2048, 2048);
    options.blank_is_unreadable = true;
    options.programs_per_page = 1;
    options.bad_every = 5;
    cut_format("format-nand", options, 20);
}
