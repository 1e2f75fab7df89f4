// Writes the logger's file as blueprint_recorder.hpp does, but onto a flash chip without a file system: `h5mote
// extract` makes the file of a copy of the chip.
#pragma once

#include "flight.hpp"
#include "recorder_types.hpp"

#include <h5mote/vfd/flash_device.hpp>

namespace logger {

class Recorder {
public:
    using Storage = h5mote::FlashDevice;
    static constexpr bool kCanCompress = false;
    static constexpr bool kCanScale = false;  // on request: this recorder's file is always the same
    /// The log is never read back, so that nothing is known of what earlier runs recorded.
    static constexpr bool kKnowsFile = false;

    /// Begins a recording on a blank chip, and with `options.format` on any; else goes on with the one on the chip,
    /// which is borrowed until close(). Errors: those of h5mote::FlashRecorder.
    h5mote::Status open(Storage& chip, const RecorderOptions& options) noexcept;
    /// Appends a row to /flight/imu. With the first row of every second, also appends a row about the logger itself to
    /// /health.
    h5mote::Status add(const ImuRow& row) noexcept;
    /// Makes all added rows durable.
    h5mote::Status flush() noexcept;
    h5mote::Status close() noexcept;

    /// Number of rows that were added to /flight/imu since open().
    std::uint64_t rows() const noexcept { return rows_; }
    MemoryUse memory() const noexcept;
    void print_errors() const noexcept {}

private:
    HealthClock clock_;
    std::uint64_t rows_ = 0;
};

}  // namespace logger
