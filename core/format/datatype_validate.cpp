#include "checked.hpp"
#include "cursor.hpp"
#include "datatype_message.hpp"

namespace h5mote {
namespace {

constexpr unsigned kNewestVersion = 5;
constexpr unsigned kMaxArrayRank = 32;
constexpr unsigned kMaxMemberRank = 4;
// Builds that do not read all formats continue files of the newest one only, and refuse datatypes of which they store
// no data.
constexpr bool kNewestOnly = H5MOTE_ALL_FORMATS == 0;
// Checking that no two members share a name or bytes takes time in the square of their number, which a hostile message
// could make very large. Members beyond this many are not checked: of equal names the first is found. With kNewestOnly
// none are checked.
constexpr unsigned kMaxCompared = 1024;

struct Head {
    TypeClass type_class;
    unsigned version;
    unsigned flags;
    std::uint32_t size;

    unsigned count() const { return flags & 0xffffU; }
    // Bits of a value. For a large value it is a fixed number, greater than any bit position that a message can hold.
    std::uint32_t bits() const { return size < 0x10000 ? 8 * size : 0x80000; }
};

// Versions 1 and 2 pad names to a multiple of 8 bytes, have reserved bytes and store member offsets in 4 bytes.
bool is_padded(const Head& head) { return !kNewestOnly && head.version < 3; }

/// Reads a message from front to back. Every function says whether the part that it reads is valid. Reading past the
/// end of the bytes yields zeros; either the function that reads them notices, or type() does after the properties.
class Validator {
public:
    explicit Validator(ConstBytes bytes) : reader_(bytes) {}

    /// Checks one type with all types that it consists of. In it at most `depth` compounds, arrays and sequences may be
    /// nested. Returns the size of a value, or 0 if the type is not valid.
    std::uint32_t type(unsigned depth);
    std::size_t remaining() const { return reader_.remaining(); }
    /// Why type() returned 0: what is not supported, or `none` if the bytes contradict the format.
    Feature feature() const { return feature_; }

private:
    bool unsupported(Feature feature) {
        feature_ = feature;
        return false;
    }
    bool properties(const Head& head, unsigned depth);
    bool unconverted(const Head& head, unsigned depth);
    bool bits(const Head& head);
    [[gnu::noinline]] bool floating(const Head& head);  // not inlined, so that recursion takes little stack
    bool array(const Head& head, unsigned depth);
    bool enumeration(const Head& head);
    bool compound(const Head& head, unsigned depth);
    bool extents(unsigned count, std::uint32_t& elements);
    bool name(bool padded);
    bool next_is(TypeClass type_class) const {
        return reader_.remaining() > 0 &&
               (static_cast<unsigned>(reader_.rest()[0]) & 15U) == static_cast<unsigned>(type_class);
    }

