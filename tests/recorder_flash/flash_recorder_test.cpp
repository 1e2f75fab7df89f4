// What a FlashRecorder does on a chip that works: beginning and going on, errors by name, full chips, rings, bad
// blocks.
#include "recorded_chip.hpp"

#include <h5mote/vfd/flash.hpp>

#include <algorithm>

using namespace h5mote_test;

namespace {

// Memory that needs no erase, as an FRAM or EEPROM: what a block held before stays there.
class Fram final : public h5mote::FlashDevice {
public:
    h5mote::FlashGeometry geometry() const noexcept override { return {16, 512, 512, 1, 0}; }
    Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        std::memcpy(to.data(), bytes_ + block * 512 + offset, to.size());
        return Status::ok;
    }
    Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        std::memcpy(bytes_ + block * 512 + offset, from.data(), from.size());
        return Status::ok;
    }
    Status erase(std::uint32_t /*block*/) noexcept override { return Status::ok; }

private:
    std::byte bytes_[16 * 512]{};
};

constexpr auto kFramRing = blueprint::file(blueprint::FileOptions{4, false}, blueprint::ring<Sample, 2>("imu", 32));
constexpr auto kOther = blueprint::file(blueprint::dataset<Sample>("gps", 32));

struct Wave {
    std::uint32_t number;
    std::array<std::int16_t, 250> values;
};
H5MOTE_COMPOUND(Wave, number, values)
constexpr auto kWaves =
    blueprint::file(blueprint::dataset<Wave>("waves", 4), blueprint::dataset<std::uint8_t>("flags", 64));

}  // namespace

TEST(FlashRecorder, BeginsAndGoesOn) {
    Chip chip;
    Flight recorder;
    EXPECT_EQ(recorder.flush(), Status::invalid_handle);
    EXPECT_EQ(recorder.append<0>(Sample::make(0)), Status::invalid_handle);
    EXPECT_EQ(recorder.set<kSerial>(1), Status::invalid_handle);
    std::uint32_t count = 0;
    for (std::uint32_t session = 0; session < 5; ++session) {
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        EXPECT_TRUE(recorder.is_open());
        EXPECT_EQ(recorder.open(chip.simulator), Status::busy);
        ASSERT_EQ(record(recorder, count, 40 + session), Status::ok);
        count += 40 + session;
        EXPECT_EQ(recorder.close(), Status::ok);
        EXPECT_FALSE(recorder.is_open());
        EXPECT_EQ(samples(chip.simulator), numbers(0, count));
    }
    EXPECT_EQ(recorder.append<0>(Sample::make(0)), Status::invalid_handle);
    EXPECT_EQ(chip.simulator.counts().violations, 0U);
}

TEST(FlashRecorder, OpenAndFlushWithoutChangesProgramNothing) {
    Chip chip;
    Flight recorder;
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 0, 7), Status::ok);
    const std::uint64_t operations = chip.simulator.operations();
    EXPECT_EQ(recorder.flush(), Status::ok);
    EXPECT_EQ(recorder.close(), Status::ok);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        EXPECT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(recorder.close(), Status::ok);
    }
    EXPECT_EQ(chip.simulator.operations(), operations);
}

TEST(FlashRecorder, AbandonLosesOnlyWhatWasNotFlushed) {
    Chip chip;
    Flight recorder;
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 0, 10), Status::ok);
    ASSERT_EQ(recorder.append<0>(Sample::make(10)), Status::ok);
    recorder.abandon();
    EXPECT_EQ(samples(chip.simulator), numbers(0, 10));
}

TEST(FlashRecorder, AFlushIsOneProgram) {
    Chip chip{h5mote::FlashGeometry{32, 1024, 1024, 4, 0xff}};
    Flight recorder;
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    for (std::uint32_t i = 0; i < 12; ++i) {
        ASSERT_EQ(recorder.append<0>(Sample::make(i)), Status::ok);
        const std::uint64_t before = chip.simulator.operations();
        ASSERT_EQ(recorder.flush(), Status::ok);
        EXPECT_LE(chip.simulator.operations() - before, 1U);
    }
}

