#include "describe.hpp"

#include <cstdio>
#include <cstring>

namespace h5mote_interop {

using h5mote::ByteOrder;
using h5mote::ConstBytes;
using h5mote::DatatypeView;
using h5mote::TypeClass;

std::string quote(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const auto code = static_cast<unsigned char>(c);
        if (std::strchr("%=;:@,() ", c) != nullptr || code < 32 || code == 127) {
            char escape[4];
            std::snprintf(escape, sizeof escape, "%%%02X", code);
            out += escape;
        } else {
            out += c;
        }
    }
    return out;
}

namespace {

unsigned digit(char c) {
    return c <= '9' ? static_cast<unsigned>(c - '0') : (static_cast<unsigned>(c) | 32U) - 'a' + 10;
}

}  // namespace

std::string unquote(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(digit(text[i + 1]) << 4 | digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string hex(ConstBytes bytes) {
    std::string out;
    out.reserve(2 * bytes.size());
    for (const std::byte b : bytes) {
        out += "0123456789abcdef"[static_cast<unsigned>(b) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned>(b) & 15];
    }
    return out;
}

Blob unhex(std::string_view text) {
    Blob out;
    out.reserve(text.size() / 2);
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        out.push_back(static_cast<std::byte>(digit(text[i]) << 4 | digit(text[i + 1])));
    }
    return out;
}

std::string dims_text(const Shape& dims) {
    std::string out;
    for (const std::uint64_t dim : dims) {
        out += out.empty() ? "" : "x";
        out += dim == h5mote::kUnlimited ? "inf" : std::to_string(dim);
    }
    return out;
}

namespace {

std::string space_text(const h5mote::Dataspace& space, h5mote::Span<const std::uint64_t> dims) {
    return space.space_class() == h5mote::DataspaceClass::null     ? "null"
           : space.space_class() == h5mote::DataspaceClass::scalar ? "scalar"
                                                                   : dims_text(Shape(dims.begin(), dims.end()));
}

}  // namespace

std::string shape_text(const h5mote::Dataspace& space) { return space_text(space, space.dims()); }
std::string max_text(const h5mote::Dataspace& space) { return space_text(space, space.max_dims()); }

Shape parse_dims(std::string_view text) {
    Shape dims;
    if (text == "scalar" || text == "null") {
        return dims;
    }
    while (!text.empty()) {
        const std::size_t end = text.find('x');
        const std::string_view word = text.substr(0, end);
        dims.push_back(word == "inf" ? h5mote::kUnlimited : std::stoull(std::string(word)));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return dims;
}

h5mote::Dataspace parse_space(std::string_view shape, std::string_view maxima) {
    if (shape == "null") {
        return h5mote::Dataspace::null();
    }
    const Shape dims = parse_dims(shape);
    const Shape most = parse_dims(maxima.empty() ? shape : maxima);
    return h5mote::Dataspace::simple({dims.data(), dims.size()}, {most.data(), most.size()});
}

std::uint64_t product(const Shape& dims) {
    std::uint64_t count = 1;
    for (const std::uint64_t dim : dims) {
        count *= dim;
    }
    return count;
}

namespace {

std::string number_text(const char* kind, DatatypeView type) {
    std::string out = kind + std::to_string(type.size()) + (type.order() == ByteOrder::big ? "be" : "le");
    if (type.precision() != 8 * type.size() || type.bit_offset() != 0) {
        out += ":" + std::to_string(type.precision()) + "@" + std::to_string(type.bit_offset());
    }
    return out;
}

std::string string_text(DatatypeView type) {
    static constexpr const char* kPaddings[] = {"nullterm", "nullpad", "spacepad"};
    static constexpr const char* kSets[] = {"ascii", "utf8"};
    return "str" + std::to_string(type.size()) + ":" + kPaddings[static_cast<unsigned>(type.padding())] + ":" +
           kSets[static_cast<unsigned>(type.character_set())];
}

std::string value_text(DatatypeView base, ConstBytes value) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const std::size_t at = base.order() == ByteOrder::big ? i : value.size() - 1 - i;
        bits = bits << 8 | static_cast<std::uint64_t>(value[at]);
    }
    const unsigned unused = static_cast<unsigned>(64 - 8 * value.size());
    return base.is_signed() ? std::to_string(static_cast<std::int64_t>(bits << unused) >> unused)
                            : std::to_string(bits);
}

std::string enum_text(DatatypeView type) {
    std::string out = "enum(" + type_text(type.base());
    h5mote::EnumMembers walk(type);
    h5mote::EnumMember member;
    while (walk.next(member)) {
        out += ";" + quote(member.name) + "=" + value_text(type.base(), member.value);
    }
    return out + ")";
}

std::string array_text(DatatypeView type) {
    Shape dims;
    for (unsigned i = 0; i < type.rank(); ++i) {
        dims.push_back(type.dimension(i));
    }
    return "array(" + dims_text(dims) + ";" + type_text(type.base()) + ")";
}

std::string compound_text(DatatypeView type) {
    std::string out = "compound(" + std::to_string(type.size());
    h5mote::CompoundMembers walk(type);
    h5mote::CompoundMember member;
    while (walk.next(member)) {
        out += ";" + quote(member.name) + "@" + std::to_string(member.offset) + ":" + type_text(member.type);
    }
    return out + ")";
}

}  // namespace

