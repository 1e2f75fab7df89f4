// Writes the logger's file: the datasets /flight/imu and /health, with attributes that name the units. Here with
// the object model, which creates and finds everything while the program runs; blueprint_recorder.hpp does it with a
// file that the compiler made.
#pragma once

#include "flight.hpp"
#include "recorder_types.hpp"
#include "scaled_rows.hpp"

#include <h5mote/h5mote.hpp>

#include <type_traits>

namespace logger {

/// The limits that the recorder stays within, from which required_memory() follows: all datasets open, and one chunk
/// of each in memory. The lists that HDF5 wants for a scale stand in a block of 4 KiB, which is changed in memory.
constexpr h5mote::Limits recorder_limits(bool compress, bool scale) noexcept {
    h5mote::Limits limits;
    limits.access.metadata_cache = scale ? 8192 : compress ? 2048 : 1024;
    limits.access.chunk_cache = kChunkBytes;
    limits.open_datasets = scale ? 3 : 2;
    limits.chunk_buffers = scale ? 3 : 2;
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
    static constexpr bool kCanScale = kCanCompress;
    static constexpr bool kKnowsFile = true;

    /// Creates the file, or continues the file that is in the storage. `options.compress` matters for new datasets
    /// only, and type_mismatch says that the file was begun with another `options.scale`. After ok the datasets and all
    /// their attributes are durable. The storage is borrowed until close(). Errors: those of h5mote.
    h5mote::Status open(Storage& storage, const RecorderOptions& options) noexcept;
    /// Appends a row to /flight/imu. With the first row of every second, also appends a row about the logger itself to
    /// /health.
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
    h5mote::Status open_file(const RecorderOptions& options) noexcept;
    h5mote::Status open_imu(h5mote::Group& flight, const RecorderOptions& options) noexcept;
    h5mote::Status open_health() noexcept;
    h5mote::Status describe(h5mote::Group& flight) noexcept;
    h5mote::Status describe_imu(h5mote::Object& imu) noexcept;

    Storage* storage_ = nullptr;
    h5mote::File file_;
    // Only one of the two is open.
    h5mote::TypedDataset<ImuRow> imu_;
    std::conditional_t<kCanScale, ScaledRows, NoScaledRows> scaled_imu_;
    bool is_scaled_ = false;
    h5mote::TypedDataset<HealthRow> health_;
    std::uint64_t rows_ = 0;
    HealthClock clock_;
    std::uint64_t file_size_ = 0;
};

}  // namespace logger
