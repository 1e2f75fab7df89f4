#include "checked.hpp"
#include "cursor.hpp"
#include "datatype_message.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr unsigned kNewestVersion = 5;
constexpr unsigned kMaxArrayRank = 32;
constexpr unsigned kMaxMemberRank = 4;
// Looking for members that share a name or bytes takes time in the square of their number, which a hostile message
// could make very large. Beyond this many the first of equal names is the one that is found.
constexpr unsigned kMaxCompared = 1024;

struct Head {
    TypeClass type_class;
    unsigned version;
    unsigned flags;
    std::uint32_t size;

    unsigned count() const { return flags & 0xffffU; }
    std::uint64_t bits() const { return std::uint64_t{8} * size; }
};

class Validator {
public:
    explicit Validator(ConstBytes bytes) : reader_(bytes) {}

    Status type(unsigned depth, std::uint32_t& size);
    std::size_t remaining() const { return reader_.remaining(); }
    Feature feature() const { return feature_; }

private:
    static constexpr Status kCorrupt = Status::corrupt_file;

    static Status require(bool condition) { return condition ? Status::ok : kCorrupt; }
    Status unsupported(Feature feature) {
        feature_ = feature;
        return Status::unsupported;
    }

    Status bits(const Head& head);
    Status floating(const Head& head);
    Status text(unsigned flags);
    Status opaque(const Head& head);
    Status reference(const Head& head);
    Status sequence(const Head& head, unsigned depth);
    Status complex(const Head& head);
    Status array(const Head& head, unsigned depth);
    Status enumeration(const Head& head);
    Status compound(const Head& head, unsigned depth);
    Status member_shape(const Head& head, std::uint64_t& elements);
    Status name(bool padded, bool may_be_empty);
    bool next_is(TypeClass type_class) const {
        return !reader_.rest().empty() &&
               (static_cast<unsigned>(reader_.rest()[0]) & 15U) == static_cast<unsigned>(type_class);
    }

    Reader reader_;
    Feature feature_ = Feature::none;
};

Status Validator::type(unsigned depth, std::uint32_t& size) {
    Head head;
    const unsigned first = reader_.u8();
    head.type_class = static_cast<TypeClass>(first & 15U);
    head.version = first >> 4;
    head.flags = static_cast<unsigned>(reader_.uint(3));
    head.size = size = reader_.u32();
    if (head.size == 0 || head.version == 0) {  // which is also what a message that ends early reads as
        return kCorrupt;
    }
    if (head.version > kNewestVersion) {
        return unsupported(Feature::datatype_version);
    }
    switch (head.type_class) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            return bits(head);
        case TypeClass::floating:
            return floating(head);
        case TypeClass::time:
            reader_.skip(2);
            return require(reader_.ok());
        case TypeClass::string:
            return text(head.flags);
        case TypeClass::opaque:
            return opaque(head);
        case TypeClass::reference:
            return reference(head);
        case TypeClass::enumeration:
            return enumeration(head);
        case TypeClass::complex:
            return complex(head);
        case TypeClass::compound:
        case TypeClass::variable_length:
        case TypeClass::array:
            break;
        default:
            return unsupported(Feature::datatype_class);
    }
    if (depth == 0) {
        return unsupported(Feature::datatype_class);
    }
    --depth;
    return head.type_class == TypeClass::compound ? compound(head, depth)
           : head.type_class == TypeClass::array  ? array(head, depth)
                                                  : sequence(head, depth);
}

Status Validator::bits(const Head& head) {
    const unsigned offset = reader_.u16();
    const unsigned precision = reader_.u16();
    return require(precision != 0 && within(offset, precision, head.bits()));
}

Status Validator::floating(const Head& head) {
    H5MOTE_TRY(bits(head));
    const unsigned sign = head.flags >> 8 & 0xffU;
    const unsigned exponent = reader_.u8();
    const unsigned exponent_size = reader_.u8();
    const unsigned mantissa = reader_.u8();
    const unsigned mantissa_size = reader_.u8();
    reader_.skip(4);
    const unsigned exponent_end = exponent + exponent_size;
    const unsigned mantissa_end = mantissa + mantissa_size;
    const bool vax_but_little = head.version >= 3 && (head.flags & 0x41U) == 0x40;
    return require(reader_.ok() && !vax_but_little && (head.flags & 0x30U) != 0x30 &&  // normalization 3 is reserved
                   exponent_size != 0 && mantissa_size != 0 && sign < head.bits() && exponent_end <= head.bits() &&
                   mantissa_end <= head.bits() && (exponent_end <= mantissa || mantissa_end <= exponent) &&
                   (sign < exponent || sign >= exponent_end) && (sign < mantissa || sign >= mantissa_end));
}

// Padding in bits 0-3, character set in bits 4-7.
Status Validator::text(unsigned flags) {
    return require((flags & 0xfU) <= static_cast<unsigned>(StringPadding::space_padded) && (flags >> 4 & 0xfU) <= 1);
}

Status Validator::opaque(const Head& head) {
    const unsigned length = head.flags & 0xffU;
    reader_.skip(length);
    return require(length % 8 == 0 && reader_.ok());
}