std::string type_text(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
            return number_text(type.is_signed() ? "i" : "u", type);
        case TypeClass::floating:
            return number_text("f", type);
        case TypeClass::bitfield:
            return number_text("bits", type);
        case TypeClass::string:
            return string_text(type);
        case TypeClass::opaque:
            return "opaque" + std::to_string(type.size()) + ":" + quote(type.tag());
        case TypeClass::enumeration:
            return enum_text(type);
        case TypeClass::array:
            return array_text(type);
        case TypeClass::compound:
            return compound_text(type);
        default:
            return "?";
    }
}

namespace {

void mark_used(DatatypeView type, std::vector<bool>& used, std::size_t at) {
    if (type.type_class() == TypeClass::compound) {
        h5mote::CompoundMembers walk(type);
        h5mote::CompoundMember member;
        while (walk.next(member)) {
            mark_used(member.type, used, at + member.offset);
        }
    } else if (type.type_class() == TypeClass::array) {
        for (std::uint32_t i = 0; i < type.size(); i += type.base().size()) {
            mark_used(type.base(), used, at + i);
        }
    } else {
        for (std::uint32_t i = 0; i < type.size(); ++i) {
            used[at + i] = true;
        }
    }
}

}  // namespace

void clear_gaps(DatatypeView type, Blob& data) {
    const std::size_t size = type.size();
    std::vector<bool> used(size, false);
    mark_used(type, used, 0);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t at = i; !used[i] && at < data.size(); at += size) {
            data[at] = std::byte{0};
        }
    }
}

// --- contents ------------------------------------------------------------------------------------------------------

Random::Random(std::string_view seed) noexcept {
    for (const char c : seed) {
        state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    state_ |= 1;
}

// Marsaglia's xorshift64.
std::uint64_t Random::bits() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 8;
}

Blob Random::elements(DatatypeView type, std::uint64_t count) {
    Blob data(static_cast<std::size_t>(count) * type.size());
    for (std::size_t at = 0; at < data.size(); at += type.size()) {
        element(type, data.data() + at);
    }
    return data;
}

void Random::element(DatatypeView type, std::byte* to) {
    switch (type.type_class()) {
        case TypeClass::compound: {
            h5mote::CompoundMembers walk(type);
            h5mote::CompoundMember member;
            while (walk.next(member)) {
                element(member.type, to + member.offset);
            }
            return;
        }
        case TypeClass::array:
            for (std::uint32_t at = 0; at < type.size(); at += type.base().size()) {
                element(type.base(), to + at);
            }
            return;
        case TypeClass::enumeration: {
            h5mote::EnumMember member;
            if (type.enum_member(static_cast<unsigned>(below(type.member_count())), member)) {
                std::memcpy(to, member.value.data(), type.size());
            }
            return;
        }
        case TypeClass::string:
            return text(type, to);
        default:
            return number(type, to);
    }
}

