// Random power cuts on raw flash: NOR and NAND of random geometries, with bad blocks, blocks that wear out, and units
// that the chip's ECC has to correct.
#include "../flash_machine.hpp"
#include "campaign.hpp"

namespace h5mote_test {

using namespace h5mote;

namespace {

FlashChipOptions draw_chip(Medium medium, std::uint64_t seed) {
    Random random(seed);
    FlashChipOptions options;
    if (medium == Medium::nand) {
        static constexpr std::uint32_t kPages[] = {512, 2048};
        const std::uint32_t page = random.of(kPages);
        options.geometry = {static_cast<std::uint32_t>(16 + random.below(24)), page * 8, page, page, 0xff};
        options.format.page_size = 512;
        options.blank_is_unreadable = true;
        options.programs_per_page = 1;
    } else {
        static constexpr std::uint32_t kBlocks[] = {1024, 2048, 4096};
        static constexpr std::uint32_t kUnits[] = {1, 4, 8, 16, 64};
        static constexpr std::uint32_t kFilePages[] = {128, 128, 256, 512};
        const std::uint32_t block = random.of(kBlocks);
        options.geometry = {static_cast<std::uint32_t>(65536 / block + random.below(160 * 1024 / block)), block, 256,
                            random.of(kUnits), static_cast<std::uint8_t>(random.one_in(4) ? 0x00 : 0xff)};
        options.format.page_size = random.of(kFilePages);
        options.blank_is_unreadable = random.one_in(3);
    }
    static constexpr std::uint8_t kReserves[] = {12, 25, 40};
    static constexpr std::uint16_t kChanges[] = {8, 16, 32};
    static constexpr std::uint32_t kBad[] = {0, 0, 0, 11, 7};
    static constexpr std::uint32_t kWorn[] = {0, 0, 0, 9, 6};
    options.format.reserve = random.of(kReserves);
    options.changes = random.of(kChanges);
    options.bad_every = random.of(kBad);
    options.worn_every = random.of(kWorn);
    options.weak_every = random.one_in(4) ? 5 : 0;
    return options;
}

class FlashBench final : public Storage {
public:
    FlashBench(const FlashChipOptions& options, bool reads_fail)
        : machine(options), options_(options), reads_fail_(reads_fail) {}

    std::string format() {
        machine.chip.scramble(7);
        for (std::uint32_t i = 1; i <= options_.geometry.blocks; ++i) {
            if (options_.bad_every != 0 && i % options_.bad_every == 0) {
                machine.chip.set_bad(i - 1, i);
            } else if (options_.worn_every != 0 && i % options_.worn_every == 0) {
                machine.chip.fail_block(i - 1, 5 + i);
            }
        }
        const Status status = machine.format();
        machine.recorder.operations.clear();
        return status == Status::ok ? "" : std::string("format: ") + to_string(status) + "; ";
    }
    std::string start() override {
        // If a read fails during a mount, the driver must not take the data for missing: the mount returns io_error,
        // and the next one must succeed.
        ++starts_;
        Status status = machine.mount(starts_, reads_fail_ ? 1 + starts_ * 7 % 120 : 0);
        if (reads_fail_ && status == Status::io_error) {
            status = machine.mount(++starts_);
        }
        return status == Status::ok ? "" : std::string("mount: ") + to_string(status) + "; ";
    }
    Driver& driver() override { return machine.driver(); }
    std::size_t operations() const override { return machine.recorder.operations.size(); }
    bool atomic() const override { return true; }
    bool limited() const override { return true; }
    std::string violation() const override { return machine.violation(); }

    FlashMachine machine;

private:
    const FlashChipOptions& options_;
    const bool reads_fail_;  // one read during each mount fails
    std::uint64_t starts_ = 0;
};

class FlashTrial {
public:
    explicit FlashTrial(Trial& trial)
        : trial_(trial),
          options_(draw_chip(trial.medium, trial.seed)),
          cutter_(trial, trial.seed),
          base_(options_, trial.seed % 4 == 0),
          cut_(options_, trial.seed % 4 == 0),
          before_(options_, false),
          twice_(options_, trial.seed % 4 == 0) {}

