// RFC 1951 - the decoder: straight into the output, which is also the window of earlier bytes.
//
// Codes of up to kFastBits bits are found by one look into a table, longer ones by walking the canonical code bit by
// bit. Every step takes at least one bit of the input, so that any input ends. Hosts, whose words have 64 bits, decode
// without a check for each symbol as long as much of the input is left and much of the output is free.
#include <h5mote/filters/deflate.hpp>

#include "cursor.hpp"
#include "deflate_format.hpp"

#include <new>

namespace h5mote::deflate {
namespace {

constexpr unsigned kFastBits = 8;
constexpr unsigned kWordBits = 8 * sizeof(std::size_t);
constexpr bool kWide = kWordBits >= 64;

// A canonical code. `symbols` lists the used symbols by length, then by value; count[n] of them have n bits.
struct Code {
    std::uint16_t fast[1U << kFastBits];  // symbol << 4 | length, by the next bits of the input; 0: not a short code
    std::uint16_t count[kMaxBits + 1];
    std::uint16_t first;  // first code of kFastBits + 1 bits, and the index of its symbol; kWide only
    std::uint16_t index;

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
    if constexpr (kWide) {
        for (unsigned length = 1; length <= kFastBits; ++length) {
            index = static_cast<std::uint16_t>(index + count[length]);
            first = static_cast<std::uint16_t>((first + count[length]) << 1);
        }
    }
    return true;
}

// The lowest 8 bits in the opposite order.
unsigned reversed_byte(std::size_t bits) noexcept {
    auto byte = static_cast<unsigned>(bits) & 0xffU;
    byte = (byte & 0xf0U) >> 4 | (byte & 0x0fU) << 4;
    byte = (byte & 0xccU) >> 2 | (byte & 0x33U) << 2;
    return (byte & 0xaaU) >> 1 | (byte & 0x55U) << 1;
}
static_assert(kFastBits == 8, "reversed_byte()");

constexpr unsigned kNoSymbol = 0xffff;  // larger than any symbol

// The symbol of the code with which `bits` begin, when that is no short one, and its length.
unsigned long_code(const Code& code, const std::uint16_t* symbols, std::size_t bits, unsigned& found) noexcept {
    unsigned length = 1;
    unsigned value = 0;
    unsigned first = 0;  // first code of the length
    unsigned index = 0;  // index of that code's symbol
    if constexpr (kWide) {
        length = kFastBits + 1;
        value = reversed_byte(bits) << 1;
        first = code.first;
        index = code.index;
    }
    for (; length <= kMaxBits; ++length) {
        value |= static_cast<unsigned>(bits >> (length - 1)) & 1;
        const unsigned count = code.count[length];
        if (value < first + count) {
            found = length;
            return symbols[index + value - first];
        }
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    found = 0;
    return kNoSymbol;
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
    bool compressed_fast(bool& ended) noexcept;
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
    std::size_t bits_ =
        0;  // the next bits of the input, from the lowest on; above bit_count_ there may be more of them
    unsigned bit_count_ = 0;
    bool bad_ = false;  // more bits were taken than there are
};

static_assert(sizeof(Decoder) <= DeflateFilter::kDecodeScratch);
static_assert(alignof(Decoder) <= 8);

// Fills bits_ to at least 25 bits, or with all that are left.
void Decoder::fill() noexcept {
    while (bit_count_ <= kWordBits - 8 && at_ != end_) {
        bits_ |= static_cast<std::size_t>(*at_++) << bit_count_;
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
    const unsigned value = static_cast<unsigned>(bits_) & ((1U << count) - 1);
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
    unsigned length = 0;
    const unsigned symbol = long_code(code, symbols, bits_, length);
    if (symbol == kNoSymbol) {
        bad_ = true;
        return 0;
    }
    drop(length);
    return symbol;
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

// A match, where at least kMaxMatch + 8 bytes are free at `to`. It may write up to 7 bytes behind the match.
inline std::byte* copy_fast(std::byte* to, std::size_t length, std::size_t distance) noexcept {
    const std::byte* from = to - distance;
    std::byte* const end = to + length;
    if (distance == 1) {
        std::memset(to, static_cast<int>(*from), length);
    } else if (distance >= 8) {
        for (; to < end; to += 8, from += 8) {
            std::memcpy(to, from, 8);
        }
    } else {
        while (to != end) {
            *to++ = *from++;
        }
    }
    return end;
}

// The place in the input and the bits that were taken from it, in registers.
struct FastBits {
    void fill() noexcept {
        bits |= static_cast<std::size_t>(load_le<std::uint64_t>(at)) << count;
        at += (63 - count) / 8;
        count |= 56;
    }
    void drop(unsigned some) noexcept {
        bits >>= some;
        count -= some;
    }
    unsigned decode(const Code& code, const std::uint16_t* symbols) noexcept {
        const unsigned entry = code.fast[bits & ((1U << kFastBits) - 1)];
        unsigned symbol = entry >> 4;
        unsigned length = entry & 15;
        if (entry == 0) {
            symbol = long_code(code, symbols, bits, length);
        }
        drop(length);
        return symbol;
    }
    unsigned extra(unsigned symbol, unsigned k) noexcept {
        if (symbol < (2U << k)) {
            return symbol;
        }
        const unsigned more = (symbol >> k) - 1;
        const unsigned value = static_cast<unsigned>(bits) & ((1U << more) - 1);
        drop(more);
        return ((symbol - (more << k)) << more) + value;
    }

    const std::byte* at;
    std::size_t bits;
    unsigned count;
};

// Decodes while there are 16 bytes of input, for two refills, and room for a match of any length behind as many
// literals as a refill can have. `ended`: the block has.
bool Decoder::compressed_fast(bool& ended) noexcept {
    constexpr std::ptrdiff_t kRoom = kMaxMatch + 8 + 64;
    FastBits in{at_, bits_, bit_count_};
    std::byte* out = out_;
    bool sound = true;
    while (end_ - in.at >= 16 && out_end_ - out >= kRoom) {
        in.fill();
        unsigned symbol = in.decode(literal_, literal_symbols_);
        while (symbol < kEnd) {
            *out++ = static_cast<std::byte>(symbol);
            if (in.count < kMaxBits) {
                break;
            }
            symbol = in.decode(literal_, literal_symbols_);
        }
        if (symbol < kEnd) {
            continue;
        }
        sound = symbol < kLiterals;
        ended = symbol == kEnd;
        if (!sound || ended) {
            break;
        }
        // A match takes 5 bits more for its length, and 15 + 13 for its distance.
        if (in.count < 33) {
            in.fill();
        }
        const unsigned size = symbol == kLiterals - 1 ? kMaxMatch : kMinMatch + in.extra(symbol - (kEnd + 1), 2);
        symbol = in.decode(distance_, distance_symbols_);
        sound = symbol < kDistances;
        if (!sound) {
            break;
        }
        const std::size_t distance = std::size_t{1} + in.extra(symbol, 1);
        sound = distance <= static_cast<std::size_t>(out - out_begin_);
        if (!sound) {
            break;
        }
        out = copy_fast(out, size, distance);
    }
    at_ = in.at;
    bits_ = in.bits;
    bit_count_ = in.count;
    out_ = out;
    return sound;
}

bool Decoder::compressed() noexcept {
    if constexpr (kWide) {
        bool ended = false;
        if (!compressed_fast(ended) || ended) {
            return ended;
        }
    }
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
