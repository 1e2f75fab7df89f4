#include <h5mote/flash_recorder.hpp>

#include "chip.hpp"  // a FlashDevice: geometry, read, program, erase
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

static Chip chip;
static h5mote::FlashRecorder<kFlight> recorder;  // all memory: a frame of 512 bytes and 128 more

static h5mote::Status record_samples() {
    H5MOTE_TRY(recorder.open(chip));  // begins a recording on a blank chip, or goes on with the one that is there
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

int main() { return static_cast<int>(record_samples()); }
