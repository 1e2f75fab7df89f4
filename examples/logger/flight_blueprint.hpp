// The logger's file as a constant that the compiler makes: for recorders that fill a file whose form is known.
#pragma once

#include "flight.hpp"

#include <h5mote/blueprint_image.hpp>

namespace logger {

namespace blueprint = h5mote::blueprint;

// Addresses of 4 bytes suffice, because no flight fills 4 GiB.
constexpr blueprint::FileOptions kFileOptions{4, false};
constexpr auto kDevice = blueprint::attribute("device", "PX4 autopilot");
constexpr auto kFirmware = blueprint::attribute("firmware", "h5mote logger");
constexpr auto kVersion = blueprint::attribute("firmware_version", H5MOTE_LOGGER_VERSION);
constexpr auto kRate = blueprint::attribute("rate_hz", 250.0F);
constexpr auto kGyroUnits = blueprint::attribute("gyro_units", "rad/s");
constexpr auto kAccelUnits = blueprint::attribute("accel_units", "m/s^2");
constexpr auto kMagUnits = blueprint::attribute("mag_units", "gauss");
// Not in /flight: all that is there has the times of its rows in /flight/t_us.
constexpr auto kHealthDataset = blueprint::dataset<HealthRow>(
    "health", kHealthChunk, blueprint::attribute("rate_hz", 1.0F), blueprint::attribute("t_us_units", "us"),
    blueprint::attribute("free_memory_units", "bytes"));

/// The times are a dataset of their own, which is the scale of the rows: h5py's `dims`, netCDF and xarray know the time
/// of each row.
constexpr auto kFlight = blueprint::file(
    kFileOptions,
    blueprint::group("flight", kDevice, kFirmware, kVersion,
                     blueprint::dataset<std::uint64_t>("t_us", kImuChunk, blueprint::attribute("units", "us")),
                     blueprint::dataset<ImuValues>("imu", kImuChunk, blueprint::scale("t_us"), kRate, kGyroUnits,
                                                   kAccelUnits, kMagUnits)),
    kHealthDataset);
constexpr std::size_t kTime = blueprint::dataset_number<kFlight>("flight/t_us");
constexpr std::size_t kImu = blueprint::dataset_number<kFlight>("flight/imu");
constexpr std::size_t kHealth = blueprint::dataset_number<kFlight>("health");

/// Each row has its time within it: for a log on a flash chip, where whatever changes the dataset takes three bytes,
/// and where a power cut may end the log between a time and its row.
constexpr auto kFlightInRows = blueprint::file(
    kFileOptions,
    blueprint::group("flight", kDevice, kFirmware, kVersion,
                     blueprint::dataset<ImuRow>("imu", kImuChunk, kRate, blueprint::attribute("t_us_units", "us"),
                                                kGyroUnits, kAccelUnits, kMagUnits)),
    kHealthDataset);
constexpr std::size_t kImuInRows = blueprint::dataset_number<kFlightInRows>("flight/imu");
constexpr std::size_t kHealthInRows = blueprint::dataset_number<kFlightInRows>("health");

}  // namespace logger
