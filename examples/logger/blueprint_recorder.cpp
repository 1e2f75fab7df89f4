#include "blueprint_recorder.hpp"

#include "console.hpp"
#include "flight_blueprint.hpp"

#include <h5mote/recorder.hpp>

namespace logger {
namespace {

using h5mote::Status;

h5mote::Recorder<kFlight> recorder;

}  // namespace

Status Recorder::open(Storage& storage, const RecorderOptions& /*options*/) noexcept {
    storage_ = &storage;
    H5MOTE_TRY(recorder.open(storage));
    // A power cut between the two dimensions of a flush leaves times without rows, or rows without times.
    const h5mote::Address times = recorder.rows<kTime>();
    const h5mote::Address rows = recorder.rows<kImu>();
    rows_ = times < rows ? times : rows;
    return times < rows ? recorder.set_extent<kImu>(times) : recorder.set_extent<kTime>(rows);
}

Status Recorder::add(const ImuRow& row) noexcept {
    H5MOTE_TRY(recorder.append<kTime>(row.t_us));
    H5MOTE_TRY(recorder.append<kImu>(values_of(row)));
    ++rows_;
    return clock_.is_due(row.t_us) ? recorder.append<kHealth>(HealthClock::row(row.t_us, rows_)) : Status::ok;
}

Status Recorder::flush() noexcept { return recorder.flush(); }

Status Recorder::close() noexcept {
    const Status status = recorder.is_open() ? recorder.close() : Status::ok;
    const Status size = storage_->end_of_file(file_size_);
    return status == Status::ok ? size : status;
}

MemoryUse Recorder::memory() const noexcept { return {sizeof recorder, sizeof recorder}; }

void Recorder::print_errors() const noexcept {
    if (recorder.difference() != 0) {
        Line{Line::To::errors} << "  the file differs at " << std::uint64_t{recorder.difference()};
    }
}

}  // namespace logger
