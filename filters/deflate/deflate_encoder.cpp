// RFC 1951 - the encoder: Huffman-coded matches within blocks of at most 32 KiB, in 3 KiB of state.
//
// The chunk lies in memory, so it is its own window. A block is searched for matches to count symbols, then, when the
// codes are known, written. The matches found are kept at the end of the output meanwhile, as long as what is to be
// written in front leaves them room; otherwise the search is repeated, with the same result. Matches are looked for
// through a hash table of the newest few positions of three equal bytes, and stay within their block. The hash table's
// memory serves for building codes. Whichever of a stored, a fixed and a dynamic block is shortest is written.
#include <h5mote/filters/deflate.hpp>

#include "cursor.hpp"
#include "deflate_format.hpp"

#include <new>

namespace h5mote::deflate {
namespace {

constexpr std::size_t kBlock = 32768;  // positions fit 16 bits, distances the window
constexpr unsigned kHashBits = 8;
constexpr unsigned kLazyLength = 32;                 // a match this long is taken without looking at the next byte's
constexpr unsigned kFarForShort = 4096;              // a match of 3 bytes from farther away costs more than literals
constexpr unsigned kDistanceCodes = kFixedLiterals;  // where distance codes begin in the row of all codes
constexpr std::size_t kKeptMatch = 5;                // bytes
constexpr unsigned kCodes = kDistanceCodes + kFixedDistances;

struct Match {
    unsigned length = 0;
    unsigned distance = 0;
};

// A length or distance above its minimum as symbol and extra bits: 2^k symbols for each number of extra bits.
struct Split {
    Split(unsigned value, unsigned k) noexcept {
        const unsigned log2 = 31U - static_cast<unsigned>(__builtin_clz(value | 1));
        extra_count = log2 > k ? log2 - k : 0;
        symbol = (extra_count << k) + (value >> extra_count);
        extra = value & ((1U << extra_count) - 1);
    }
    unsigned symbol;
    unsigned extra_count;
    unsigned extra;
};

class Encoder {
public:
    Encoder(ConstBytes in, Bytes out) noexcept
        : in_(in.data()), out_(out.data()), out_begin_(out.data()), out_end_(out.data() + out.size()) {}

    void block(const std::byte* begin, unsigned size, bool last) noexcept;
    bool finish(std::uint32_t checksum, std::size_t& size) noexcept;
    bool full() const noexcept { return full_; }

private:
    void put(unsigned value, unsigned count) noexcept;
    void align() noexcept;
    void put_stored(unsigned size, bool last) noexcept;

    void symbol(unsigned code) noexcept;
    void literal(unsigned at) noexcept { symbol(static_cast<unsigned>(in_[at])); }
    void match(Match found) noexcept;
    Match find(unsigned at) noexcept;
    std::uint64_t& bucket(unsigned at) noexcept;
    void insert(unsigned at) noexcept;
    void keep(unsigned at, Match found) noexcept;
    void replay() noexcept;
    void scan() noexcept;

    void make_lengths(const std::uint16_t* counts, std::uint8_t* lengths, unsigned count, unsigned limit) noexcept;
    static void make_codes(std::uint16_t* codes, const std::uint8_t* lengths, unsigned count) noexcept;
    std::uint32_t cost() const noexcept;
    void code_lengths(bool counting) noexcept;
    void length_symbol(unsigned value, unsigned extra, unsigned extra_count, bool counting) noexcept;
    std::uint32_t count_header() noexcept;
    void put_header() noexcept;

    struct Sorting {
        std::uint32_t keys[kFixedLiterals];     // count << 16 | symbol, ascending
        std::uint16_t weights[kFixedLiterals];  // of subtrees, then parents, then depths
    };
    union {
        std::uint64_t positions_[1U << kHashBits];  // 16 bits each: position + 1 in the block, newest lowest
        Sorting sorting_;
    };
    // First how often each literal or length symbol, then each distance symbol appears, later its code, bits reversed.
    std::uint16_t value_[kCodes];
    std::uint8_t length_[kCodes];
    std::uint8_t length_code_length_[kLengthCodes];
    std::uint16_t length_code_[kLengthCodes];

