// Writes the logger's file: the datasets /flight/imu and /flight/health, with attributes that name the units. Here with
// the object model, which creates and finds everything while the program runs; blueprint_recorder.hpp does it with a
// file that the compiler made.
#pragma once

#include "flight.hpp"
#include "recorder_types.hpp"

#include <h5mote/h5mote.hpp>

namespace logger {

/// The limits that the recorder stays within, from which required_memory() follows: both datasets open, and one chunk
/// of each in memory.
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
    using Storage = h5mote::Driver;
    static constexpr bool kCanCompress = H5MOTE_LOGGER_COMPRESS != 0;
    static constexpr bool kKnowsFile = true;

    /// Creates the file, or continues the file that is in the storage. `options.compress` matters for new datasets
    /// only. After ok the datasets and all their attributes are durable. The storage is borrowed until close(). Errors:
    /// those of h5mote.
    h5mote::Status open(Storage& storage, const RecorderOptions& options) noexcept;
    /// Appends a row to /flight/imu. With the first row of every second, also appends a row about the logger itself to
    /// /flight/health.
    h5mote::Status add(const ImuRow& row) noexcept;
    /// Makes all added rows durable.
    h5mote::Status flush() noexcept { return file_.flush(); }
    h5mote::Status close() noexcept;

    /// Number of rows in /flight/imu.
    std::uint64_t rows() const noexcept { return rows_; }
    /// Size of the file in bytes; valid after close().
    std::uint64_t file_size() const noexcept { return file_size_; }
    MemoryUse memory() const noexcept;
    /// Prints the error trail.
    void print_errors() const noexcept;

private:
    h5mote::Status open_file(bool compress) noexcept;
    h5mote::Status open_imu(h5mote::Group& flight, bool compress) noexcept;
    h5mote::Status open_health(h5mote::Group& flight) noexcept;
    h5mote::Status describe(h5mote::Group& flight) noexcept;

    Storage* storage_ = nullptr;
    h5mote::File file_;
    h5mote::TypedDataset<ImuRow> imu_;
    h5mote::TypedDataset<HealthRow> health_;
    std::uint64_t rows_ = 0;
    HealthClock clock_;
    std::uint64_t file_size_ = 0;
};

}  // namespace logger
