// The logger's file as a constant that the compiler makes: for recorders that fill a file whose form is known.
#pragma once

#include "flight.hpp"

#include <h5mote/blueprint_image.hpp>

namespace logger {

namespace blueprint = h5mote::blueprint;

// Addresses of 4 bytes suffice, because no flight fills 4 GiB.
inline constexpr auto kFlight = blueprint::file(
    blueprint::FileOptions{4, false},
    blueprint::group("flight", blueprint::attribute("device", "PX4 autopilot"),
                     blueprint::attribute("firmware", "h5mote logger"),
                     blueprint::attribute("firmware_version", H5MOTE_LOGGER_VERSION),
                     blueprint::dataset<ImuRow>(
                         "imu", kImuChunk, blueprint::attribute("rate_hz", 250.0F),
                         blueprint::attribute("t_us_units", "us"), blueprint::attribute("gyro_units", "rad/s"),
                         blueprint::attribute("accel_units", "m/s^2"), blueprint::attribute("mag_units", "gauss")),
                     blueprint::dataset<HealthRow>("health", kHealthChunk, blueprint::attribute("rate_hz", 1.0F),
                                                   blueprint::attribute("t_us_units", "us"),
                                                   blueprint::attribute("free_memory_units", "bytes"))));
inline constexpr std::size_t kImu = blueprint::dataset_number<kFlight>("flight/imu");
inline constexpr std::size_t kHealth = blueprint::dataset_number<kFlight>("flight/health");

}  // namespace logger
