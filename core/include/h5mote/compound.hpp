// H5T - datatypes of C++ types: datatype_of<T>() and the macros that describe structs and enumerations.
//
//     struct Sample { std::uint32_t t_ms; std::int16_t accel[3]; float temp_c; };
//     H5MOTE_COMPOUND(Sample, t_ms, accel, temp_c)
//
// Everything here happens at compile time. The program only contains the bytes of one datatype message, as read-only
// data.
#pragma once

#include <h5mote/encoded_type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace h5mote {

/// Which of the datatypes that belong to one C++ type is meant.
enum class TypeLayout : std::uint8_t {
    memory,  ///< byte order and offsets of this machine
    file,    ///< little-endian, otherwise as in memory: same offsets, same size
    packed,  ///< little-endian, without gaps between the members of structs
};

/// Names a type as a function argument, so that the functions which the macros define are found in the type's own
/// namespace.
template <typename T>
struct TypeTag {
    using Type = T;
};
template <TypeLayout L>
struct LayoutTag {};

/// A string of at most N bytes, stored in exactly N bytes, for structs and datasets. An aggregate without invariants:
/// what a file holds is read into it unchanged.
template <std::size_t N, StringPadding Padding = StringPadding::null_padded, CharacterSet Set = CharacterSet::ascii>
struct FixedString {
    static_assert(N >= 1, "h5mote: a fixed string has at least one byte");
    char data[N];

    /// Copies `text`, cut to what fits (with null termination one byte less than N), and pads the rest.
    void assign(std::string_view text) noexcept {
        constexpr std::size_t kRoom = Padding == StringPadding::null_terminated ? N - 1 : N;
        for (std::size_t i = 0; i < N; ++i) {
            data[i] = i < text.size() && i < kRoom ? text[i] : Padding == StringPadding::space_padded ? ' ' : '\0';
        }
    }
    /// The text without its padding.
    std::string_view view() const noexcept {
        std::size_t length = 0;
        if constexpr (Padding == StringPadding::space_padded) {
            for (length = N; length > 0 && data[length - 1] == ' ';) {
                --length;
            }
        } else {
            while (length < N && data[length] != '\0') {
                ++length;
            }
        }
        return {data, length};
    }
};

/// A string of any length, for structs, datasets and attributes. `text` ends with NUL, or is nullptr: no string. What
/// is written belongs to the program; what was read is given back with reclaim() (variable_length.hpp). UTF-8 is what
/// h5py makes of a `str`.
template <CharacterSet Set = CharacterSet::utf8>
struct VariableString {
    const char* text = nullptr;
};

/// A sequence of `count` elements of type T at `data`; the same holds for them. T is any type that datatype_of() knows.
template <typename T>
struct Sequence {
    std::size_t count = 0;
    const T* data = nullptr;
};

