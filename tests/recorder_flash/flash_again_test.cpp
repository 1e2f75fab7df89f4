// What happens to a FlashRecorder again and again: power cuts at the same place, chips that do not answer for a while;
// and what the same calls leave on every machine. tests/powercut cuts everything; here are the faults that it found.
#include "flash_blueprints.hpp"
#include "flash_log_model.hpp"
#include "flash_outage.hpp"
#include "recorded_chip.hpp"

#include <h5mote/lookup3.hpp>

using namespace h5mote_test;

namespace {

constexpr blueprint::FileOptions kSmall{4, false};
constexpr auto kRingOfTwo = blueprint::file(kSmall, blueprint::ring<Sample, 2>("imu", 32));
constexpr auto kRingOfThree = blueprint::file(kSmall, blueprint::ring<Sample, 3>("imu", 32));
constexpr auto kLongFlight =
    blueprint::file(kSmall, blueprint::constant("table", flash_blueprints::table<1500>()),
                    blueprint::setting<std::uint32_t>("serial", 4711), blueprint::dataset<Sample>("imu", 32));
constexpr auto kWide = blueprint::file(kSmall, blueprint::setting<flash_blueprints::Bytes<420>>("all"),
                                       blueprint::dataset<std::uint32_t>("imu", 32));
constexpr auto kFew = blueprint::file(kSmall, blueprint::setting<flash_blueprints::Bytes<436>>("all"),
                                      blueprint::dataset<std::uint8_t>("imu", 32));
constexpr auto kLongRing = blueprint::file(kSmall, blueprint::constant("table", flash_blueprints::table<900>()),
                                           blueprint::ring<Sample, 2>("imu", 32));

// A row without padding, whose bytes would be any.
struct Full {
    std::uint64_t time;
    std::array<std::int32_t, 2> counts;
    float volts;
    std::int16_t level;
    std::uint16_t flags;
};
H5MOTE_COMPOUND(Full, time, counts, volts, level, flags)
constexpr auto kFull =
    blueprint::file(blueprint::setting<std::uint32_t>("serial", 4711), blueprint::setting<double>("rate", 0.5),
                    blueprint::ring<Full, 3>("full", 32), blueprint::ring<std::uint16_t, 3>("battery", 64));

// Opens the chip, and appends and flushes a row, in the `operation`-th program or erase of which the power fails.
template <typename Recorder>
void cut_flush(Recorder& recorder, FlashSimulator& chip, std::uint64_t operation, FlashCut cut = FlashCut::not_begun,
               std::uint64_t seed = 1) {
    ASSERT_EQ(recorder.open(chip), Status::ok);
    chip.cut_after(operation, cut, seed, 1);
    Status status = recorder.template append<0>(Sample::make(9999));
    status = status == Status::ok ? recorder.flush() : status;
    EXPECT_NE(status == Status::ok, status == Status::io_error);
    recorder.abandon();
    chip.power_on(seed + 1);
}

// The number of the first sample in the segment of the newest ones.
std::uint32_t first_of_newest(h5mote::FlashDevice& chip) {
    FlashRecording recording;
    EXPECT_TRUE(recording.read(chip)) << recording.why();
    std::size_t bytes = 0;
    for (const FlashRecording::Rows& rows : recording.rows()) {
        bytes += rows.segment == recording.rows().back().segment ? rows.bytes.size() : 0;
    }
    return samples(recording).back() + 1 - static_cast<std::uint32_t>(bytes / sizeof(Sample));
}

}  // namespace

// A block that has nothing but a head is passed over when the recorder goes on. A ring had no space any more when all
// blocks but one were such.
TEST(FlashRecorderAgain, CutsBehindTheHeadOfARing) {
    h5mote::FlashRecorder<kRingOfTwo, 256> recorder;
    // Where each segment is one block, the other may have to be emptied on behalf of a frame that is not stable.
    Chip small{h5mote::FlashGeometry{3, 4096, 256, 4, 0xff}};
    EXPECT_EQ(recorder.open(small.simulator), Status::invalid_argument);
    Chip chip{h5mote::FlashGeometry{4, 4096, 256, 4, 0xff}};
    ASSERT_EQ(record_session(recorder, chip.simulator, 0, 20), Status::ok);
    for (int i = 0; i < 5; ++i) {
        cut_flush(recorder, chip.simulator, 3);
        EXPECT_EQ(samples(chip.simulator), numbers(0, 20));
    }
    ASSERT_EQ(record_session(recorder, chip.simulator, 20, 5), Status::ok);
    EXPECT_EQ(samples(chip.simulator), numbers(0, 25));
    EXPECT_EQ(chip.simulator.counts().violations, 0U);
}

