// The decoder; szip_shape.hpp has the layout.
#include <h5mote/filters/szip.hpp>

#include "bit_reader.hpp"
#include "cursor.hpp"
#include "szip_shape.hpp"

namespace h5mote {
namespace {

using szip::kMostPixelsOfBlock;
using szip::kPrefix;
using szip::kRestOfSegment;
using szip::kSegment;

/// Number of the last pair of the second extension.
constexpr std::uint32_t kMostPairs = 90;

/// Where decoded samples go: undoes the preprocessing, drops what only fills a scanline up, writes pixels.
class SampleWriter {
public:
    /// False when the options make no sense.
    bool open(const FilterSpec& spec, Bytes out) noexcept {
        out_ = out.data();
        size_ = left_ = out.size();
        return shape_.open(spec, out.size());
    }
    const szip::Shape& shape() const noexcept { return shape_; }
    /// Blocks of this scanline that are done, at the start of a block.
    std::uint32_t blocks_done() const noexcept { return column_ / shape_.block; }
    /// Whether the next sample stands in the stream as it is.
    bool at_reference() const noexcept { return shape_.preprocess && column_ == 0; }
    bool full() const noexcept { return left_ == 0; }
    void put(std::uint32_t sample) noexcept;

private:
    szip::Shape shape_;
    std::byte* out_ = nullptr;
    std::size_t size_ = 0;
    std::size_t left_ = 0;  // bytes to write
    std::size_t at_ = 0;    // offset of the next pixel
    std::size_t plane_ = 0;
    std::uint32_t column_ = 0;  // of the next sample in its padded scanline
    std::uint32_t before_ = 0;  // the sample before
};

void SampleWriter::put(std::uint32_t sample) noexcept {
    if (shape_.preprocess) {
        if (column_ != 0) {
            // Odd values stand for steps down, even ones for steps up, as long as both are possible; larger values for
            // steps in the one direction that is left.
            const std::uint32_t half = sample / 2 + sample % 2;
            const std::uint32_t mirror = before_ > shape_.largest / 2 ? shape_.largest : 0;
            if (half > (mirror ^ before_)) {
                sample ^= mirror;
            } else {
                sample = sample % 2 != 0 ? before_ - half : before_ + half;
            }
        }
        before_ = sample;
    }
    const bool wanted = column_ < shape_.line;
    ++column_;
    column_ = column_ == shape_.padded ? 0 : column_;
    if (!wanted) {
        return;
    }
    for (unsigned i = 0; i < shape_.sample_bytes && left_ > 0; ++i, --left_) {
        out_[at_ + i] = static_cast<std::byte>(sample >> 8 * (shape_.msb ? shape_.sample_bytes - 1U - i : i));
    }
    at_ += shape_.step;
    if (at_ >= size_) {
        at_ = ++plane_;
    }
}

class SampleDecoder {
public:
    SampleDecoder(ConstBytes in, SampleWriter& samples) noexcept : bits_(in), samples_(samples) {}
    /// Decodes until the samples are complete; false when the stream does not have them.
    bool run() noexcept;

private:
    bool zero_blocks(std::uint32_t left) noexcept;
    bool pairs(std::uint32_t left) noexcept;
    void split(std::uint32_t left, unsigned low_bits) noexcept;
    std::uint32_t sample() noexcept { return static_cast<std::uint32_t>(bits_.wide(samples_.shape().sample_bits)); }

    BitReader bits_;
    SampleWriter& samples_;
};

bool SampleDecoder::run() noexcept {
    const unsigned option_bits = samples_.shape().option_bits();
    while (!samples_.full()) {
        const std::uint32_t option = bits_.bits(option_bits);
        const bool low_entropy = option == 0;
        const bool extension = low_entropy && bits_.bits(1) != 0;
        const bool uncoded = option + 1 == 1U << option_bits;
        std::uint32_t left = samples_.shape().block;
        if (samples_.at_reference() && !uncoded) {
            samples_.put(sample());
            --left;
        }
        bool sound = true;
        if (uncoded) {
            for (; left > 0; --left) {
                samples_.put(sample());
            }
        } else if (extension) {
            sound = pairs(left);
        } else if (low_entropy) {
            sound = zero_blocks(left);
        } else {
            split(left, option - 1);
        }
        if (!sound || !bits_.ok()) {
            return false;
        }
    }
    return true;
}

bool SampleDecoder::zero_blocks(std::uint32_t left) noexcept {
    // blocks_done() does not count the block that a reference sample has begun.
    const std::uint32_t done = samples_.blocks_done();
    const std::uint32_t rest = samples_.shape().blocks() - done;
    std::uint32_t count = bits_.zeros() + 1;
    if (count == kRestOfSegment) {
        const std::uint32_t segment = kSegment - done % kSegment;
        count = rest < segment ? rest : segment;
    } else if (count > kRestOfSegment) {
        --count;
    }
    if (!bits_.ok() || count > rest) {
        return false;
    }
    for (left += (count - 1) * samples_.shape().block; left > 0; --left) {
        samples_.put(0);
    }
    return true;
}

// Pair number n counts through the pairs by their sum: (0,0) (1,0) (0,1) (2,0) (1,1) (0,2) ...
bool SampleDecoder::pairs(std::uint32_t left) noexcept {
    while (left > 0) {
        std::uint32_t second = bits_.zeros();
        if (!bits_.ok() || second > kMostPairs) {
            return false;
        }
        std::uint32_t sum = 0;
        for (; second > sum; ++sum) {
            second -= sum + 1;
        }
        // After a reference sample only the second of the first pair is wanted.
        if (left % 2 == 0) {
            samples_.put(sum - second);
            --left;
        }
        samples_.put(second);
        --left;
    }
    return true;
}

void SampleDecoder::split(std::uint32_t left, unsigned low_bits) noexcept {
    std::uint32_t high[kMostPixelsOfBlock];
    for (std::uint32_t i = 0; i < left; ++i) {
        high[i] = bits_.zeros();
    }
    for (std::uint32_t i = 0; i < left; ++i) {
        samples_.put((high[i] << low_bits) + static_cast<std::uint32_t>(bits_.wide(low_bits)));
    }
}

}  // namespace

FilterId SzipDecoder::id() const noexcept { return FilterId::szip; }

std::size_t SzipDecoder::encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept {
    return size > SIZE_MAX - kPrefix ? SIZE_MAX : size + kPrefix;
}

Status SzipDecoder::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                           Bytes /*scratch*/) const noexcept {
    if (in.size() < kPrefix) {
        return Status::corrupt_file;
    }
    size = load_le<std::uint32_t>(in.data());
    if (size > out.size()) {
        return Status::corrupt_file;
    }
    SampleWriter samples;
    if (!samples.open(spec, out.first(size))) {
        return Status::corrupt_file;
    }
    return SampleDecoder(in.subspan(kPrefix), samples).run() ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote
