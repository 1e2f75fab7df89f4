#include "scaled_rows.hpp"

#include <h5mote/dimension_scale.hpp>

namespace logger {

using h5mote::Status;

Status ScaledRows::open(h5mote::Group& flight, const h5mote::DatasetCreate& layout) noexcept {
    auto values = flight.open_or_create_dataset<ImuValues>("imu", layout);
    values_ = std::move(*values);
    H5MOTE_TRY(values.status());
    // Rows that have their times within them could be converted, and rows without any times would be taken back.
    if (values_.element_size() != sizeof(ImuValues) || (values_.size() != 0 && !flight.exists("t_us"))) {
        return Status::type_mismatch;
    }
    auto times = flight.open_or_create_dataset<std::uint64_t>("t_us", layout);
    times_ = std::move(*times);
    H5MOTE_TRY(times.status());
    H5MOTE_TRY(align());
    if (!times_.has_attribute("units")) {
        H5MOTE_TRY(times_.write_attribute("units", "us"));
    }
    // Both do nothing where it is so already, and complete what a power cut ended.
    bool is_scale = false;
    H5MOTE_TRY(h5mote::DimensionScales::is_scale(times_, is_scale));
    if (!is_scale) {
        H5MOTE_TRY(h5mote::DimensionScales::set(times_, "t_us"));
    }
    return h5mote::DimensionScales::attach(values_, 0, times_);
}

Status ScaledRows::align() noexcept {
    const std::uint64_t times = times_.size();
    const std::uint64_t rows = values_.size();
    if (times == rows) {
        return Status::ok;
    }
    return times < rows ? values_.set_extent({times}) : times_.set_extent({rows});
}

Status ScaledRows::close() noexcept {
    const Status values = values_.close();
    const Status times = times_.close();
    return values == Status::ok ? times : values;
}

}  // namespace logger
