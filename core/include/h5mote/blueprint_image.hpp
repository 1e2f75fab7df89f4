// A blueprint's file as constants: the bytes in pieces, and tables of what changes in it. Includes all of
// blueprint.hpp.
#pragma once

#include <h5mote/blueprint_composer.hpp>

namespace h5mote::blueprint::detail {

// The most blocks that a description can have: each object has at most four, each setting one, all scales one, and the
// superblock extension one.
template <const auto& Description>
inline constexpr std::size_t kMaxBlocks =
    3 + 4 * kParts<Description>.objects.size() + kParts<Description>.attributes.size();

/// Where everything stands in the file of a description.
template <std::size_t Objects, std::size_t Blocks>
struct Plan {
    std::array<std::uint32_t, Objects + 1> first_blocks{};  // behind those of the objects that of the scales
    std::array<Block, Blocks> blocks{};
    std::uint32_t size = 0;
    Fault fault = Fault::none;
};

template <const auto& Description>
constexpr auto make_plan() noexcept {
    constexpr auto& parts = kParts<Description>;
    Plan<parts.objects.size(), kMaxBlocks<Description>> plan;
    const std::uint8_t width = Description.options.sizeof_addr;
    plan.fault =
        width != 4 && width != 8 ? Fault::address_width : check_names(span(parts.objects), span(parts.attributes));
    if (plan.fault == Fault::none) {
        plan.fault = check_scales(span(parts.objects), span(parts.scales));
    }
    if (plan.fault == Fault::none) {
        Composer composer(Description.options, span(parts.objects), span(parts.attributes), span(parts.scales),
                          span(plan.blocks), span(plan.first_blocks));
        plan.size = composer.measure();
        plan.fault = composer.fault();
    }
    return plan;
}
template <const auto& Description>
inline constexpr auto kPlan = make_plan<Description>();

/// The bytes of the empty file, and which of them may change.
template <std::size_t N>
struct FileBytes {
    std::byte bytes[N]{};
    bool changing[N]{};  ///< also true of bytes that belong to no structure

    constexpr FileBytes() noexcept {
        for (bool& byte : changing) {
            byte = true;
        }
    }
};

template <const auto& Description>
constexpr auto write_file() noexcept {
    constexpr auto& parts = kParts<Description>;
    auto plan = kPlan<Description>;
    FileBytes<kPlan<Description>.size> file;
    Composer composer(Description.options, span(parts.objects), span(parts.attributes), span(parts.scales),
                      span(plan.blocks), span(plan.first_blocks));
    composer.write(file.bytes, file.changing, plan.size);
    return file;
}
template <const auto& Description>
inline constexpr auto kFile = write_file<Description>();

/// Takes a file apart into pieces. With `pieces` and `bytes` empty it only counts.
class Cutter {
public:
    constexpr Cutter(const std::byte* file, const bool* changing, std::uint32_t size) noexcept
        : file_(file), changing_(changing), size_(size) {}

    /// The superblock, of `superblock` bytes, is written by itself: no piece goes beyond its end.
    constexpr void run(std::uint32_t superblock, Piece* pieces, std::byte* bytes) noexcept {
        count_ = used_ = 0;
        std::uint32_t at = 0;
        while (at < size_) {
            const std::uint32_t limit = at < superblock ? superblock : size_;
            std::uint32_t end = at;
            bool repeats = false;
            if (equal(at, limit) >= kLeastRepeated) {
                repeats = true;
                end = at + equal(at, limit);
            } else {
                while (end < limit && changing_[end] == changing_[at] && end - at < kMostBytes &&
                       equal(end, limit) < kLeastRepeated) {
                    ++end;
                }
            }
            const std::uint32_t stored = repeats ? 1 : end - at;
            if (pieces != nullptr) {
                pieces[count_] = {at, static_cast<std::uint16_t>(end - at),
                                  changing_[at] ? Piece::Kind::changing : Piece::Kind::fixed, repeats};
                for (std::uint32_t i = 0; i < stored; ++i) {
                    bytes[used_ + i] = file_[at + i];
                }
            }
            ++count_;
            used_ += stored;
            at = end;
        }
    }
    constexpr std::size_t count() const noexcept { return count_; }
    constexpr std::size_t used() const noexcept { return used_; }

private:
    // More than the statistics of a chunk index, so that the bytes of every block but index blocks follow each other.
    static constexpr std::uint32_t kLeastRepeated = 48;
    static constexpr std::uint32_t kMostBytes = 0xffff;

