// A simulated chip, the rows that tests record on it, and what the log on it holds.
#pragma once

#include "flash_recording.hpp"
#include "flash_simulator.hpp"

#include <h5mote/flash_recorder.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

namespace h5mote_test {

namespace blueprint = h5mote::blueprint;
using h5mote::Status;
using h5mote::cli::FlashRecording;

struct Sample {
    std::uint32_t number;
    std::array<std::int16_t, 3> accel;
    float temperature;

    static Sample make(std::uint32_t number) {
        const auto small = static_cast<std::int16_t>(number % 1000);
        return {number, {small, static_cast<std::int16_t>(-small), 77}, static_cast<float>(number) / 4};
    }
};
H5MOTE_COMPOUND(Sample, number, accel, temperature)

inline constexpr auto kFlight =
    blueprint::file(blueprint::setting<std::uint32_t>("serial", 4711), blueprint::dataset<Sample>("imu", 32));
inline constexpr auto kRing = blueprint::file(
    blueprint::setting<std::uint32_t>("serial", 4711), blueprint::setting<double>("rate", 0.5),
    blueprint::group("flight", blueprint::ring<Sample, 4>("imu", 32, blueprint::attribute("units", "mg")),
                     blueprint::ring<std::uint16_t, 4>("battery", 64)));
inline constexpr std::size_t kRingImu = blueprint::dataset_number<kRing>("flight/imu");
inline constexpr std::size_t kBattery = blueprint::dataset_number<kRing>("flight/battery");
inline constexpr std::size_t kSerial = blueprint::setting_number<kFlight>("", "serial");
inline constexpr std::size_t kRingSerial = blueprint::setting_number<kRing>("", "serial");
inline constexpr std::size_t kRate = blueprint::setting_number<kRing>("", "rate");

using Flight = h5mote::FlashRecorder<kFlight, 256>;
using Ring = h5mote::FlashRecorder<kRing, 256>;

inline constexpr h5mote::FlashGeometry kNor{32, 1024, 256, 4, 0xff};

class Chip {
public:
    explicit Chip(const FlashSimulatorOptions& options)
        : memory_(FlashSimulator::required_memory(options.geometry) / 8 + 1),
          simulator(options, {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8}) {}
    explicit Chip(const h5mote::FlashGeometry& geometry = kNor) : Chip(with(geometry)) {}

    static FlashSimulatorOptions with(const h5mote::FlashGeometry& geometry) {
        FlashSimulatorOptions options;
        options.geometry = geometry;
        return options;
    }

private:
    std::vector<std::uint64_t> memory_;

public:
    FlashSimulator simulator;
};

/// Appends rows [first, first + count), with a flush after every `every`. Returns the first error.
template <std::size_t I = 0, typename Recorder>
Status record(Recorder& recorder, std::uint32_t first, std::uint32_t count, std::uint32_t every = 5) {
    for (std::uint32_t i = first; i < first + count; ++i) {
        H5MOTE_TRY(recorder.template append<I>(Sample::make(i)));
        if ((i + 1) % every == 0) {
            H5MOTE_TRY(recorder.flush());
        }
    }
    return recorder.flush();
}

/// A session that appends these rows as record() does. Returns the first error; the recorder is closed if it was
/// opened.
template <typename Recorder>
Status record_session(Recorder& recorder, h5mote::FlashDevice& device, std::uint32_t first, std::uint32_t count,
                      std::uint32_t every = 5) {
    H5MOTE_TRY(recorder.open(device));
    const Status status = record(recorder, first, count, every);
    const Status closed = recorder.close();
    return status == Status::ok ? closed : status;
}

/// The numbers of the samples in a log, in order; fails if one is not as it was appended.
inline std::vector<std::uint32_t> samples(const FlashRecording& recording, std::uint32_t dataset = 0) {
    std::vector<std::uint32_t> numbers;
    for (const FlashRecording::Rows& rows : recording.rows()) {
        if (rows.dataset != dataset) {
            continue;
        }
        EXPECT_EQ(rows.bytes.size() % sizeof(Sample), 0U);
        for (std::size_t at = 0; at + sizeof(Sample) <= rows.bytes.size(); at += sizeof(Sample)) {
            std::byte bytes[sizeof(Sample)];
            std::memcpy(bytes, rows.bytes.data() + at, sizeof bytes);
            if constexpr (h5mote::kNativeOrder == h5mote::ByteOrder::big) {
                blueprint::detail::swap_numbers(h5mote::detail::kEncoded<Sample, h5mote::TypeLayout::memory>.bytes,
                                                bytes);
            }
            Sample sample;
            std::memcpy(&sample, bytes, sizeof sample);
            const Sample expected = Sample::make(sample.number);
            EXPECT_EQ(sample.accel, expected.accel);
            EXPECT_EQ(sample.temperature, expected.temperature);
            numbers.push_back(sample.number);
        }
    }
    return numbers;
}
inline std::vector<std::uint32_t> samples(h5mote::FlashDevice& device, std::uint32_t dataset = 0) {
    FlashRecording recording;
    EXPECT_TRUE(recording.read(device)) << recording.why();
    EXPECT_TRUE(recording.damages().empty());
    return samples(recording, dataset);
}
/// first, first + 1 ... of `count` numbers.
inline std::vector<std::uint32_t> numbers(std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
}

}  // namespace h5mote_test
