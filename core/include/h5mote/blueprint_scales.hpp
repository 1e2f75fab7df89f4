// H5DS - dimension scales of a blueprint: the attributes with which H5DSattach_scale() and H5DSset_label() store them.
//
// DIMENSION_LIST of a dataset has for each dimension a list of references to its scales, REFERENCE_LIST of a scale the
// dimensions to which it is attached, and DIMENSION_LABELS texts. Lists and texts of any length stand in one global
// heap collection (specification III.E), which is mostly free space: its size is the least that libhdf5 makes.
#pragma once

#include <h5mote/blueprint_parts.hpp>

namespace h5mote::blueprint::detail {

constexpr unsigned rank_of(const ObjectPart& object) noexcept { return object.kind == Kind::dataset ? 1 : object.rank; }

constexpr Fault check_scales(Span<const ObjectPart> objects, Span<const ScalePart> scales) noexcept {
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const ScalePart& part = scales[i];
        if (part.dimension >= rank_of(objects[part.object])) {
            return Fault::no_dimension;
        }
        if (part.is_label && *part.text == '\0') {
            return Fault::name;
        }
        if (!part.is_label && (part.scale == kNoObject || objects[part.scale].kind == Kind::group)) {
            return Fault::no_scale;
        }
        if (!part.is_label && objects[part.scale].segments > 1 &&
            objects[part.scale].segments != objects[part.object].segments) {
            return Fault::ring_scale;
        }
        if (!part.is_label && part.scale == part.object) {
            return Fault::own_scale;
        }
        if (!part.is_label && rank_of(objects[part.scale]) != 1) {
            return Fault::scale_rank;
        }
        for (std::size_t k = 0; k < scales.size(); ++k) {
            const ScalePart& other = scales[k];
            if (!part.is_label && !other.is_label && other.object == part.scale) {
                return Fault::scaled_scale;
            }
            if (k < i && other.object == part.object && other.dimension == part.dimension &&
                other.is_label == part.is_label && other.scale == part.scale) {
                return Fault::same_scale;
            }
        }
    }
    return Fault::none;
}

constexpr bool is_scale(Span<const ScalePart> scales, std::size_t object) noexcept {
    for (const ScalePart& part : scales) {
        if (!part.is_label && part.scale == object) {
            return true;
        }
    }
    return false;
}
constexpr bool has_scale(Span<const ScalePart> scales, std::size_t object, bool is_label) noexcept {
    for (const ScalePart& part : scales) {
        if (part.object == object && part.is_label == is_label) {
            return true;
        }
    }
    return false;
}

// The types of the attributes, those of data of any length as they are in files with addresses of 4 and of 8 bytes.
template <std::size_t N, unsigned Depth>
constexpr EncodedType<N, Depth> in_file(EncodedType<N, Depth> type, unsigned width) noexcept {
    type.bytes[4] = static_cast<std::byte>(8 + width);
    return type;
}
inline constexpr auto kScaleClassType = make_string(16, StringPadding::null_terminated);
inline constexpr auto kReferenceListType =
    make_compound<16>(member("dataset", 0, make_reference()), member("dimension", 8, make_integer(4, false)));
template <unsigned Width>
inline constexpr auto kDimensionListType = in_file(make_variable_length(make_reference()), Width);
template <unsigned Width>
inline constexpr auto kDimensionLabelsType = in_file(make_variable_string(), Width);

template <std::size_t N, unsigned Depth>
constexpr ConstBytes bytes_of(const EncodedType<N, Depth>& type) noexcept {
    return {type.bytes, N};
}

/// Lists the attributes that scales and labels add to a description.
class ScaleAttributes {
public:
    constexpr ScaleAttributes(Span<const ObjectPart> objects, Span<const AttributePart> described,
                              Span<const ScalePart> scales, unsigned width) noexcept
        : objects_(objects), described_(described), scales_(scales), width_(width) {}

