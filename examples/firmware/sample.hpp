// What the loggers record, and their stand-ins for sensors.
#pragma once

#include <h5mote/compound.hpp>

#include "sensor.hpp"

struct Sample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)

inline Sample take_sample() {
    Sample sample{clock_ms(), {}, 0};
    read_accelerometer(sample.accel);
    sample.temp_c = read_temperature();
    return sample;
}