namespace detail {

template <typename T>
inline constexpr bool kNever = false;

template <typename T>
struct VariableTraits {
    static constexpr bool kIsVariable = false;
};
template <CharacterSet Set>
struct VariableTraits<VariableString<Set>> {
    static constexpr bool kIsVariable = true;
    template <TypeLayout L>
    static constexpr auto encode() noexcept {
        return make_variable_string(Set);
    }
};

template <typename T, typename... Others>
inline constexpr bool kOneOf = (std::is_same_v<T, Others> || ...);

/// Plain char is left out, because it is signed on some machines and unsigned on others.
template <typename T>
inline constexpr bool kIsInteger = kOneOf<T, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                                          unsigned long, long long, unsigned long long>;

template <TypeLayout L>
inline constexpr ByteOrder kOrder = L == TypeLayout::memory ? kNativeOrder : ByteOrder::little;

// C arrays and std::array, taken apart dimension by dimension. The last dimension of char and std::byte stays: it
// becomes a string or opaque data.
template <typename T>
struct Element {
    static constexpr bool kIsArray = false;
};
template <typename T, std::size_t N>
struct Element<T[N]> {
    static constexpr bool kIsArray = true;
    static constexpr std::size_t kExtent = N;
    using Type = std::remove_cv_t<T>;
};
template <typename T, std::size_t N>
struct Element<std::array<T, N>> : Element<T[N]> {
    static_assert(sizeof(std::array<T, N>) == sizeof(T[N]), "h5mote: std::array with padding");
};

template <typename T>
struct StringTraits {
    static constexpr bool kIsString = false;
};
template <std::size_t N, StringPadding Padding, CharacterSet Set>
struct StringTraits<FixedString<N, Padding, Set>> {
    static constexpr bool kIsString = true;
    static constexpr EncodedType<8> encode() noexcept { return make_string(N, Padding, Set); }
};

template <typename T, typename = void>
inline constexpr bool kHasCompound = false;
template <typename T>
inline constexpr bool
    kHasCompound<T, std::void_t<decltype(h5mote_compound(TypeTag<T>{}, LayoutTag<TypeLayout::file>{}))>> = true;

template <typename T, typename = void>
inline constexpr bool kHasEnum = false;
template <typename T>
inline constexpr bool kHasEnum<T, std::void_t<decltype(h5mote_enum(TypeTag<T>{}, LayoutTag<TypeLayout::file>{}))>> =
    true;

template <typename T, TypeLayout L>
constexpr auto encode() noexcept;

template <typename T>
struct VariableTraits<Sequence<T>> {
    static constexpr bool kIsVariable = true;
    template <TypeLayout L>
    static constexpr auto encode() noexcept {
        return make_variable_length(detail::encode<std::remove_cv_t<T>, L>());
    }
};

template <typename T, TypeLayout L, typename... Dimensions>
constexpr auto encode_array(Dimensions... dimensions) noexcept {
    using Inner = typename Element<T>::Type;
    constexpr std::size_t kExtent = Element<T>::kExtent;
    if constexpr (std::is_same_v<Inner, char> || std::is_same_v<Inner, std::byte>) {
        constexpr auto kText = [] {
            if constexpr (std::is_same_v<Inner, char>) {
                return make_string(kExtent);
            } else {
                return make_opaque(kExtent, "");
            }
        }();
        if constexpr (sizeof...(dimensions) == 0) {
            return kText;
        } else {
            return make_array(kText, dimensions...);
        }
    } else if constexpr (Element<Inner>::kIsArray) {
        return encode_array<Inner, L>(dimensions..., kExtent);
    } else {
        return make_array(encode<Inner, L>(), dimensions..., kExtent);
    }
}

template <typename T, TypeLayout L>
constexpr auto encode() noexcept {
    if constexpr (std::is_same_v<T, bool>) {
        // The enumeration as which h5py stores a bool.
        static_assert(sizeof(bool) == 1);
        return make_enum<std::int8_t>(kOrder<L>, enumerator("FALSE", 0), enumerator("TRUE", 1));
    } else if constexpr (kIsInteger<T>) {
        return make_integer(sizeof(T), std::is_signed_v<T>, kOrder<L>);
    } else if constexpr (kOneOf<T, float, double>) {
        static_assert(std::numeric_limits<T>::is_iec559, "h5mote: this machine's floating point is not IEEE 754");
        return make_float(sizeof(T), kOrder<L>);
    } else if constexpr (std::is_same_v<T, std::byte>) {
        return make_opaque(1, "");
    } else if constexpr (Element<T>::kIsArray) {
        return encode_array<T, L>();
    } else if constexpr (StringTraits<T>::kIsString) {
        return StringTraits<T>::encode();
    } else if constexpr (VariableTraits<T>::kIsVariable) {
        return VariableTraits<T>::template encode<L>();
    } else if constexpr (std::is_enum_v<T>) {
        static_assert(kHasEnum<T>, "h5mote: describe this enumeration with H5MOTE_ENUM in its own namespace");
        return h5mote_enum(TypeTag<T>{}, LayoutTag<L>{});
    } else if constexpr (std::is_class_v<T>) {
        static_assert(kHasCompound<T>, "h5mote: describe this struct with H5MOTE_COMPOUND in its own namespace");
        return h5mote_compound(TypeTag<T>{}, LayoutTag<L>{});
    } else {
        static_assert(kNever<T>,
                      "h5mote: no datatype for this type (instead of char: std::int8_t, std::uint8_t, char[N])");
    }
}

/// The layout whose message is used for `layout`: on little-endian machines `memory` and `file` are the same bytes, so
/// that one object serves both.
constexpr TypeLayout distinct(TypeLayout layout) noexcept {
    return layout == TypeLayout::file && kNativeOrder == ByteOrder::little ? TypeLayout::memory : layout;
}
template <typename T, TypeLayout L>
inline constexpr auto kEncoded = encode<std::remove_cv_t<T>, L>();

/// A member of a struct as H5MOTE_COMPOUND sees it.
template <typename T, std::size_t NameBytes>
struct Field {
    using Type = T;
    static constexpr std::size_t kNameBytes = NameBytes;
    const char (&name)[NameBytes];
    std::size_t offset;
};
template <typename T, std::size_t NameBytes>
constexpr Field<T, NameBytes> field(const char (&name)[NameBytes], std::size_t offset) noexcept {
    return {name, offset};
}

template <std::size_t Size, std::size_t... I, typename... Members>
constexpr auto make_packed(const std::size_t* offsets, std::index_sequence<I...>, Members... members) noexcept {
    ((members.offset = offsets[I]), ...);
    return make_compound<Size>(members...);
}

template <typename T, TypeLayout L, typename... Fields>
constexpr auto encode_struct(const Fields&... fields) noexcept {
    static_assert(std::is_standard_layout_v<T>, "h5mote: a compound needs a struct of standard layout");
    static_assert(std::is_trivially_copyable_v<T>, "h5mote: a compound needs a trivially copyable struct");
    if constexpr (L == TypeLayout::packed) {
        constexpr std::size_t kSize = (std::size_t{0} + ... + kEncoded<typename Fields::Type, L>.size());
        std::size_t next = 0;
        std::size_t offset = 0;
        // Inside braces C++ evaluates from left to right.
        const std::size_t offsets[] = {(offset = next, next += kEncoded<typename Fields::Type, L>.size(), offset)...};
        return make_packed<kSize>(offsets, std::index_sequence_for<Fields...>{},
                                  member(fields.name, 0, kEncoded<typename Fields::Type, L>)...);
    } else {
        return make_compound<sizeof(T)>(member(fields.name, fields.offset, kEncoded<typename Fields::Type, L>)...);
    }
}

template <typename T, TypeLayout L, typename... Enumerators>
constexpr auto encode_enum(const Enumerators&... enumerators) noexcept {
    return make_enum<std::underlying_type_t<T>>(kOrder<L>, enumerators...);
}

}  // namespace detail

