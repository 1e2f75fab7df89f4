#include "conversion.hpp"

#include <cstring>

namespace h5mote {

void Conversion::reset() noexcept {
    if (plan_ != nullptr) {
        context_->release(MemoryKind::type, plan_, plan_bytes_);
    }
    plan_ = nullptr;
    run_ = nullptr;
    size_ = 0;
}

Status Conversion::prepare_identical(DatatypeView from, DatatypeView to) noexcept {
    if (!identical_layout(from, to)) {
        return Status::type_mismatch;
    }
    reset();
    size_ = to.size();
    return Status::ok;
}

void Conversion::copy(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
                      std::size_t to_stride) const noexcept {
    std::size_t bytes = size_;
    if (from_stride == bytes && to_stride == bytes) {
        bytes *= count;
        count = bytes == 0 ? 0 : 1;
    }
    for (; count > 0; --count, from += from_stride, to += to_stride) {
        std::memcpy(to, from, bytes);
    }
}

}  // namespace h5mote