    // How many changing bytes from `at` on are equal.
    constexpr std::uint32_t equal(std::uint32_t at, std::uint32_t limit) const noexcept {
        std::uint32_t end = at;
        while (end < limit && changing_[end] && file_[end] == file_[at] && end - at < kMostBytes) {
            ++end;
        }
        return end - at;
    }

    const std::byte* file_;
    const bool* changing_;
    std::uint32_t size_;
    std::size_t count_ = 0;
    std::size_t used_ = 0;
};

template <std::size_t Pieces, std::size_t Bytes>
struct Cut {
    std::array<Piece, Pieces> pieces{};
    std::array<std::byte, Bytes> bytes{};

    // The place in `bytes` of the byte at `address` of the file.
    constexpr std::uint32_t offset(std::uint32_t address) const noexcept {
        std::uint32_t at = 0;
        for (const Piece& piece : pieces) {
            if (address < piece.address + piece.size) {
                return at + address - piece.address;
            }
            at += piece.repeats ? 1U : piece.size;
        }
        return at;
    }
};

constexpr std::uint32_t superblock_size(unsigned width) noexcept { return 12 + 4 * width + 4; }
constexpr std::uint32_t kFingerprintSize = 4;

template <const auto& Description>
constexpr auto cut() noexcept {
    constexpr auto& file = kFile<Description>;
    constexpr std::uint32_t kFirst = superblock_size(Description.options.sizeof_addr) + kFingerprintSize;
    constexpr auto kCounted = [] {
        Cutter cutter(file.bytes, file.changing, sizeof file.bytes);
        cutter.run(kFirst, nullptr, nullptr);
        return cutter;
    }();
    Cut<kCounted.count(), kCounted.used()> result;
    Cutter(file.bytes, file.changing, sizeof file.bytes).run(kFirst, result.pieces.data(), result.bytes.data());
    return result;
}
template <const auto& Description>
inline constexpr auto kCut = cut<Description>();

constexpr std::size_t count_kind(Span<const ObjectPart> objects, Kind kind) noexcept {
    std::size_t count = 0;
    for (const ObjectPart& object : objects) {
        count += object.kind == kind ? 1U : 0U;
    }
    return count;
}
constexpr std::size_t count_settings(Span<const AttributePart> attributes) noexcept {
    std::size_t count = 0;
    for (const AttributePart& attribute : attributes) {
        count += attribute.is_setting ? 1U : 0U;
    }
    return count;
}

template <const auto& Description>
constexpr auto list_datasets() noexcept {
    constexpr auto& parts = kParts<Description>;
    constexpr auto& plan = kPlan<Description>;
    constexpr auto& cut = kCut<Description>;
    std::array<RecordedDataset, count_kind(span(parts.objects), Kind::dataset)> list{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < parts.objects.size(); ++i) {
        if (parts.objects[i].kind == Kind::dataset) {
            const Block* const blocks = plan.blocks.data() + plan.first_blocks[i];
            const bool has_filters = parts.objects[i].filters.count != 0;
            list[count++] = {blocks[0].address,
                             cut.offset(blocks[0].address),
                             has_filters ? 0 : blocks[1].address,
                             has_filters ? 0 : cut.offset(blocks[1].address),
                             blocks[has_filters ? 1 : 2].address,
                             static_cast<std::uint32_t>(parts.objects[i].chunk),
                             static_cast<std::uint32_t>(parts.objects[i].row)};
        }
    }
    return list;
}
template <const auto& Description>
inline constexpr auto kDatasets = list_datasets<Description>();

// The filters of the datasets.
template <const auto& Description>
constexpr auto list_filters() noexcept {
    constexpr auto& parts = kParts<Description>;
    std::array<RecordedFilters, count_kind(span(parts.objects), Kind::dataset)> list{};
    std::size_t count = 0;
    for (const ObjectPart& object : parts.objects) {
        if (object.kind == Kind::dataset) {
            list[count++] = object.filters;
        }
    }
    return list;
}
template <const auto& Description>
inline constexpr auto kFilters = list_filters<Description>();

// Bytes of work memory, a multiple of 8, in which every chunk that goes through filters can do so: the state of the
// neediest filter, and two buffers for a chunk, which filters that are not optional may make a little larger. 0 if no
// dataset has filters.
constexpr std::size_t filter_memory(Span<const ObjectPart> objects) noexcept {
    std::size_t scratch = 0;
    std::size_t chunk = 0;
    for (const ObjectPart& object : objects) {
        if (object.filters.count != 0) {
            const auto bytes = static_cast<std::size_t>(filtered_limit(object.chunk * object.row));
            scratch = object.filter_scratch > scratch ? object.filter_scratch : scratch;
            chunk = bytes > chunk ? bytes : chunk;
        }
    }
    return (scratch + 7) / 8 * 8 + 2 * ((chunk + 7) / 8 * 8);
}

// The first block of a dataset's object header has a continuation message and the dataspace.
constexpr std::uint32_t message_head(FileOptions options) noexcept { return options.track_order ? 6 : 4; }
constexpr std::uint32_t dimension_offset(FileOptions options) noexcept {
    return 7 + message_head(options) + options.sizeof_addr + ArrayParameters::kSize + message_head(options) + 4;
}
constexpr std::uint32_t first_block_size(FileOptions options) noexcept {
    return dimension_offset(options) + 2 * ArrayParameters::kSize + 4;
}

// The settings in the order of the parts. The blocks of an object's settings are its last ones.
template <const auto& Description>
constexpr auto list_settings() noexcept {
    constexpr auto& parts = kParts<Description>;
    constexpr auto& plan = kPlan<Description>;
    constexpr auto& cut = kCut<Description>;
    std::array<RecordedSetting, count_settings(span(parts.attributes))> list{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < parts.attributes.size(); ++i) {
        const AttributePart& part = parts.attributes[i];
        if (part.is_setting) {
            const ObjectPart& object = parts.objects[part.object];
            std::size_t block = plan.first_blocks[part.object] + object.blocks();
            for (std::size_t k = 0; k < i; ++k) {
                block += parts.attributes[k].object == part.object && parts.attributes[k].is_setting ? 1U : 0U;
            }
            list[count++] = {plan.blocks[block].address, cut.offset(plan.blocks[block].address),
                             plan.blocks[block].value, static_cast<std::uint32_t>(part.value.size())};
        }
    }
    return list;
}
template <const auto& Description>
inline constexpr auto kSettings = list_settings<Description>();

// Calls of these functions do not compile where a constant is asked for, and the compiler then shows the name.
inline void the_blueprint_has_no_dataset_at_this_path() noexcept {}
inline void the_blueprint_has_no_setting_of_this_name_there() noexcept {}

}  // namespace h5mote::blueprint::detail

