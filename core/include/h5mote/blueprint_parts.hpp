// The parts of a blueprint as plain tables, and what of it a Recorder needs while it runs. Used by blueprint_image.hpp
// and recorder.hpp; a program includes these.
#pragma once

#include <h5mote/blueprint.hpp>

#include <string_view>

namespace h5mote::blueprint {

/// What a Recorder keeps in ROM of a file: its bytes in pieces, and where what changes stands.
struct Piece {
    enum class Kind : std::uint8_t {
        fixed,    ///< bytes that nobody changes: a file of this blueprint has them
        changing  ///< bytes that the recorder or another program may change
    };
    std::uint32_t address;  ///< in the file
    std::uint16_t size;     ///< bytes
    Kind kind;
    bool repeats;  ///< every byte of the piece has the value of the one at the piece's place in the ROM
};

struct RecordedDataset {
    std::uint32_t header;        ///< address of the object header's first block, which has the dimension
    std::uint32_t header_bytes;  ///< offset of its bytes in the ROM
    std::uint32_t array;         ///< address of the header of the chunk index, an extensible array; 0: a B-tree
    std::uint32_t array_bytes;   ///< offset of its bytes in the ROM
    std::uint32_t index_block;   ///< address of the array's index block, or of the B-tree's root
    std::uint32_t chunk;         ///< rows of a chunk
    std::uint32_t row;           ///< bytes of a row
};

struct RecordedSetting {
    std::uint32_t block;        ///< address of the header block that holds the attribute and nothing else
    std::uint32_t block_bytes;  ///< offset of its bytes in the ROM
    std::uint32_t value;        ///< offset of the value in the block
    std::uint32_t size;         ///< bytes of the value; the checksum of the block follows it
};

/// More bytes than libhdf5's deflate makes of a chunk of so many bytes, and than a chunk has with a checksum behind it.
constexpr std::uint64_t filtered_limit(std::uint64_t chunk_bytes) noexcept {
    return chunk_bytes + chunk_bytes / 512 + 32;
}

/// The filters of a dataset.
struct RecordedFilters {
    static constexpr std::size_t kMost = 4;

    FilterSpec specs[kMost];
    const Filter* filters[kMost];
    std::size_t count;  ///< 0: the chunks are stored as they are
};

struct Table {
    const std::byte* bytes;  ///< the bytes of all pieces, one after the other; one byte for a piece that repeats
    const Piece* pieces;     ///< by address; the first one is the superblock
    const RecordedDataset* datasets;
    std::uint16_t piece_count;
    std::uint16_t dataset_count;
    std::uint32_t size;        ///< of the empty file
    std::uint8_t sizeof_addr;  ///< bytes of an address; sizes have 8
    std::uint8_t header_size;  ///< bytes of the first block of a dataset's object header
    std::uint8_t dimension;    ///< offset of the dimension in it
};

/// The creation parameters of every chunk index, an extensible array; they are libhdf5's, but for the size of pages:
/// no data block is divided into pages.
struct ArrayParameters {
    /// Bytes of every size in the file: libhdf5 knows no unlimited dimension of fewer.
    static constexpr unsigned kSize = 8;
    static constexpr unsigned kMaxBits = 32;
    static constexpr unsigned kIndexElements = 4;
    static constexpr unsigned kMinPointers = 4;
    static constexpr unsigned kMinElements = 16;
    static constexpr unsigned kPageBits = 18;
    /// Pointers of the index block to data blocks, and to super blocks.
    static constexpr unsigned kDataPointers = 2 * (kMinPointers - 1);
    static constexpr unsigned kDirectSuperBlocks = 4;  // 2 log2(kMinPointers)
    static constexpr unsigned kSuperPointers = 1 + kMaxBits - 4 - kDirectSuperBlocks;
    static constexpr unsigned kOffsetWidth = kMaxBits / 8;

    static constexpr std::uint32_t header_size(unsigned width) noexcept { return 12 + 6 * kSize + width + 4; }
    static constexpr std::uint32_t index_block_prefix(unsigned width) noexcept { return 6 + width; }
    static constexpr std::uint32_t index_block_size(unsigned width) noexcept {
        return index_block_prefix(width) + (kIndexElements + kDataPointers + kSuperPointers) * width + 4;
    }
};

/// The version 1 B-tree in which a dataset with filters has its chunks: their sizes are not known before they are
/// written, and a node of this tree, which has no checksum, changes by one write within a sector.
struct ChunkTreeParameters {
    static constexpr unsigned kKeySize = 24;  // size of the chunk, filter mask, first row, and 0