    const std::byte* in_;  // the block
    std::byte* out_;
    std::byte* out_begin_;
    std::byte* out_end_;
    std::byte* kept_ = nullptr;  // matches of the block: from here to out_end_, first one last; nullptr: no room
    std::uint32_t bits_ = 0;
    std::uint32_t extra_bits_ = 0;  // sum over the block, known after counting
    std::uint16_t size_ = 0;        // of the block
    std::uint8_t bit_count_ = 0;
    std::uint8_t literal_codes_ = 0;  // literal and length codes after the first 257
    std::uint8_t distance_codes_ = 0;
    std::uint8_t length_codes_ = 0;
    bool counting_ = false;
    bool full_ = false;
};

static_assert(sizeof(Encoder) <= DeflateFilter::kEncodeScratch && DeflateFilter::kEncodeScratch <= 4096);
static_assert(alignof(Encoder) <= 8);

void Encoder::put(unsigned value, unsigned count) noexcept {
    bits_ |= value << bit_count_;
    unsigned filled = bit_count_ + count;
    for (; filled >= 8; filled -= 8, bits_ >>= 8) {
        if (out_ == out_end_) {
            full_ = true;
        } else {
            *out_++ = static_cast<std::byte>(bits_);
        }
    }
    bit_count_ = static_cast<std::uint8_t>(filled);
}

void Encoder::align() noexcept { put(0, (8U - bit_count_) % 8); }

void Encoder::put_stored(unsigned size, bool last) noexcept {
    put(static_cast<unsigned>(last) | (kStored << 1), 3);
    align();
    put(size, 16);
    put(size ^ 0xffffU, 16);
    if (full_ || size > static_cast<std::size_t>(out_end_ - out_)) {
        full_ = true;
        return;
    }
    std::memcpy(out_, in_, size);
    out_ += size;
}

void Encoder::symbol(unsigned code) noexcept {
    if (counting_) {
        ++value_[code];
    } else {
        put(value_[code], length_[code]);
    }
}

void Encoder::match(Match found) noexcept {
    const auto both = [this](Split split, unsigned base) {
        symbol(base + split.symbol);
        if (counting_) {
            extra_bits_ += split.extra_count;
        } else {
            put(split.extra, split.extra_count);
        }
    };
    // The longest match has a symbol of its own, without extra bits.
    if (found.length == kMaxMatch) {
        symbol(kLiterals - 1);
    } else {
        both(Split(found.length - kMinMatch, 2), kEnd + 1);
    }
    both(Split(found.distance - 1, 1), kDistanceCodes);
}

// Keeps a match for replay(): position, distance, length.
void Encoder::keep(unsigned at, Match found) noexcept {
    if (kept_ == nullptr || static_cast<std::size_t>(kept_ - out_) < kKeptMatch) {
        kept_ = nullptr;
        return;
    }
    kept_ -= kKeptMatch;
    store_le(kept_, static_cast<std::uint16_t>(at));
    store_le(kept_ + 2, static_cast<std::uint16_t>(found.distance));
    kept_[4] = static_cast<std::byte>(found.length - kMinMatch);
}

void Encoder::replay() noexcept {
    unsigned at = 0;
    for (const std::byte* from = out_end_; from != kept_;) {
        from -= kKeptMatch;
        const Match found{static_cast<unsigned>(from[4]) + kMinMatch, load_le<std::uint16_t>(from + 2)};
        for (const unsigned begin = load_le<std::uint16_t>(from); at < begin; ++at) {
            literal(at);
        }
        match(found);
        at += found.length;
    }
    while (at < size_) {
        literal(at++);
    }
    symbol(kEnd);
}

std::uint64_t& Encoder::bucket(unsigned at) noexcept {
    const std::byte* from = in_ + at;
    const std::uint32_t bytes = static_cast<std::uint32_t>(from[0]) | (static_cast<std::uint32_t>(from[1]) << 8) |
                                (static_cast<std::uint32_t>(from[2]) << 16);
    return positions_[(bytes * 0x9e3779b1U) >> (32 - kHashBits)];
}

void Encoder::insert(unsigned at) noexcept {
    if (at + kMinMatch <= size_) {
        std::uint64_t& positions = bucket(at);
        positions = (positions << 16) | (at + 1);
    }
}

// The longest match at a position, which is then inserted.
Match Encoder::find(unsigned at) noexcept {
    Match best{kMinMatch - 1, 0};
    const unsigned room = size_ - at;
    const unsigned most = room < kMaxMatch ? room : kMaxMatch;
    if (most < kMinMatch) {
        return best;
    }
    const std::byte* const here = in_ + at;
    std::uint64_t& positions = bucket(at);
    std::uint64_t left = positions;
    positions = (left << 16) | (at + 1);
    for (; static_cast<std::uint16_t>(left) != 0 && best.length < most; left >>= 16) {
        const unsigned there = static_cast<std::uint16_t>(left) - 1U;
        const std::byte* const old = in_ + there;
        if (old[best.length] != here[best.length]) {
            continue;
        }
        unsigned length = 0;
        while (length < most && old[length] == here[length]) {
            ++length;
        }
        if (length > best.length && (length > kMinMatch || at - there <= kFarForShort)) {
            best = {length, at - there};
        }
    }
    return best;
}

void Encoder::scan() noexcept {
    std::memset(positions_, 0, sizeof positions_);
    unsigned at = 0;
    Match found = find(0);
    while (at < size_ && !full_) {
        // A longer match that begins one byte later is the better choice.
        Match next;
        bool take = found.length >= kMinMatch;
        unsigned known = 1;
        if (at + 1U < size_ && (!take || found.length < kLazyLength)) {
            next = find(at + 1);
            known = 2;
            take = take && next.length <= found.length;
        }
        if (!take) {
            literal(at++);
            found = next;
            continue;
        }
        if (counting_) {
            keep(at, found);
        }
        match(found);
        const unsigned end = at + found.length;
        for (at += known; at < end; ++at) {
            insert(at);
        }
        found = find(at);
    }
    symbol(kEnd);
}

// Huffman's algorithm on sorted counts, in the array of the counts (Moffat and Katajainen, "In-place calculation of
// minimum-redundancy codes", 1995). When a code gets longer than `limit`, the counts are made coarser: with all equal,
// no code exceeds 9 bits of 286 symbols or 5 of 19.
void Encoder::make_lengths(const std::uint16_t* counts, std::uint8_t* lengths, unsigned count,
                           unsigned limit) noexcept {
    std::uint32_t* const keys = sorting_.keys;
    std::uint16_t* const weights = sorting_.weights;
    unsigned used = 0;
    for (unsigned i = 0; i < count; ++i) {
        lengths[i] = 0;
        if (counts[i] != 0) {
            keys[used++] = (static_cast<std::uint32_t>(counts[i]) << 16) | i;
        }
    }
    // Some decoders refuse a code of fewer than two symbols.
    for (unsigned i = 0; used < 2; ++i) {
        if (counts[i] == 0) {
            keys[used++] = 0x10000U | i;
        }
    }
    for (unsigned gap = used / 2; gap > 0; gap /= 2) {
        for (unsigned i = gap; i < used; ++i) {
            const std::uint32_t key = keys[i];
            unsigned to = i;
            for (; to >= gap && keys[to - gap] > key; to -= gap) {
                keys[to] = keys[to - gap];
            }
            keys[to] = key;
        }
    }
    for (unsigned shift = 16;; ++shift) {
        for (unsigned i = 0; i < used; ++i) {
            const std::uint32_t weight = keys[i] >> shift;
            weights[i] = static_cast<std::uint16_t>(weight == 0 ? 1 : weight);
        }
        // Join the two lightest of leaves and subtrees until one is left; a joined subtree keeps its parent's index.
        unsigned leaf = 0;
        unsigned tree = 0;
        for (unsigned next = 0; next + 1 < used; ++next) {
            unsigned sum = 0;
            for (unsigned pick = 0; pick < 2; ++pick) {
                if (leaf >= used || (tree < next && weights[tree] < weights[leaf])) {
                    sum += weights[tree];
                    weights[tree++] = static_cast<std::uint16_t>(next);
                } else {
                    sum += weights[leaf++];
                }
            }
            weights[next] = static_cast<std::uint16_t>(sum);
        }
        // Turn parents into depths from the root down. On each level the places that no subtree takes are leaves.
        weights[used - 2] = 0;
        for (unsigned i = used - 2; i-- > 0;) {
            weights[i] = static_cast<std::uint16_t>(weights[weights[i]] + 1);
        }
        unsigned depth = 0;
        unsigned places = 1;
        unsigned inner = used - 1;
        for (unsigned left = used; left > 0; ++depth) {
            unsigned trees = 0;
            for (; inner > 0 && weights[inner - 1] == depth; --inner) {
                ++trees;
            }
            for (unsigned leaves = places - trees; leaves > 0; --leaves) {
                lengths[keys[--left] & 0xffffU] = static_cast<std::uint8_t>(depth);
            }
            places = 2 * trees;
        }
        if (depth - 1 <= limit) {
            return;
        }
    }
}

// Canonical codes, RFC 1951 section 3.2.2, with their bits reversed as they are written.
void Encoder::make_codes(std::uint16_t* codes, const std::uint8_t* lengths, unsigned count) noexcept {
    std::uint16_t next[kMaxBits + 2] = {};
    for (unsigned i = 0; i < count; ++i) {
        ++next[lengths[i] + 1];
    }
    next[1] = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
        next[length + 1] = static_cast<std::uint16_t>((next[length] + next[length + 1]) << 1);
    }
    for (unsigned i = 0; i < count; ++i) {
        unsigned code = next[lengths[i]]++;
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < lengths[i]; ++bit, code >>= 1) {
            reversed = (reversed << 1) | (code & 1);
        }
        codes[i] = static_cast<std::uint16_t>(reversed);
    }
}