namespace h5mote::blueprint {

/// The file of a description, as constants. Naming it makes the compiler check the description.
template <const auto& Description>
class Image {
    static constexpr Fault kFault = detail::kPlan<Description>.fault;
    static_assert(kFault != Fault::name, "h5mote: a name in the blueprint is empty, '.', or contains a '/'");
    static_assert(kFault != Fault::same_name,
                  "h5mote: two objects of a group, or two attributes of an object, of the blueprint have one name");
    static_assert(kFault != Fault::no_rows, "h5mote: a dataset of the blueprint has chunks of no rows");
    static_assert(kFault != Fault::many_filters, "h5mote: a dataset of the blueprint has more than four filters");
    static_assert(kFault != Fault::filter_level,
                  "h5mote: the level of a deflate filter of the blueprint is larger than 9");
    static_assert(kFault != Fault::chunk_size, "h5mote: a dataset of the blueprint has chunks of 4 GiB or more");
    static_assert(
        kFault != Fault::sector,
        "h5mote: a setting of the blueprint is too large to be changed by one write of a sector of 512 bytes");
    static_assert(kFault != Fault::message_size, "h5mote: an attribute or a name of the blueprint has 64 KiB or more");
    static_assert(kFault != Fault::address_width, "h5mote: addresses of the blueprint's file have 4 or 8 bytes");
    static_assert(kFault != Fault::header_size,
                  "h5mote: an object of the blueprint has attributes or links of 64 KiB or more in all");
    static_assert(kFault != Fault::no_scale,
                  "h5mote: the path of a scale of the blueprint leads to no dataset of it; it begins at the dataset's "
                  "group, or with '/' at the root group");
    static_assert(kFault != Fault::ring_scale,
                  "h5mote: a scale of the blueprint is a ring, and the dataset that has it is in no ring of as many "
                  "datasets");
    static_assert(kFault != Fault::own_scale, "h5mote: a dataset of the blueprint is its own scale");
    static_assert(kFault != Fault::scaled_scale,
                  "h5mote: a dataset of the blueprint is a scale and has a scale itself");
    static_assert(kFault != Fault::scale_rank, "h5mote: a scale of the blueprint has not exactly one dimension");
    static_assert(kFault != Fault::no_dimension,
                  "h5mote: a scale or label of the blueprint is for a dimension that its object does not have");
    static_assert(kFault != Fault::same_scale,
                  "h5mote: a dimension of a dataset of the blueprint has the same scale twice, or two labels");