    /// Fills `to`, unless it is nullptr, and returns how many there are.
    constexpr std::size_t list(AttributePart* to) noexcept {
        to_ = to;
        count_ = 0;
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            if (is_scale(scales_, i)) {
                add(i, "CLASS", Source::scale_class, bytes_of(kScaleClassType), 16);
                if (!is_named(i)) {
                    add(i, "NAME", Source::scale_name, {nullptr, kScaleClassType.kLength},
                        std::string_view(objects_[i].name).size() + 1);
                }
                std::size_t references = 0;
                for (const ScalePart& part : scales_) {
                    references += !part.is_label && part.scale == i ? 1U : 0U;
                }
                add(i, "REFERENCE_LIST", Source::reference_list, bytes_of(kReferenceListType), 16, references);
            }
            if (has_scale(scales_, i, false)) {
                add(i, "DIMENSION_LIST", Source::dimension_list,
                    width_ == 4 ? bytes_of(kDimensionListType<4>) : bytes_of(kDimensionListType<8>), 8 + width_,
                    rank_of(objects_[i]));
            }
            if (has_scale(scales_, i, true)) {
                add(i, "DIMENSION_LABELS", Source::dimension_labels,
                    width_ == 4 ? bytes_of(kDimensionLabelsType<4>) : bytes_of(kDimensionLabelsType<8>), 8 + width_,
                    rank_of(objects_[i]));
            }
        }
        return count_;
    }

private:
    constexpr bool is_named(std::size_t object) const noexcept {
        for (const AttributePart& part : described_) {
            if (part.object == object && std::string_view(part.name) == "NAME") {
                return true;
            }
        }
        return false;
    }
    // `elements` 0: a scalar.
    constexpr void add(std::size_t object, const char* name, Source source, ConstBytes type, std::size_t size,
                       std::size_t elements = 0) noexcept {
        if (to_ != nullptr) {
            AttributePart& part = to_[count_];
            part.name = name;
            part.object = object;
            part.type = type;
            part.rank = elements == 0 ? 0 : 1;
            part.dimensions[0] = elements;
            part.value = {nullptr, elements == 0 ? size : elements * size};
            part.source = source;
        }
        ++count_;
    }

    Span<const ObjectPart> objects_;
    Span<const AttributePart> described_;
    Span<const ScalePart> scales_;
    unsigned width_;
    AttributePart* to_ = nullptr;
    std::size_t count_ = 0;
};

/// Finds the objects that the paths of scales lead to. A scale that is a ring takes its turns with the ring that it is
/// attached to: the first dataset of the one belongs to the first of the other, and so on.
constexpr void resolve_scales(Span<const ObjectPart> objects, Span<ScalePart> scales) noexcept {
    for (ScalePart& part : scales) {
        if (!part.is_label) {
            const ObjectPart& object = objects[part.object];
            part.scale = find_object(objects, part.text, *part.text == '/' ? 0 : object.parent);
            if (part.scale != kNoObject && objects[part.scale].segments == object.segments) {
                part.scale += object.segment;
            }
        }
    }
}

template <const auto& Description>
constexpr std::size_t count_scale_attributes() noexcept {
    constexpr auto& described = kDescribed<Description>;
    auto scales = described.scales;
    resolve_scales(span(described.objects), span(scales));
    return ScaleAttributes(span(described.objects), span(described.attributes), span(scales), 8).list(nullptr);
}

/// The parts of a description, with the attributes that belong to scales behind those that it names itself.
template <const auto& Description>
constexpr auto add_scales() noexcept {
    constexpr auto& described = kDescribed<Description>;
    constexpr std::size_t kAdded = count_scale_attributes<Description>();
    Parts<described.objects.size(), described.attributes.size() + kAdded, described.scales.size()> parts;
    parts.objects = described.objects;
    parts.scales = described.scales;
    resolve_scales(span(parts.objects), span(parts.scales));
    for (std::size_t i = 0; i < described.attributes.size(); ++i) {
        parts.attributes[i] = described.attributes[i];
    }
    if constexpr (kAdded != 0) {
        ScaleAttributes(span(parts.objects), span(described.attributes), span(parts.scales),
                        Description.options.sizeof_addr)
            .list(parts.attributes.data() + described.attributes.size());
    }
    return parts;
}
template <const auto& Description>
inline constexpr auto kParts = add_scales<Description>();

/// Writes what a Composer cannot know of scales: values with addresses, and the heap collection.
template <typename Composer>
class ScaleWriter {
public:
    constexpr explicit ScaleWriter(Composer& to) noexcept : to_(to) {}

