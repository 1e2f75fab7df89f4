// Stand-ins for sensors, so that the example runs everywhere: made-up values, which change with each call of
// clock_ms().
#pragma once

#include <cstdint>

inline std::uint32_t sensor_count = 0;

inline std::uint32_t clock_ms() { return 4 * sensor_count++; }

inline void read_accelerometer(std::int16_t (&mg)[3]) {
    const int value = static_cast<int>((sensor_count - 1) % 100);
    mg[0] = static_cast<std::int16_t>(-value);
    mg[1] = 0;
    mg[2] = static_cast<std::int16_t>(value);
}

inline float read_temperature() { return 20.0F + static_cast<float>(sensor_count - 1) / 128; }