    /// A node has so many chunks or nodes at most, twice the "internal node K" of indexed storage.
    static constexpr unsigned most_children(unsigned width) noexcept { return width == 4 ? 16 : 14; }
    static constexpr unsigned prefix(unsigned width) noexcept { return 8 + 2 * width; }
    static constexpr unsigned node_size(unsigned width) noexcept {
        return prefix(width) + (most_children(width) + 1) * kKeySize + most_children(width) * width;
    }
};
static_assert(ChunkTreeParameters::node_size(8) <= 512 && ChunkTreeParameters::node_size(4) <= 512);

/// What makes a description unfit to be a file.
enum class Fault : std::uint8_t {
    none,
    name,           ///< a name is empty, "." or contains '/'
    same_name,      ///< two objects of a group, or two attributes of an object, have one name
    no_rows,        ///< a chunk of a dataset has no rows
    many_filters,   ///< a dataset has more than four filters
    filter_level,   ///< the level of a deflate filter is larger than 9
    chunk_size,     ///< a chunk has 4 GiB or more
    sector,         ///< a setting's value does not fit into a sector
    message_size,   ///< an attribute has 64 KiB or more
    address_width,  ///< addresses have neither 4 nor 8 bytes
    header_size,    ///< an object header has 64 KiB or more
    no_scale,       ///< the path of a scale leads to no dataset
    ring_scale,     ///< a ring is the scale of a dataset that is in no ring of as many datasets
    own_scale,      ///< a dataset is its own scale
    scaled_scale,   ///< a scale has a scale itself
    scale_rank,     ///< a scale has another number of dimensions than one
    no_dimension,   ///< a scale or label is for a dimension that its object does not have
    same_scale,     ///< a dimension has one scale twice, or two labels
};

namespace detail {

/// Where the value of an attribute comes from: from the description, or from the dimension scales in it.
enum class Source : std::uint8_t {
    described,
    scale_class,
    scale_name,
    reference_list,
    dimension_list,
    dimension_labels
};

struct AttributePart {
    const char* name = nullptr;
    std::size_t object = 0;
    ConstBytes type;
    std::array<std::uint64_t, 32> dimensions{};
    unsigned rank = 0;
    ConstBytes value;  // of other sources than `described` only the size
    bool is_setting = false;
    bool is_utf8 = false;
    bool is_sequence = false;  // the setting that numbers the datasets of a ring
    bool is_empty = false;
    Source source = Source::described;
};

struct ObjectPart {
    Kind kind = Kind::group;
    const char* name = nullptr;
    std::size_t parent = 0;
    ConstBytes type;
    std::array<std::uint64_t, 32> dimensions{};
    unsigned rank = 0;
    ConstBytes value;         // of a constant
    std::uint64_t chunk = 0;  // rows of a dataset
    std::uint64_t row = 0;    // bytes of a row
    bool is_compact = false;
    std::uint32_t segments = 1;       // datasets of the ring that this one belongs to
    std::uint32_t segment = 0;        // which of them this one is
    const char* ring_name = nullptr;  // of the ring, at its first dataset
    RecordedFilters filters{};
    std::size_t filter_scratch = 0;  // bytes of work memory that the neediest filter needs
    std::size_t filter_items = 0;    // those beyond RecordedFilters::kMost among them

