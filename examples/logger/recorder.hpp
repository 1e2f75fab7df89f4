// The logger's file: /flight/imu and /flight/health, with what their numbers mean.
#pragma once

#include "flight.hpp"

#include <h5mote/h5mote.hpp>

namespace logger {

/// Rows of /flight/imu in one chunk: what stays in memory, and what is written at once.
inline constexpr std::uint32_t kImuChunk = 64;
inline constexpr std::uint32_t kHealthChunk = 16;
inline constexpr std::size_t kChunkBytes = kImuChunk * sizeof(ImuRow) + kHealthChunk * sizeof(HealthRow);

/// What the recorder needs of an arena: both datasets open, a chunk of each in memory.
constexpr h5mote::Limits recorder_limits(bool compress) noexcept {
    h5mote::Limits limits;
    limits.access.metadata_cache = compress ? 2048 : 1024;
    limits.access.chunk_cache = kChunkBytes;
    limits.open_datasets = 2;
    limits.chunk_buffers = 2;
    if (compress) {
        limits.filters = 2;
        limits.filter_work = 3168 + 2 * kImuChunk * sizeof(ImuRow);
    }
    return limits;
}

class Recorder {
public:
    /// The library is borrowed.
    explicit Recorder(h5mote::Library& library) noexcept : library_(library) {}

    /// Creates the file, or goes on with the one that is there. `compress` counts for new ones. Durable when it
    /// returns ok: an empty recording with all attributes. The storage is borrowed until close(). Errors as h5mote's.
    h5mote::Status open(h5mote::Driver& storage, bool compress) noexcept;
    /// One row, and with the first of every second one about the logger's health.
    h5mote::Status add(const ImuRow& row) noexcept;
    /// Makes durable what was added.
    h5mote::Status flush() noexcept { return file_.flush(); }
    h5mote::Status close() noexcept;

    /// Of /flight/imu.
    std::uint64_t rows() const noexcept { return rows_; }
    /// Bytes of the file, after close().
    std::uint64_t file_size() const noexcept { return file_size_; }

private:
    h5mote::Status open_file(bool compress) noexcept;
    h5mote::Status open_imu(h5mote::Group& flight, bool compress) noexcept;
    h5mote::Status open_health(h5mote::Group& flight) noexcept;
    h5mote::Status describe(h5mote::Group& flight) noexcept;

    h5mote::Library& library_;
    h5mote::Driver* storage_ = nullptr;
    h5mote::File file_;
    h5mote::TypedDataset<ImuRow> imu_;
    h5mote::TypedDataset<HealthRow> health_;
    std::uint64_t rows_ = 0;
    std::uint64_t next_health_us_ = 0;
    std::uint64_t file_size_ = 0;
};

}  // namespace logger