std::uint32_t Encoder::cost() const noexcept {
    std::uint32_t bits = extra_bits_;
    for (unsigned i = 0; i < kCodes; ++i) {
        bits += static_cast<std::uint32_t>(value_[i]) * length_[i];
    }
    return bits;
}

void Encoder::length_symbol(unsigned value, unsigned extra, unsigned extra_count, bool counting) noexcept {
    if (counting) {
        ++length_code_[value];
    } else {
        put(length_code_[value], length_code_length_[value]);
        put(extra, extra_count);
    }
}

// Both codes' lengths as one row, runs shortened: RFC 1951 section 3.2.7.
void Encoder::code_lengths(bool counting) noexcept {
    const unsigned literals = kEnd + 1U + literal_codes_;
    const unsigned count = literals + distance_codes_;
    const auto at = [&](unsigned i) -> unsigned { return length_[i < literals ? i : i - literals + kDistanceCodes]; };
    for (unsigned i = 0; i < count;) {
        const unsigned value = at(i);
        unsigned run = 1;
        while (i + run < count && at(i + run) == value) {
            ++run;
        }
        i += run;
        if (value != 0) {
            length_symbol(value, 0, 0, counting);
            --run;
        }
        while (run > 0) {
            if (run < 3) {
                length_symbol(value, 0, 0, counting);
                --run;
                continue;
            }
            const unsigned most = value != 0 ? 6 : run > 10 ? 138 : 10;
            const unsigned part = run < most ? run : most;
            if (value != 0) {
                length_symbol(16, part - 3, 2, counting);
            } else if (part > 10) {
                length_symbol(18, part - 11, 7, counting);
            } else {
                length_symbol(17, part - 3, 3, counting);
            }
            run -= part;
        }
    }
}

