// h5mote blueprint: dimension scales (H5DS).
#include "blueprint.hpp"

#include <algorithm>
#include <cstring>

namespace h5mote::cli {

namespace {

constexpr std::size_t kReference = 8;
constexpr std::size_t kMostScales = 64;    // of a dimension
constexpr std::size_t kMostLabel = 32768;  // bytes

bool is_text(const BlueprintAttribute& attribute, const std::string& text) {
    const DatatypeView type{{attribute.type.data(), attribute.type.size()}};
    return type.type_class() == TypeClass::string && type.padding() == StringPadding::null_terminated &&
           type.character_set() == CharacterSet::ascii && attribute.dims.empty() &&
           attribute.value.size() == text.size() + 1 &&
           std::memcmp(attribute.value.data(), text.c_str(), text.size() + 1) == 0;
}

BlueprintAttribute* find_attribute(BlueprintObject& object, const char* name) {
    for (BlueprintAttribute& attribute : object.attributes) {
        if (attribute.name == name) {
            return &attribute;
        }
    }
    return nullptr;
}

void remove_attribute(BlueprintObject& object, const char* name) {
    object.attributes.erase(std::remove_if(object.attributes.begin(), object.attributes.end(),
                                           [&](const BlueprintAttribute& attribute) { return attribute.name == name; }),
                            object.attributes.end());
}

std::size_t rank_of(const BlueprintObject& object) {
    return object.kind == BlueprintObject::Kind::dataset ? 1 : object.dims.size();
}

// Why a blueprint cannot have a scale of `object`; sets `scale.text` to the path.
std::string refusal(BlueprintModel& model, const BlueprintObject& object, BlueprintScale& scale) {
    BlueprintObject* const target = model.find(scale.address);
    if (scale.dimension >= rank_of(object)) {
        return "it is for a dimension that the dataset does not have";
    }
    if (target == nullptr || target->kind == BlueprintObject::Kind::group) {
        return "it is no dataset of the blueprint";
    }
    if (target == &object) {
        return "it is the dataset itself";
    }
    if (rank_of(*target) != 1) {
        return "it has " + std::to_string(rank_of(*target)) + " dimensions";
    }
    const bool has_scale = std::any_of(target->scales.begin(), target->scales.end(),
                                       [](const BlueprintScale& other) { return other.address != kUndefinedAddress; });
    if (has_scale) {
        return "it has a scale itself";
    }
    const BlueprintAttribute* const kind = find_attribute(*target, "CLASS");
    if (kind == nullptr || !is_text(*kind, "DIMENSION_SCALE")) {
        return "its attribute CLASS does not say that it is one";
    }
    scale.text = target->parent == object.parent ? target->name : target->path;
    return "";
}

}  // namespace

// Both attributes have one element a dimension, whose data are in a global heap: references, or the characters.
Status read_scales(const Attribute& attribute, std::vector<BlueprintScale>& scales) {
    const DatatypeView type = attribute.type();
    const bool is_label = type.is_variable_string();
    const bool is_list = type.type_class() == TypeClass::variable_length && !is_label &&
                         type.base().type_class() == TypeClass::reference &&
                         type.base().reference_type() == ReferenceType::object1 && type.base().size() == kReference;
    if (attribute.dataspace().rank() != 1 || attribute.element_count() > H5MOTE_MAX_RANK ||
        is_label != (attribute.name() == "DIMENSION_LABELS") || (!is_label && !is_list)) {
        return Status::unsupported;
    }
    std::vector<BlueprintScale> found;
    std::vector<std::byte> stored(static_cast<std::size_t>(attribute.data_size()));
    H5MOTE_TRY(attribute.read_stored(0, {stored.data(), stored.size()}));
    for (unsigned i = 0; i < attribute.element_count(); ++i) {
        const ConstBytes heap_id(stored.data() + i * type.size() + 4, type.size() - 4);
        std::uint64_t length = 0;
        H5MOTE_TRY(attribute.variable_size(heap_id, length));
        if (length > (is_label ? kMostLabel : kMostScales * kReference)) {
            return Status::over_budget;
        }
        std::vector<std::byte> data(static_cast<std::size_t>(length));
        if (length != 0) {
            H5MOTE_TRY(attribute.read_variable(heap_id, 0, {data.data(), data.size()}));
        }
        if (is_label) {
            const std::string text(reinterpret_cast<const char*>(data.data()), data.size());
            if (!text.empty()) {
                found.push_back({i, kUndefinedAddress, text.c_str()});
            }
            continue;
        }
        for (std::size_t at = 0; at + kReference <= data.size(); at += kReference) {
            ReferenceTarget target;
            H5MOTE_TRY(
                attribute.object().reference_target(ReferenceType::object1, {data.data() + at, kReference}, target));
            found.push_back({i, target.address, ""});
        }
    }
    scales.insert(scales.end(), found.begin(), found.end());
    return Status::ok;
}

void settle_scales(BlueprintModel& model, Report& report) {
    for (BlueprintObject& object : model.objects) {
        std::vector<BlueprintScale> kept;
        for (BlueprintScale& scale : object.scales) {
            const bool is_label = scale.address == kUndefinedAddress && !scale.text.empty();
            if (is_label && scale.dimension < rank_of(object)) {
                kept.push_back(scale);
                continue;
            }
            const std::string why =
                is_label ? "it is for a dimension that the dataset does not have" : refusal(model, object, scale);
            if (why.empty()) {
                kept.push_back(scale);
            } else {
                remark(object, report, object.path,
                       "a scale or label of dimension " + std::to_string(scale.dimension) + " is left out: " + why);
            }
        }
        object.scales = kept;
    }
    for (BlueprintObject& object : model.objects) {
        std::uint64_t attached = 0;
        for (const BlueprintObject& other : model.objects) {
            for (const BlueprintScale& scale : other.scales) {
                attached += scale.address == object.address ? 1U : 0U;
            }
        }
        BlueprintAttribute* const list = find_attribute(object, "REFERENCE_LIST");
        const std::uint64_t listed = list == nullptr ? 0 : list->dims[0];
        if (listed != attached) {
            remark(object, report, object.path,
                   "it is attached to " + std::to_string(attached) +
                       " dimensions in the blueprint; its REFERENCE_LIST has " + std::to_string(listed));
        }
        remove_attribute(object, "REFERENCE_LIST");
        if (attached == 0) {
            continue;
        }
        remove_attribute(object, "CLASS");
        const BlueprintAttribute* const name = find_attribute(object, "NAME");
        if (name == nullptr) {
            remark(object, report, object.path, "it has an attribute NAME in the blueprint: its own name");
        } else if (is_text(*name, object.name) && !name->is_setting) {
            remove_attribute(object, "NAME");
        }
    }
}

}  // namespace h5mote::cli
