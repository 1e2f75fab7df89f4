// What the logger records: one row of the inertial sensors, and once a second how the logger itself is doing.
#pragma once

#include <h5mote/compound.hpp>

#include <cstdint>

namespace logger {

// Without this the 64-bit time would make the struct end on a multiple of 8 on most machines: 4 bytes of nothing in
// every row. So it has 44 bytes in memory and in the file, on every machine, and append() is a copy.
#pragma pack(push, 4)
struct ImuRow {
    std::uint64_t t_us;  ///< microseconds since the autopilot started
    float gyro[3];       ///< rad/s
    float accel[3];      ///< m/s^2
    float mag[3];        ///< gauss
};
#pragma pack(pop)
static_assert(sizeof(ImuRow) == 44);
H5MOTE_COMPOUND(ImuRow, t_us, gyro, accel, mag)

struct HealthRow {
    std::uint64_t t_us;
    /// Bytes of the chunk in memory that rows can still fill before it goes to the storage. Not what the arena has
    /// left: that depends on the size of a pointer, and the same flight makes the same file on every machine.
    std::uint32_t free_memory;
    std::uint32_t rows;  ///< of /flight/imu, with the one of this time
};
static_assert(sizeof(HealthRow) == 16);
H5MOTE_COMPOUND(HealthRow, t_us, free_memory, rows)

}  // namespace logger
