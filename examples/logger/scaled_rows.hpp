// The rows of the flight with their times beside them: /flight/t_us is the dimension scale of /flight/imu. For loggers
// whose machine has the memory.
#pragma once

#include "flight.hpp"

#include <h5mote/h5mote.hpp>

namespace logger {

class ScaledRows {
public:
    /// Creates or opens both datasets, and attaches the one to the other. `layout`: of each. Rows or times that a power
    /// cut left alone, and that no flush had covered, are taken back. Errors: those of h5mote.
    h5mote::Status open(h5mote::Group& flight, const h5mote::DatasetCreate& layout) noexcept;
    h5mote::Status append(const ImuRow& row) noexcept {
        H5MOTE_TRY(times_.append(row.t_us));
        return values_.append(values_of(row));
    }
    /// /flight/imu; `in_rows` is that of a logger that has no memory for scales.
    h5mote::Object& values(h5mote::Object& /*in_rows*/) noexcept { return values_; }
    std::uint64_t size() const noexcept { return values_.size(); }
    h5mote::Status close() noexcept;

private:
    h5mote::Status align() noexcept;

    h5mote::TypedDataset<std::uint64_t> times_;
    h5mote::TypedDataset<ImuValues> values_;
};

/// In its place where the machine has not.
class NoScaledRows {
public:
    h5mote::Status open(h5mote::Group&, const h5mote::DatasetCreate&) noexcept { return h5mote::Status::unsupported; }
    h5mote::Status append(const ImuRow&) noexcept { return h5mote::Status::unsupported; }
    h5mote::Object& values(h5mote::Object& in_rows) noexcept { return in_rows; }
    std::uint64_t size() const noexcept { return 0; }
    h5mote::Status close() noexcept { return h5mote::Status::ok; }
};

}  // namespace logger