// So many cuts go round the chip three times. They must not empty the segment in which the last row stands.
TEST(FlashRecorderAgain, CutsAllAroundARing) {
    Chip chip{h5mote::FlashGeometry{96, 1024, 256, 4, 0xff}};
    Ring recorder;
    ASSERT_EQ(record_session(recorder, chip.simulator, 0, 60), Status::ok);
    for (int i = 0; i < 300; ++i) {
        cut_flush(recorder, chip.simulator, 3);
    }
    EXPECT_EQ(samples(chip.simulator), numbers(0, 60));
    ASSERT_EQ(record_session(recorder, chip.simulator, 60, 5), Status::ok);
    EXPECT_EQ(samples(chip.simulator), numbers(0, 65));
    EXPECT_EQ(chip.simulator.counts().violations, 0U);
}

// Cuts use up the blocks of the segment that is to come, which must keep room for the blueprint.
TEST(FlashRecorderAgain, CutsInASegmentThatBegins) {
    Chip chip{h5mote::FlashGeometry{12, 1024, 256, 4, 0xff}};
    h5mote::FlashRecorder<kLongRing, 128> recorder;
    ASSERT_EQ(record_session(recorder, chip.simulator, 0, 60), Status::ok);
    for (std::uint32_t i = 0; i < 60; ++i) {
        cut_flush(recorder, chip.simulator, 3 + i % 7);
        if (i % 20 == 19) {
            ASSERT_EQ(record_session(recorder, chip.simulator, 60 + i / 20, 1), Status::ok) << i;
        }
        const std::vector<std::uint32_t> found = samples(chip.simulator);
        ASSERT_FALSE(found.empty());
    }
    EXPECT_EQ(samples(chip.simulator).back(), 62U);
}

// An EEPROM's erase does nothing: what an attempt to begin a segment left there must not count in a later one.
TEST(FlashRecorderAgain, CutsInASegmentOfAnEeprom) {
    FlashSimulatorOptions options = Chip::with({16, 512, 32, 1, 0xff});
    options.overwrites = true;
    h5mote::FlashRecorder<kRingOfTwo, 64> recorder;
    for (std::uint64_t first = 3; first < 60; first += 3) {
        for (std::uint64_t second = 3; second < 60; second += 7) {
            Chip chip(options);
            ASSERT_EQ(record_session(recorder, chip.simulator, 0, 60), Status::ok);
            for (const std::uint64_t operation : {first, second, first, second}) {
                cut_flush(recorder, chip.simulator, operation);
            }
            ASSERT_EQ(record_session(recorder, chip.simulator, 60, 5), Status::ok) << first << " " << second;
            ASSERT_EQ(samples(chip.simulator).back(), 64U) << first << " " << second;
        }
    }
}

// A program fails while the blueprint is written into the last blocks of a segment. The segment is begun anew, and with
// it the rows that stood there and waited for the blueprint.
TEST(FlashRecorderAgain, AProgramFailsInASegmentThatBegins) {
    h5mote::FlashRecorder<kLongRing, 128> recorder;
    const h5mote::FlashGeometry geometry{6, 2048, 256, 4, 0xff};
    Chip begun{geometry};
    ASSERT_EQ(record_session(recorder, begun.simulator, 0, 60), Status::ok);
    for (std::uint64_t cuts = 0; cuts < 6; ++cuts) {
        for (std::uint64_t operation = 1; operation < 60; ++operation) {
            Chip chip{geometry};
            chip.simulator.copy_from(begun.simulator);
            for (std::uint64_t i = 0; i < cuts; ++i) {
                cut_flush(recorder, chip.simulator, 6);
            }
            chip.simulator.fail_operation(operation);
            ASSERT_EQ(record_session(recorder, chip.simulator, 60, 5), Status::ok) << cuts << " " << operation;
            const std::vector<std::uint32_t> found = samples(chip.simulator);
            ASSERT_GE(found.size(), 5U) << operation;
            EXPECT_EQ(std::vector<std::uint32_t>(found.end() - 5, found.end()), numbers(60, 5)) << operation;
        }
    }
}

