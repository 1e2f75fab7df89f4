// Writes the logger's file as recorder.hpp does, but the compiler makes the empty file.
#pragma once

#include "flight.hpp"
#include "memory_use.hpp"

#include <h5mote/driver.hpp>

namespace logger {

class Recorder {
public:
    static constexpr bool kCanCompress = false;

    /// Makes the file, or continues the one in the storage, which is borrowed until close(). Errors: those of
    /// h5mote::Recorder.
    h5mote::Status open(h5mote::Driver& storage, bool compress) noexcept;
    /// Appends a row to /flight/imu. With the first row of every second, also appends a row about the logger itself to
    /// /flight/health.
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
    h5mote::Driver* storage_ = nullptr;
    HealthClock clock_;
    std::uint64_t rows_ = 0;
    std::uint64_t file_size_ = 0;
};

}  // namespace logger