    Reader reader_;
    Feature feature_ = Feature::none;
};

// Whether the flags of a string are valid: padding in bits 0-3, character set in bits 4-7.
bool is_text(unsigned flags) {
    return (flags & 0xfU) <= static_cast<unsigned>(StringPadding::space_padded) && (flags >> 4 & 0xfU) <= 1;
}

bool is_reference(unsigned flags) {
    const unsigned type = flags & 0xfU;
    const bool revised = type >= static_cast<unsigned>(ReferenceType::object2);
    return type <= static_cast<unsigned>(ReferenceType::attribute) && (!revised || (flags >> 4 & 0xfU) == 1);
}

// Whether the flags of a variable-length type are valid: a sequence has type 0, a string type 1 and the flags of text.
bool is_sequence(unsigned flags) { return (flags & 0xfU) == 0 || ((flags & 0xfU) == 1 && is_text(flags >> 4)); }

bool has_parts(TypeClass type_class) {
    return type_class == TypeClass::compound || type_class == TypeClass::array || type_class == TypeClass::enumeration;
}

std::uint32_t Validator::type(unsigned depth) {
    Head head;
    const unsigned first = reader_.u8();
    head.type_class = static_cast<TypeClass>(first & 15U);
    head.version = first >> 4;
    head.flags = static_cast<unsigned>(reader_.uint(3));
    head.size = reader_.u32();
    if (head.size == 0 || head.version == 0) {
        return 0;
    }
    if (head.version > kNewestVersion || (kNewestOnly && has_parts(head.type_class) && head.version < 3)) {
        unsupported(Feature::datatype_version);
        return 0;
    }
    return properties(head, depth) && reader_.ok() ? head.size : 0;
}

bool Validator::properties(const Head& head, unsigned depth) {
    switch (head.type_class) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            return bits(head);
        case TypeClass::floating:
            return floating(head);
        case TypeClass::string:
            return is_text(head.flags);
        case TypeClass::opaque:
            reader_.skip(head.flags & 0xffU);
            return (head.flags & 7U) == 0;
        case TypeClass::enumeration:
            return enumeration(head);
        case TypeClass::compound:
            return depth == 0 ? unsupported(Feature::datatype_class) : compound(head, depth - 1);
        case TypeClass::array:
            return depth == 0 ? unsupported(Feature::datatype_class) : array(head, depth - 1);
        default:
            return kNewestOnly ? unsupported(Feature::datatype_class) : unconverted(head, depth);
    }
}

// The classes that kNewestOnly refuses.
bool Validator::unconverted(const Head& head, unsigned depth) {
    switch (head.type_class) {
        case TypeClass::time:
            reader_.skip(2);
            return true;
        case TypeClass::reference:
            return is_reference(head.flags);
        case TypeClass::complex:
            // Two floating-point numbers of one type, in rectangular form.
            return head.version >= 5 && head.flags == 1 && (head.size & 1U) == 0 && next_is(TypeClass::floating) &&
                   type(0) == head.size / 2;
        case TypeClass::variable_length:
            return depth == 0 ? unsupported(Feature::datatype_class) : is_sequence(head.flags) && type(depth - 1) != 0;
        default:
            return unsupported(Feature::datatype_class);
    }
}

bool Validator::bits(const Head& head) {
    const unsigned offset = reader_.u16();
    const unsigned precision = reader_.u16();
    return precision != 0 && offset + precision <= head.bits();
}

bool Validator::floating(const Head& head) {
    if (!bits(head)) {
        return false;
    }
    const unsigned sign = head.flags >> 8 & 0xffU;
    const unsigned exponent = reader_.u8();
    const unsigned exponent_end = exponent + reader_.u8();
    const unsigned mantissa = reader_.u8();
    const unsigned mantissa_end = mantissa + reader_.u8();
    reader_.skip(4);
    const bool vax_but_little = head.version >= 3 && (head.flags & 0x41U) == 0x40;
    return !vax_but_little && (head.flags & 0x30U) != 0x30 &&  // normalization 3 is reserved
           sign < head.bits() && exponent_end <= head.bits() && mantissa_end <= head.bits() &&
           exponent < exponent_end && mantissa < mantissa_end &&  // not empty; below: no two fields share bits
           (exponent_end <= mantissa || mantissa_end <= exponent) && (sign < exponent || sign >= exponent_end) &&
           (sign < mantissa || sign >= mantissa_end);
}

// Reads `count` dimensions and multiplies `elements` by them; false when one is 0 or the product exceeds 32 bits.
bool Validator::extents(unsigned count, std::uint32_t& elements) {
    for (; count > 0; --count) {
        if (!checked_multiply(elements, reader_.u32(), elements) || elements == 0) {
            return false;
        }
    }
    return true;
}

bool Validator::array(const Head& head, unsigned depth) {
    const unsigned rank = reader_.u8();
    const bool old = is_padded(head);
    std::uint32_t elements = 1;
    reader_.skip(old ? 3 : 0);
    if (rank == 0 || rank > kMaxArrayRank || !extents(rank, elements)) {
        return false;
    }
    reader_.skip(old ? 4 * static_cast<std::size_t>(rank) : 0);
    std::uint32_t bytes = 0;
    return checked_multiply(elements, type(depth), bytes) && bytes == head.size;
}

// Reads a name with its NUL and padding; false if there is no NUL.
bool Validator::name(bool padded) {
    const ConstBytes rest = reader_.rest();
    std::size_t length = 0;
    while (length < rest.size() && rest[length] != std::byte{0}) {
        ++length;
    }
    // Without a NUL this skips at least one byte more than there are, so that ok() is false.
    reader_.skip(padded ? (length + 8) / 8 * 8 : length + 1);
    return reader_.ok();
}

bool Validator::enumeration(const Head& head) {
    if (!next_is(TypeClass::integer) || type(0) != head.size) {
        return false;
    }
    for (unsigned i = head.count(); i > 0; --i) {
        const bool is_empty = reader_.remaining() > 0 && reader_.rest()[0] == std::byte{0};
        if (is_empty || !name(is_padded(head))) {
            return false;
        }
    }
    std::size_t values = 0;
    if (!checked_multiply<std::size_t>(head.count(), head.size, values)) {
        return false;
    }
    reader_.skip(values);
    return true;
}

// Whether a member shares neither its name nor bytes with those before it.
[[maybe_unused, gnu::noinline]] bool stands_alone(CompoundMembers earlier, const char* name, std::uint32_t offset,
                                                  std::uint32_t end) {
    CompoundMember other;
    while (earlier.next(other)) {
        if ((offset < other.offset + other.size() && other.offset < end) || other.name == name) {
            return false;
        }
    }
    return true;
}

bool Validator::compound(const Head& head, unsigned depth) {
    [[maybe_unused]] const std::byte* const members = reader_.rest().data();
    const unsigned width = is_padded(head) ? 4 : uint_width(head.size);
    for (unsigned i = 0; i < head.count(); ++i) {
        [[maybe_unused]] const char* const text = reinterpret_cast<const char*>(reader_.rest().data());
        if (!name(is_padded(head))) {
            return false;
        }
        const auto offset = static_cast<std::uint32_t>(reader_.uint(width));
        std::uint32_t elements = 1;
        if (!kNewestOnly && head.version == 1) {
            const unsigned rank = reader_.u8();
            reader_.skip(11);
            if (rank > kMaxMemberRank || !extents(rank, elements)) {
                return false;
            }
            reader_.skip(4 * static_cast<std::size_t>(kMaxMemberRank - rank));
        }
        const std::uint32_t size = type(depth);
        std::uint32_t bytes = 0;
        if (size == 0 || !checked_multiply(elements, size, bytes) || bytes > head.size || offset > head.size - bytes) {
            return false;
        }
        if constexpr (!kNewestOnly) {
            const CompoundMembers earlier(members, i, head.version, head.size);
            if (i < kMaxCompared && !stands_alone(earlier, text, offset, offset + bytes)) {
                return false;
            }
        }
    }
    return head.count() != 0;
}

}  // namespace

Status validate_datatype(ConstBytes bytes, std::size_t& length, Feature& feature) noexcept {
    Validator validator(bytes);
    if (validator.type(H5MOTE_MAX_TYPE_DEPTH) != 0) {
        length = bytes.size() - validator.remaining();
        return Status::ok;
    }
    if (validator.feature() == Feature::none) {
        return Status::corrupt_file;
    }
    feature = validator.feature();
    return Status::unsupported;
}

}  // namespace h5mote
