// Chips that fail for a while and then work again under a FlashRecorder. Rows that were acknowledged stay, and a ring
// goes on as soon as the chip works.
#include "flash_outage.hpp"
#include "flash_log_model.hpp"
#include "recorded_chip.hpp"
#include "sweep.hpp"

using namespace h5mote_test;

namespace {

constexpr blueprint::FileOptions kSmall{4, false};
constexpr auto kRingOfTwo = blueprint::file(kSmall, blueprint::ring<Sample, 2>("imu", 32));
constexpr unsigned kWrites = FlashOutage::kPrograms | FlashOutage::kErases;
constexpr unsigned kAll = kWrites | FlashOutage::kReads;

// However long a chip fails, a ring takes the rows that wait in memory when it works again.
TEST(FlashRecorderOutage, ARingGoesOn) {
    for (const unsigned calls : {unsigned{FlashOutage::kPrograms}, unsigned{FlashOutage::kErases}, kWrites, kAll}) {
        for (std::uint32_t blocks = 4; blocks <= 12; blocks += 2) {
            for (unsigned failing = 1; failing <= 120; ++failing) {
                Chip chip{h5mote::FlashGeometry{blocks, 4096, 256, 4, 0xff}};
                FlashOutage device(chip.simulator);
                h5mote::FlashRecorder<kRingOfTwo, 256> recorder;
                ASSERT_EQ(recorder.open(device), Status::ok);
                ASSERT_EQ(record(recorder, 0, 20), Status::ok);
                ASSERT_EQ(recorder.append<0>(Sample::make(20)), Status::ok);
                device.fail(calls, failing);
                for (unsigned i = 0; i < 60 && !device.is_over(); ++i) {
                    (void)recorder.flush();
                }
                device.end();
                Status status = recorder.flush();
                status = status == Status::ok ? status : recorder.flush();
                ASSERT_EQ(status, Status::ok) << blocks << " blocks, calls " << calls << ", failing " << failing;
                ASSERT_EQ(recorder.append<0>(Sample::make(21)), Status::ok);
                ASSERT_EQ(recorder.close(), Status::ok);
                ASSERT_EQ(samples(chip.simulator), numbers(0, 22)) << blocks << " blocks, calls " << calls;
                ASSERT_EQ(chip.simulator.counts().violations, 0U);
            }
        }
    }
}

// Recorders of any blueprint on chips of any geometry, which fail for a while again and again.
class Play {
public:
    explicit Play(std::uint64_t seed) : random_(seed) {
        while (!choose()) {
        }
    }

    /// Returns what was wrong; empty: nothing.
    std::string run(unsigned sessions) {
        Chip chip(options_);
        FlashOutage device(chip.simulator);
        FlashPlay play(*recorder_, device, AllowedLog::blank(facts()),
                       [&] { return static_cast<std::size_t>(chip.simulator.operations()); });
        play.allow(Status::no_space);
        play.allow(Status::io_error);
        std::string wrong;
        FoundLog before;
        for (unsigned i = 0; i < sessions && wrong.empty(); ++i) {
            wrong = session(play, device);
            play.abandon();
            wrong += play.failure;
            device.end();
            chip.simulator.power_on(random_.next());
            FoundLog found;
            wrong += read_log(chip.simulator, facts(), 64, found);
            wrong += wrong.empty() ? judge_log(found, play.now(), facts().segments, &before) : "";
            before = found;
            wrong += chip.simulator.counts().violations == 0 ? "" : "the recorder broke a rule of the chip; ";
        }
        failures_ = device.failures();
        return wrong;
    }
    std::string describe() const {
        const h5mote::FlashGeometry& chip = options_.geometry;
        return std::to_string(chip.blocks) + " blocks of " + std::to_string(chip.block_size) + ", unit " +
               std::to_string(chip.program_unit) + ", " + std::to_string(facts().segments) + " segments";
    }
    std::uint64_t failures() const { return failures_; }

private:
    const AnyFlashRecorder::Facts& facts() const { return recorder_->facts(); }
    std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random_.below(count)); }

    // A recorder, and a chip that often has as few blocks as will do.
    bool choose() {
        recorder_ = flash_recorders()[random_.below(flash_recorders().size())]();
        const std::uint32_t unit = std::min(1U << below(9), facts().window);
        const std::uint32_t block = 512U << below(4);
        h5mote::FlashGeometry& chip = options_.geometry;
        chip = {0, block, std::max(unit, 256U), unit, static_cast<std::uint8_t>(random_.one_in(4) ? 0 : 0xff)};
        for (chip.blocks = 2; chip.blocks < 200; ++chip.blocks) {
            Chip trial(options_);
            const Status status = recorder_->open(trial.simulator);
            recorder_->base().abandon();
            if (status == Status::ok) {
                chip.blocks += below(random_.one_in(2) ? 3 : 60);
                return true;
            }
        }
        return false;
    }

    void trouble(FlashOutage& device) {
        static constexpr unsigned kCalls[] = {FlashOutage::kPrograms, FlashOutage::kErases, FlashOutage::kReads,
                                              kWrites, kAll};
        if (random_.one_in(6) && device.is_over()) {
            const std::uint32_t after = below(20);
            const std::uint32_t count = 1 + below(random_.one_in(2) ? 3 : random_.one_in(2) ? 30 : 300);
            const bool halves = random_.one_in(3);
            device.fail(random_.of(kCalls), count, after, halves);
        }
    }

    std::string session(FlashPlay& play, FlashOutage& device) {
        trouble(device);
        for (unsigned tries = 0; !play.is_open() && tries < 40; ++tries) {
            if (tries == 30) {
                device.end();
            }
            play.open();
        }
        if (!play.is_open()) {
            return "the chip works, but it cannot be opened; ";
        }
        for (std::uint32_t calls = below(60); calls > 0; --calls) {
            trouble(device);
            const std::uint32_t what = below(6);
            if (what < 2) {
                play.flush();
            } else if (what == 2 && !facts().settings.empty()) {
                const std::uint64_t seed = random_.next();
                play.set(random_.below(facts().settings.size()), seed);
            } else {
                play.append(1 + below(random_.one_in(4) ? 60 : 6));
            }
        }
        if (random_.one_in(2)) {
            device.end();
            // A recording without rings may be full.
            if (facts().segments > 1 && recorder_->base().flush() != Status::ok) {
                const Status status = recorder_->base().flush();
                if (status != Status::ok) {
                    return std::string("the chip works, but a ring cannot be flushed: ") + h5mote::to_string(status) +
                           "; ";
                }
            }
            play.flush();
        }
        return "";
    }

    Random random_;
    std::unique_ptr<AnyFlashRecorder> recorder_;
    FlashSimulatorOptions options_;
    std::uint64_t failures_ = 0;
};

// With the last seeds a segment that cannot be begun anew lost the recording that was there.
TEST(FlashRecorderOutage, TheSessionGoesOn) {
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t seed = 1; seed <= 1000; seed += sweep_step()) {
        seeds.push_back(seed);
    }
    seeds.insert(seeds.end(), {4206, 8889, 19906});
    std::uint64_t failures = 0;
    for (const std::uint64_t seed : seeds) {
        Play play(seed);
        EXPECT_EQ(play.run(6), "") << "seed " << seed << ": " << play.describe();
        failures += play.failures();
    }
    EXPECT_GT(failures, 10000U / sweep_step());
}

}  // namespace
