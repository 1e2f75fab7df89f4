// The filter as the library sees it; a Backend (deflate_backend.hpp) does the work.
#include <h5mote/filters/deflate.hpp>

#include "deflate_backend.hpp"

namespace h5mote {
namespace {

bool sound(const FilterSpec& spec) noexcept { return spec.value_count == 1 && spec.value(0) <= 9; }

}  // namespace

FilterId DeflateFilter::id() const noexcept { return FilterId::deflate; }

Status DeflateFilter::set_local(FilterSpec& spec, const FilterTarget& /*target*/) const noexcept {
    return sound(spec) ? Status::ok : Status::invalid_argument;
}

std::size_t DeflateFilter::encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept {
    if (spec.optional) {
        return size == 0 ? 0 : size - 1;
    }
    // The frame, and the heads of stored blocks, which hold 32 KiB if written by this library, and at least 16 KiB by
    // zlib.
    const std::size_t extra = 16 + size / 2048;
    return size > SIZE_MAX - extra ? SIZE_MAX : size + extra;
}

std::size_t DeflateFilter::scratch_need(bool encode, std::size_t /*size*/) const noexcept {
    return deflate::Backend::scratch_need(encode);
}

Status DeflateFilter::encode([[maybe_unused]] const FilterSpec& spec, [[maybe_unused]] ConstBytes in,
                             [[maybe_unused]] Bytes out, [[maybe_unused]] std::size_t& size,
                             [[maybe_unused]] Bytes scratch) const noexcept {
    if constexpr (H5MOTE_WRITE != 0) {
        return sound(spec) ? deflate::Backend::encode(spec.value(0), in, out, size, scratch) : Status::invalid_argument;
    } else {
        return Status::read_only;
    }
}

Status DeflateFilter::decode(const FilterSpec& /*spec*/, ConstBytes in, Bytes out, std::size_t& size,
                             Bytes scratch) const noexcept {
    return deflate::Backend::decode(in, out, size, scratch);
}

}  // namespace h5mote
