// Layout of n elements of s bytes: byte 0 of all elements, byte 1 of all elements, ..., then what fills no element.
#include <h5mote/filters/shuffle.hpp>

#include <cstring>

namespace h5mote {
namespace {

// `gather`: elements -> planes; otherwise planes -> elements. Not inlined: both directions share the code.
__attribute__((noinline)) Status transpose(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                                           bool gather) noexcept {
    size = in.size();
    const std::size_t element = spec.value_count == 1 ? spec.value(0) : 0;
    if (element == 0) {
        return Status::invalid_argument;
    }
    if (size > out.size()) {
        return Status::no_space;
    }
    const std::size_t whole = size - size % element;
    const std::byte* from = in.data();
    std::byte* to = out.data();
    for (std::size_t plane = 0; plane < element && plane < whole; ++plane) {
        if (gather) {
            for (std::size_t at = plane; at < whole; at += element) {
                *to++ = in[at];
            }
        } else {
            for (std::size_t at = plane; at < whole; at += element) {
                out[at] = *from++;
            }
        }
    }
    if (whole < size) {
        std::memcpy(out.data() + whole, in.data() + whole, size - whole);
    }
    return Status::ok;
}

}  // namespace

FilterId ShuffleFilter::id() const noexcept { return FilterId::shuffle; }

Status ShuffleFilter::set_local(FilterSpec& spec, const FilterTarget& target) const noexcept {
    if (target.element_size == 0) {
        return Status::invalid_argument;
    }
    spec.value_count = 1;
    spec.values[0] = target.element_size;
    return Status::ok;
}

Status ShuffleFilter::encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                             Bytes /*scratch*/) const noexcept {
    return transpose(spec, in, out, size, true);
}

Status ShuffleFilter::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                             Bytes /*scratch*/) const noexcept {
    const Status status = transpose(spec, in, out, size, false);
    return status == Status::ok ? status : Status::corrupt_file;
}

}  // namespace h5mote