// In the segment that the log has come to stands the blueprint, and no row yet. Failures and cuts that use up its
// blocks must not empty the segment of the newest rows, which is the one before.
TEST(FlashRecorderAgain, ASegmentWithoutRows) {
    h5mote::FlashRecorder<kRingOfThree, 256> recorder;
    for (const bool cuts : {false, true}) {
        for (std::uint32_t rows = 150; rows < 260; ++rows) {
            Chip chip{h5mote::FlashGeometry{15, 1024, 256, 4, 0xff}};
            FlashOutage device(chip.simulator);
            ASSERT_EQ(recorder.open(device), Status::ok);
            for (std::uint32_t i = 0; i < rows; ++i) {
                ASSERT_EQ(recorder.append<0>(Sample::make(i)), Status::ok);
                ASSERT_TRUE(i + 1 == rows || recorder.flush() == Status::ok);
            }
            const std::uint32_t first = first_of_newest(chip.simulator);
            if (cuts) {
                recorder.abandon();
                for (std::uint64_t i = 0; i < 12; ++i) {
                    cut_flush(recorder, chip.simulator, 2, FlashCut::torn, i);
                }
                ASSERT_EQ(record_session(recorder, chip.simulator, rows - 1, 1), Status::ok);
            } else {
                device.fail(FlashOutage::kPrograms, 10);
                Status status = Status::io_error;
                for (unsigned tries = 0; tries < 10 && status != Status::ok; ++tries) {
                    status = recorder.flush();
                }
                ASSERT_EQ(status, Status::ok);
                ASSERT_EQ(recorder.close(), Status::ok);
            }
            const std::vector<std::uint32_t> found = samples(chip.simulator);
            ASSERT_FALSE(found.empty());
            ASSERT_LE(found.front(), first) << rows << " rows";
            ASSERT_EQ(found, numbers(found.front(), rows - found.front()));
        }
    }
}

// Two heads that read differently each time, in blocks that follow each other: when both read as nothing, the log goes
// on in the first of them, and when the second comes to light again, it must not hide what stands there.
TEST(FlashRecorderAgain, HeadsThatComeToLight) {
    Chip begun;
    Flight recorder;
    ASSERT_EQ(record_session(recorder, begun.simulator, 0, 20), Status::ok);
    Chip chip;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        chip.simulator.copy_from(begun.simulator);
        cut_flush(recorder, chip.simulator, 2, FlashCut::unstable, 3 * seed);
        cut_flush(recorder, chip.simulator, 2, FlashCut::unstable, 5 * seed);
        ASSERT_EQ(record_session(recorder, chip.simulator, 20, 5), Status::ok);
        for (std::uint64_t noise = 0; noise < 20; ++noise) {
            chip.simulator.power_on(noise);
            ASSERT_EQ(samples(chip.simulator), numbers(0, 25)) << seed << " " << noise;
            ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
            recorder.abandon();
        }
    }
}

// The same with the head of a recording that was begun and never came to count. The next one must not be hidden by it.
TEST(FlashRecorderAgain, AHeadOfAnotherCreationThatComesToLight) {
    Flight recorder;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Chip chip;
        chip.simulator.fail_operation(2);
        chip.simulator.cut_after(4, FlashCut::unstable, seed, 1);
        EXPECT_EQ(recorder.open(chip.simulator), Status::io_error);
        chip.simulator.fail_operation(0);
        chip.simulator.power_on(seed);
        ASSERT_EQ(record_session(recorder, chip.simulator, 0, 3), Status::ok);
        for (std::uint64_t noise = 0; noise < 20; ++noise) {
            chip.simulator.power_on(noise);
            ASSERT_EQ(samples(chip.simulator), numbers(0, 3)) << seed << " " << noise;
            ASSERT_EQ(record_session(recorder, chip.simulator, 3, 0), Status::ok);
            ASSERT_EQ(samples(chip.simulator), numbers(0, 3)) << seed << " " << noise;
        }
    }
}

// On a chip of two blocks, both of which the blueprint needs, each attempt to begin would destroy the one before, whose
// last frame may yet come to light. So there must be room for it twice.
TEST(FlashRecorderAgain, CreationIsCutThreeTimes) {
    h5mote::FlashRecorder<kLongFlight, 256> refusing;
    Chip small{h5mote::FlashGeometry{2, 2048, 256, 4, 0xff}};
    EXPECT_EQ(refusing.open(small.simulator), Status::invalid_argument);
    for (std::uint64_t first = 1; first <= 18; ++first) {
        for (std::uint64_t second = 1; second <= 18; ++second) {
            Chip chip{h5mote::FlashGeometry{3, 2048, 256, 4, 0xff}};
            h5mote::FlashRecorder<kLongFlight, 256> recorder;
            for (const std::uint64_t operation : {first, second, first}) {
                chip.simulator.cut_after(operation, FlashCut::torn, 1, 20);
                const Status status = recorder.open(chip.simulator);
                ASSERT_TRUE(status == Status::ok || !chip.simulator.powered())
                    << first << " " << second << ": " << h5mote::to_string(status);
                recorder.abandon();
                chip.simulator.power_on(operation);
            }
            ASSERT_EQ(recorder.open(chip.simulator), Status::ok) << first << " " << second;
            ASSERT_EQ(recorder.close(), Status::ok);
            EXPECT_EQ(samples(chip.simulator), numbers(0, 0));
        }
    }
}

