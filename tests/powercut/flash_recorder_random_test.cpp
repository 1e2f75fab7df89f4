// What nobody chose: chips, blueprints, windows and calls of a FlashRecorder at random, with the power failing within
// every program and erase of each workload, of some recoveries, and of some recoveries of these. What is read then must
// be what the model of flash_log_model.hpp allows, and the recorder must go on, whatever was cut: a chip on which a
// recording was begun is never refused. H5MOTE_CUT_SEEDS: how many workloads, 40 unless set; H5MOTE_RANDOM_SEED: only
// this one.
#include "cuts.hpp"
#include "flash_log_model.hpp"
#include "flash_machine.hpp"
#include "sweep.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

using namespace h5mote_test;
using h5mote::Status;
using h5mote::cli::FlashRecording;

namespace {

// After so many cuts of a workload, no more recoveries of it are cut.
constexpr std::size_t kManyCuts = 3000;

struct ChipChoice : FlashChipOptions {
    std::uint32_t bad = 0;      ///< blocks that are bad from the factory
    std::uint32_t worn = 0;     ///< blocks that wear out
    std::uint64_t failing = 0;  ///< the program or erase that fails, and no other
    bool is_spoiled() const { return bad + worn != 0 || failing != 0; }
};

// A chip without its number of blocks.
ChipChoice choose_chip(std::uint32_t window, Random& random) {
    ChipChoice chip;
    h5mote::FlashGeometry& geometry = chip.geometry;
    geometry.erased_value = random.one_in(4) ? 0 : 0xff;
    const std::size_t kind = random.below(8);
    if (kind == 0) {
        // An EEPROM or FRAM.
        const std::uint32_t page = random.of({16U, 32U, 128U, 512U});
        geometry = {0, 512U << random.below(2), page, 1, geometry.erased_value};
        chip.overwrites = true;
    } else if (kind <= 2) {
        // NAND: pages that are programmed once, and read as damaged when they are blank.
        const std::uint32_t page = std::min(random.of({256U, 512U, 2048U}), window);
        geometry = {0, std::max(512U, page * (2U << random.below(3))), page, page, geometry.erased_value};
        chip.blank_is_unreadable = true;
        chip.programs_per_page = 1;
    } else {
        const std::uint32_t unit = std::min(1U << random.below(9), window);
        const std::uint32_t block = 512U << random.below(4);
        geometry = {0, block, random.one_in(3) ? block : std::max(unit, 256U), unit, geometry.erased_value};
        chip.blank_is_unreadable = random.one_in(5);
    }
    chip.keeps_marks = !random.one_in(4);
    chip.weak_every = random.one_in(6) ? 3 : 0;
    return chip;
}

bool fits(AnyFlashRecorder& recorder, const ChipChoice& options) {
    FlashMachine machine(options);
    const Status status = recorder.open(machine.chip);
    recorder.base().abandon();
    return status == Status::ok;
}

// The number of blocks: often as few as will do.
bool choose_blocks(AnyFlashRecorder& recorder, ChipChoice& chip, Random& random) {
    std::uint32_t& blocks = chip.geometry.blocks;
    const std::uint32_t most = (random.one_in(3) ? 96U : 40U) * 1024 / chip.geometry.block_size;
    blocks = 2;
    while (!fits(recorder, chip)) {
        if (++blocks > most) {
            return false;
        }
    }
    blocks += static_cast<std::uint32_t>(random.one_in(3) ? 0 : random.below(random.one_in(2) ? 3 : most - blocks + 1));
    if (random.one_in(4) && blocks >= 6 * recorder.facts().segments) {
        chip.bad = static_cast<std::uint32_t>(random.below(3));
        chip.worn = static_cast<std::uint32_t>(random.below(3));
    }
    chip.failing = random.one_in(4) ? 1 + random.below(80) : 0;
    return true;
}

void spoil(FlashSimulator& chip, const ChipChoice& choice, Random& random) {
    for (std::uint32_t i = 0; i < choice.bad; ++i) {
        chip.set_bad(static_cast<std::uint32_t>(random.below(choice.geometry.blocks)), i);
    }
    for (std::uint32_t i = 0; i < choice.worn; ++i) {
        chip.fail_block(static_cast<std::uint32_t>(random.below(choice.geometry.blocks)),
                        static_cast<std::uint32_t>(1 + random.below(20)));
    }
    chip.fail_operation(choice.failing);
}

// Makes the file and checks it.
std::string check_file(h5mote::FlashDevice& device, bool join) {
    FlashRecording recording;
    if (!recording.read(device)) {
        return "";
    }
    h5mote::MallocAllocator allocator;
    h5mote::GrowingMemoryDriver file(allocator);
    const Status status = write_recording(recording, {join}, file);
    return status == Status::ok ? find_problems(file) : std::string("file: ") + h5mote::to_string(status) + "; ";
}

class Sweep {
public:
    Sweep(const std::string& name, std::uint64_t seed) : tally(name), random_(seed) {
        bool chosen = false;
        while (!chosen) {
            recorder_ = flash_recorders()[random_.below(flash_recorders().size())]();
            chip_ = choose_chip(recorder_->facts().window, random_);
            chosen = choose_blocks(*recorder_, chip_, random_);
        }
    }