/// Datatype of T as it lies in this machine's memory. Static read-only data.
///
/// T can be an integer, float, double, bool (an enumeration FALSE, TRUE over 8 bits, as in h5py), std::byte and arrays
/// of it (opaque), char[N] and FixedString (strings), VariableString and Sequence (of any length), an enumeration or
/// struct described by the macros below, and a C array or std::array of any of these. Other types do not compile.
template <typename T>
constexpr DatatypeView datatype_of() noexcept {
    return detail::kEncoded<std::remove_cv_t<T>, TypeLayout::memory>.view();
}

/// Datatype as which a file stores T by default: little-endian on every machine, with the offsets and size that T has
/// on this one. So on little-endian machines storing a T is a plain copy. Data of any length have here, too, the form
/// of memory; in the file they take 16 bytes (with addresses of 8 bytes), and what follows them moves.
template <typename T>
constexpr DatatypeView file_type_of() noexcept {
    return detail::kEncoded<std::remove_cv_t<T>, detail::distinct(TypeLayout::file)>.view();
}

/// The same without gaps between and after the members of structs. It does not depend on the machine's alignment, but
/// every value has to be converted.
template <typename T>
constexpr DatatypeView packed_type_of() noexcept {
    return detail::kEncoded<std::remove_cv_t<T>, TypeLayout::packed>.view();
}

}  // namespace h5mote

