// The encoder, which makes the same choices as libaec; szip_shape.hpp has the layout. It holds the samples of one
// block.
#include <h5mote/filters/szip.hpp>

#include "bit_writer.hpp"
#include "cursor.hpp"
#include "szip_shape.hpp"

namespace h5mote {
namespace {

using namespace szip;

constexpr std::uint32_t kMostBlocksOfLine = 128;
/// Two samples of this sum make a second extension longer than any block as it is.
constexpr std::uint64_t kTooLargePair = 46;

/// Where samples come from: reads pixels, fills scanlines up, and does the preprocessing.
class SampleReader {
public:
    SampleReader(const Shape& shape, ConstBytes in) noexcept : shape_(shape), in_(in), left_(in.size()) {}

    /// The next sample of a scanline, mapped. That of a reference is 0, and reference() its value.
    std::uint32_t next() noexcept;
    std::uint32_t reference() const noexcept { return reference_; }
    /// At the start of a scanline: whether no sample is left.
    bool done() const noexcept { return left_ == 0; }
    /// Whether all samples were such as are coded.
    bool ok() const noexcept { return ok_; }

private:
    std::uint32_t load() noexcept;

    const Shape& shape_;
    const ConstBytes in_;
    std::size_t left_;    // bytes to read
    std::size_t at_ = 0;  // offset of the next pixel
    std::size_t plane_ = 0;
    std::uint32_t column_ = 0;  // of the next sample in its padded scanline
    std::uint32_t before_ = 0;  // the sample before
    std::uint32_t reference_ = 0;
    bool ok_ = true;
};

std::uint32_t SampleReader::load() noexcept {
    std::uint32_t sample = 0;
    for (unsigned i = 0; i < shape_.sample_bytes; ++i) {
        const unsigned byte = shape_.msb ? i : shape_.sample_bytes - 1U - i;
        sample = sample << 8 | static_cast<std::uint32_t>(in_[at_ + byte]);
    }
    ok_ = ok_ && sample <= shape_.largest;
    left_ -= shape_.sample_bytes;
    at_ += shape_.step;
    if (at_ >= in_.size()) {
        at_ = ++plane_;
    }
    return sample;
}

std::uint32_t SampleReader::next() noexcept {
    // A scanline is filled up with its last sample, which has no difference from itself, or with zeros.
    const bool more = column_ < shape_.line && left_ > 0;
    const std::uint32_t sample = more ? load() : shape_.preprocess ? before_ : 0;
    const std::uint32_t before = before_;
    const bool first = column_ == 0;
    ++column_;
    column_ = column_ == shape_.padded ? 0 : column_;
    if (!shape_.preprocess) {
        return sample;
    }
    before_ = sample;
    if (first) {
        reference_ = sample;
        return 0;
    }
    // Odd values stand for steps down, even ones for steps up, as long as both are possible; larger values for steps in
    // the one direction that is left.
    if (sample >= before) {
        const std::uint32_t up = sample - before;
        return up <= before ? 2 * up : sample;
    }
    const std::uint32_t down = before - sample;
    return down <= shape_.largest - before ? 2 * down - 1 : shape_.largest - sample;
}

class SampleEncoder {
public:
    SampleEncoder(const Shape& shape, ConstBytes in, Bytes out) noexcept
        : shape_(shape), samples_(shape, in), bits_(out) {}

    Status run() noexcept;
    std::size_t finish() noexcept { return bits_.finish(); }
    bool fits() const noexcept { return bits_.ok(); }

private:
    bool load_block() noexcept;
    void zero_blocks(bool rest_of_segment) noexcept;
    void block() noexcept;
    std::uint64_t best_split() noexcept;
    std::uint64_t pairs_length(std::uint64_t most) const noexcept;
    void option(std::uint32_t value, unsigned more, bool with_reference) noexcept;

