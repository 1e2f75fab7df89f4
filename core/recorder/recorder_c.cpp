// The functions of <h5mote/recorder.h>.
#include <h5mote/recorder_c.hpp>

namespace h5mote {
namespace {

static_assert(H5MOTE_OK == static_cast<int>(Status::ok) &&
              H5MOTE_OVER_BUDGET == static_cast<int>(Status::over_budget) &&
              H5MOTE_INVALID_ARGUMENT == static_cast<int>(Status::invalid_argument) &&
              H5MOTE_INVALID_HANDLE == static_cast<int>(Status::invalid_handle) &&
              H5MOTE_CORRUPT_FILE == static_cast<int>(Status::corrupt_file) &&
              H5MOTE_UNSUPPORTED == static_cast<int>(Status::unsupported) &&
              H5MOTE_NOT_HDF5 == static_cast<int>(Status::not_hdf5) &&
              H5MOTE_READ_ONLY == static_cast<int>(Status::read_only) &&
              H5MOTE_IO_ERROR == static_cast<int>(Status::io_error) &&
              H5MOTE_NO_SPACE == static_cast<int>(Status::no_space) && H5MOTE_BUSY == static_cast<int>(Status::busy) &&
              H5MOTE_OTHER_BLUEPRINT == static_cast<int>(Status::other_blueprint) &&
              H5MOTE_FOREIGN_CHANGES == static_cast<int>(Status::foreign_changes));

// A storage that returns a number which is no status has failed.
Status status_of(int number) noexcept {
    return number >= 0 && number <= static_cast<int>(Status::foreign_changes) ? static_cast<Status>(number)
                                                                              : Status::io_error;
}

}  // namespace

namespace detail {

Capabilities CallbackDriver::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.atomic_unit = storage_->atomic_unit;
    capabilities.sync_is_commit = storage_->sync_is_commit != 0;
    capabilities.erased_value = storage_->erased_value;
    return capabilities;
}

Status CallbackDriver::read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept {
    return status_of(storage_->read(storage_->context, address, to.data(), to.size()));
}

Status CallbackDriver::write(Usage /*usage*/, std::uint64_t address, ConstBytes from) noexcept {
    return status_of(storage_->write(storage_->context, address, from.data(), from.size()));
}

Status CallbackDriver::sync() noexcept { return status_of(storage_->sync(storage_->context)); }

Status CallbackDriver::end_of_file(std::uint64_t& size) noexcept {
    return status_of(storage_->size(storage_->context, &size));
}

Status CallbackDriver::truncate(std::uint64_t size) noexcept {
    return status_of(storage_->truncate(storage_->context, size));
}

}  // namespace detail
}  // namespace h5mote

namespace {
int number_of(h5mote::Status status) noexcept { return static_cast<int>(status); }
}  // namespace

extern "C" {

const char* h5mote_status_text(int status) { return h5mote::to_string(static_cast<h5mote::Status>(status)); }

int h5mote_recorder_open(h5mote_recorder* recorder, const h5mote_storage* storage) {
    if (recorder->calls.is_open(*recorder)) {
        return H5MOTE_BUSY;
    }
    recorder->driver.set(storage);
    return number_of(recorder->calls.open(*recorder));
}

int h5mote_recorder_append(h5mote_recorder* recorder, unsigned dataset, const void* rows, size_t count) {
    return number_of(recorder->calls.append(*recorder, dataset, rows, count));
}

int h5mote_recorder_set(h5mote_recorder* recorder, unsigned setting, const void* value) {
    return number_of(recorder->calls.set(*recorder, setting, value));
}

int h5mote_recorder_flush(h5mote_recorder* recorder) { return number_of(recorder->calls.flush(*recorder)); }

int h5mote_recorder_close(h5mote_recorder* recorder) { return number_of(recorder->calls.close(*recorder)); }

void h5mote_recorder_abandon(h5mote_recorder* recorder) { recorder->calls.abandon(*recorder); }

uint64_t h5mote_recorder_rows(const h5mote_recorder* recorder, unsigned dataset) {
    return recorder->calls.rows(*recorder, dataset);
}

uint64_t h5mote_recorder_difference(const h5mote_recorder* recorder) { return recorder->calls.difference(*recorder); }
}