    // Blocks of the object before those of its settings.
    constexpr std::uint32_t blocks() const noexcept {
        if (kind == Kind::dataset) {
            return filters.count != 0 ? 3 : 4;
        }
        return kind == Kind::constant && !is_compact ? 2 : 1;
    }
};

struct ScalePart {
    const char* text = nullptr;
    std::size_t object = 0;
    std::size_t scale = 0;  // the object that the path leads to, or kNoObject
    unsigned dimension = 0;
    bool is_label = false;
};

// The index of the object at a path such as "flight/imu" ("" is the root group), beginning at the object `from`; or
// kNoObject. The path of a ring leads to its first dataset.
inline constexpr std::size_t kNoObject = ~std::size_t{0};
constexpr std::size_t find_object(Span<const ObjectPart> objects, std::string_view path,
                                  std::size_t from = 0) noexcept {
    std::size_t object = from;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view name = path.substr(0, slash);
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
        std::size_t child = kNoObject;
        for (std::size_t i = 1; i < objects.size() && !name.empty(); ++i) {
            const bool is_ring = objects[i].ring_name != nullptr && name == objects[i].ring_name;
            child = objects[i].parent == object && (is_ring || name == objects[i].name) ? i : child;
        }
        if (!name.empty() && child == kNoObject) {
            return kNoObject;
        }
        object = name.empty() ? object : child;
    }
    return object;
}

template <typename T, std::size_t N>
constexpr Span<const T> span(const std::array<T, N>& array) noexcept {
    return {array.data(), N};
}
template <typename T, std::size_t N>
constexpr Span<T> span(std::array<T, N>& array) noexcept {
    return {array.data(), N};
}

constexpr Fault check_names(Span<const ObjectPart> objects, Span<const AttributePart> attributes) noexcept {
    for (std::size_t i = 1; i < objects.size(); ++i) {
        const std::string_view name = objects[i].name;
        if (name.empty() || name == "." || name.find('/') != std::string_view::npos) {
            return Fault::name;
        }
        for (std::size_t k = 1; k < i; ++k) {
            if (objects[k].parent == objects[i].parent && name == objects[k].name) {
                return Fault::same_name;
            }
        }
    }
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (*attributes[i].name == '\0') {
            return Fault::name;
        }
        for (std::size_t k = 0; k < i; ++k) {
            if (attributes[k].object == attributes[i].object &&
                std::string_view(attributes[k].name) == attributes[i].name) {
                return Fault::same_name;
            }
        }
    }
    return Fault::none;
}

template <typename... T>
struct TypeList {};
template <typename... T, typename... U>
constexpr TypeList<T..., U...> operator+(TypeList<T...> /*first*/, TypeList<U...> /*second*/) noexcept {
    return {};
}
template <typename List, std::size_t... I>
constexpr auto repeat(List list, std::index_sequence<I...> /*count*/) noexcept {
    return (TypeList<>{} + ... + (static_cast<void>(I), list));
}
template <std::size_t I, typename First, typename... Rest>
constexpr auto type_at(TypeList<First, Rest...> /*list*/) noexcept {
    if constexpr (I == 0) {
        return TypeTag<First>{};
    } else {
        return type_at<I - 1>(TypeList<Rest...>{});
    }
}

/// Counts what an item and its items hold, and lists the types of the datasets' rows and of the settings, in the order
/// in which Parts has them.
template <typename Item>
struct Count;
template <typename... Items>
struct Counts {
    static constexpr std::size_t kObjects = (std::size_t{0} + ... + Count<Items>::kObjects);
    static constexpr std::size_t kAttributes = (std::size_t{0} + ... + Count<Items>::kAttributes);
    static constexpr std::size_t kValueBytes = (std::size_t{0} + ... + Count<Items>::kValueBytes);
    static constexpr std::size_t kScales = (std::size_t{0} + ... + Count<Items>::kScales);
    using Rows = decltype((TypeList<>{} + ... + typename Count<Items>::Rows{}));
    using Settings = decltype((TypeList<>{} + ... + typename Count<Items>::Settings{}));
};
template <typename T>
struct Count<Attribute<T>> {
    static constexpr std::size_t kObjects = 0;
    static constexpr std::size_t kAttributes = 1;
    static constexpr std::size_t kValueBytes = sizeof(T);
    static constexpr std::size_t kScales = 0;
    using Rows = TypeList<>;
    using Settings = TypeList<T>;  // attributes that are no settings are counted as well
};
template <>
struct Count<Scale> : Counts<> {
    static constexpr std::size_t kScales = 1;
};
template <>
struct Count<FilterItem> : Counts<> {};
template <typename... Items>
struct Count<Group<Items...>> : Counts<Items...> {
    static constexpr std::size_t kObjects = 1 + Counts<Items...>::kObjects;
};
template <typename T, typename... Items>
struct Count<Dataset<T, Items...>> : Counts<Items...> {
    static constexpr std::size_t kObjects = 1;
    using Rows = TypeList<T>;
};
template <typename T, std::size_t N, typename... Items>
struct Count<Ring<T, N, Items...>> {
    using Each = Counts<Items..., Attribute<std::uint32_t>>;
    static constexpr std::size_t kObjects = N;
    static constexpr std::size_t kAttributes = N * Each::kAttributes;
    static constexpr std::size_t kValueBytes = N * Each::kValueBytes;
    static constexpr std::size_t kScales = N * Each::kScales;
    using Rows = decltype(repeat(TypeList<T>{}, std::make_index_sequence<N>{}));
    using Settings = decltype(repeat(typename Each::Settings{}, std::make_index_sequence<N>{}));
};
template <typename T, typename... Items>
struct Count<Constant<T, Items...>> : Counts<Items...> {
    static constexpr std::size_t kObjects = 1;
    static constexpr std::size_t kValueBytes = sizeof(T) + Counts<Items...>::kValueBytes;
};

