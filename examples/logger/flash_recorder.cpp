#include "flash_recorder.hpp"

#include "flight_blueprint.hpp"

#include <h5mote/flash_recorder.hpp>

namespace logger {
namespace {

using h5mote::Status;

h5mote::FlashRecorder<kFlightInRows> recorder;

}  // namespace

Status Recorder::open(Storage& chip, const RecorderOptions& options) noexcept {
    return options.format ? recorder.format(chip) : recorder.open(chip);
}

Status Recorder::add(const ImuRow& row) noexcept {
    H5MOTE_TRY(recorder.append<kImuInRows>(row));
    ++rows_;
    return clock_.is_due(row.t_us) ? recorder.append<kHealthInRows>(HealthClock::row(row.t_us, rows_)) : Status::ok;
}

Status Recorder::flush() noexcept { return recorder.flush(); }

Status Recorder::close() noexcept { return recorder.is_open() ? recorder.close() : Status::ok; }

MemoryUse Recorder::memory() const noexcept { return {sizeof recorder, sizeof recorder}; }

}  // namespace logger