    constexpr void value(const AttributePart& attribute) noexcept {
        switch (attribute.source) {
            case Source::scale_class:
                to_.text("DIMENSION_SCALE", attribute.value.size());
                break;
            case Source::scale_name:
                to_.text(to_.objects_[attribute.object].name, attribute.value.size());
                break;
            case Source::reference_list:
                for (const ScalePart& part : to_.scales_) {
                    if (!part.is_label && part.scale == attribute.object) {
                        reference(part.object);
                        to_.uint(4, part.dimension);
                        to_.uint(4, 0);
                    }
                }
                break;
            default:
                for (unsigned i = 0; i < attribute.dimensions[0]; ++i) {
                    variable(attribute.object, i, attribute.source == Source::dimension_labels);
                }
                break;
        }
    }

    /// The collection is the file's last block.
    constexpr void heap() noexcept {
        std::uint64_t used = 8 + Composer::kSize;
        for (std::size_t i = 0; i < to_.scales_.size(); ++i) {
            used += begins(i) ? kObjectHead + (length(i) + 7) / 8 * 8 : 0;
        }
        const std::uint64_t least = used + kObjectHead;
        const std::uint64_t all = least < kLeastCollection ? kLeastCollection : least;
        to_.begin();
        to_.text("GCOL", 4);
        to_.uint(4, 1);
        to_.size(all);
        for (std::size_t i = 0; i < to_.scales_.size(); ++i) {
            if (begins(i)) {
                object(i);
            }
        }
        // Free space, which libhdf5 may fill.
        to_.is_changing_ = true;
        to_.uint(8, 0);
        to_.size(all - used);
        to_.uint(static_cast<unsigned>(all - used) - kObjectHead, 0);
        to_.is_changing_ = false;
        to_.close(Composer::kNothing);
    }

private:
    static constexpr unsigned kObjectHead = 8 + Composer::kSize;
    static constexpr std::uint64_t kLeastCollection = 4096;

    // Whether a part is the first of its dimension. The scales of a dimension are one value in the heap, and each
    // label.
    constexpr bool begins(std::size_t i) const noexcept { return find(to_.scales_[i]) == i; }
    constexpr std::size_t find(const ScalePart& like) const noexcept {
        std::size_t i = 0;
        while (i < to_.scales_.size() && !alike(to_.scales_[i], like)) {
            ++i;
        }
        return i;
    }
    static constexpr bool alike(const ScalePart& a, const ScalePart& b) noexcept {
        return a.object == b.object && a.dimension == b.dimension && a.is_label == b.is_label;
    }
    constexpr std::uint64_t elements(std::size_t i) const noexcept {
        if (to_.scales_[i].is_label) {
            return std::string_view(to_.scales_[i].text).size();
        }
        std::uint64_t count = 0;
        for (const ScalePart& part : to_.scales_) {
            count += alike(part, to_.scales_[i]) ? 1U : 0U;
        }
        return count;
    }
    constexpr std::uint64_t length(std::size_t i) const noexcept {
        return elements(i) * (to_.scales_[i].is_label ? 1 : kReference);
    }
    // Objects are numbered from one on.
    constexpr std::size_t number(std::size_t i) const noexcept {
        std::size_t count = 1;
        for (std::size_t k = 0; k < i; ++k) {
            count += begins(k) ? 1U : 0U;
        }
        return count;
    }

    constexpr void reference(std::size_t object) noexcept {
        to_.uint(kReference, to_.blocks_[to_.first_blocks_[object]].address);
    }
    constexpr void variable(std::size_t object, unsigned dimension, bool is_label) noexcept {
        const std::size_t i = find({nullptr, object, 0, dimension, is_label});
        if (i == to_.scales_.size()) {
            to_.uint(8 + to_.width_, 0);
            return;
        }
        to_.uint(4, elements(i));
        to_.address(to_.blocks_[to_.first_blocks_[to_.objects_.size()]].address);
        to_.uint(4, number(i));
    }
    constexpr void object(std::size_t i) noexcept {
        to_.uint(2, number(i));
        to_.uint(6, 0);
        to_.size(length(i));
        const ScalePart& first = to_.scales_[i];
        if (first.is_label) {
            to_.text(first.text, static_cast<std::size_t>(length(i)));
        } else {
            for (const ScalePart& part : to_.scales_) {
                if (alike(part, first)) {
                    reference(part.scale);
                }
            }
        }
        to_.uint(static_cast<unsigned>((8 - length(i) % 8) % 8), 0);
    }

    static constexpr unsigned kReference = 8;

    Composer& to_;
};

}  // namespace h5mote::blueprint::detail