/// The bytes of all values of a description as the file holds them.
template <std::size_t N>
struct Values {
    std::byte bytes[N == 0 ? 1 : N]{};
    std::size_t used = 0;

    // Gaps between the members of structs stay zero: their bytes have no value for the compiler.
    template <typename T>
    constexpr void add(const T& value) noexcept {
        using Element = typename Elements<T>::Element;
        const Stored<T> stored = store(value);
        for (std::size_t i = 0; i < sizeof(T); i += sizeof(Element)) {
            each_value(kEncoded<Element, TypeLayout::memory>.bytes, i,
                       [&](std::size_t at, std::uint32_t size, bool /*is_number*/) {
                           for (std::uint32_t k = 0; k < size; ++k) {
                               bytes[used + at + k] = stored.bytes[at + k];
                           }
                       });
        }
        used += sizeof(T);
    }
};

template <std::size_t N>
class ValueCollector {
public:
    constexpr explicit ValueCollector(Values<N>& values) noexcept : values_(values) {}
    template <typename T>
    constexpr void visit(const Attribute<T>& item) noexcept {
        values_.add(item.value);
    }
    template <typename... Items>
    constexpr void visit(const Group<Items...>& item) noexcept {
        visit_all(item.items);
    }
    template <typename T, typename... Items>
    constexpr void visit(const Dataset<T, Items...>& item) noexcept {
        visit_all(item.items);
    }
    template <typename T, std::size_t Count, typename... Items>
    constexpr void visit(const Ring<T, Count, Items...>& item) noexcept {
        for (std::size_t i = 0; i < Count; ++i) {
            visit_all(item.items);
            visit(item.sequence);
        }
    }
    template <typename T, typename... Items>
    constexpr void visit(const Constant<T, Items...>& item) noexcept {
        values_.add(item.value);
        visit_all(item.items);
    }
    constexpr void visit(const Scale& /*item*/) noexcept {}
    constexpr void visit(const FilterItem& /*item*/) noexcept {}

private:
    template <typename Tuple>
    constexpr void visit_all(const Tuple& items) noexcept {
        std::apply([&](const auto&... item) { (visit(item), ...); }, items);
    }
    Values<N>& values_;
};

/// The objects, attributes and scales of a description, each list in the order of the description, which names an
/// object before what it holds.
template <std::size_t Objects, std::size_t Attributes, std::size_t Scales>
struct Parts {
    std::array<ObjectPart, Objects> objects{};
    std::array<AttributePart, Attributes> attributes{};
    std::array<ScalePart, Scales> scales{};
};

template <typename P>
class PartCollector {
public:
    constexpr PartCollector(P& parts, const std::byte* values) noexcept : parts_(parts), values_(values) {}

