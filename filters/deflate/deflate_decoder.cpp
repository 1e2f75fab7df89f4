// RFC 1951 - the decoder: straight into the output, which is also the window of earlier bytes.
//
// Codes of up to kFastBits bits are found by one look into a table, longer ones by walking the canonical code bit by
// bit. Every step takes at least one bit of the input, so that any input ends.
#include <h5mote/filters/deflate.hpp>

#include "deflate_format.hpp"

#include <new>

namespace h5mote::deflate {
namespace {

constexpr unsigned kFastBits = 8;

// A canonical code. `symbols` lists the used symbols by length, then by value; count[n] of them have n bits.
struct Code {
    std::uint16_t fast[1U << kFastBits];  // symbol << 4 | length, by the next bits of the input; 0: not a short code
    std::uint16_t count[kMaxBits + 1];

    bool build(const std::uint8_t* lengths, unsigned size, std::uint16_t* symbols, bool may_be_incomplete) noexcept;
};

bool Code::build(const std::uint8_t* lengths, unsigned size, std::uint16_t* symbols, bool may_be_incomplete) noexcept {
    std::memset(this, 0, sizeof *this);
    for (unsigned i = 0; i < size; ++i) {
        ++count[lengths[i]];
    }
    count[0] = 0;
    int left = 1;
    unsigned total = 0;
    unsigned longest = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
        left = 2 * left - count[length];
        if (left < 0) {
            return false;
        }
        total += count[length];
        longest = count[length] != 0 ? length : longest;
    }
    // As zlib: a code of a single one-bit symbol may leave the other bit unused, or there is no code at all.
    if (left > 0 && !(may_be_incomplete && longest <= 1)) {
        return false;
    }
    unsigned code = 0;
    unsigned next = 0;
    for (unsigned length = 1; length <= kMaxBits && next < total; ++length, code <<= 1) {
        for (unsigned symbol = 0; symbol < size; ++symbol) {
            if (lengths[symbol] != length) {
                continue;
            }
            symbols[next++] = static_cast<std::uint16_t>(symbol);
            if (length <= kFastBits) {
                unsigned reversed = 0;
                for (unsigned bit = 0; bit < length; ++bit) {
                    reversed = (reversed << 1) | ((code >> bit) & 1);
                }
                for (; reversed < (1U << kFastBits); reversed += 1U << length) {
                    fast[reversed] = static_cast<std::uint16_t>((symbol << 4) | length);
                }
            }
            ++code;
        }
    }
    return true;
}

class Decoder {
public:
    Decoder(ConstBytes in, Bytes out) noexcept
        : at_(in.data()),
          end_(in.data() + in.size()),
          out_begin_(out.data()),
          out_(out.data()),
          out_end_(out.data() + out.size()) {}

    bool run() noexcept;
    std::size_t written() const noexcept { return static_cast<std::size_t>(out_ - out_begin_); }

private:
    void fill() noexcept;
    void drop(unsigned count) noexcept;
    unsigned take(unsigned count) noexcept;
    unsigned decode(const Code& code, const std::uint16_t* symbols) noexcept;
    unsigned extra(unsigned symbol, unsigned k) noexcept;

    bool stored() noexcept;
    bool read_codes() noexcept;
    bool compressed() noexcept;
    bool copy(std::size_t length, std::size_t distance) noexcept;

    Code literal_;
    Code distance_;
    std::uint16_t literal_symbols_[kFixedLiterals];
    std::uint16_t distance_symbols_[kFixedDistances];
    std::uint8_t lengths_[kFixedLiterals + kFixedDistances];

