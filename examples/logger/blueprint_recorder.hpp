// Writes the logger's file as recorder.hpp does, but the compiler makes the empty file.
#pragma once

#include "flight.hpp"
#include "recorder_types.hpp"

#include <h5mote/driver.hpp>

namespace logger {

class Recorder {
public:
    using Storage = h5mote::Driver;
    static constexpr bool kCanCompress = false;
    static constexpr bool kCanScale = false;  // on request: this recorder's file is always the same
    static constexpr bool kKnowsFile = true;

    /// Makes the file, or continues the one in the storage, which is borrowed until close(). Errors: those of
    /// h5mote::Recorder.
    h5mote::Status open(Storage& storage, const RecorderOptions& options) noexcept;
    /// Appends a row to /flight/imu. With the first row of every second, also appends a row about the logger itself to
    /// /health.
    h5mote::Status add(const ImuRow& row) noexcept;
    /// Makes all added rows durable.
    h5mote::Status flush() noexcept;
    h5mote::Status close() noexcept;

    /// Number of rows in /flight/imu.
    std::uint64_t rows() const noexcept { return rows_; }
    /// Size of the file in bytes; valid after close().
    std::uint64_t file_size() const noexcept { return file_size_; }
    MemoryUse memory() const noexcept;
    /// Says where a file differs that is not this logger's.
    void print_errors() const noexcept;

private:
    Storage* storage_ = nullptr;
    HealthClock clock_;
    std::uint64_t rows_ = 0;
    std::uint64_t file_size_ = 0;
};

}  // namespace logger