Status Validator::reference(const Head& head) {
    const unsigned type = head.flags & 0xfU;
    const bool revised = type >= static_cast<unsigned>(ReferenceType::object2);
    return require(type <= static_cast<unsigned>(ReferenceType::attribute) &&
                   (!revised || (head.flags >> 4 & 0xfU) == 1));
}

// Sequences and variable-length strings.
Status Validator::sequence(const Head& head, unsigned depth) {
    const unsigned type_of_sequence = head.flags & 0xfU;
    H5MOTE_TRY(require(type_of_sequence <= 1));
    if (type_of_sequence == 1) {
        H5MOTE_TRY(text(head.flags >> 4));
    }
    std::uint32_t size = 0;
    return type(depth, size);
}

// Two floating-point numbers of one type, in rectangular form.
Status Validator::complex(const Head& head) {
    std::uint32_t size = 0;
    H5MOTE_TRY(require(head.version >= 5 && head.flags == 1 && next_is(TypeClass::floating)));
    H5MOTE_TRY(type(0, size));
    return require(std::uint64_t{2} * size == head.size);
}

Status Validator::array(const Head& head, unsigned depth) {
    const unsigned rank = reader_.u8();
    const std::size_t reserved = head.version >= 3 ? 0 : 3;
    reader_.skip(reserved);
    if (rank == 0 || rank > kMaxArrayRank) {
        return kCorrupt;
    }
    std::uint64_t elements = 1;
    for (unsigned i = 0; i < rank; ++i) {
        elements *= reader_.u32();
        if (elements == 0 || elements > head.size) {
            return kCorrupt;
        }
    }
    if (head.version < 3) {
        reader_.skip(4 * static_cast<std::size_t>(rank));
    }
    std::uint32_t size = 0;
    H5MOTE_TRY(type(depth, size));
    return require(elements * size == head.size);
}

Status Validator::name(bool padded, bool may_be_empty) {
    const ConstBytes rest = reader_.rest();
    const void* nul = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (nul == nullptr) {
        return kCorrupt;
    }
    const std::size_t length = static_cast<std::size_t>(static_cast<const std::byte*>(nul) - rest.data());
    reader_.skip(padded ? (length + 8) / 8 * 8 : length + 1);
    return require(reader_.ok() && (length != 0 || may_be_empty));
}

Status Validator::enumeration(const Head& head) {
    std::uint32_t size = 0;
    H5MOTE_TRY(require(next_is(TypeClass::integer)));
    H5MOTE_TRY(type(0, size));
    H5MOTE_TRY(require(size == head.size));
    for (unsigned i = 0; i < head.count(); ++i) {
        H5MOTE_TRY(name(head.version < 3, false));
    }
    std::size_t values = 0;
    H5MOTE_TRY(require(checked_multiply<std::size_t>(head.count(), size, values)));
    reader_.skip(values);
    return require(reader_.ok());
}

// What version 1 says of a member between its offset and its type.
Status Validator::member_shape(const Head& head, std::uint64_t& elements) {
    const unsigned rank = reader_.u8();
    reader_.skip(11);
    if (rank > kMaxMemberRank) {
        return kCorrupt;
    }
    for (unsigned i = 0; i < kMaxMemberRank; ++i) {
        const std::uint32_t dimension = reader_.u32();
        if (i < rank) {
            elements *= dimension;
            H5MOTE_TRY(require(elements != 0 && elements <= head.size));
        }
    }
    return require(reader_.ok());
}

// Whether a member shares neither its name nor bytes with those before it.
bool stands_alone(CompoundMembers earlier, const char* name, std::uint64_t offset, std::uint64_t end) {
    CompoundMember other;
    while (earlier.next(other)) {
        if (other.name == name || (offset < std::uint64_t{other.offset} + other.size() && other.offset < end)) {
            return false;
        }
    }
    return true;
}

Status Validator::compound(const Head& head, unsigned depth) {
    const std::byte* const members = reader_.rest().data();
    const unsigned width = head.version >= 3 ? uint_width(head.size) : 4;
    H5MOTE_TRY(require(head.count() != 0));
    for (unsigned i = 0; i < head.count(); ++i) {
        const char* const text = reinterpret_cast<const char*>(reader_.rest().data());
        H5MOTE_TRY(name(head.version < 3, true));
        const std::uint64_t offset = reader_.uint(width);
        std::uint64_t elements = 1;
        if (head.version == 1) {
            H5MOTE_TRY(member_shape(head, elements));
        }
        std::uint32_t size = 0;
        H5MOTE_TRY(type(depth, size));
        H5MOTE_TRY(require(within(offset, elements * size, head.size)));
        if (i < kMaxCompared) {
            const CompoundMembers earlier(members, i, head.version, head.size);
            H5MOTE_TRY(require(stands_alone(earlier, text, offset, offset + elements * size)));
        }
    }
    return Status::ok;
}

}  // namespace

Status validate_datatype(ConstBytes bytes, std::size_t& length, Feature& feature) noexcept {
    Validator validator(bytes);
    std::uint32_t size = 0;
    const Status status = validator.type(H5MOTE_MAX_TYPE_DEPTH, size);
    if (status == Status::ok) {
        length = bytes.size() - validator.remaining();
    } else if (status == Status::unsupported) {
        feature = validator.feature();
    }
    return status;
}

}  // namespace h5mote
