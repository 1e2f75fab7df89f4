// A blueprint as the bytes that a FlashRecorder writes into its log, so that a dump of the chip is enough to make the
// file. Includes all of blueprint.hpp.
#pragma once

#include <h5mote/blueprint_image.hpp>
#include <h5mote/flash_recording.hpp>

namespace h5mote::blueprint::detail {

/// Writes little-endian numbers one after the other, while compiling.
class RecipeWriter {
public:
    constexpr explicit RecipeWriter(std::byte* to) noexcept : to_(to) {}
    constexpr void uint(unsigned width, std::uint32_t value) noexcept {
        for (unsigned i = 0; i < width; ++i) {
            *to_++ = static_cast<std::byte>(value >> (8 * i));
        }
    }
    constexpr void bytes(ConstBytes from) noexcept {
        for (const std::byte b : from) {
            *to_++ = b;
        }
    }

private:
    std::byte* to_;
};

constexpr std::uint32_t kRecipeHead = 16;

// Whether a program sets this setting. The sequence of a ring's dataset is known from the log.
constexpr bool is_set_by_program(const AttributePart& part) noexcept { return part.is_setting && !part.is_sequence; }

// Bytes of the values of the settings that a program sets, of the first `count` attributes.
constexpr std::uint32_t setting_bytes(Span<const AttributePart> attributes, std::size_t count) noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        size += is_set_by_program(attributes[i]) ? attributes[i].value.size() : 0;
    }
    return static_cast<std::uint32_t>(size);
}

// The number of datasets that take turns in each ring: 1 if there is no ring, 0 if the blueprint's datasets do not
// agree.
constexpr std::uint32_t count_segments(Span<const ObjectPart> objects) noexcept {
    std::uint32_t segments = 0;
    for (const ObjectPart& object : objects) {
        if (object.kind == Kind::dataset) {
            if (segments != 0 && segments != object.segments) {
                return 0;
            }
            segments = object.segments;
        }
    }
    return segments == 0 ? 1 : segments;
}
template <const auto& Description>
inline constexpr std::uint32_t kSegments = count_segments(span(kParts<Description>.objects));

template <const auto& Description>
constexpr auto write_recipe() noexcept {
    constexpr auto& parts = kParts<Description>;
    constexpr auto& cut = kCut<Description>;
    constexpr auto& datasets = kDatasets<Description>;
    constexpr auto& settings = kSettings<Description>;
    constexpr Span<const AttributePart> kAttributes = span(parts.attributes);
    constexpr std::uint32_t kValues = setting_bytes(kAttributes, kAttributes.size());
    constexpr std::size_t kSize =
        kRecipeHead + kValues + 28 * datasets.size() + 20 * settings.size() + 8 * cut.pieces.size() + cut.bytes.size();
    std::array<std::byte, kSize> recipe{};
    RecipeWriter writer(recipe.data());
    writer.uint(4, kPlan<Description>.size);
    writer.uint(1, Description.options.sizeof_addr);
    writer.uint(1, first_block_size(Description.options));
    writer.uint(1, dimension_offset(Description.options));
    writer.uint(1, kSegments<Description>);
    writer.uint(2, static_cast<std::uint32_t>(cut.pieces.size()));
    writer.uint(2, static_cast<std::uint32_t>(datasets.size()));
    writer.uint(2, static_cast<std::uint32_t>(settings.size()));
    writer.uint(2, kValues);
    for (const AttributePart& part : kAttributes) {
        if (is_set_by_program(part)) {
            writer.bytes(part.value);
        }
    }
    for (const RecordedDataset& each : datasets) {
        for (const std::uint32_t field :
             {each.header, each.header_bytes, each.array, each.array_bytes, each.index_block, each.chunk, each.row}) {
            writer.uint(4, field);
        }
    }
    std::size_t setting = 0;
    for (const AttributePart& part : kAttributes) {
        if (part.is_setting) {
            const RecordedSetting& each = settings[setting++];
            for (const std::uint32_t field : {each.block, each.block_bytes, each.value, each.size}) {
                writer.uint(4, field);
            }
            const std::size_t number = count_kind(span(parts.objects).first(part.object), Kind::dataset);
            writer.uint(4, part.is_sequence ? static_cast<std::uint32_t>(number) + 1 : 0);
        }
    }
    for (const Piece& piece : cut.pieces) {
        writer.uint(4, piece.address);
        writer.uint(2, piece.size);
        writer.uint(1, static_cast<std::uint32_t>(piece.kind));
        writer.uint(1, piece.repeats ? 1 : 0);
    }
    writer.bytes({cut.bytes.data(), cut.bytes.size()});
    return recipe;
}
template <const auto& Description>
inline constexpr auto kRecipe = write_recipe<Description>();

}  // namespace h5mote::blueprint::detail
