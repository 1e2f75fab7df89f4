// What the rotating logger records, and where: what README.md has shown before.
#pragma once

#include <h5mote/h5mote.hpp>

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

/// There are four names, one more than logs are kept.
inline const char* log_name(std::uint32_t number) {
    constexpr const char* kNames[] = {"log0", "log1", "log2", "log3"};
    return kNames[number % 4];
}

inline constexpr h5mote::DatasetCreate kChunksOf64 = [] {
    h5mote::DatasetCreate layout;
    layout.chunk = {64};
    return layout;
}();

/// Fills a log. One that a power cut ended is filled first. `library` has the parts formats::rotating.
h5mote::Status fill_next_log(h5mote::Library& library, h5mote::Driver& storage);