// Prepares the header of a dynamic block; returns its length in bits.
std::uint32_t Encoder::count_header() noexcept {
    const auto used = [this](unsigned begin, unsigned least, unsigned most) {
        while (most > least && length_[begin + most - 1] == 0) {
            --most;
        }
        return static_cast<std::uint8_t>(most);
    };
    literal_codes_ = used(kEnd + 1, 0, kLiterals - kEnd - 1);
    distance_codes_ = used(kDistanceCodes, 1, kDistances);
    std::memset(length_code_, 0, sizeof length_code_);
    code_lengths(true);
    make_lengths(length_code_, length_code_length_, kLengthCodes, kMaxLengthCodeBits);
    unsigned count = kLengthCodes;
    while (count > 4 && length_code_length_[kLengthCodeOrder[count - 1]] == 0) {
        --count;
    }
    length_codes_ = static_cast<std::uint8_t>(count);
    std::uint32_t bits = 14 + 3 * count + 2U * length_code_[16] + 3U * length_code_[17] + 7U * length_code_[18];
    for (unsigned i = 0; i < kLengthCodes; ++i) {
        bits += static_cast<std::uint32_t>(length_code_[i]) * length_code_length_[i];
    }
    return bits;
}

void Encoder::put_header() noexcept {
    put(literal_codes_, 5);
    put(distance_codes_ - 1U, 5);
    put(length_codes_ - 4U, 4);
    for (unsigned i = 0; i < length_codes_; ++i) {
        put(length_code_length_[kLengthCodeOrder[i]], 3);
    }
    make_codes(length_code_, length_code_length_, kLengthCodes);
    code_lengths(false);
}