    template <typename... Items>
    constexpr void visit(const Group<Items...>& item, std::size_t parent) noexcept {
        ObjectPart& part = parts_.objects[objects_++];
        part.name = item.name;
        part.parent = parent;
        visit_all(item.items);
    }
    template <typename T, typename... Items>
    constexpr void visit(const Dataset<T, Items...>& item, std::size_t parent) noexcept {
        ObjectPart& part = parts_.objects[objects_++];
        part.kind = Kind::dataset;
        part.name = item.name;
        part.parent = parent;
        part.type = file_type<T>();
        part.chunk = item.chunk;
        part.row = sizeof(T);
        visit_all(item.items);
    }
    template <typename T, std::size_t N, typename... Items>
    constexpr void visit(const Ring<T, N, Items...>& item, std::size_t parent) noexcept {
        for (std::size_t i = 0; i < N; ++i) {
            const std::size_t self = objects_;
            ObjectPart& part = parts_.objects[objects_++];
            part.kind = Kind::dataset;
            part.name = item.names[i].data();
            part.ring_name = i == 0 ? item.name : nullptr;
            part.parent = parent;
            part.type = file_type<T>();
            part.chunk = item.chunk;
            part.row = sizeof(T);
            part.segments = static_cast<std::uint32_t>(N);
            part.segment = static_cast<std::uint32_t>(i);
            visit_all(item.items);
            visit(item.sequence, self);
            parts_.attributes[attributes_ - 1].is_sequence = true;
        }
    }
    template <typename T, typename... Items>
    constexpr void visit(const Constant<T, Items...>& item, std::size_t parent) noexcept {
        ObjectPart& part = parts_.objects[objects_++];
        part.kind = Kind::constant;
        part.name = item.name;
        part.parent = parent;
        part.is_compact = item.is_compact;
        add_value<T>(part);
        visit_all(item.items);
    }
    template <typename T>
    constexpr void visit(const Attribute<T>& item, std::size_t object) noexcept {
        AttributePart& part = parts_.attributes[attributes_++];
        part.name = item.name;
        part.object = object;
        part.is_setting = item.is_setting;
        part.is_utf8 = item.is_utf8;
        part.is_empty = item.is_empty;
        add_value<T>(part);
        if (item.is_empty) {
            part.value = {};
        }
    }
    constexpr void visit(const Scale& item, std::size_t object) noexcept {
        parts_.scales[scales_++] = {item.text, object, kNoObject, item.dimension, item.is_label};
    }

    constexpr void visit(const FilterItem& item, std::size_t object) noexcept {
        ObjectPart& part = parts_.objects[object];
        RecordedFilters& filters = part.filters;
        ++part.filter_items;
        if (filters.count < RecordedFilters::kMost) {
            FilterSpec& spec = filters.specs[filters.count];
            spec = item.spec;
            if (spec.id == FilterId::shuffle) {
                spec.value_count = 1;
                spec.values[0] = static_cast<std::uint32_t>(part.row);
            }
            filters.filters[filters.count++] = item.filter;
        }
        part.filter_scratch = item.scratch > part.filter_scratch ? item.scratch : part.filter_scratch;
    }

private:
    template <typename T, typename Part>
    constexpr void add_value(Part& part) noexcept {
        part.type = file_type<typename Elements<T>::Element>();
        part.rank = Elements<T>::kRank;
        Elements<T>::dimensions(part.dimensions.data());
        part.value = {values_, sizeof(T)};
        values_ += sizeof(T);
    }
    template <typename Tuple>
    constexpr void visit_all(const Tuple& items) noexcept {
        const std::size_t self = objects_ - 1;
        std::apply([&](const auto&... item) { (visit(item, self), ...); }, items);
    }

    P& parts_;
    const std::byte* values_;
    std::size_t objects_ = 0;
    std::size_t attributes_ = 0;
    std::size_t scales_ = 0;
};

template <const auto& Description>
constexpr auto collect_values() noexcept {
    using Root = std::remove_cv_t<std::remove_reference_t<decltype(Description.root)>>;
    Values<Count<Root>::kValueBytes> values;
    ValueCollector<Count<Root>::kValueBytes>(values).visit(Description.root);
    return values;
}
template <const auto& Description>
inline constexpr auto kValues = collect_values<Description>();

template <const auto& Description>
constexpr auto collect_parts() noexcept {
    using Root = std::remove_cv_t<std::remove_reference_t<decltype(Description.root)>>;
    Parts<Count<Root>::kObjects, Count<Root>::kAttributes, Count<Root>::kScales> parts;
    PartCollector<decltype(parts)>(parts, kValues<Description>.bytes).visit(Description.root, 0);
    return parts;
}
// Without what the scales add: blueprint_scales.hpp has kParts.
template <const auto& Description>
inline constexpr auto kDescribed = collect_parts<Description>();

}  // namespace detail

}  // namespace h5mote::blueprint