// While the chip does not answer, nothing is used up.
TEST(FlashRecorderAgain, AChipThatDoesNotAnswerForAWhile) {
    const auto run = [](auto& recorder, const h5mote::FlashGeometry& geometry) {
        Chip chip(geometry);
        MortalDevice device(chip.simulator);
        ASSERT_EQ(recorder.open(device), Status::ok);
        ASSERT_EQ(record(recorder, 0, 10), Status::ok);
        for (std::uint32_t i = 0; i < 6; ++i) {
            ASSERT_EQ(recorder.template append<0>(Sample::make(10 + i)), Status::ok);
            device.kill_at(1 + i);
            const bool is_done = recorder.flush() == Status::ok;
            for (int k = 0; k < 3 && !is_done; ++k) {
                EXPECT_EQ(recorder.flush(), Status::io_error);
            }
            device.kill_at(0);
            ASSERT_EQ(recorder.flush(), Status::ok) << i;
        }
        EXPECT_EQ(recorder.close(), Status::ok);
        EXPECT_EQ(samples(chip.simulator), numbers(0, 16));
        EXPECT_EQ(chip.simulator.counts().violations, 0U);
    };
    Flight flight;
    run(flight, {16, 1024, 256, 4, 0xff});
    h5mote::FlashRecorder<kRingOfTwo, 256> ring;
    run(ring, {4, 4096, 256, 4, 0xff});
}

// A block must have room for the settings behind a head that has them, too, and for some of the blueprint.
TEST(FlashRecorderAgain, RefusesBlocksThatAreTooSmall) {
    h5mote::FlashRecorder<kWide, 512> wide;
    Chip small{h5mote::FlashGeometry{32, 512, 256, 4, 0xff}};
    EXPECT_EQ(wide.open(small.simulator), Status::invalid_argument);
    h5mote::FlashRecorder<kFew, 512> few;
    EXPECT_EQ(few.open(small.simulator), Status::invalid_argument);
    EXPECT_EQ(small.simulator.operations(), 0U);
    Chip large{h5mote::FlashGeometry{32, 1024, 256, 4, 0xff}};
    ASSERT_EQ(wide.open(large.simulator), Status::ok);
    EXPECT_EQ(wide.close(), Status::ok);
}

// The same calls leave the same bytes, whichever byte order the machine has.
TEST(FlashRecorderAgain, BytesAreTheSameOnEveryMachine) {
    Chip chip{h5mote::FlashGeometry{48, 1024, 256, 4, 0xff}};
    h5mote::FlashRecorder<kFull, 256> recorder;
    constexpr std::size_t kBatteries = blueprint::dataset_number<kFull>("battery");
    for (std::uint32_t session = 0; session < 12; ++session) {
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        ASSERT_EQ((recorder.set<blueprint::setting_number<kFull>("", "serial")>(0x01020304U + session)), Status::ok);
        ASSERT_EQ((recorder.set<blueprint::setting_number<kFull>("", "rate")>(1.5 * session)), Status::ok);
        for (std::uint32_t i = 0; i < 200; ++i) {
            const auto small = static_cast<std::int32_t>(i);
            ASSERT_EQ(recorder.append<0>({std::uint64_t{i} << 33 | session,
                                          {small, -small},
                                          static_cast<float>(i) / 8,
                                          static_cast<std::int16_t>(-small),
                                          static_cast<std::uint16_t>(3 * i)}),
                      Status::ok);
            if (i % 7 == 0) {
                ASSERT_EQ(recorder.append<kBatteries>(static_cast<std::uint16_t>(0x1234 + i)), Status::ok);
                ASSERT_EQ(recorder.flush(), Status::ok);
            }
        }
        ASSERT_EQ(recorder.close(), Status::ok);
    }
    const h5mote::ConstBytes contents = chip.simulator.contents();
    EXPECT_EQ(h5mote::detail::lookup3_constant(contents.data(), contents.size()), 12697814U);
}
