#include "conversion.hpp"

#include <cstring>

namespace h5mote {
namespace {

// With a size known at compile time memcpy() becomes a single load and store.
template <std::size_t kBytes>
void copy_each(std::size_t count, const std::byte* from, std::size_t from_stride, std::byte* to,
               std::size_t to_stride) noexcept {
    for (; count > 0; --count, from += from_stride, to += to_stride) {
        std::memcpy(to, from, kBytes);
    }
}

}  // namespace

void Conversion::reset() noexcept {
    if (plan_ != nullptr) {
        context_->release(MemoryKind::type, plan_, plan_bytes_);
    }
    plan_ = nullptr;
    run_ = nullptr;
    empty_ = nullptr;
    size_ = 0;
    partial_ = false;
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
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // Common sizes of values that do not follow each other directly.
        switch (count > 1 ? bytes : 0) {
            case 2:
                return copy_each<2>(count, from, from_stride, to, to_stride);
            case 4:
                return copy_each<4>(count, from, from_stride, to, to_stride);
            case 8:
                return copy_each<8>(count, from, from_stride, to, to_stride);
            default:
                break;
        }
    }
    for (; count > 0; --count, from += from_stride, to += to_stride) {
        std::memcpy(to, from, bytes);
    }
}

}  // namespace h5mote
