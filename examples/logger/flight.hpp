// The records of the logger: rows of the inertial sensors and, once a second, a row about the logger itself.
#pragma once

#include "division.hpp"

#include <h5mote/compound.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace logger {

// On most machines the 64-bit time would pad the struct to a multiple of 8 bytes. Packed, a row has 44 bytes in memory
// and in the file on every machine, so that append() only copies it.
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

/// A row without its time: where the times are a dataset of their own, the scale of these rows.
struct ImuValues {
    float gyro[3];
    float accel[3];
    float mag[3];
};
static_assert(sizeof(ImuValues) == sizeof(ImuRow) - offsetof(ImuRow, gyro));
H5MOTE_COMPOUND(ImuValues, gyro, accel, mag)

inline ImuValues values_of(const ImuRow& row) noexcept {
    ImuValues values;
    std::memcpy(&values, reinterpret_cast<const std::byte*>(&row) + offsetof(ImuRow, gyro), sizeof values);
    return values;
}

struct HealthRow {
    std::uint64_t t_us;
    /// Bytes still free in the chunk of /flight/imu that is in memory, with `rows` rows of 44 bytes. Not the bytes left
    /// in the arena: these depend on the size of a pointer, whereas the same flight has to give the same file on every
    /// machine.
    std::uint32_t free_memory;
    /// Number of rows of /flight/imu, including the one with this time. The recorder for flash chips, which does not
    /// know what earlier runs recorded, counts the rows since its start.
    std::uint32_t rows;
};
static_assert(sizeof(HealthRow) == 16);
H5MOTE_COMPOUND(HealthRow, t_us, free_memory, rows)

/// Rows of a chunk. One chunk of each dataset is kept in memory and written as a whole; the recorder for flash chips
/// keeps a few rows instead.
inline constexpr std::uint32_t kImuChunk = 64;
inline constexpr std::uint32_t kHealthChunk = 16;
inline constexpr std::size_t kChunkBytes = kImuChunk * sizeof(ImuRow) + kHealthChunk * sizeof(HealthRow);

/// Decides when a row about the logger itself is due, and makes it.
class HealthClock {
public:
    /// Whether the row of that time is the first one of a second, or of this run.
    bool is_due(std::uint64_t t_us) noexcept {
        constexpr std::uint32_t kSecond = 1000000;
        if (t_us < next_us_) {
            return false;
        }
        std::uint64_t seconds = t_us;
        next_us_ = t_us - divide(seconds, kSecond) + kSecond;
        return true;
    }
    /// `rows`: rows of /flight/imu so far, as HealthRow::rows has them.
    static HealthRow row(std::uint64_t t_us, std::uint64_t rows) noexcept {
        const auto count = static_cast<std::uint32_t>(rows);
        const std::uint32_t free_rows = (kImuChunk - count % kImuChunk) % kImuChunk;
        return {t_us, free_rows * static_cast<std::uint32_t>(sizeof(ImuRow)), count};
    }

private:
    std::uint64_t next_us_ = 0;
};

}  // namespace logger
