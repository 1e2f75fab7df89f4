#include "szip_shape.hpp"

namespace h5mote::szip {
namespace {

constexpr std::uint32_t kMostPixelsOfLine = 1U << 24;

}  // namespace

bool Shape::open(const FilterSpec& spec, std::size_t size) noexcept {
    const std::uint32_t options = spec.value(0);
    block = spec.value(1);
    const std::uint32_t pixel_bits = spec.value(2);
    line = spec.value(3);
    const bool planes = pixel_bits == 32 || pixel_bits == 64;
    if (spec.value_count != 4 || pixel_bits == 0 || (pixel_bits > 32 && !planes) || block < 2 ||
        block > kMostPixelsOfBlock || block % 2 != 0 || line == 0 || line > kMostPixelsOfLine) {
        return false;
    }
    sample_bits = planes ? 8 : static_cast<std::uint8_t>(pixel_bits);
    sample_bytes = sample_bits > 16 ? 4 : sample_bits > 8 ? 2 : 1;
    step = planes ? pixel_bits / 8 : sample_bytes;
    padded = line + (block - line % block) % block;
    largest = (1U << sample_bits) - 1;
    preprocess = (options & kOptionPreprocess) != 0;
    msb = (options & kOptionMsb) != 0;
    return !planes || size % step == 0;
}

}  // namespace h5mote::szip