/// Describes a struct as a compound type with the members named: 1 to 64, in any order. Members that are not named are
/// not stored. Use it at namespace scope, in the namespace of the struct and after it.
#define H5MOTE_COMPOUND(type, ...)                                                                       \
    template <::h5mote::TypeLayout L>                                                                    \
    constexpr auto h5mote_compound(::h5mote::TypeTag<type>, ::h5mote::LayoutTag<L>) noexcept {           \
        return ::h5mote::detail::encode_struct<type, L>(H5MOTE_EACH_(H5MOTE_FIELD_, type, __VA_ARGS__)); \
    }

/// Describes an enumeration with the enumerators named: 1 to 64. Values without a name can be stored, too.
#define H5MOTE_ENUM(type, ...)                                                                              \
    template <::h5mote::TypeLayout L>                                                                       \
    constexpr auto h5mote_enum(::h5mote::TypeTag<type>, ::h5mote::LayoutTag<L>) noexcept {                  \
        return ::h5mote::detail::encode_enum<type, L>(H5MOTE_EACH_(H5MOTE_ENUMERATOR_, type, __VA_ARGS__)); \
    }

#define H5MOTE_FIELD_(type, name) ::h5mote::detail::field<decltype(type::name)>(#name, offsetof(type, name))
#define H5MOTE_ENUMERATOR_(type, name) ::h5mote::enumerator(#name, type::name)

// Expands to m(t, x) for every x, with commas between.
#define H5MOTE_EACH_(m, t, ...) H5MOTE_JOIN_(H5MOTE_COUNT_(__VA_ARGS__))(m, t, __VA_ARGS__)
#define H5MOTE_JOIN_(n) H5MOTE_JOIN2_(n)
#define H5MOTE_JOIN2_(n) H5MOTE_EACH_##n##_
// clang-format off
#define H5MOTE_COUNT_(...) \
    H5MOTE_PICK_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, \
    44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, \
    18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define H5MOTE_PICK_( \
    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, \
    a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, \
    a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, n, \
    ...) n