    void run() {
        const std::size_t kLevels = 3;
        for (std::size_t i = 0; i < kLevels; ++i) {
            levels_.push_back(std::make_unique<Level>(chip_));
        }
        FlashMachine& base = levels_[0]->base;
        spoil(base.chip, chip_, random_);
        levels_[0]->trial.chip.copy_from(base.chip);
        FlashPlay play(*recorder_, base.recorder, AllowedLog::blank(recorder_->facts()),
                       [&] { return base.recorder.operations.size(); });
        const std::string failure = begin(play, {3, 12, 60});
        FoundLog found;
        const std::string bad = failure + base.violation() + judge(base, found, play.now(), nullptr);
        const std::vector<FlashOperation> operations = std::move(base.recorder.operations);
        const h5mote::FlashGeometry& chip = chip_.geometry;
        std::printf("%s: %u x %u bytes, page %u, unit %u, %u segments, window %u, %zu datasets: %zu operations\n",
                    tally.name().c_str(), chip.blocks, chip.block_size, chip.page_size, chip.program_unit,
                    recorder_->facts().segments, recorder_->facts().window, recorder_->facts().rows.size(),
                    operations.size());
        if (!bad.empty()) {
            tally.lost("without a cut: " + bad);
            return;
        }
        base.chip.copy_from(levels_[0]->trial.chip);
        cut(0, operations, play);
    }

    Tally tally;

private:
    struct Level {
        explicit Level(const FlashChipOptions& options) : base(options), trial(options) {}
        FlashMachine base;   // before the operations that are cut
        FlashMachine trial;  // after a cut
    };

    // Calls at random, and what must be so afterwards: rows can be flushed, unless the chip is full.
    std::string begin(FlashPlay& play, const PlaySize& size) {
        // The erase that fails may be that of a segment's only block.
        const bool tight = chip_.failing != 0 && chip_.geometry.blocks < 2 * recorder_->facts().segments;
        if (recorder_->facts().segments == 1 || chip_.bad + chip_.worn != 0 || tight) {
            play.allow(Status::no_space);
        }
        // The last block that is left may be one that is worn out, or that becomes bad because an erase fails.
        if (chip_.worn != 0 || tight || (chip_.failing != 0 && recorder_->facts().segments == 1)) {
            play.allow(Status::io_error);
        }
        play_at_random(play, recorder_->facts(), random_, size);
        play.open();
        play.append(1 + random_.below(3));
        play.flush();
        play.abandon();
        return play.failure;
    }
    std::string read(FlashMachine& machine, FoundLog& found) {
        // What must not be lost is what stands in no block that may have been erased.
        return read_log(machine.chip, recorder_->facts(), chip_.is_spoiled() ? 8 : 0, found);
    }
    std::string judge(FlashMachine& machine, FoundLog& found, const AllowedLog& allowed, const FoundLog* before) {
        const std::string bad = read(machine, found);
        return bad.empty() ? judge_log(found, allowed, recorder_->facts().segments, before) : bad;
    }

