// Layout: length of the decoded bytes (4 bytes, little-endian), then one stream of bits, from the highest of each byte.
//
// The samples of a scanline, filled up to whole blocks, are coded block by block. With preprocessing (option NN) the
// first sample of a scanline, the reference, stands as it is, and each other one as its mapped difference from the one
// before it. A block begins with its coding option, of 3, 4 or 5 bits for samples of up to 8, 16 or 32:
//   0, then 0  a run of blocks whose samples are all 0: the number of blocks as a count of zero bits
//   0, then 1  second extension: two samples in one count of zero bits
//   all ones   the samples as they are
//   k + 1      of each sample all but the low k bits, as a count of zero bits; then of each sample the low k bits
// Pixels of 32 and 64 bits are coded as samples of 8: the first bytes of all of them, then the second bytes, ...
// CCSDS 121.0-B, sections 3 and 4.
#include <h5mote/filters/szip.hpp>

#include "bit_reader.hpp"
#include "cursor.hpp"

namespace h5mote {
namespace {

constexpr std::size_t kPrefix = 4;
constexpr std::uint32_t kMostPixelsOfBlock = 32;
constexpr std::uint32_t kMostPixelsOfLine = 1U << 24;
constexpr std::uint32_t kOptionMsb = 16;
constexpr std::uint32_t kOptionPreprocess = 32;

/// The count of zero blocks that stands for the rest of a segment of 64 blocks; larger counts are stored one too large.
constexpr std::uint32_t kRestOfSegment = 5;
constexpr std::uint32_t kSegment = 64;
/// Number of the last pair of the second extension.
constexpr std::uint32_t kMostPairs = 90;

/// Where decoded samples go: undoes the preprocessing, drops what only fills a scanline up, writes pixels.
class SampleWriter {
public:
    /// False when the options make no sense.
    bool open(const FilterSpec& spec, Bytes out) noexcept;
    unsigned sample_bits() const noexcept { return sample_bits_; }
    std::uint32_t block() const noexcept { return block_; }
    /// Blocks of a scanline.
    std::uint32_t blocks() const noexcept { return padded_ / block_; }
    /// Blocks of this scanline that are done, at the start of a block.
    std::uint32_t blocks_done() const noexcept { return column_ / block_; }
    /// Whether the next sample stands in the stream as it is.
    bool at_reference() const noexcept { return preprocess_ && column_ == 0; }
    bool full() const noexcept { return left_ == 0; }
    void put(std::uint32_t sample) noexcept;

private:
    std::byte* out_ = nullptr;
    std::size_t size_ = 0;
    std::size_t left_ = 0;  // bytes to write
    std::size_t at_ = 0;    // offset of the next pixel
    std::size_t plane_ = 0;
    std::size_t step_ = 1;       // bytes from one pixel to the next
    std::uint32_t block_ = 0;    // pixels of a block
    std::uint32_t line_ = 0;     // pixels of a scanline
    std::uint32_t padded_ = 0;   // filled up to whole blocks
    std::uint32_t column_ = 0;   // of the next sample in its padded scanline
    std::uint32_t largest_ = 0;  // largest value of a sample
    std::uint32_t before_ = 0;   // the sample before
    std::uint8_t sample_bits_ = 0;
    std::uint8_t pixel_ = 1;  // bytes of a sample
    bool preprocess_ = false;
    bool msb_ = false;
};

bool SampleWriter::open(const FilterSpec& spec, Bytes out) noexcept {
    const std::uint32_t options = spec.value(0);
    block_ = spec.value(1);
    const std::uint32_t pixel_bits = spec.value(2);
    line_ = spec.value(3);
    const bool planes = pixel_bits == 32 || pixel_bits == 64;
    if (spec.value_count != 4 || pixel_bits == 0 || (pixel_bits > 32 && !planes) || block_ < 2 ||
        block_ > kMostPixelsOfBlock || block_ % 2 != 0 || line_ == 0 || line_ > kMostPixelsOfLine) {
        return false;
    }
    sample_bits_ = planes ? 8 : static_cast<std::uint8_t>(pixel_bits);
    pixel_ = sample_bits_ > 16 ? 4 : sample_bits_ > 8 ? 2 : 1;
    step_ = planes ? pixel_bits / 8 : pixel_;
    padded_ = line_ + (block_ - line_ % block_) % block_;
    largest_ = (1U << sample_bits_) - 1;
    preprocess_ = (options & kOptionPreprocess) != 0;
    msb_ = (options & kOptionMsb) != 0;
    out_ = out.data();
    size_ = left_ = out.size();
    return !planes || size_ % step_ == 0;
}

void SampleWriter::put(std::uint32_t sample) noexcept {
    if (preprocess_) {
        if (column_ != 0) {
            // Odd values stand for steps down, even ones for steps up, as long as both are possible; larger values for
            // steps in the one direction that is left.
            const std::uint32_t half = sample / 2 + sample % 2;
            const std::uint32_t mirror = before_ > largest_ / 2 ? largest_ : 0;
            if (half > (mirror ^ before_)) {
                sample ^= mirror;
            } else {
                sample = sample % 2 != 0 ? before_ - half : before_ + half;
            }
        }
        before_ = sample;
    }
    const bool wanted = column_ < line_;
    ++column_;
    column_ = column_ == padded_ ? 0 : column_;
    if (!wanted) {
        return;
    }
    for (unsigned i = 0; i < pixel_ && left_ > 0; ++i, --left_) {
        out_[at_ + i] = static_cast<std::byte>(sample >> 8 * (msb_ ? pixel_ - 1U - i : i));
    }
    at_ += step_;
    if (at_ >= size_) {
        at_ = ++plane_;
    }
}

class SzipDecoder {
public:
    SzipDecoder(ConstBytes in, SampleWriter& samples) noexcept : bits_(in), samples_(samples) {}
    /// Decodes until the samples are complete; false when the stream does not have them.
    bool run() noexcept;

private:
    bool zero_blocks(std::uint32_t left) noexcept;
    bool pairs(std::uint32_t left) noexcept;
    void split(std::uint32_t left, unsigned low_bits) noexcept;
    std::uint32_t sample() noexcept { return static_cast<std::uint32_t>(bits_.wide(samples_.sample_bits())); }

