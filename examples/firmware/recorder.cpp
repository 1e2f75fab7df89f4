#include <h5mote/recorder.hpp>
#include <h5mote/vfd/posix.hpp>

#include "sensor.hpp"

struct Sample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)

// The whole empty file, made by the compiler: a constant in ROM.
namespace blueprint = h5mote::blueprint;
constexpr auto kFlight = blueprint::file(
    blueprint::group("flight", blueprint::dataset<Sample>("imu", 64, blueprint::attribute("accel_units", "mg"))));
constexpr auto kImu = blueprint::dataset_number<kFlight>("flight/imu");

static h5mote::Recorder<kFlight> recorder;  // all memory: a chunk of 64 samples and 60 bytes

static h5mote::Status record_samples(h5mote::Driver& storage) {
    H5MOTE_TRY(recorder.open(storage));  // makes the file, or goes on with the one that is there
    for (int i = 1; i <= 1000; ++i) {
        Sample sample{clock_ms(), {}, 0};
        read_accelerometer(sample.accel);
        sample.temp_c = read_temperature();
        H5MOTE_TRY(recorder.append<kImu>(sample));
        if (i % 100 == 0) {
            H5MOTE_TRY(recorder.flush());  // durable when it returns ok
        }
    }
    return recorder.close();
}

int main(int argc, char** argv) {
    h5mote::PosixDriver card;
    h5mote::Status status = card.open(argc > 1 ? argv[1] : "flight.h5", h5mote::PosixDriver::Mode::open_or_create);
    if (status == h5mote::Status::ok) {
        status = record_samples(card);
    }
    return static_cast<int>(status);
}