TEST(FlashRecorder, RefusesByName) {
    Chip chip;
    Flight recorder;
    ASSERT_EQ(record_session(recorder, chip.simulator, 0, 30), Status::ok);
    const std::uint64_t operations = chip.simulator.operations();
    h5mote::FlashRecorder<kOther> other;
    EXPECT_EQ(other.open(chip.simulator), Status::other_blueprint);
    h5mote::FlashRecorder<kFlight, 128> small;
    EXPECT_EQ(small.open(chip.simulator), Status::over_budget);
    h5mote::FlashRecorder<kFlight, 1024> large;
    EXPECT_EQ(large.open(chip.simulator), Status::ok);
    EXPECT_EQ(large.close(), Status::ok);
    EXPECT_EQ(chip.simulator.operations(), operations);
    // The same bytes on a chip of another geometry.
    for (const h5mote::FlashGeometry& geometry :
         {h5mote::FlashGeometry{16, 2048, 256, 4, 0xff}, h5mote::FlashGeometry{32, 1024, 256, 1, 0xff},
          h5mote::FlashGeometry{31, 1024, 256, 4, 0xff}, h5mote::FlashGeometry{32, 1024, 256, 4, 0x00}}) {
        Chip like(geometry);
        for (std::uint32_t i = 0; i < geometry.capacity(); ++i) {
            const auto byte = static_cast<std::uint8_t>(chip.simulator.contents()[i]);
            like.simulator.flip(i / geometry.block_size, i % geometry.block_size,
                                static_cast<std::uint8_t>(byte ^ geometry.erased_value));
        }
        EXPECT_EQ(recorder.open(like.simulator), Status::corrupt_file);
    }
    Chip foreign;
    foreign.simulator.scramble(3);
    EXPECT_EQ(recorder.open(foreign.simulator), Status::not_hdf5);
    EXPECT_EQ(foreign.simulator.operations(), 0U);
    EXPECT_EQ(recorder.format(foreign.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 0, 30), Status::ok);
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(samples(foreign.simulator), numbers(0, 30));
    // FlashDriver and FlashRecorder leave each other's chips alone.
    Chip driven;
    std::vector<std::uint64_t> work(h5mote::FlashDriver::required_memory(kNor) / 8 + 1);
    h5mote::FlashDriver driver(driven.simulator, {reinterpret_cast<std::byte*>(work.data()), work.size() * 8});
    ASSERT_EQ(driver.format(), Status::ok);
    ASSERT_EQ(driver.write(h5mote::Usage::raw_data, 0, chip.simulator.contents().first(3000)), Status::ok);
    ASSERT_EQ(driver.sync(), Status::ok);
    EXPECT_EQ(recorder.open(driven.simulator), Status::not_hdf5);
    h5mote::FlashDriver reader(chip.simulator, {reinterpret_cast<std::byte*>(work.data()), work.size() * 8});
    EXPECT_EQ(reader.mount(), Status::corrupt_file);
}