#define H5MOTE_EACH_1_(m, t, x) m(t, x)
#define H5MOTE_EACH_2_(m, t, x, ...) m(t, x), H5MOTE_EACH_1_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_3_(m, t, x, ...) m(t, x), H5MOTE_EACH_2_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_4_(m, t, x, ...) m(t, x), H5MOTE_EACH_3_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_5_(m, t, x, ...) m(t, x), H5MOTE_EACH_4_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_6_(m, t, x, ...) m(t, x), H5MOTE_EACH_5_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_7_(m, t, x, ...) m(t, x), H5MOTE_EACH_6_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_8_(m, t, x, ...) m(t, x), H5MOTE_EACH_7_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_9_(m, t, x, ...) m(t, x), H5MOTE_EACH_8_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_10_(m, t, x, ...) m(t, x), H5MOTE_EACH_9_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_11_(m, t, x, ...) m(t, x), H5MOTE_EACH_10_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_12_(m, t, x, ...) m(t, x), H5MOTE_EACH_11_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_13_(m, t, x, ...) m(t, x), H5MOTE_EACH_12_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_14_(m, t, x, ...) m(t, x), H5MOTE_EACH_13_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_15_(m, t, x, ...) m(t, x), H5MOTE_EACH_14_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_16_(m, t, x, ...) m(t, x), H5MOTE_EACH_15_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_17_(m, t, x, ...) m(t, x), H5MOTE_EACH_16_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_18_(m, t, x, ...) m(t, x), H5MOTE_EACH_17_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_19_(m, t, x, ...) m(t, x), H5MOTE_EACH_18_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_20_(m, t, x, ...) m(t, x), H5MOTE_EACH_19_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_21_(m, t, x, ...) m(t, x), H5MOTE_EACH_20_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_22_(m, t, x, ...) m(t, x), H5MOTE_EACH_21_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_23_(m, t, x, ...) m(t, x), H5MOTE_EACH_22_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_24_(m, t, x, ...) m(t, x), H5MOTE_EACH_23_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_25_(m, t, x, ...) m(t, x), H5MOTE_EACH_24_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_26_(m, t, x, ...) m(t, x), H5MOTE_EACH_25_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_27_(m, t, x, ...) m(t, x), H5MOTE_EACH_26_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_28_(m, t, x, ...) m(t, x), H5MOTE_EACH_27_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_29_(m, t, x, ...) m(t, x), H5MOTE_EACH_28_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_30_(m, t, x, ...) m(t, x), H5MOTE_EACH_29_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_31_(m, t, x, ...) m(t, x), H5MOTE_EACH_30_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_32_(m, t, x, ...) m(t, x), H5MOTE_EACH_31_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_33_(m, t, x, ...) m(t, x), H5MOTE_EACH_32_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_34_(m, t, x, ...) m(t, x), H5MOTE_EACH_33_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_35_(m, t, x, ...) m(t, x), H5MOTE_EACH_34_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_36_(m, t, x, ...) m(t, x), H5MOTE_EACH_35_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_37_(m, t, x, ...) m(t, x), H5MOTE_EACH_36_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_38_(m, t, x, ...) m(t, x), H5MOTE_EACH_37_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_39_(m, t, x, ...) m(t, x), H5MOTE_EACH_38_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_40_(m, t, x, ...) m(t, x), H5MOTE_EACH_39_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_41_(m, t, x, ...) m(t, x), H5MOTE_EACH_40_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_42_(m, t, x, ...) m(t, x), H5MOTE_EACH_41_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_43_(m, t, x, ...) m(t, x), H5MOTE_EACH_42_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_44_(m, t, x, ...) m(t, x), H5MOTE_EACH_43_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_45_(m, t, x, ...) m(t, x), H5MOTE_EACH_44_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_46_(m, t, x, ...) m(t, x), H5MOTE_EACH_45_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_47_(m, t, x, ...) m(t, x), H5MOTE_EACH_46_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_48_(m, t, x, ...) m(t, x), H5MOTE_EACH_47_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_49_(m, t, x, ...) m(t, x), H5MOTE_EACH_48_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_50_(m, t, x, ...) m(t, x), H5MOTE_EACH_49_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_51_(m, t, x, ...) m(t, x), H5MOTE_EACH_50_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_52_(m, t, x, ...) m(t, x), H5MOTE_EACH_51_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_53_(m, t, x, ...) m(t, x), H5MOTE_EACH_52_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_54_(m, t, x, ...) m(t, x), H5MOTE_EACH_53_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_55_(m, t, x, ...) m(t, x), H5MOTE_EACH_54_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_56_(m, t, x, ...) m(t, x), H5MOTE_EACH_55_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_57_(m, t, x, ...) m(t, x), H5MOTE_EACH_56_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_58_(m, t, x, ...) m(t, x), H5MOTE_EACH_57_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_59_(m, t, x, ...) m(t, x), H5MOTE_EACH_58_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_60_(m, t, x, ...) m(t, x), H5MOTE_EACH_59_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_61_(m, t, x, ...) m(t, x), H5MOTE_EACH_60_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_62_(m, t, x, ...) m(t, x), H5MOTE_EACH_61_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_63_(m, t, x, ...) m(t, x), H5MOTE_EACH_62_(m, t, __VA_ARGS__)
#define H5MOTE_EACH_64_(m, t, x, ...) m(t, x), H5MOTE_EACH_63_(m, t, __VA_ARGS__)
// clang-format on