    void cut(std::size_t level, const std::vector<FlashOperation>& operations, const FlashPlay& play) {
        FlashMachine& base = levels_[level]->base;
        FoundLog before;
        std::size_t known = operations.size();
        cut_operations(
            base, levels_[level]->trial, operations, [this] { return tally.enough() || tally.losses() > 20; },
            [&](std::size_t done, FlashCut how, const char* what, std::size_t number) {
                if (done != known) {
                    known = done;
                    (void)read(base, before);
                }
                check(level, play.at(done), before, done, how, what, number);
            });
    }

    // Judges what a cut left, and records on from there.
    void check(std::size_t level, const AllowedLog& allowed, const FoundLog& before, std::size_t done, FlashCut how,
               const char* what, std::size_t number) {
        FlashMachine& machine = levels_[level]->trial;
        const std::uint64_t seed =
            (path_ * 0x100000001U) ^ (allowed.generations.empty() ? 0 : allowed.generations.back().flushed + 1);
        const std::uint64_t hash = hash_of(machine, seed, done, how, number);
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(level == 0);
        const auto lost = [&](const std::string& why) {
            tally.lost("level " + std::to_string(level) + ", cut in operation " + std::to_string(done) + ", " + what +
                       " " + std::to_string(number) + ": " + why);
        };
        FoundLog found;
        for (std::uint64_t i = 0; i < 2; ++i) {
            machine.chip.power_on(hash + i);
            if (const std::string bad = judge(machine, found, allowed, &before); !bad.empty()) {
                return lost(bad);
            }
        }
        if (hash / 8 % 64 == 0) {
            if (const std::string bad = check_file(machine.chip, hash / 8 % 128 == 0); !bad.empty()) {
                return lost(bad);
            }
        }
        const std::size_t next = level + 1;
        const bool again =
            next < levels_.size() && tally.cuts() < kManyCuts && tally.cuts_recovery(hash, level == 0 ? 48 : 24);
        machine.chip.power_on(hash + 2);
        if (again) {
            levels_[next]->base.chip.copy_from(machine.chip);
        }
        machine.recorder.operations.clear();
        random_ = Random(hash);
        FlashPlay play(*recorder_, machine.recorder, allowed, [&] { return machine.recorder.operations.size(); });
        std::string bad = begin(play, level == 0 ? PlaySize{2, 5, 30} : PlaySize{1, 3, 8});
        FoundLog last;
        for (std::uint64_t i = 3; i < 5 && bad.empty(); ++i) {
            machine.chip.power_on(hash + i);
            const FoundLog once = last;
            bad = judge(machine, last, play.now(), &found);
            if (bad.empty() && i > 3 && !play.is_full() &&
                (last.rows.size() != once.rows.size() || last.settings != once.settings)) {
                bad = "another state than before; ";
            }
        }
        bad += machine.violation();
        if (!bad.empty()) {
            return lost("afterwards: " + bad);
        }
        if (again) {
            tally.recovery();
            const std::vector<FlashOperation> operations = machine.recorder.operations;
            ++path_;
            cut(next, operations, play);
        }
    }

    Random random_;
    std::unique_ptr<AnyFlashRecorder> recorder_;
    ChipChoice chip_;
    std::vector<std::unique_ptr<Level>> levels_;
    std::uint64_t path_ = 1;  // a number for each recovery that is cut
};

}  // namespace

TEST(PowerCut, Random) {
    Tally total("flash-recorder-random");
    const auto run = [&](std::uint64_t seed) {
        Sweep sweep("flash-recorder-random-" + std::to_string(seed), seed);
        sweep.run();
        sweep.tally.check(0);
        total.add(sweep.tally);
    };
    if (std::getenv("H5MOTE_RANDOM_SEED") != nullptr) {
        run(one_in("H5MOTE_RANDOM_SEED"));
        return;
    }
    const std::size_t count = std::getenv("H5MOTE_CUT_SEEDS") != nullptr ? one_in("H5MOTE_CUT_SEEDS") : 40;
    for (std::uint64_t seed = 1; seed <= count && !total.enough(); ++seed) {
        run(seed);
    }
    total.report(300 * count);
}
