// H5F H5G H5D H5A - the description of a file that the compiler makes: what stands in an empty file, as one constant.
//
//     namespace blueprint = h5mote::blueprint;
//     constexpr auto kFlight = blueprint::file(
//         blueprint::attribute("firmware", "2.1"),
//         blueprint::setting<std::uint32_t>("serial"),
//         blueprint::group("flight",
//             blueprint::dataset<Sample>("imu", 64, blueprint::attribute("accel_units", "mg"))));
//
// A Recorder (<h5mote/recorder.hpp>) makes this file on a storage and fills its datasets. What cannot be a file does
// not compile, and the compiler says in a sentence why.
#pragma once

#include <h5mote/compound.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>

#include <array>
#include <tuple>

namespace h5mote::blueprint {

namespace detail {

using namespace h5mote::detail;

/// The elements of a value and its dimensions: std::array<std::array<T, 3>, 2> are 2 x 3 elements T. A text
/// (std::array<char, N>) and opaque bytes (std::array<std::byte, N>) are one element.
template <typename T>
struct Elements {
    using Element = T;
    static constexpr unsigned kRank = 0;
    static constexpr void dimensions(std::uint64_t* /*to*/) noexcept {}
};
template <std::size_t N>
struct Elements<std::array<char, N>> {
    using Element = std::array<char, N>;
    static constexpr unsigned kRank = 0;
    static constexpr void dimensions(std::uint64_t* /*to*/) noexcept {}
};
template <std::size_t N>
struct Elements<std::array<std::byte, N>> {
    using Element = std::array<std::byte, N>;
    static constexpr unsigned kRank = 0;
    static constexpr void dimensions(std::uint64_t* /*to*/) noexcept {}
};
template <typename T, std::size_t N>
struct Elements<std::array<T, N>> {
    using Element = typename Elements<T>::Element;
    static constexpr unsigned kRank = 1 + Elements<T>::kRank;
    static constexpr void dimensions(std::uint64_t* to) noexcept {
        *to = N;
        Elements<T>::dimensions(to + 1);
    }
};

/// Calls visit(offset, size, is_number) for each number, text and opaque value in one value of `type`, which begins at
/// `at`; what it leaves out are the gaps between the members of structs. `type` is an encoded datatype, as
/// datatype_of() makes it. Returns the end of the datatype's message.
template <typename Visit>
constexpr const std::byte* each_value(const std::byte* type, std::size_t at, const Visit& visit) noexcept {
    const auto field = [](const std::byte* from, unsigned width) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < width; ++i) {
            value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
        }
        return value;
    };
    const auto type_class = static_cast<TypeClass>(field(type, 1) & 15U);
    const std::uint32_t flags = field(type + 1, 3);
    const std::uint32_t size = field(type + 4, 4);
    const std::byte* next = type + 8;
    switch (type_class) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            visit(at, size, true);
            return next + 4;
        case TypeClass::floating:
            visit(at, size, true);
            return next + 12;
        case TypeClass::enumeration: {
            visit(at, size, true);
            next += 12;
            for (std::uint32_t i = 0; i < (flags & 0xffffU); ++i) {
                while (*next++ != std::byte{0}) {
                }
            }
            return next + (flags & 0xffffU) * size;
        }
        case TypeClass::compound: {
            const unsigned width = offset_width(size);
            for (std::uint32_t i = 0; i < (flags & 0xffffU); ++i) {
                while (*next++ != std::byte{0}) {
                }
                next = each_value(next + width, at + field(next, width), visit);
            }
            return next;
        }
        case TypeClass::array: {
            const std::uint32_t rank = field(next, 1);
            const std::byte* const base = next + 1 + 4 * rank;
            const std::uint32_t step = field(base + 4, 4);
            for (std::uint32_t i = 0; i < size; i += step) {
                next = each_value(base, at + i, visit);
            }
            return next;
        }
        case TypeClass::opaque:
            visit(at, size, false);
            return next + (flags & 0xffU);
        default:
            visit(at, size, false);
            return next;  // a string
    }
}