TEST(FlashRecorder, RefusesGeometriesThatMakeNoSense) {
    Flight recorder;
    h5mote::FlashRecorder<kFlight, 260> odd;
    const auto open = [](auto& what, const h5mote::FlashGeometry& geometry) {
        class Dead final : public h5mote::FlashDevice {
        public:
            explicit Dead(const h5mote::FlashGeometry& geometry) : geometry_(geometry) {}
            h5mote::FlashGeometry geometry() const noexcept override { return geometry_; }
            Status read(std::uint32_t, std::uint32_t, h5mote::Bytes) noexcept override { return Status::io_error; }
            Status program(std::uint32_t, std::uint32_t, h5mote::ConstBytes) noexcept override {
                return Status::io_error;
            }
            Status erase(std::uint32_t) noexcept override { return Status::io_error; }

        private:
            h5mote::FlashGeometry geometry_;
        } device(geometry);
        return what.open(device);
    };
    EXPECT_EQ(open(recorder, {32, 1024, 256, 4, 0xff}), Status::io_error);
    EXPECT_EQ(open(recorder, {1, 1024, 256, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1000, 256, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 256, 256, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1U << 21, 256, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1024, 2048, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1024, 256, 3, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1024, 2, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1024, 256, 0, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 1024, 256, 4, 0x55}), Status::invalid_argument);
    EXPECT_EQ(open(recorder, {32, 4096, 512, 512, 0xff}), Status::over_budget);
    EXPECT_EQ(open(odd, {32, 1024, 256, 8, 0xff}), Status::over_budget);
    Ring ring;
    EXPECT_EQ(open(ring, {3, 16384, 256, 4, 0xff}), Status::invalid_argument);
    EXPECT_EQ(open(ring, {8, 512, 256, 4, 0xff}), Status::invalid_argument);  // no room for the blueprint
}

TEST(FlashRecorder, FullChipKeepsWhatWasTaken) {
    for (const std::uint32_t every : {1U, 3U, 1000000U}) {
        Chip chip{h5mote::FlashGeometry{8, 1024, 256, 4, 0xff}};
        Flight recorder;
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        std::uint32_t taken = 0;
        Status status = Status::ok;
        for (; taken < 1000; ++taken) {
            status = recorder.append<0>(Sample::make(taken));
            if (status != Status::ok) {
                break;
            }
            if ((taken + 1) % every == 0) {
                ASSERT_EQ(recorder.flush(), Status::ok);
            }
        }
        EXPECT_EQ(status, Status::no_space);
        EXPECT_GT(taken, every == 1 ? 120U : 200U);
        EXPECT_EQ(recorder.append<0>(Sample::make(0)), Status::no_space);
        EXPECT_EQ(recorder.flush(), Status::ok);
        EXPECT_EQ(recorder.close(), Status::ok);
        EXPECT_EQ(samples(chip.simulator), numbers(0, taken));
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        EXPECT_EQ(recorder.append<0>(Sample::make(0)), Status::no_space);
        EXPECT_EQ(recorder.close(), Status::ok);
        EXPECT_EQ(samples(chip.simulator), numbers(0, taken));
        // A new recording takes its place.
        ASSERT_EQ(recorder.format(chip.simulator), Status::ok);
        EXPECT_EQ(samples(chip.simulator), numbers(0, 0));
        ASSERT_EQ(record(recorder, 500, 60), Status::ok);
        EXPECT_EQ(recorder.close(), Status::ok);
        EXPECT_EQ(samples(chip.simulator), numbers(500, 60));
        EXPECT_EQ(chip.simulator.counts().violations, 0U);
    }
}

TEST(FlashRecorder, RowsOfSeveralDatasetsAndLargeOnes) {
    for (const h5mote::FlashGeometry& geometry :
         {h5mote::FlashGeometry{64, 1024, 256, 1, 0xff}, h5mote::FlashGeometry{24, 4096, 1024, 1024, 0xff}}) {
        Chip chip(geometry);
        h5mote::FlashRecorder<kWaves, 1024> recorder;
        ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        std::vector<std::uint8_t> flags;
        for (std::uint32_t i = 0; i < 30; ++i) {
            Wave wave{i, {}};
            wave.values.fill(static_cast<std::int16_t>(i));
            ASSERT_EQ(recorder.append<0>(wave), Status::ok);
            for (std::uint32_t k = 0; k < i % 7; ++k) {
                flags.push_back(static_cast<std::uint8_t>(i + k));
                ASSERT_EQ(recorder.append<1>(flags.back()), Status::ok);
            }
        }
        ASSERT_EQ(recorder.close(), Status::ok);
        FlashRecording recording;
        ASSERT_TRUE(recording.read(chip.simulator));
        std::uint32_t waves = 0;
        std::vector<std::uint8_t> found;
        for (const FlashRecording::Rows& rows : recording.rows()) {
            for (std::size_t at = 0; rows.dataset == 0 && at < rows.bytes.size(); at += sizeof(Wave)) {
                EXPECT_EQ(rows.bytes[at], static_cast<std::byte>(waves));
                EXPECT_EQ(rows.bytes[at + 500], static_cast<std::byte>(waves++));
            }
            for (std::size_t at = 0; rows.dataset == 1 && at < rows.bytes.size(); ++at) {
                found.push_back(static_cast<std::uint8_t>(rows.bytes[at]));
            }
        }
        EXPECT_EQ(waves, 30U);
        EXPECT_EQ(found, flags);
    }
}

