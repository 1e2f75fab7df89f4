// The reference workload: one file, one chunked extensible dataset, 1000 appends of one 16-byte record, 64-row chunks.
// The same on boards and hosts.
#pragma once

#include <h5mote/h5mote.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reference {

struct Sample {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    float temp_c;
};
static_assert(sizeof(Sample) == 16);
H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)

inline constexpr std::uint32_t kRows = 1000;
inline constexpr std::uint32_t kChunkRows = 64;
inline constexpr std::size_t kChunkBytes = kChunkRows * sizeof(Sample);
inline constexpr const char* kPath = "imu";

/// Makes row i. The values are exact in float and the gap between the members is zero, so that every machine stores the
/// same bytes. measure_size.py has the same formula.
inline void make_row(std::uint32_t i, Sample& sample) noexcept {
    std::memset(&sample, 0, sizeof sample);
    sample.t_ms = 4 * i;
    sample.accel[0] = static_cast<std::int16_t>(i);
    sample.accel[1] = static_cast<std::int16_t>(-static_cast<std::int32_t>(i));
    sample.accel[2] = static_cast<std::int16_t>(i & 15U);
    sample.temp_c = 20.0F + 0.5F * static_cast<float>(i & 31U);
}

/// Caches of 2 KiB for metadata and of one chunk.
inline constexpr h5mote::FileAccess kAccess = [] {
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = kChunkBytes;
    return access;
}();

/// Creation properties with addresses of `sizeof_addr` bytes.
constexpr h5mote::FileCreate file_create(std::uint8_t sizeof_addr) noexcept {
    h5mote::FileCreate create;
    create.sizeof_addr = sizeof_addr;
    return create;
}

inline constexpr h5mote::DatasetCreate kLayout = [] {
    h5mote::DatasetCreate create;
    create.chunk = {kChunkRows};
    return create;
}();

}  // namespace reference