/// Turns each number in one value of `type` around: from this machine's byte order to that of the file, or back. Only
/// machines with the big end first call this. Not inlined: GCC 12 takes paths that other types go for accesses outside
/// of this one.
[[gnu::noinline]] constexpr void swap_numbers(const std::byte* type, std::byte* value) noexcept {
    each_value(type, 0, [value](std::size_t at, std::uint32_t size, bool is_number) {
        for (std::uint32_t i = 0; is_number && i < size / 2; ++i) {
            const std::byte other = value[at + i];
            value[at + i] = value[at + size - 1 - i];
            value[at + size - 1 - i] = other;
        }
    });
}

/// The bytes of a value as a file holds them.
template <typename T>
struct Stored {
    std::byte bytes[sizeof(T)];
};
template <typename T>
constexpr Stored<T> store(const T& value) noexcept {
    Stored<T> stored = __builtin_bit_cast(Stored<T>, value);
    if constexpr (kNativeOrder == ByteOrder::big) {
        using Element = typename Elements<T>::Element;
        for (std::size_t i = 0; i < sizeof(T); i += sizeof(Element)) {
            swap_numbers(kEncoded<Element, TypeLayout::memory>.bytes, stored.bytes + i);
        }
    }
    return stored;
}

/// The datatype as which a file holds a T. It is the same message on every machine.
template <typename T>
constexpr ConstBytes file_type() noexcept {
    return {kEncoded<T, TypeLayout::file>.bytes, kEncoded<T, TypeLayout::file>.kLength};
}

/// What an item of a group is.
enum class Kind : std::uint8_t { attribute, group, dataset, constant };

template <typename T>
struct Attribute {
    static constexpr Kind kKind = Kind::attribute;
    using Value = T;
    const char* name;
    T value;
    bool is_setting;
    bool is_utf8;
    bool is_empty = false;  ///< it has no elements
};

template <typename... Items>
struct Group {
    static constexpr Kind kKind = Kind::group;
    const char* name;
    std::tuple<Items...> items;
};

template <typename T, typename... Items>
struct Dataset {
    static constexpr Kind kKind = Kind::dataset;
    using Row = T;
    const char* name;
    std::uint32_t chunk;
    std::tuple<Items...> items;
};

template <typename T, std::size_t N, typename... Items>
struct Ring {
    static constexpr Kind kKind = Kind::dataset;
    using Row = T;
    const char* name;
    std::array<std::array<char, 64>, N> names;
    std::uint32_t chunk;
    std::tuple<Items...> items;
    Attribute<std::uint32_t> sequence;
};

// A call of this function does not compile where a constant is asked for, and the compiler then shows the name.
inline void the_name_of_a_ring_has_more_than_59_bytes() noexcept {}

template <typename T, typename... Items>
struct Constant {
    static constexpr Kind kKind = Kind::constant;
    using Value = T;
    const char* name;
    bool is_compact;
    T value;
    std::tuple<Items...> items;
};

/// A scale of one dimension of a dataset, or the label of the dimension.
struct Scale {
    const char* text;  ///< path of the scale; or the label
    unsigned dimension;
    bool is_label;
};

/// A filter through which the chunks of a dataset go.
struct FilterItem {
    FilterSpec spec;
    const Filter* filter = nullptr;
    std::size_t scratch = 0;  ///< bytes of work memory that the filter needs
};

/// Whether a build has a filter, of which T is the type of a reference.
template <typename T>
inline constexpr bool kIsFilter = std::is_base_of_v<Filter, std::remove_cv_t<std::remove_reference_t<T>>>;

template <typename T>
inline constexpr bool kIsAttribute = false;
template <typename T>
inline constexpr bool kIsAttribute<Attribute<T>> = true;
template <typename T>
inline constexpr bool kIsItem = kIsAttribute<T>;
template <typename... Items>
inline constexpr bool kIsItem<Group<Items...>> = true;
template <typename T, typename... Items>
inline constexpr bool kIsItem<Dataset<T, Items...>> = true;
template <typename T, std::size_t N, typename... Items>
inline constexpr bool kIsItem<Ring<T, N, Items...>> = true;
template <typename T, typename... Items>
inline constexpr bool kIsItem<Constant<T, Items...>> = true;

/// Whether a value has elements.
template <typename T>
inline constexpr bool kHasElements = true;
template <typename T, std::size_t N>
inline constexpr bool kHasElements<std::array<T, N>> = N != 0 && kHasElements<T>;

