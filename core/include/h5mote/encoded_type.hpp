// H5T - datatypes made at compile time: constexpr functions that write datatype messages into read-only data.
//
// The bytes are those that libhdf5 writes with the version bounds 1.10: version 1 for single numbers and strings,
// version 3 for types that have parts. If parts do not fit together (a member outside its compound, two members of one
// name), a constexpr result is a compile-time error; any other result is a type with which no object can be created.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/datatype.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace h5mote {

/// An encoded datatype message of N bytes. `Depth`: how many types are nested in each other, as type_depth() counts.
/// Keep it in a `static constexpr` object: views borrow its bytes.
template <std::size_t N, unsigned Depth = 0>
struct EncodedType {
    static_assert(Depth <= H5MOTE_MAX_TYPE_DEPTH, "h5mote: datatype is nested deeper than H5MOTE_MAX_TYPE_DEPTH");
    static constexpr std::size_t kLength = N;
    static constexpr unsigned kDepth = Depth;

    constexpr DatatypeView view() const& noexcept { return DatatypeView{{bytes, N}}; }
    DatatypeView view() const&& = delete;
    constexpr operator DatatypeView() const& noexcept { return view(); }
    operator DatatypeView() const&& = delete;
    /// Bytes of one value.
    constexpr std::uint32_t size() const noexcept { return DatatypeView{{bytes, N}}.size(); }

    std::byte bytes[N]{};
};

namespace detail {

// Calls of these functions mark a datatype that makes no sense. As they are not constexpr, the compiler stops there and
// shows the name. At run time nothing happens; validate_datatype() refuses the datatype.
inline void member_lies_outside_of_the_compound() noexcept {}
inline void members_overlap_or_share_a_name() noexcept {}
inline void tag_contains_nul() noexcept {}
inline void no_such_size() noexcept {}

/// Writes little-endian fields at compile time.
class TypeWriter {
public:
    constexpr explicit TypeWriter(std::byte* at) noexcept : at_(at) {}

    constexpr void uint(std::uint64_t value, unsigned width) noexcept {
        for (unsigned i = 0; i < width; ++i) {
            *at_++ = static_cast<std::byte>(value >> (8 * i));
        }
    }
    constexpr void head(unsigned version, TypeClass type_class, std::uint32_t flags, std::size_t size) noexcept {
        if (size == 0 || size > 0xffffffffU) {
            no_such_size();
            size = 0;
        }
        uint(version << 4 | static_cast<unsigned>(type_class), 1);
        uint(flags, 3);
        uint(size, 4);
    }
    constexpr void text(const char* from, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            *at_++ = static_cast<std::byte>(from[i]);
        }
    }
    constexpr void bytes(const std::byte* from, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            *at_++ = from[i];
        }
    }
    /// Writes the integer `bits` in byte order `order`, which is that of a value.
    constexpr void value(std::uint64_t bits, unsigned width, ByteOrder order) noexcept {
        for (unsigned i = 0; i < width; ++i) {
            *at_++ = static_cast<std::byte>(bits >> (8 * (order == ByteOrder::big ? width - 1 - i : i)));
        }
    }

private:
    std::byte* at_;
};

constexpr unsigned offset_width(std::uint64_t size) noexcept {
    unsigned width = 1;
    while ((size >>= 8) != 0) {
        ++width;
    }
    return width;
}