void Encoder::block(const std::byte* begin, unsigned size, bool last) noexcept {
    in_ = begin;
    size_ = static_cast<std::uint16_t>(size);
    std::memset(value_, 0, sizeof value_);
    extra_bits_ = 0;
    counting_ = true;
    kept_ = out_end_;
    scan();
    counting_ = false;

    fixed_lengths(length_);
    const std::uint32_t fixed = cost();
    make_lengths(value_, length_, kDistanceCodes, kMaxBits);
    make_lengths(value_ + kDistanceCodes, length_ + kDistanceCodes, kDistances, kMaxBits);
    const std::uint32_t dynamic = count_header() + cost();

    const std::uint32_t coded = fixed <= dynamic ? fixed : dynamic;
    if (coded >= 8 * size + 4 * 8) {
        put_stored(size, last);
        return;
    }
    const std::byte* const block_begin = out_;
    put(static_cast<unsigned>(last) | ((fixed <= dynamic ? kFixed : kDynamic) << 1), 3);
    if (fixed <= dynamic) {
        fixed_lengths(length_);
    } else {
        put_header();
    }
    make_codes(value_, length_, kDistanceCodes);
    make_codes(value_ + kDistanceCodes, length_ + kDistanceCodes, kDistances);
    // The matches kept at the end of the output can be replayed if all that is written now stays below them: the last
    // bits of the block before, the header and the symbols.
    if (kept_ != nullptr && (coded + 32) / 8 < static_cast<std::size_t>(kept_ - block_begin)) {
        replay();
    } else {
        scan();
    }
}

bool Encoder::finish(std::uint32_t checksum, std::size_t& size) noexcept {
    align();
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        put((checksum >> shift) & 0xffU, 8);
    }
    size = static_cast<std::size_t>(out_ - out_begin_);
    return !full_;
}

}  // namespace

bool compress(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept {
    Encoder& encoder = *::new (scratch.data()) Encoder(in, out);
    const std::byte* at = in.data();
    std::size_t left = in.size();
    do {
        const std::size_t part = left < kBlock ? left : kBlock;
        left -= part;
        encoder.block(at, static_cast<unsigned>(part), left == 0);
        at += part;
    } while (left > 0 && !encoder.full());
    return encoder.finish(adler32(in), size);
}

}  // namespace h5mote::deflate