    const std::byte* at_;
    const std::byte* end_;
    std::byte* out_begin_;
    std::byte* out_;
    std::byte* out_end_;
    std::uint32_t bits_ = 0;
    unsigned bit_count_ = 0;
    bool bad_ = false;  // more bits were taken than there are
};

static_assert(sizeof(Decoder) <= DeflateFilter::kDecodeScratch);
static_assert(alignof(Decoder) <= 8);

// Fills bits_ to at least 25 bits, or with all that are left.
void Decoder::fill() noexcept {
    while (bit_count_ <= 24 && at_ != end_) {
        bits_ |= static_cast<std::uint32_t>(*at_++) << bit_count_;
        bit_count_ += 8;
    }
}

void Decoder::drop(unsigned count) noexcept {
    if (count > bit_count_) {
        bad_ = true;
        count = bit_count_;
    }
    bits_ >>= count;
    bit_count_ -= count;
}

unsigned Decoder::take(unsigned count) noexcept {
    if (bit_count_ < count) {
        fill();
    }
    const unsigned value = bits_ & ((1U << count) - 1);
    drop(count);
    return value;
}

unsigned Decoder::decode(const Code& code, const std::uint16_t* symbols) noexcept {
    if (bit_count_ < kMaxBits) {
        fill();
    }
    const unsigned entry = code.fast[bits_ & ((1U << kFastBits) - 1)];
    if (entry != 0) {
        drop(entry & 15);
        return entry >> 4;
    }
    unsigned value = 0;
    unsigned first = 0;  // first code of the length
    unsigned index = 0;  // index of that code's symbol
    for (unsigned length = 1; length <= kMaxBits; ++length) {
        value |= (bits_ >> (length - 1)) & 1;
        const unsigned count = code.count[length];
        if (value < first + count) {
            drop(length);
            return symbols[index + value - first];
        }
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    bad_ = true;
    return 0;
}

// What a length or distance symbol stands for, above the minimum: 2^k symbols for each number of extra bits.
unsigned Decoder::extra(unsigned symbol, unsigned k) noexcept {
    if (symbol < (2U << k)) {
        return symbol;
    }
    const unsigned count = (symbol >> k) - 1;
    return ((symbol - (count << k)) << count) + take(count);
}

bool Decoder::stored() noexcept {
    drop(bit_count_ % 8);
    const unsigned length = take(16);
    if (take(16) != (length ^ 0xffffU) || bad_) {
        return false;
    }
    // Whole bytes that were taken ahead go back.
    at_ -= bit_count_ / 8;
    bits_ = 0;
    bit_count_ = 0;
    if (length > static_cast<std::size_t>(end_ - at_) || length > static_cast<std::size_t>(out_end_ - out_)) {
        return false;
    }
    if (length > 0) {
        std::memcpy(out_, at_, length);
    }
    at_ += length;
    out_ += length;
    return true;
}

// The codes of a dynamic block, RFC 1951 section 3.2.7.
bool Decoder::read_codes() noexcept {
    const unsigned literals = take(5) + kEnd + 1;
    const unsigned distances = take(5) + 1;
    const unsigned given = take(4) + 4;
    if (literals > kLiterals || distances > kDistances) {
        return false;
    }
    std::memset(lengths_, 0, kLengthCodes);
    for (unsigned i = 0; i < given; ++i) {
        lengths_[kLengthCodeOrder[i]] = static_cast<std::uint8_t>(take(3));
    }
    if (!literal_.build(lengths_, kLengthCodes, literal_symbols_, false)) {
        return false;
    }
    const unsigned total = literals + distances;
    for (unsigned i = 0; i < total;) {
        const unsigned symbol = decode(literal_, literal_symbols_);
        unsigned value = symbol;
        unsigned run = 1;
        if (symbol == 16) {
            if (i == 0) {
                return false;
            }
            value = lengths_[i - 1];
            run = 3 + take(2);
        } else if (symbol > 16) {
            value = 0;
            run = symbol == 17 ? 3 + take(3) : 11 + take(7);
        }
        if (bad_ || run > total - i) {
            return false;
        }
        std::memset(lengths_ + i, static_cast<int>(value), run);
        i += run;
    }
    return lengths_[kEnd] != 0 && literal_.build(lengths_, literals, literal_symbols_, true) &&
           distance_.build(lengths_ + literals, distances, distance_symbols_, true);
}

bool Decoder::copy(std::size_t length, std::size_t distance) noexcept {
    if (distance > written() || length > static_cast<std::size_t>(out_end_ - out_)) {
        return false;
    }
    // Byte by byte: source and target may overlap, which repeats the bytes between.
    const std::byte* from = out_ - distance;
    std::byte* to = out_;
    for (std::byte* const end = to + length; to != end;) {
        *to++ = *from++;
    }
    out_ = to;
    return true;
}

bool Decoder::compressed() noexcept {
    for (;;) {
        unsigned symbol = decode(literal_, literal_symbols_);
        if (bad_ || symbol >= kLiterals) {
            return false;
        }
        if (symbol < kEnd) {
            if (out_ == out_end_) {
                return false;
            }
            *out_++ = static_cast<std::byte>(symbol);
            continue;
        }
        if (symbol == kEnd) {
            return true;
        }
        const unsigned length = symbol == kLiterals - 1 ? kMaxMatch : kMinMatch + extra(symbol - (kEnd + 1), 2);
        symbol = decode(distance_, distance_symbols_);
        const unsigned distance = 1 + extra(symbol, 1);
        if (bad_ || symbol >= kDistances || !copy(length, distance)) {
            return false;
        }
    }
}

bool Decoder::run() noexcept {
    for (bool last = false; !last;) {
        last = take(1) != 0;
        const unsigned type = take(2);
        bool good = false;
        if (type == kStored) {
            good = stored();
        } else if (type == kFixed) {
            fixed_lengths(lengths_);
            good = literal_.build(lengths_, kFixedLiterals, literal_symbols_, false) &&
                   distance_.build(lengths_ + kFixedLiterals, kFixedDistances, distance_symbols_, false) &&
                   compressed();
        } else if (type == kDynamic) {
            good = read_codes() && compressed();
        }
        if (!good) {
            return false;
        }
    }
    drop(bit_count_ % 8);
    std::uint32_t checksum = 0;
    for (unsigned i = 0; i < 4; ++i) {
        checksum = (checksum << 8) | take(8);
    }
    return !bad_ && checksum == adler32({out_begin_, written()});
}

}  // namespace

bool expand(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept {
    Decoder& decoder = *::new (scratch.data()) Decoder(in, out);
    const bool good = decoder.run();
    size = decoder.written();
    return good;
}

}  // namespace h5mote::deflate