template <typename T>
constexpr void check_value() noexcept {
    static_assert(kHasElements<T>, "h5mote: a value of the blueprint has no elements");
    static_assert(Elements<T>::kRank <= 32, "h5mote: a value of the blueprint has more than 32 dimensions");
}
template <typename... Items>
constexpr void check_items() noexcept {
    static_assert(
        (kIsItem<Items> && ...),
        "h5mote: a group of the blueprint has an item that is no attribute, setting, group, dataset or constant");
}
template <typename... Items>
constexpr void check_dataset_items() noexcept {
    static_assert(((kIsAttribute<Items> || std::is_same_v<Items, Scale> || std::is_same_v<Items, FilterItem>)&&...),
                  "h5mote: a dataset of the blueprint has an item that is no attribute, setting, scale, label or "
                  "filter");
}
template <typename... Items>
constexpr void check_attributes() noexcept {
    static_assert(((kIsAttribute<Items> || std::is_same_v<Items, Scale>)&&...),
                  "h5mote: a constant of the blueprint has an item that is no attribute, setting, scale or label");
}

}  // namespace detail

/// What holds for the file as a whole.
struct FileOptions {
    /// Bytes of a file address: 4 or 8. With 4 the file can grow to at most 4 GiB, and its metadata take less space.
    std::uint8_t sizeof_addr = 8;
    /// Groups keep the order in which links were created, objects that of their attributes; here, the order in which
    /// the description names them.
    bool track_order = false;
};

/// The description of a whole file. Its items are those of the root group.
template <typename... Items>
struct FileDescription {
    FileOptions options;
    detail::Group<Items...> root;
};

/// An attribute of the file's root group, a group or a dataset. `value`: an integer, a floating-point number, an
/// enumeration or struct described by H5MOTE_ENUM or H5MOTE_COMPOUND, a FixedString, or a std::array of any of these,
/// whose dimensions become those of the attribute. The bytes between the members of a struct have to be members as
/// well, which H5MOTE_COMPOUND need not name: the compiler knows no value of others.
template <typename T>
constexpr detail::Attribute<T> attribute(const char* name, const T& value) noexcept {
    detail::check_value<T>();
    return {name, value, false, false};
}
/// A text: a scalar string of exactly its length, UTF-8 when it is not ASCII.
template <std::size_t N>
constexpr auto attribute(const char* name, const char (&text)[N]) noexcept {
    constexpr std::size_t kLength = N > 1 ? N - 1 : 1;
    detail::Attribute<std::array<char, kLength>> result{name, {}, false, false};
    for (std::size_t i = 0; i < kLength; ++i) {
        result.value[i] = text[i];
        result.is_utf8 = result.is_utf8 || static_cast<unsigned char>(text[i]) >= 0x80;
    }
    return result;
}

/// An attribute of a type without any element (H5S_NULL), h5py.Empty.
template <typename T>
constexpr detail::Attribute<T> empty(const char* name) noexcept {
    return {name, T{}, false, false, true};
}

/// An attribute whose value the program sets while it runs, with Recorder::set(). Until then it has the value `value`.
/// With its value, the checksum behind it and nothing else it has to fit into a sector of 512 bytes.
template <typename T>
constexpr detail::Attribute<T> setting(const char* name, const T& value = T{}) noexcept {
    detail::check_value<T>();
    return {name, value, true, false};
}

/// Attaches a scale to a dimension of the dataset or constant whose item this is, as H5DSattach_scale() does: h5py,
/// xarray and netCDF then know the time of each row, say. The scale is another dataset or constant of the blueprint, of
/// one dimension. `path` begins at the group that the dataset is in; with a leading '/', at the root group. The scale
/// gets the attributes CLASS, REFERENCE_LIST and, unless it has one, NAME, its own name.
/// A ring can be the scale of a ring of as many datasets: the first of the one belongs to the first of the other.
constexpr detail::Scale scale(const char* path, unsigned dimension = 0) noexcept { return {path, dimension, false}; }

/// Labels a dimension of the dataset or constant whose item this is (H5DSset_label).
constexpr detail::Scale label(const char* text, unsigned dimension = 0) noexcept { return {text, dimension, true}; }