    BitReader bits_;
    SampleWriter& samples_;
};

bool SzipDecoder::run() noexcept {
    const unsigned option_bits = samples_.sample_bits() > 16 ? 5 : samples_.sample_bits() > 8 ? 4 : 3;
    while (!samples_.full()) {
        const std::uint32_t option = bits_.bits(option_bits);
        const bool low_entropy = option == 0;
        const bool extension = low_entropy && bits_.bits(1) != 0;
        const bool uncoded = option + 1 == 1U << option_bits;
        std::uint32_t left = samples_.block();
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

bool SzipDecoder::zero_blocks(std::uint32_t left) noexcept {
    // blocks_done() does not count the block that a reference sample has begun.
    const std::uint32_t done = samples_.blocks_done();
    const std::uint32_t rest = samples_.blocks() - done;
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
    for (left += (count - 1) * samples_.block(); left > 0; --left) {
        samples_.put(0);
    }
    return true;
}

// Pair number n counts through the pairs by their sum: (0,0) (1,0) (0,1) (2,0) (1,1) (0,2) ...
bool SzipDecoder::pairs(std::uint32_t left) noexcept {
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

void SzipDecoder::split(std::uint32_t left, unsigned low_bits) noexcept {
    std::uint32_t high[kMostPixelsOfBlock];
    for (std::uint32_t i = 0; i < left; ++i) {
        high[i] = bits_.zeros();
    }
    for (std::uint32_t i = 0; i < left; ++i) {
        samples_.put((high[i] << low_bits) + static_cast<std::uint32_t>(bits_.wide(low_bits)));
    }
}

}  // namespace

FilterId SzipFilter::id() const noexcept { return FilterId::szip; }

std::size_t SzipFilter::encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept {
    return size > SIZE_MAX - kPrefix ? SIZE_MAX : size + kPrefix;
}

Status SzipFilter::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
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
    return SzipDecoder(in.subspan(kPrefix), samples).run() ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote
