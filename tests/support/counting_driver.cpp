#include "counting_driver.hpp"

namespace h5mote_test {

using h5mote::Status;

Status CountingDriver::read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept {
    const Status status = inner().read(usage, address, to);
    DriverCounts& counts = counts_[static_cast<unsigned>(usage)];
    ++counts.reads;
    counts.bytes_read += status == Status::ok ? to.size() : 0;
    return status;
}

Status CountingDriver::write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept {
    const Status status = inner().write(usage, address, from);
    DriverCounts& counts = counts_[static_cast<unsigned>(usage)];
    ++counts.writes;
    counts.bytes_written += status == Status::ok ? from.size() : 0;
    return status;
}

Status CountingDriver::sync() noexcept {
    ++syncs_;
    return inner().sync();
}

Status CountingDriver::truncate(std::uint64_t size) noexcept {
    ++truncates_;
    return inner().truncate(size);
}

DriverCounts CountingDriver::total() const noexcept {
    DriverCounts sum;
    for (const DriverCounts& each : counts_) {
        sum.reads += each.reads;
        sum.writes += each.writes;
        sum.bytes_read += each.bytes_read;
        sum.bytes_written += each.bytes_written;
    }
    return sum;
}

void CountingDriver::reset() noexcept {
    for (DriverCounts& each : counts_) {
        each = DriverCounts{};
    }
    syncs_ = truncates_ = 0;
}

}  // namespace h5mote_test