/// Filters of the dataset whose item this is; its chunks go through them in the order of the items, at most four.
/// `filter`: one of h5mote's, or one of your own, an object that outlives the recorder. `scratch`: bytes of work memory
/// that its encode() and decode() need for a chunk of the dataset.
constexpr detail::FilterItem filter(const Filter& filter, const FilterSpec& spec, std::size_t scratch) noexcept {
    return {spec, &filter, scratch};
}
/// The shuffle filter: it makes no chunk smaller by itself, but helps deflate() behind it.
template <const auto& Own = shuffle_filter>
constexpr detail::FilterItem shuffle() noexcept {
    static_assert(detail::kIsFilter<decltype(Own)>, "h5mote: this build has no shuffle filter");
    return filter(Own, filters::shuffle, 0);
}
/// The deflate filter (zlib, gzip). `level`: 0 to 9; it only stands in the file, h5mote always makes the same effort.
template <const auto& Own = deflate_filter>
constexpr detail::FilterItem deflate(std::uint32_t level = 6) noexcept {
    static_assert(detail::kIsFilter<decltype(Own)>, "h5mote: this build has no deflate filter");
    return filter(Own, filters::deflate_level(level), DeflateFilter::kEncodeScratch);
}

/// A group with items: attributes, settings, groups, datasets and constants.
template <typename... Items>
constexpr detail::Group<Items...> group(const char* name, const Items&... items) noexcept {
    detail::check_items<Items...>();
    return {name, {items...}};
}

/// A one-dimensional dataset of rows of type T, empty at first and extensible without limit, stored in chunks of
/// `chunk` rows. Its items are attributes, settings, scales, labels and filters.
template <typename T, typename... Items>
constexpr detail::Dataset<T, Items...> dataset(const char* name, std::uint32_t chunk, const Items&... items) noexcept {
    detail::check_dataset_items<Items...>();
    return {name, chunk, {items...}};
}

/// A ring of N datasets like dataset(), 2 to 255, for storage that is used again when it is full: `name`_0, `name`_1
/// ... take turns, and each has an attribute `sequence`, which grows with each turn. A FlashRecorder (<h5mote/
/// flash_recorder.hpp>) takes the turns by itself, and `h5mote extract --join` makes one dataset of them, in order of
/// time. The name has at most 59 bytes.
template <typename T, std::size_t N, typename... Items>
constexpr detail::Ring<T, N, Items...> ring(const char* name, std::uint32_t chunk, const Items&... items) noexcept {
    static_assert(N >= 2 && N <= 255, "h5mote: a ring of the blueprint has fewer than 2 or more than 255 datasets");
    detail::Ring<T, N, Items...> result{name, {}, chunk, {items...}, {"sequence", 0, true, false}};
    for (std::size_t i = 0; i < N; ++i) {
        std::size_t at = 0;
        for (; name[at] != '\0'; ++at) {
            if (at == 59) {
                detail::the_name_of_a_ring_has_more_than_59_bytes();
            }
            result.names[i][at] = name[at];
        }
        result.names[i][at++] = '_';
        for (std::size_t unit = i >= 100 ? 100 : i >= 10 ? 10 : 1; unit != 0; unit /= 10) {
            result.names[i][at++] = static_cast<char>('0' + i / unit % 10);
        }
    }
    return result;
}

/// A dataset whose values never change, for calibrations and tables: the values of a std::array of any rank, or one
/// value. Stored within the object header (compact) if it has at most 1,024 bytes, apart from it (contiguous) if it
/// has more. Its items are attributes, settings, scales and labels.
template <typename T, typename... Items>
constexpr detail::Constant<T, Items...> constant(const char* name, const T& value, const Items&... items) noexcept {
    detail::check_value<T>();
    detail::check_attributes<Items...>();
    return {name, sizeof(T) <= 1024, value, {items...}};
}

/// A file with the items of its root group.
template <typename... Items>
constexpr FileDescription<Items...> file(const Items&... items) noexcept {
    detail::check_items<Items...>();
    return {{}, {"", {items...}}};
}
template <typename... Items>
constexpr FileDescription<Items...> file(FileOptions options, const Items&... items) noexcept {
    detail::check_items<Items...>();
    return {options, {"", {items...}}};
}

}  // namespace h5mote::blueprint