    const Shape& shape_;
    SampleReader samples_;
    BitWriter bits_;
    std::uint32_t block_[kMostPixelsOfBlock] = {};
    std::uint32_t reference_ = 0;    // 1 if the block begins with a reference sample
    std::uint32_t zero_blocks_ = 0;  // not written yet
    bool zero_reference_ = false;    // whether the first of them begins with a reference sample
    unsigned low_bits_ = 0;          // the best split of the block before
};

Status SampleEncoder::run() noexcept {
    while (!samples_.done()) {
        const std::uint32_t blocks = shape_.blocks();
        for (std::uint32_t i = 0; i < blocks; ++i) {
            reference_ = shape_.preprocess && i == 0 ? 1 : 0;
            if (!load_block()) {
                if (zero_blocks_ != 0) {
                    zero_blocks(false);
                }
                block();
                continue;
            }
            zero_reference_ = ++zero_blocks_ == 1 ? reference_ != 0 : zero_reference_;
            if (i + 1 == blocks || (i + 1) % kSegment == 0) {
                zero_blocks(zero_blocks_ >= kRestOfSegment);
            }
        }
        if (!samples_.ok()) {
            return Status::invalid_argument;
        }
        if (!bits_.ok()) {
            return Status::no_space;
        }
    }
    return Status::ok;
}

// Whether all samples of the block are 0.
bool SampleEncoder::load_block() noexcept {
    std::uint32_t any = 0;
    for (std::uint32_t i = 0; i < shape_.block; ++i) {
        block_[i] = samples_.next();
        any |= block_[i];
    }
    return any == 0;
}

void SampleEncoder::option(std::uint32_t value, unsigned more, bool with_reference) noexcept {
    bits_.bits(value, shape_.option_bits() + more);
    if (with_reference) {
        bits_.wide(samples_.reference(), shape_.sample_bits);
    }
}

void SampleEncoder::zero_blocks(bool rest_of_segment) noexcept {
    option(0, 1, zero_reference_);
    const std::uint32_t count = zero_blocks_ < kRestOfSegment ? zero_blocks_ - 1 : zero_blocks_;
    bits_.zeros(rest_of_segment ? kRestOfSegment - 1 : count);
    zero_blocks_ = 0;
}

// The search of libaec: it begins with the split of the block before, goes up as long as that shortens the code, else
// down. Its result is the shortest code, and of equal ones that which comes first on this way.
std::uint64_t SampleEncoder::best_split() noexcept {
    const std::uint64_t samples = shape_.block - reference_;
    const unsigned most = (1U << shape_.option_bits()) - 3;
    const unsigned start = low_bits_;
    std::uint64_t best = ~std::uint64_t{0};
    bool turned = start == 0;
    bool up = true;
    for (unsigned k = start;;) {
        std::uint64_t high = 0;
        for (std::uint32_t i = 0; i < shape_.block; ++i) {
            high += block_[i] >> k;
        }
        const std::uint64_t length = high + samples * (k + 1);
        const bool better = length < best;
        if (better) {
            turned = turned || best != ~std::uint64_t{0};
            best = length;
            low_bits_ = k;
            if (up && high >= samples && k < most) {
                ++k;
                continue;
            }
            if (!up && high < samples && k > 0) {
                --k;
                continue;
            }
        }
        if (turned || !up) {
            return best;
        }
        k = start - 1;
        up = false;
        turned = true;
    }
}

// Bits of the block by second extension, or the largest number if they are more than `most`.
std::uint64_t SampleEncoder::pairs_length(std::uint64_t most) const noexcept {
    std::uint64_t length = 1;
    for (std::uint32_t i = 0; i < shape_.block; i += 2) {
        const std::uint64_t pair = std::uint64_t{block_[i]} + block_[i + 1];
        if (pair >= kTooLargePair) {
            return ~std::uint64_t{0};
        }
        length += pair * (pair + 1) / 2 + block_[i + 1] + 1;
    }
    return length > most ? ~std::uint64_t{0} : length;
}

void SampleEncoder::block() noexcept {
    const std::uint64_t uncoded = std::uint64_t{shape_.block - reference_} * shape_.sample_bits;
    const std::uint64_t split = best_split();
    const std::uint64_t pairs = pairs_length(uncoded);
    const bool first = reference_ != 0;
    if (pairs <= split && pairs < uncoded) {
        option(1, 1, first);
        for (std::uint32_t i = 0; i < shape_.block; i += 2) {
            const std::uint32_t pair = block_[i] + block_[i + 1];
            bits_.zeros(pair * (pair + 1) / 2 + block_[i + 1]);
        }
        return;
    }
    if (split >= uncoded) {
        option((1U << shape_.option_bits()) - 1, 0, first);
        for (std::uint32_t i = reference_; i < shape_.block; ++i) {
            bits_.wide(block_[i], shape_.sample_bits);
        }
        return;
    }
    option(low_bits_ + 1, 0, first);
    for (std::uint32_t i = reference_; i < shape_.block; ++i) {
        bits_.zeros(block_[i] >> low_bits_);
    }
    for (std::uint32_t i = reference_; i < shape_.block; ++i) {
        bits_.wide(block_[i], low_bits_);
    }
}

// Atomic types have a precision of their own; libhdf5 asks arrays, sequences and enumerations for that of their base.
DatatypeView atomic(DatatypeView type) noexcept {
    while (!type.base().empty()) {
        type = type.base();
    }
    return type;
}

}  // namespace

Status SzipFilter::can_apply(const FilterSpec& /*spec*/, const FilterTarget& target) const noexcept {
    return target.resized && target.element_size != 1 ? Status::invalid_argument : Status::ok;
}

Status SzipFilter::set_local(FilterSpec& spec, const FilterTarget& target) const noexcept {
    const DatatypeView type = atomic(target.type);
    const ByteOrder order = type.order();
    const std::uint32_t pixels = spec.value(1);
    const std::uint32_t bits = target.element_size * 8;
    std::uint32_t precision = type.precision();
    const bool sound = spec.value_count >= 2 && pixels >= 2 && pixels <= kMostPixelsOfBlock && pixels % 2 == 0 &&
                       (order == ByteOrder::little || order == ByteOrder::big) && precision != 0 &&
                       !target.chunk.empty() && (spec.optional || bits <= 32 || bits == 64);
    if (!sound) {
        return Status::invalid_argument;
    }
    precision = precision < bits && type.bit_offset() != 0 ? bits : precision;
    if (precision > 24 && precision <= 64) {
        precision = precision <= 32 ? 32 : 64;
    }
    std::uint32_t line = target.chunk[target.chunk.size() - 1];
    const std::uint32_t elements = target.chunk_bytes / target.element_size;
    if (line < pixels) {
        line = elements;
    }
    if (elements < pixels) {
        return Status::invalid_argument;
    }
    const std::uint32_t most = pixels * kMostBlocksOfLine;
    const std::uint32_t options = spec.value(0) & ~(kOptionLsb | kOptionMsb);
    spec.value_count = 4;
    spec.encoded = nullptr;
    spec.values[0] = options | (order == ByteOrder::big ? kOptionMsb : kOptionLsb);
    spec.values[1] = pixels;
    spec.values[2] = precision;
    spec.values[3] = line < most ? line : most;
    return Status::ok;
}

Status SzipFilter::encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes /*scratch*/) const noexcept {
    Shape shape;
    if (!shape.open(spec, in.size()) || in.size() % shape.sample_bytes != 0) {
        return Status::invalid_argument;
    }
    if (out.size() < kPrefix) {
        return Status::no_space;
    }
    // As libhdf5, which gives libaec as many bytes as the chunk has.
    const std::size_t room = out.size() - kPrefix < in.size() ? out.size() - kPrefix : in.size();
    store_le(out.data(), static_cast<std::uint32_t>(in.size()));
    SampleEncoder encoder(shape, in, out.subspan(kPrefix, room));
    H5MOTE_TRY(encoder.run());
    size = kPrefix + encoder.finish();
    return encoder.fits() ? Status::ok : Status::no_space;
}

}  // namespace h5mote