    using Root = std::remove_cv_t<std::remove_reference_t<decltype(Description.root)>>;

public:
    /// Bytes of the empty file.
    static constexpr std::uint32_t kSize = detail::kPlan<Description>.size;
    /// The number of extensible datasets.
    static constexpr std::size_t kDatasets = detail::kDatasets<Description>.size();

    /// The bytes of the empty file.
    static constexpr ConstBytes bytes() noexcept { return {detail::kFile<Description>.bytes, kSize}; }

    /// The type of the rows of a dataset, by its number.
    template <std::size_t I>
    using Row = typename decltype(detail::type_at<I>(typename detail::Count<Root>::Rows{}))::Type;
    /// The type of a setting's value, by the number that setting_number() gives.
    template <std::size_t I>
    using Value = typename decltype(detail::type_at<I>(typename detail::Count<Root>::Settings{}))::Type;

    /// Where a setting stands, by the number that setting_number() gives.
    template <std::size_t I>
    static constexpr const RecordedSetting& setting() noexcept {
        return detail::kSettings<Description>[detail::count_settings(
            detail::span(detail::kParts<Description>.attributes).first(I))];
    }

    static constexpr Table kTable{detail::kCut<Description>.bytes.data(),
                                  detail::kCut<Description>.pieces.data(),
                                  detail::kDatasets<Description>.data(),
                                  static_cast<std::uint16_t>(detail::kCut<Description>.pieces.size()),
                                  static_cast<std::uint16_t>(kDatasets),
                                  kSize,
                                  Description.options.sizeof_addr,
                                  static_cast<std::uint8_t>(detail::first_block_size(Description.options)),
                                  static_cast<std::uint8_t>(detail::dimension_offset(Description.options))};
};

/// The number of the dataset at `path` ("flight/imu"), for Recorder::append(); of a ring at `path`, that of its first
/// dataset. It does not compile if there is none.
template <const auto& Description>
constexpr std::size_t dataset_number(std::string_view path) noexcept {
    const auto objects = detail::span(detail::kParts<Description>.objects);
    const std::size_t object = detail::find_object(objects, path);
    if (object == detail::kNoObject || objects[object].kind != detail::Kind::dataset) {
        detail::the_blueprint_has_no_dataset_at_this_path();
        return 0;
    }
    return detail::count_kind(objects.first(object), detail::Kind::dataset);
}

/// The number of the setting `name` of the object at `path` ("" is the root group), for Recorder::set(). It does not
/// compile if there is none.
template <const auto& Description>
constexpr std::size_t setting_number(std::string_view path, std::string_view name) noexcept {
    const std::size_t object = detail::find_object(detail::span(detail::kParts<Description>.objects), path);
    const auto attributes = detail::span(detail::kParts<Description>.attributes);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (attributes[i].object == object && attributes[i].is_setting && name == attributes[i].name) {
            return i;
        }
    }
    detail::the_blueprint_has_no_setting_of_this_name_there();
    return 0;
}

}  // namespace h5mote::blueprint