void Random::text(DatatypeView type, std::byte* to) {
    const std::size_t room = type.size() - (type.padding() == h5mote::StringPadding::null_terminated ? 1 : 0);
    const std::size_t length = static_cast<std::size_t>(below(room + 1));
    std::memset(to, type.padding() == h5mote::StringPadding::space_padded ? ' ' : 0, type.size());
    static constexpr char kLetters[] = "abcXYZ0129_-\"\\'";
    std::size_t at = 0;
    while (at < length) {
        if (type.character_set() == h5mote::CharacterSet::utf8 && at + 2 <= length && below(4) == 0) {
            std::memcpy(to + at, "\xc2\xb5", 2);  // micro sign
            at += 2;
        } else {
            to[at++] = static_cast<std::byte>(kLetters[below(sizeof kLetters - 1)]);
        }
    }
}

void Random::number(DatatypeView type, std::byte* to) {
    std::uint64_t value = bits() << 16 ^ bits();
    if (type.type_class() == TypeClass::floating) {
        // Multiples of 1/8: exact in every floating-point type, and never signalling NaNs, which a conversion by the
        // reader would change.
        const double number = static_cast<double>(static_cast<std::int64_t>(below(2000000)) - 1000000) / 8;
        const auto single = static_cast<float>(number);
        std::uint32_t low = 0;
        std::memcpy(&low, &single, sizeof low);
        std::memcpy(&value, &number, sizeof value);
        value = type.size() == 4 ? low : value;
    } else if (type.precision() != 0 && type.precision() < 64) {
        value = (value & ((std::uint64_t{1} << type.precision()) - 1)) << type.bit_offset();
    }
    const bool big = type.order() == ByteOrder::big && type.type_class() != TypeClass::opaque;
    for (std::uint32_t i = 0; i < type.size(); ++i) {
        to[big ? type.size() - 1 - i : i] = static_cast<std::byte>(i < 8 ? value >> (8 * i) : bits());
    }
}

// --- checksums -----------------------------------------------------------------------------------------------------

std::uint32_t crc32(ConstBytes bytes) noexcept {
    std::uint32_t table[256];
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t entry = i;
        for (int bit = 0; bit < 8; ++bit) {
            entry = entry >> 1 ^ ((entry & 1) != 0 ? 0xedb88320U : 0U);
        }
        table[i] = entry;
    }
    std::uint32_t sum = 0xffffffffU;
    for (const std::byte b : bytes) {
        sum = sum >> 8 ^ table[(sum ^ static_cast<std::uint32_t>(b)) & 255];
    }
    return ~sum;
}

namespace {

constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t rotate(std::uint32_t value, unsigned count) { return value >> count | value << (32 - count); }

void digest_block(std::uint32_t (&state)[8], const std::byte* block) {
    std::uint32_t w[64];
    for (unsigned i = 0; i < 16; ++i) {
        w[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 | static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | static_cast<std::uint32_t>(block[4 * i + 3]);
    }
    for (unsigned i = 16; i < 64; ++i) {
        const std::uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        const std::uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    std::uint32_t v[8];
    std::memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; ++i) {
        const std::uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        const std::uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + kRound[i] + w[i];
        const std::uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        const std::uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        std::memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; ++i) {
        state[i] += v[i];
    }
}

}  // namespace

std::string sha256(ConstBytes bytes) {
    std::uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    Blob padded(bytes.begin(), bytes.end());
    padded.push_back(std::byte{0x80});
    padded.resize((padded.size() + 8 + 63) / 64 * 64);
    for (unsigned i = 0; i < 8; ++i) {
        padded[padded.size() - 1 - i] = static_cast<std::byte>(std::uint64_t{bytes.size()} * 8 >> (8 * i));
    }
    for (std::size_t at = 0; at < padded.size(); at += 64) {
        digest_block(state, padded.data() + at);
    }
    std::string out;
    for (const std::uint32_t word : state) {
        char text[9];
        std::snprintf(text, sizeof text, "%08x", word);
        out += text;
    }
    return out;
}

}  // namespace h5mote_interop
