#include "recording_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace h5mote_test {

using h5mote::Status;

RecordingDriver::RecordingDriver(h5mote::Driver& inner) : ForwardingDriver(inner) {
    std::uint64_t size = 0;
    Status status = inner.end_of_file(size);
    if (status == Status::ok) {
        initial_.resize(static_cast<std::size_t>(size));
        status = inner.read(h5mote::Usage::raw_data, 0, {initial_.data(), initial_.size()});
    }
    if (status != Status::ok) {
        // A recording without its beginning would make every test that follows meaningless.
        std::fprintf(stderr, "RecordingDriver: the storage cannot be read\n");
        std::abort();
    }
}

Status RecordingDriver::write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept {
    const Status status = inner().write(usage, address, from);
    if (status == Status::ok) {
        operations_.push_back({DriverOperation::Kind::write, usage, address, {from.begin(), from.end()}});
    }
    return status;
}

Status RecordingDriver::sync() noexcept {
    const Status status = inner().sync();
    if (status == Status::ok) {
        operations_.push_back({});
    }
    return status;
}

Status RecordingDriver::truncate(std::uint64_t size) noexcept {
    const Status status = inner().truncate(size);
    if (status == Status::ok) {
        operations_.push_back({DriverOperation::Kind::truncate, h5mote::Usage::raw_data, size, {}});
    }
    return status;
}

void RecordingDriver::apply(Image& image, const DriverOperation& operation, std::size_t limit) {
    const auto address = static_cast<std::size_t>(operation.address);
    if (operation.kind == DriverOperation::Kind::truncate) {
        image.resize(address);
    } else if (operation.kind == DriverOperation::Kind::write) {
        const std::size_t count = std::min(limit, operation.bytes.size());
        if (count > 0 && image.size() < address + count) {
            image.resize(address + count);
        }
        std::copy_n(operation.bytes.begin(), count,
                    image.begin() + static_cast<std::ptrdiff_t>(count > 0 ? address : 0));
    }
}

RecordingDriver::Image RecordingDriver::image(std::size_t count) const {
    Image image = initial_;
    for (std::size_t i = 0; i < count && i < operations_.size(); ++i) {
        apply(image, operations_[i]);
    }
    return image;
}

RecordingDriver::Image RecordingDriver::image_torn(std::size_t count, std::size_t torn_bytes) const {
    Image image = this->image(count);
    if (count < operations_.size() && operations_[count].kind == DriverOperation::Kind::write) {
        apply(image, operations_[count], torn_bytes);
    }
    return image;
}

std::vector<std::size_t> RecordingDriver::tears(std::size_t index, std::uint32_t unit) const {
    std::vector<std::size_t> result;
    if (index < operations_.size() && operations_[index].kind == DriverOperation::Kind::write) {
        const DriverOperation& operation = operations_[index];
        for (auto at = static_cast<std::size_t>(unit - operation.address % unit); at < operation.bytes.size();
             at += unit) {
            result.push_back(at);
        }
    }
    return result;
}

std::size_t RecordingDriver::synced(std::size_t count) const noexcept {
    for (std::size_t i = std::min(count, operations_.size()); i > 0; --i) {
        if (operations_[i - 1].kind == DriverOperation::Kind::sync) {
            return i;
        }
    }
    return 0;
}

}  // namespace h5mote_test