TEST(FlashRecorder, SettingsLast) {
    Chip chip;
    Flight recorder;
    const auto serial = [&] {
        FlashRecording recording;
        EXPECT_TRUE(recording.read(chip.simulator));
        EXPECT_EQ(recording.settings().size(), 4U);
        return static_cast<unsigned>(recording.settings()[0]) | static_cast<unsigned>(recording.settings()[1]) << 8;
    };
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    EXPECT_EQ(serial(), 4711U);
    ASSERT_EQ(recorder.set<kSerial>(100), Status::ok);
    EXPECT_EQ(serial(), 4711U);
    ASSERT_EQ(recorder.flush(), Status::ok);
    EXPECT_EQ(serial(), 100U);
    ASSERT_EQ(record(recorder, 0, 200), Status::ok);
    EXPECT_EQ(serial(), 100U);
    ASSERT_EQ(recorder.close(), Status::ok);
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 200, 10), Status::ok);
    EXPECT_EQ(serial(), 100U);
    ASSERT_EQ(recorder.set<kSerial>(101), Status::ok);
    ASSERT_EQ(recorder.append<0>(Sample::make(210)), Status::ok);
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(serial(), 101U);
    // Nothing but a setting in a session.
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(recorder.set<kSerial>(102), Status::ok);
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_EQ(serial(), 102U);
    EXPECT_EQ(samples(chip.simulator), numbers(0, 211));
    ASSERT_EQ(recorder.format(chip.simulator), Status::ok);
    EXPECT_EQ(serial(), 4711U);
}

TEST(FlashRecorder, RingGoesRoundAndWearsEvenly) {
    Chip chip{h5mote::FlashGeometry{96, 1024, 256, 4, 0xff}};
    Ring recorder;
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(recorder.set<kRingSerial>(5), Status::ok);
    ASSERT_EQ(recorder.set<kRate>(2.5), Status::ok);
    std::uint32_t count = 0;
    std::uint16_t battery = 0;
    for (std::uint32_t round = 0; round < 1000; ++round) {
        ASSERT_EQ(record<kRingImu>(recorder, count, 50, 10), Status::ok);
        ASSERT_EQ(recorder.append<kBattery>(battery++), Status::ok);
        count += 50;
        if (round % 50 == 49) {
            ASSERT_EQ(recorder.close(), Status::ok);
            ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
        }
        if (round % 10 == 0) {
            const std::vector<std::uint32_t> found = samples(chip.simulator, kRingImu);
            ASSERT_EQ(found, numbers(count - static_cast<std::uint32_t>(found.size()), found.size()));
            EXPECT_TRUE(found.size() == count || found.size() > 2500);
        }
    }
    std::uint32_t least = ~0U;
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < 96; ++i) {
        least = std::min(least, chip.simulator.erases(i));
        most = std::max(most, chip.simulator.erases(i));
    }
    EXPECT_GE(least, 10U);
    EXPECT_LE(most, least + 1);
    EXPECT_EQ(chip.simulator.counts().violations, 0U);
    FlashRecording recording;
    ASSERT_TRUE(recording.read(chip.simulator));
    ASSERT_EQ(recording.settings().size(), 12U);
    EXPECT_EQ(recording.settings()[0], std::byte{5});
    EXPECT_EQ(recording.rows().back().segment - recording.rows().front().segment, 3U);
}

