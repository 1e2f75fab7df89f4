#include "blueprint_recorder.hpp"

#include "console.hpp"

#include <h5mote/recorder.hpp>

namespace logger {
namespace {

using h5mote::Status;
namespace blueprint = h5mote::blueprint;

// Addresses of 4 bytes suffice, because no flight fills 4 GiB.
constexpr auto kFlight = blueprint::file(
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
constexpr std::size_t kImu = blueprint::dataset_number<kFlight>("flight/imu");
constexpr std::size_t kHealth = blueprint::dataset_number<kFlight>("flight/health");

h5mote::Recorder<kFlight> recorder;

}  // namespace

Status Recorder::open(h5mote::Driver& storage, bool /*compress*/) noexcept {
    storage_ = &storage;
    const Status status = recorder.open(storage);
    rows_ = recorder.rows<kImu>();
    return status;
}

Status Recorder::add(const ImuRow& row) noexcept {
    H5MOTE_TRY(recorder.append<kImu>(row));
    ++rows_;
    return clock_.is_due(row.t_us) ? recorder.append<kHealth>(HealthClock::row(row.t_us, rows_)) : Status::ok;
}

Status Recorder::flush() noexcept { return recorder.flush(); }

Status Recorder::close() noexcept {
    const Status status = recorder.is_open() ? recorder.close() : Status::ok;
    const Status size = storage_->end_of_file(file_size_);
    return status == Status::ok ? size : status;
}

MemoryUse Recorder::memory() const noexcept { return {sizeof recorder, sizeof recorder}; }

void Recorder::print_errors() const noexcept {
    if (recorder.difference() != 0) {
        Line{Line::To::errors} << "  the file differs at " << std::uint64_t{recorder.difference()};
    }
}

}  // namespace logger