    void run() {
        const std::string bad = base_.format();
        if (!bad.empty()) {
            // If format() reports no_space, too many blocks are bad for any file; the trial is skipped.
            if (bad.find("no_space") == std::string::npos) {
                cutter_.fail(bad);
            }
            return;
        }
        before_.machine.chip.copy_from(base_.machine.chip);
        Ledger ledger({World()}, true);
        if (!cutter_.play(base_, ledger)) {
            return;
        }
        const std::vector<FlashOperation> operations = base_.machine.recorder.operations;
        base_.machine.chip.copy_from(before_.machine.chip);
        draw(base_, cut_, operations, trial_.cuts,
             [&](std::size_t done, FlashCut cut, const std::string& where) { first(ledger, done, cut, where); });
    }

private:
    // Draws `count` cuts, spread evenly over these operations. `base` is the chip before them, on which they are done
    // one by one; each cut is made on `trial`, a copy, before `then` is called.
    template <typename Then>
    void draw(FlashBench& base, FlashBench& trial, const std::vector<FlashOperation>& operations, std::size_t count,
              const Then& then) {
        Random& random = cutter_.random();
        const std::uint32_t unit = options_.geometry.program_unit;
        for (std::size_t i = 0; i < operations.size() && !cutter_.failed(); ++i) {
            const FlashOperation& operation = operations[i];
            const std::size_t bytes = operation.erase ? options_.geometry.block_size : operation.bytes.size();
            std::size_t n = (i + 1) * count / operations.size() - i * count / operations.size();
            for (; n > 0 && !cutter_.failed(); --n) {
                const auto how = static_cast<FlashCut>(random.below(4));
                const auto number = static_cast<std::uint32_t>(how == FlashCut::torn ? 1 + random.below(bytes / unit)
                                                                                     : random.below(3));
                trial.machine.chip.copy_from(base.machine.chip);
                trial.machine.recorder.operations.clear();
                trial.machine.chip.cut_after(1, how, random.next(), number);
                (void)trial.machine.apply(operation);
                static constexpr const char* kNames[] = {"not begun", "torn", "partly", "unstable"};
                then(i, how,
                     std::string("cut in operation ") + std::to_string(i) + ", " +
                         (operation.erase ? "erase " : "program ") + kNames[static_cast<std::size_t>(how)] + " " +
                         std::to_string(number));
            }
            (void)base.machine.apply(operation);  // fails on a worn block, as it did when it was recorded
        }
    }

    std::uint64_t hash_of(const FlashBench& bench, std::uint64_t seed, FlashCut cut) {
        return h5mote_test::hash_of(bench.machine.chip.contents(), seed) +
               (cut == FlashCut::unstable ? cutter_.random().next() : 0);
    }

    void first(const Ledger& ledger, std::size_t done, FlashCut cut, const std::string& where) {
        const Allowed& allowed = ledger.at(done);
        const auto account = static_cast<std::uint64_t>(done) + 1;
        World found;
        if (!cutter_.judge(cut_, allowed, hash_of(cut_, account, cut), where, found) || !cutter_.goes_on()) {
            return;
        }
        before_.machine.chip.copy_from(cut_.machine.chip);
        // Mount a second time: unstable bits read differently, so that another allowed state may be found. Logging goes
        // on from that one, and until something is acknowledged, the next cut may bring back any of the allowed states.
        std::string bad = cut_.start();
        bad = bad.empty() ? verify(cut_, allowed, found) : bad;
        if (!bad.empty()) {
            cutter_.fail(where + ", mounted again: " + bad);
            return;
        }
        Ledger next(allowed, true);
        if (!cutter_.go_on(cut_, found, next, where) || !cutter_.cuts_recovery()) {
            return;
        }
        cutter_.recovering = true;
        const std::vector<FlashOperation> operations = cut_.machine.recorder.operations;
        const std::uint64_t account_of_recovery = cutter_.random().next();
        draw(before_, twice_, operations, 24, [&](std::size_t then, FlashCut how, const std::string& again) {
            World found_again;
            cutter_.judge(twice_, next.at(then), hash_of(twice_, account_of_recovery, how), where + "; " + again,
                          found_again);
        });
        cutter_.recovering = false;
    }

    Trial& trial_;
    FlashChipOptions options_;
    Cutter cutter_;
    FlashBench base_;
    FlashBench cut_;
    FlashBench before_;
    FlashBench twice_;
};

}  // namespace

void run_flash(Trial& trial) { FlashTrial(trial).run(); }

}  // namespace h5mote_test