TEST(FlashRecorder, StorageThatNeedsNoErase) {
    Fram fram;
    h5mote::FlashRecorder<kFramRing, 128> recorder;
    std::uint32_t count = 0;
    for (std::uint32_t session = 0; session < 60; ++session) {
        ASSERT_EQ(recorder.open(fram), Status::ok);
        ASSERT_EQ(record(recorder, count, 11, 2), Status::ok);
        count += 11;
        ASSERT_EQ(recorder.close(), Status::ok);
        const std::vector<std::uint32_t> found = samples(fram);
        ASSERT_EQ(found, numbers(count - static_cast<std::uint32_t>(found.size()), found.size()));
        ASSERT_GE(found.size(), std::min(count, 40U));
    }
}

TEST(FlashRecorder, BadBlocksAtEveryPlace) {
    for (std::uint32_t block = 0; block < 12; ++block) {
        for (std::uint32_t operation = 0; operation < 24; ++operation) {
            Chip chip{h5mote::FlashGeometry{24, 1024, 256, 4, 0xff}};
            if (operation == 0) {
                chip.simulator.set_bad(block);
            } else {
                chip.simulator.fail_block(block, operation);
            }
            Flight recorder;
            ASSERT_EQ(record_session(recorder, chip.simulator, 0, 180, 4), Status::ok) << block << " " << operation;
            ASSERT_EQ(record_session(recorder, chip.simulator, 180, 20, 4), Status::ok);
            EXPECT_EQ(samples(chip.simulator), numbers(0, 200)) << block << " " << operation;
            EXPECT_EQ(chip.simulator.counts().violations, 0U);
        }
    }
}

TEST(FlashRecorder, ABrokenChipIsAnError) {
    Chip chip;
    for (std::uint32_t i = 0; i < kNor.blocks; ++i) {
        chip.simulator.set_bad(i, i);
    }
    Flight recorder;
    EXPECT_EQ(recorder.open(chip.simulator), Status::io_error);
    Chip worn;
    ASSERT_EQ(recorder.open(worn.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 0, 10), Status::ok);
    for (std::uint32_t i = 0; i < kNor.blocks; ++i) {
        worn.simulator.fail_block(i, 1);
    }
    ASSERT_EQ(recorder.append<0>(Sample::make(10)), Status::ok);
    for (int i = 0; i < 6; ++i) {
        EXPECT_NE(recorder.flush(), Status::ok);
    }
    EXPECT_NE(recorder.close(), Status::ok);
    EXPECT_EQ(samples(worn.simulator), numbers(0, 10));
}

TEST(FlashRecorder, EveryReadOfOpenMayFail) {
    Chip chip;
    Flight recorder;
    ASSERT_EQ(record_session(recorder, chip.simulator, 0, 60), Status::ok);
    const std::uint64_t operations = chip.simulator.operations();
    const std::uint64_t before = chip.simulator.counts().reads;
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    const std::uint64_t reads = chip.simulator.counts().reads - before;
    ASSERT_EQ(recorder.close(), Status::ok);
    EXPECT_LE(reads, kNor.blocks + 1024 / 4);
    for (std::uint64_t i = 1; i <= reads; ++i) {
        chip.simulator.fail_read(i);
        EXPECT_EQ(recorder.open(chip.simulator), Status::io_error) << i;
        chip.simulator.fail_read(0);
    }
    EXPECT_EQ(chip.simulator.operations(), operations);
    ASSERT_EQ(recorder.open(chip.simulator), Status::ok);
    ASSERT_EQ(record(recorder, 60, 5), Status::ok);
    EXPECT_EQ(samples(chip.simulator), numbers(0, 65));
}