constexpr bool same_text(const char* a, const char* b) noexcept {
    while (*a != '\0' && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

constexpr unsigned deepest() noexcept { return 0; }
template <typename... Rest>
constexpr unsigned deepest(unsigned first, Rest... rest) noexcept {
    const unsigned other = deepest(rest...);
    return first > other ? first : other;
}

/// One member of a compound before it is encoded; NameBytes counts the NUL.
template <std::size_t NameBytes, std::size_t N, unsigned Depth>
struct MemberSpec {
    const char* name;
    std::uint64_t offset;
    EncodedType<N, Depth> type;

    static constexpr std::size_t kNameBytes = NameBytes;
    static constexpr std::size_t kTypeBytes = N;
    static constexpr unsigned kDepth = Depth;
};

template <std::size_t NameBytes>
struct EnumeratorSpec {
    const char* name;
    std::uint64_t bits;

    static constexpr std::size_t kNameBytes = NameBytes;
};

}  // namespace detail

/// An integer of `size` bytes, all of its bits significant.
constexpr EncodedType<12> make_integer(std::size_t size, bool is_signed, ByteOrder order = ByteOrder::little) noexcept {
    EncodedType<12> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(1, TypeClass::integer, (is_signed ? 8U : 0U) | (order == ByteOrder::big ? 1U : 0U), size);
    writer.uint(0, 2);
    writer.uint(8 * size, 2);
    return type;
}

/// A bit field of `size` bytes.
constexpr EncodedType<12> make_bitfield(std::size_t size, ByteOrder order = ByteOrder::little) noexcept {
    EncodedType<12> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(1, TypeClass::bitfield, order == ByteOrder::big ? 1U : 0U, size);
    writer.uint(0, 2);
    writer.uint(8 * size, 2);
    return type;
}

/// An IEEE 754 number of 32 (`size` 4) or 64 bits (`size` 8).
constexpr EncodedType<20> make_float(std::size_t size, ByteOrder order = ByteOrder::little) noexcept {
    const bool single = size == 4;
    if (!single && size != 8) {
        detail::no_such_size();
    }
    const unsigned mantissa = single ? 23 : 52;
    const unsigned exponent = single ? 8 : 11;
    EncodedType<20> type;
    detail::TypeWriter writer(type.bytes);
    // Bits 4-5 are 2: the mantissa's first bit is implied.
    writer.head(1, TypeClass::floating, 0x20U | (order == ByteOrder::big ? 1U : 0U) | (mantissa + exponent) << 8, size);
    writer.uint(0, 2);
    writer.uint(8 * size, 2);
    writer.uint(mantissa, 1);
    writer.uint(exponent, 1);
    writer.uint(0, 1);
    writer.uint(mantissa, 1);
    writer.uint(single ? 127 : 1023, 4);
    return type;
}

/// A string of exactly `size` bytes.
constexpr EncodedType<8> make_string(std::size_t size, StringPadding padding = StringPadding::null_padded,
                                     CharacterSet character_set = CharacterSet::ascii) noexcept {
    EncodedType<8> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(1, TypeClass::string, static_cast<unsigned>(padding) | static_cast<unsigned>(character_set) << 4, size);
    return type;
}

/// `size` bytes whose meaning the tag (at most 248 characters) describes.
template <std::size_t TagBytes>
constexpr auto make_opaque(std::size_t size, const char (&tag)[TagBytes]) noexcept {
    static_assert(TagBytes - 1 <= 248, "h5mote: an opaque tag has at most 248 characters");
    constexpr std::size_t kPadded = (TagBytes - 1 + 7) / 8 * 8;
    for (std::size_t i = 0; i + 1 < TagBytes; ++i) {
        if (tag[i] == '\0') {
            detail::tag_contains_nul();
        }
    }
    EncodedType<8 + kPadded> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(1, TypeClass::opaque, kPadded, size);
    writer.text(tag, TagBytes - 1);
    return type;
}

/// An array of elements of `base` with these `dimensions`, slowest first.
template <std::size_t N, unsigned Depth, typename... Dimensions>
constexpr auto make_array(const EncodedType<N, Depth>& base, Dimensions... dimensions) noexcept {
    static_assert(sizeof...(dimensions) >= 1 && sizeof...(dimensions) <= 32, "h5mote: an array has 1 to 32 dimensions");
    EncodedType<8 + 1 + 4 * sizeof...(dimensions) + N, Depth + 1> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(3, TypeClass::array, 0, (static_cast<std::size_t>(base.size()) * ... * std::size_t{dimensions}));
    writer.uint(sizeof...(dimensions), 1);
    (writer.uint(dimensions, 4), ...);
    writer.bytes(base.bytes, N);
    return type;
}

/// A sequence of any number of elements, in the form that it has in memory (VariableLength). In a file a value has
/// another size, which depends on the file.
template <std::size_t N, unsigned Depth>
constexpr EncodedType<8 + N, Depth + 1> make_variable_length(const EncodedType<N, Depth>& base) noexcept {
    EncodedType<8 + N, Depth + 1> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(1, TypeClass::variable_length, 0, 2 * sizeof(void*));
    writer.bytes(base.bytes, N);
    return type;
}

/// A string of any length, in the form that it has in memory (`char*`).
constexpr EncodedType<20, 1> make_variable_string(CharacterSet character_set = CharacterSet::ascii,
                                                  StringPadding padding = StringPadding::null_terminated) noexcept {
    EncodedType<20, 1> type;
    detail::TypeWriter writer(type.bytes);
    // Bits 0-3 are 1: a string.
    writer.head(1, TypeClass::variable_length,
                1U | static_cast<unsigned>(padding) << 4 | static_cast<unsigned>(character_set) << 8, sizeof(char*));
    writer.bytes(make_integer(1, false).bytes, 12);
    return type;
}

/// A reference as it stands in a file with addresses of 8 bytes (Object::reference_size()): of the first generation, to
/// an object (8 bytes: its address) or a region (12 bytes), or of the second, which HDF5 1.12 and later read (18
/// bytes).
constexpr EncodedType<8> make_reference(ReferenceType type = ReferenceType::object1) noexcept {
    const bool revised = type > ReferenceType::region1;
    EncodedType<8> message;
    detail::TypeWriter writer(message.bytes);
    writer.head(revised ? 4 : 1, TypeClass::reference, static_cast<unsigned>(type) | (revised ? 0x10U : 0U),
                revised                          ? 18
                : type == ReferenceType::region1 ? 12
                                                 : 8);
    return message;
}

/// A member for make_compound(): its name, its offset in bytes, its type.
template <std::size_t NameBytes, std::size_t N, unsigned Depth>
constexpr detail::MemberSpec<NameBytes, N, Depth> member(const char (&name)[NameBytes], std::size_t offset,
                                                         const EncodedType<N, Depth>& type) noexcept {
    return {name, offset, type};
}

/// A compound of `Size` bytes: `make_compound<16>(member("t", 0, make_integer(4, false)), ...)`.
template <std::size_t Size, typename... Members>
constexpr auto make_compound(const Members&... members) noexcept {
    constexpr std::size_t kCount = sizeof...(members);
    static_assert(kCount >= 1 && kCount <= 0xffff, "h5mote: a compound has at least one member");
    constexpr unsigned kWidth = detail::offset_width(Size);
    const char* const names[] = {members.name...};
    const std::uint64_t begins[] = {members.offset...};
    const std::uint64_t ends[] = {(members.offset + members.type.size())...};
    for (std::size_t i = 0; i < kCount; ++i) {
        if (ends[i] > Size) {
            detail::member_lies_outside_of_the_compound();
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (detail::same_text(names[i], names[j]) || (begins[i] < ends[j] && begins[j] < ends[i])) {
                detail::members_overlap_or_share_a_name();
            }
        }
    }
    EncodedType<(std::size_t{8} + ... + (Members::kNameBytes + kWidth + Members::kTypeBytes)),
                1 + detail::deepest(Members::kDepth...)>
        type;
    detail::TypeWriter writer(type.bytes);
    writer.head(3, TypeClass::compound, kCount, Size);
    ((writer.text(members.name, Members::kNameBytes), writer.uint(members.offset, kWidth),
      writer.bytes(members.type.bytes, Members::kTypeBytes)),
     ...);
    return type;
}

/// A name and value for make_enum().
template <std::size_t NameBytes, typename Value>
constexpr detail::EnumeratorSpec<NameBytes> enumerator(const char (&name)[NameBytes], Value value) noexcept {
    static_assert(NameBytes > 1, "h5mote: an enumerator needs a name");
    return {name, static_cast<std::uint64_t>(value)};
}

/// An enumeration over the integer type Base: `make_enum<std::int8_t>(ByteOrder::little, enumerator("A", 1), ...)`.
template <typename Base, typename... Enumerators>
constexpr auto make_enum(ByteOrder order, const Enumerators&... enumerators) noexcept {
    static_assert(std::is_integral_v<Base> && !std::is_same_v<Base, bool>,
                  "h5mote: an enumeration's base is an integer");
    static_assert(sizeof...(enumerators) <= 0xffff);
    constexpr std::size_t kBase = 12;
    EncodedType<((8 + kBase) + ... + (Enumerators::kNameBytes + sizeof(Base)))> type;
    detail::TypeWriter writer(type.bytes);
    writer.head(3, TypeClass::enumeration, sizeof...(enumerators), sizeof(Base));
    writer.bytes(make_integer(sizeof(Base), std::is_signed_v<Base>, order).bytes, kBase);
    (writer.text(enumerators.name, Enumerators::kNameBytes), ...);
    (writer.value(enumerators.bits, sizeof(Base), order), ...);
    return type;
}

}  // namespace h5mote
